import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay, type IsoDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { runIn } from '../command.ts';
import { useOperatorHere } from '../operator.ts';

const operator = useOperatorHere();
const folder = temporaryFolder();
const [ACCOUNT, SAVINGS, CARD] = ['0010482620', '0010482638', '0000093017'];
const IBAN = 'IT89F0999001600000010482620';
const ROW = z.looseObject({
  ...{ index: z.string(), status: z.string(), bookingDate: z.nullable(z.string()), amount: z.string() },
});
type Row = z.infer<typeof ROW>;

let anna: string;
let today: IsoDate;
const daysAgo = (days: number) => addDays(today, -days);

beforeAll(async () => {
  anna = await operator.logIn('anna');
  today = bankDay(operator.bank.clock.now());
});

const table = async (...words: string[]) => (await operator.run(words, { format: 'table' })).printed();
const rows = (...words: string[]) =>
  operator.json(z.array(ROW), ['accounts', 'transactions', ACCOUNT, ...words]);
const audited = () => operator.json(z.array(z.unknown()), ['audit']);
const wrong = (message: string, context = {}) => new Psd2Error('usage', message, context);
const NO_FILE = wrong('The file for the document is missing', { hint: 'Add --file <path>.' });
/** An amount as a table has it: without zeros at the end that the currency does not need. */
const short = (amount: string) => amount.replace(/(\.\d\d)0+$/, '$1');

it('psd2 accounts list prints the accounts of the customer', async () => {
  const accounts = [
    [ACCOUNT, IBAN, 'EUR', 'Conto di casa', 'AZIM', 'CONTO CORRENTE'],
    [SAVINGS, 'IT31P0999001600000010482638', 'EUR', 'Risparmi', '0650', 'CONTO RISPARMIO'],
    [CARD, IBAN, 'EUR', null, 'CA30', 'CARTA DI CREDITO'],
  ] as const;
  expect(await operator.json(z.unknown(), ['accounts', 'list'])).toEqual(
    accounts.map(([productId, iban, currency, name, productCode, productDescription]) => ({
      ...{ accountId: productId, productId, iban, currency, name, productCode, productDescription },
    })),
  );
  const lines = accounts.map(([id, iban, currency, name, , type]) =>
    [id, iban, currency, name, type].join('\t'),
  );
  expect(await table('accounts', 'list')).toBe(`${lines.join('\n')}\n`);
  const csv = (await operator.run(['accounts', 'list'], { format: 'csv' })).printed();
  expect(csv.split('\n')[0]).toBe(
    'accountId,productId,iban,currency,name,productCode,productDescription,status,card,bban,maskedPan',
  );
});

describe("the bank's own data", () => {
  const account = { accountId: ACCOUNT, product: { code: 'AZIM', description: 'CONTO CORRENTE' } };
  const rest = { currency: 'EUR', iban: IBAN, name: 'Conto di casa' };

  it('of an account is printed as the bank gives it', async () => {
    expect(await operator.json(z.unknown(), ['accounts', 'show', ACCOUNT])).toEqual({ ...account, ...rest });
    expect(await table('accounts', 'show', ACCOUNT)).toBe(
      `accountId\t${ACCOUNT}\nproduct.code\tAZIM\nproduct.description\tCONTO CORRENTE\ncurrency\tEUR\niban\t${IBAN}\nname\tConto di casa\n`,
    );
  });

  it('of all products is printed as the bank gives it', async () => {
    const [savings, card] = [{ iban: 'IT31P0999001600000010482638' }, { name: '' }];
    expect(await operator.json(z.unknown(), ['products', 'list'])).toMatchObject({
      products: [
        { ...account, ...rest },
        { accountId: SAVINGS, ...savings },
        { accountId: CARD, ...card },
      ],
    });
    expect((await table('products', 'list')).split('\n').slice(0, 2)).toEqual([
      `products.0.accountId\t${ACCOUNT}`,
      'products.0.product.code\tAZIM',
    ]);
  });
});

describe('psd2 accounts transactions', () => {
  it('prints only what was asked for', async () => {
    const from = ['--from', daysAgo(60)];
    const all = await rows(...from);
    expect(all.length).toBeGreaterThan(5);
    const booked = all.filter(({ status }) => status === 'booked');
    const without = (list: Row[]) => list.map(({ index: _, ...row }) => row);
    expect(without(await rows(...from, '--booked'))).toEqual(without(booked));
    const pending = all.filter(({ status }) => status === 'pending');
    expect(without(await rows(...from, '--pending'))).toEqual(without(pending));
    expect(await rows(...from, '--limit', '3')).toEqual(all.slice(0, 3));
    expect(await rows(...from, '--limit', '1000')).toEqual(all);
    const until = booked.filter(({ bookingDate }) => (bookingDate ?? '') <= daysAgo(30));
    expect(without(await rows(...from, '--to', daysAgo(30)))).toEqual(without(until));
  });

  it('says that there are none, and of which days', async () => {
    const [from, to] = [daysAgo(2), daysAgo(1)];
    for (const [range, text] of [
      [['--from', from, '--to', to], ` from ${from} to ${to}`],
      [['--from', from], ` from ${from}`],
      [['--to', to], ` to ${to}`],
      [[], ''],
    ] as const) {
      const words = ['accounts', 'transactions', SAVINGS, '--pending', ...range];
      const { printed, said } = await operator.run(words, { format: 'table' });
      expect([printed(), said()]).toEqual(['', `There are no transactions${text}.\n`]);
    }
  });

  const CHART_ALONE = wrong('--chart always shows all booked transactions in the range', {
    hint: 'Leave out --limit, --pending, --export, --file and --raw.',
  });
  const DOCUMENT_ALONE = wrong("--export always saves the bank's whole document", {
    hint: 'Leave out --limit, --booked and --pending.',
  });
  const PDF = ['--export', 'pdf', '--file', 'x.pdf'];
  const BACKWARDS = new Psd2Error('invalid_date', '--from 2026-02-01 is after --to 2026-01-31');
  const BOTH = wrong('--booked and --pending cannot be used together', {
    hint: 'Leave out both to see both.',
  });
  it.each([
    [['--booked', '--pending'], BOTH],
    [['--file', 'x.pdf'], wrong('--file needs --export', { hint: 'Add --export xls or --export pdf.' })],
    [[...PDF, '--limit', '1'], DOCUMENT_ALONE],
    [[...PDF, '--booked'], DOCUMENT_ALONE],
    [[...PDF, '--pending'], DOCUMENT_ALONE],
    [['--export', 'pdf'], NO_FILE],
    [['--export', 'pdf', '--file', ''], NO_FILE],
    [['--limit', '0'], wrong('--limit "0" is not a whole number from 1')],
    [['--from', '2026-02-01', '--to', '2026-01-31'], BACKWARDS],
    [['--chart', '--limit', '1'], CHART_ALONE],
    [['--chart', '--pending'], CHART_ALONE],
    [['--chart', '--export', 'xls'], CHART_ALONE],
    [['--chart', '--file', 'x'], CHART_ALONE],
  ])('%j is wrong use', async (words, error) => {
    await expect(operator.run(['accounts', 'transactions', ACCOUNT, ...words])).rejects.toThrow(error);
  });

  it("saves the bank's document, and notes that in the audit log", async () => {
    const file = join(folder, 'list.pdf');
    const words = ['accounts', 'transactions', ACCOUNT, '--export', 'pdf', '--file', file];
    const command = await operator.run(words);
    const { size } = statSync(file);
    expect(readFileSync(file, 'latin1').slice(0, 5)).toBe('%PDF-');
    expect(JSON.parse(command.printed())).toEqual({ file, bytes: size });
    expect(command.said()).toBe(`Saved ${size} bytes to ${file}\n`);
    expect(await audited()).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `pdf ${ACCOUNT}` }),
    );
    const shown = operator.run([...words.slice(0, -1), '-'], { columns: 80 });
    await expect(shown).rejects.toThrow('psd2 does not write it to a terminal');
  });
});

it('psd2 accounts transactions --chart prints the balance of each day, and draws it', async () => {
  const money = z.strictObject({ amount: z.string(), currency: z.literal('EUR') });
  const CHART = z.strictObject({
    ...{ productId: z.literal(ACCOUNT), currency: z.literal('EUR'), from: z.string(), to: z.string() },
    ...{ opening: money, closing: money },
    balances: z.array(z.strictObject({ date: z.string(), balance: z.string() })),
    months: z.array(z.strictObject({ month: z.string(), in: z.string(), out: z.string(), net: z.string() })),
    ...{ noBalance: z.null(), creditLimitIncluded: z.null() },
    ...{ complete: z.literal(true), certainFrom: z.null() },
  });
  const words = ['accounts', 'transactions', ACCOUNT, '--chart', '--from', daysAgo(40)];
  const chart = await operator.json(CHART, words);
  expect([chart.from, chart.to, chart.balances.length]).toEqual([daysAgo(40), today, 41]);
  const last = chart.balances.at(-1);
  expect(last).toEqual({ date: today, balance: chart.closing.amount });
  const lines = (await table(...words)).split('\n');
  expect(lines[0]).toBe(`Balance in EUR: ${chart.balances[0]?.balance} to ${last?.balance}`);
  // A pipe has no block characters, and the width of a common terminal.
  expect(lines.every((line) => /^[ -~]{0,80}$/.test(line))).toBe(true);
});

describe('psd2 accounts export', () => {
  const exporting = (...words: string[]) => operator.run(['accounts', 'export', ...words]);
  const FILE = [ACCOUNT, '--file', 'x'];
  const NOT_THEIRS = wrong('The customer has no account 0000000001', {
    hint: `The customer has ${ACCOUNT} (${IBAN}), ${SAVINGS} (IT31P0999001600000010482638), ${CARD} (${IBAN}). See the accounts with:`,
    next: [['accounts', 'list']],
  });
  const NO_MONTH = wrong('--month needs --all-customers', {
    hint: 'For one account, name the first and the last day with --from and --to.',
  });
  const NO_OUT = wrong('--all-customers needs --out', { hint: 'It is the folder for the files.' });
  it.each<[string[], Psd2Error]>([
    [[], wrong('The account is missing', { next: [['accounts', 'list']] })],
    [[ACCOUNT, '--file', ''], NO_FILE],
    [[...FILE, '--month', '2026-10'], NO_MONTH],
    [
      [...FILE, '--out', 'y'],
      wrong('--out needs --all-customers', { hint: 'The file of one account goes to --file.' }),
    ],
    [[...FILE, '--month', '2026-10', '--out', 'y'], NO_MONTH],
    [[...FILE, '--sync-folder', 'y'], wrong('--sync-folder needs --from-store')],
    [[...FILE, '--from-store', '--sync-folder', ''], wrong('The value of --sync-folder is empty')],
    [['0000000001', '--file', 'x'], NOT_THEIRS],
    [[ACCOUNT, '--all-customers'], wrong('--all-customers and the account cannot be used together')],
    ...['--file', '--from', '--to'].map((option): [string[], Psd2Error] => [
      ['--all-customers', option, 'x'],
      wrong(`--all-customers and ${option} cannot be used together`),
    ]),
    [['--all-customers'], wrong('--all-customers needs --month', { hint: 'For example 2026-10.' })],
    [['--all-customers', '--month', '2026-10'], NO_OUT],
    [['--all-customers', '--month', '2026-10', '--out', ''], NO_OUT],
  ])('%j is wrong use', async (words, error) => {
    const place = mkdtempSync(join(folder, 'refused-'));
    const own = words.map((word) => (word === 'x' || word === 'y' ? join(place, word) : word));
    await expect(exporting(...own, '--format', 'csv')).rejects.toThrow(error);
    expect(readdirSync(place)).toEqual([]);
  });

  it('--all-customers beside a customer who was named is refused; PSD2_CUSTOMER is only a default', async () => {
    const { context } = operator.open({ globals: { customer: anna } });
    const given = (source: 'option' | 'environment') => {
      const words = ['--all-customers', '--out', 'y', '--format', 'csv'];
      return runIn({ ...context, sourceOf: () => source }, 'accounts', 'export', ...words);
    };
    await expect(given('option')).rejects.toThrow(
      wrong('--customer and --all-customers cannot be used together', { hint: 'Leave one of them out.' }),
    );
    await expect(given('environment')).rejects.toMatchObject({ message: '--all-customers needs --month' });
  });

  it.each([
    ['csv', /^id,/],
    ['ofx', /^<\?xml [^>]*>\s*<\?OFX |^OFXHEADER/],
    ['camt053', /^<\?xml [^>]*>\s*<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt\.053\./],
  ])('as %s writes the booked transactions of the range, and says how many', async (format, begins) => {
    const file = join(folder, `bookings.${format}`);
    const range = ['--from', daysAgo(40), '--to', daysAgo(10)];
    const booked = await rows(...range, '--booked');
    const { printed, said } = await exporting(ACCOUNT, '--format', format, '--file', file, ...range);
    const { size } = statSync(file);
    expect(JSON.parse(printed())).toEqual({ file, bytes: size });
    expect(said()).toBe(
      `Saved ${size} bytes to ${file}\n${booked.length} booked transactions from ${daysAgo(40)} to ${daysAgo(10)}\n`,
    );
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(begins);
    for (const { amount } of booked) expect(text).toContain(short(amount).replace('-', ''));
    expect(await audited()).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `${format} ${ACCOUNT}` }),
    );
  });
});

it.each<[string, string[], RegExp]>([
  ['export', ['--format', 'csv'], /^id,/],
  ['export', ['--format', 'csv', '--file', '-'], /^id,/],
  ['report', ['--file', '-'], /^<!doctype html>/i],
])('psd2 accounts %s %j prints the document, also at a terminal: it is text', async (verb, more, begins) => {
  for (const columns of [undefined, 80]) {
    const bytes: string[] = [];
    const printBytes = (some: Uint8Array) => void bytes.push(Buffer.from(some).toString('utf8'));
    const words = ['accounts', verb, ACCOUNT, ...more];
    const { printed } = await operator.run(words, {
      ...(columns !== undefined && { columns }),
      changes: () => ({ printBytes }),
    });
    expect([bytes.length, printed()]).toEqual([1, '']);
    expect(bytes[0]).toMatch(begins);
  }
});

describe('psd2 accounts report', () => {
  it('writes a page, and notes that in the audit log', async () => {
    const file = join(folder, 'report.html');
    const words = ['accounts', 'report', ACCOUNT, '--file', file, '--from', daysAgo(40)];
    const { printed } = await operator.run(words);
    expect(JSON.parse(printed())).toEqual({ file, bytes: statSync(file).size });
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/i);
    expect(await audited()).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `report ${ACCOUNT}` }),
    );
  });

  it('to a folder is refused before the bank is asked', async () => {
    const file = join(folder, 'a-folder');
    mkdirSync(file);
    await expect(operator.run(['accounts', 'report', ACCOUNT, '--file', file])).rejects.toThrow(
      new Psd2Error('usage', `${file} is a folder, but the document needs a file`, {
        hint: 'Give the path of a file, or - for standard output.',
      }),
    );
  });
});

it.each(['balance', 'show', 'transactions'])('accounts %s refuses what is no product id', async (verb) => {
  const code = 'invalid_product_id';
  await expect(operator.run(['accounts', verb, '../1'])).rejects.toMatchObject({ code });
});
