import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
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
});

describe('what the bank says of an account', () => {
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
});
