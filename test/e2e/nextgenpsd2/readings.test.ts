import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { readError } from '../support/errors.ts';
import { consent, useSecondDoor } from './second-door.ts';

// The readings of a customer's accounts at the second door. The customer is there, so that the bank counts none of them.

const operator = useSecondDoor(['--transactions', '150']);
const PRESENT = ['--psu-ip', '192.0.2.1'];
const read = (...args: string[]) => operator.psd2(['accounts', ...args, ...PRESENT]);
const succeeded = async (...args: string[]) => {
  const ended = await read(...args);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return ended.stdout;
};
const [ACCOUNT, IBAN] = ['0010482620', 'IT89F0999001600000010482620'];
const [SAVINGS, SAVINGS_IBAN, CARD] = ['0010482638', 'IT31P0999001600000010482638', '0000093017'];
const EARLIEST = addDays(bankDay(new Date()), -90);

beforeAll(() => consent(operator, 'default'));

describe('an account', () => {
  it('is named by its id or by its IBAN', async () => {
    const withoutTime = (json: string) => json.replace(/"lastChangeDateTime":"[^"]*",?/g, '');
    const written = [IBAN, IBAN.toLowerCase(), 'IT89 F099 9001 6000 0001 0482 620'];
    for (const verb of [['show'], ['transactions'], ['transactions', '--chart']]) {
      const [name = '', ...options] = verb;
      const byId = await succeeded(name, ACCOUNT, ...options, '--json');
      expect(byId.length).toBeGreaterThan(100);
      for (const iban of verb.length > 1 ? [IBAN] : written)
        expect(withoutTime(await succeeded(name, iban, ...options, '--json'))).toBe(withoutTime(byId));
    }
    const balances = z.object({ productId: z.string() });
    for (const iban of written)
      expect(balances.parse(JSON.parse(await succeeded('balance', iban, '--json')))).toEqual({
        productId: ACCOUNT,
      });
  });

  it.each([['export', '--format', 'csv'], ['report']])(
    'is named by its IBAN for %s',
    async (verb, ...options) => {
      const written = async (name: string) => {
        const file = join(operator.folder, `${verb}-${name}`);
        await succeeded(verb, name, ...options, '--file', file);
        return readFileSync(file, 'utf8').replace(/\d{1,2}:\d{2}(:\d{2})?/g, '');
      };
      expect(await written(IBAN)).toBe(await written(ACCOUNT));
    },
  );

  it('that no consent covers ends with exit code 4, and with the accounts that are covered', async () => {
    for (const args of [['balance'], ['export', '--format', 'csv', '--file', '-']]) {
      const [verb = '', ...options] = args;
      const error = readError(await read(verb, 'DE89370400440532013000', ...options, '--json'));
      expect(error).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
      expect(error.next).toEqual([
        ['psd2', 'consent', 'request', '--customer', 'default', '--account', 'DE89370400440532013000'],
      ]);
      expect(error.message).toContain('DE89370400440532013000');
      expect(error.hint).toContain(`It covers ${IBAN}, ${SAVINGS_IBAN}, `);
    }
  });
});

describe('what the bank says of an account', () => {
  it('the balances have the names of the bank, also those of a card', async () => {
    const balance = z.object({
      accountBalance: z.object({ amount: z.string(), currency: z.literal('EUR') }),
      balances: z.array(
        z.strictObject({
          ...{ type: z.string(), amount: z.string(), currency: z.literal('EUR') },
          ...{ date: z.iso.date().nullable(), at: z.iso.datetime({ offset: true }).nullable() },
        }),
      ),
    });
    for (const account of [ACCOUNT, CARD]) {
      const shown = balance.parse(JSON.parse(await succeeded('balance', account, '--json')));
      const booked = shown.balances.find(({ type }) => type === 'closingBooked');
      expect(booked?.amount).toBe(shown.accountBalance.amount);
      expect(shown.balances.map(({ type }) => type)).toContain('interimAvailable');
      expect(await succeeded('balance', account)).toMatch(/^balances\.\d\.type\tclosingBooked$/m);
    }
  });

  it('the transactions have the ids of the bank and the other side, as JSON and as CSV', async () => {
    const words = z.string().nullable();
    const rows = z
      .array(
        z.looseObject({
          ...{ status: z.string(), transactionId: words, entryReference: words, endToEndId: words },
          ...{ counterpartyName: words, counterpartyIban: words, remittance: words },
          bankTransactionCode: words,
        }),
      )
      .parse(JSON.parse(await succeeded('transactions', ACCOUNT, '--json')));
    const booked = rows.filter(({ status }) => status === 'booked');
    expect(new Set(booked.map(({ transactionId }) => transactionId)).size).toBe(booked.length);
    expect(booked.every(({ entryReference }) => entryReference !== null)).toBe(true);
    for (const field of ['counterpartyName', 'remittance', 'bankTransactionCode'] as const)
      expect(
        rows.some((row) => row[field] !== null),
        field,
      ).toBe(true);
    const [header, first] = (await succeeded('transactions', ACCOUNT, '--booked', '-o', 'csv')).split('\n');
    expect(header?.split(',').slice(11)).toEqual([
      ...['transactionId', 'entryReference', 'endToEndId', 'counterpartyName', 'counterpartyIban'],
      ...['remittance', 'bankTransactionCode', 'counterpartyAccount', 'remittanceStructured'],
      ...['ultimateDebtor', 'ultimateCreditor', 'mandateId', 'creditorId', 'purposeCode'],
      ...['originalAmount', 'originalCurrency', 'exchangeRate', 'feeAmount', 'feeCurrency'],
      ...['internalTransactionId', 'future'],
    ]);
    expect(first).toContain(booked[0]?.transactionId);
  });

  it('all pages come line by line, --limit reads no more pages than it needs, and --raw prints each page', async () => {
    const all = JSON.parse(await succeeded('transactions', ACCOUNT, '--json'));
    const lines = (await succeeded('transactions', ACCOUNT, '-o', 'ndjson')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(all);
    expect(lines.length).toBeGreaterThan(20);
    const limited = await read('transactions', ACCOUNT, '-o', 'ndjson', '--limit', '3', '--verbose');
    expect(limited.stdout.trimEnd().split('\n')).toEqual(lines.slice(0, 3));
    expect([...limited.stderr.matchAll(/"path":"[^"]*\/transactions/g)]).toHaveLength(1);
    const raw = (await succeeded('transactions', ACCOUNT, '--raw')).replaceAll('}{', '}\n{').split('\n');
    const page = z.object({ transactions: z.object({ booked: z.array(z.unknown()) }) });
    const pages = raw.map((line) => page.parse(JSON.parse(line)));
    const booked = z
      .array(z.object({ status: z.string() }))
      .parse(all)
      .filter(({ status }) => status === 'booked');
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.flatMap(({ transactions }) => transactions.booked)).toHaveLength(booked.length);
  });

  it('with --raw, an IBAN prints what its id prints: the look-up is not the operator’s', async () => {
    for (const verb of ['balance', 'transactions']) {
      const [byIban, byId] = [
        await succeeded(verb, IBAN, '--raw'),
        await succeeded(verb, ACCOUNT, '--raw'),
      ].map((text) => text.split('{"account"').length);
      expect(byIban).toBe(byId);
      expect(await succeeded(verb, IBAN, '--raw')).toMatch(/^\{"account":/);
    }
  });

  it('the log has the readings', async () => {
    await succeeded('balance', SAVINGS);
    const log = await operator.psd2(['log', '--json']);
    expect(log.stdout).toContain(`/v1/accounts/${SAVINGS}/balances`);
  });
});

describe('the history of the bank', () => {
  it('further back psd2 reads from the earliest day, and says so', async () => {
    const whole = await read('transactions', ACCOUNT, '--json');
    const further = await read('transactions', ACCOUNT, '--from', '2020-01-01', '--json');
    expect(further.stdout).toBe(whole.stdout);
    const told = `The bank shows no transactions before ${EARLIEST}, so psd2 reads from that day on.`;
    expect(further.stderr).toContain(told);
    expect(whole.stderr).not.toContain(told);
    const chart = await read('transactions', ACCOUNT, '--from', '2020-01-01', '--chart', '--json');
    expect(chart.stderr).toContain(told);
    expect(JSON.parse(chart.stdout)).toMatchObject({ from: EARLIEST });
  });

  it('a range that is before it ends with exit code 2', async () => {
    for (const verb of [['transactions'], ['export', '--format', 'csv', '--file', '-']]) {
      const [name = '', ...options] = verb;
      const ended = await read(
        name,
        ACCOUNT,
        ...options,
        '--from',
        '2020-01-01',
        '--to',
        '2020-02-01',
        '--json',
      );
      expect(readError(ended)).toMatchObject({ code: 'invalid_date', exitCode: 2 });
    }
  });
});

describe('a customer', () => {
  it('whose consent names one account is not read beyond it, and psd2 says which consent is missing', async () => {
    await consent(operator, 'one', '--account', IBAN);
    const of = ['--customer', 'one'];
    const listed = z.array(z.object({ productId: z.string() }));
    expect(listed.parse(JSON.parse(await succeeded('list', ...of, '--json')))).toEqual([
      { productId: ACCOUNT },
    ]);
    await succeeded('balance', IBAN, ...of);
    for (const args of [['balance'], ['export', '--format', 'csv', '--file', '-']]) {
      const [verb = '', ...options] = args;
      const error = readError(await read(verb, SAVINGS_IBAN, ...options, ...of, '--json'));
      expect(error).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
      expect(error.next).toEqual([
        ['psd2', 'consent', 'request', '--customer', 'one', '--account', SAVINGS_IBAN],
      ]);
    }
    const byId = readError(await read('balance', SAVINGS, ...of, '--json'));
    expect(byId.next).toEqual([['psd2', 'consent', 'request', '--customer', 'one']]);
  });

  it('whose consent is for less is told which consent is missing', async () => {
    await consent(operator, 'less', '--account', IBAN, '--balances');
    await succeeded('balance', ACCOUNT, '--customer', 'less');
    const error = readError(await read('transactions', ACCOUNT, '--customer', 'less', '--json'));
    expect(error).toMatchObject({ code: 'not_logged_in', exitCode: 4, httpStatus: null });
    expect(error.message).toContain('does not cover transactions');
    expect(error.next).toEqual([['psd2', 'consent', 'request', '--customer', 'less']]);
    await consent(operator, 'list', '--list-only');
    for (const verb of ['balance', 'transactions']) {
      const refused = readError(await read(verb, ACCOUNT, '--customer', 'list', '--json'));
      expect(refused).toMatchObject({ code: 'not_logged_in', exitCode: 4, httpStatus: null });
    }
  });

  it('without a consent is not read', async () => {
    const error = readError(await read('balance', IBAN, '--customer', 'nobody', '--json'));
    expect(error).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
    expect(error.next).toEqual([['psd2', 'consent', 'request', '--customer', 'nobody']]);
  });
});
