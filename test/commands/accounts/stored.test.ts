import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportAll } from '../../../src/commands/accounts/export-all.ts';
import { gapsIn, storedBalance, storedPart, storedStatement } from '../../../src/commands/accounts/stored.ts';
import type { Context } from '../../../src/commands/context.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { isDecimal } from '../../../src/domain/decimal.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import type { Doubt } from '../../../src/store/ports/read-results.ts';
import type {
  SyncedAccount,
  SyncedBalance,
  SyncedBooking,
  SyncedBookings,
  SyncedData,
} from '../../../src/store/ports/synced.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { keepConsent, storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

// What syncs have stored, in the memory of the test.

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const A = parseProductId('0000012345');
const day = (text: string) => parseDate('--date', text);
const decimal = (text: string) => (isDecimal(text) ? text : expect.unreachable(text));
const days = (from: string, to: string) => ({ from: day(from), to: day(to) });
const OCTOBER = days('2026-10-01', '2026-10-31');

const account = (productId: string, more: Partial<SyncedAccount> = {}): SyncedAccount => ({
  ...{ productId, iban: null, currency: 'EUR', name: null, productCode: null, productDescription: null },
  ...more,
});
const row = (id: string, date: string | null, amount: string, more: Partial<SyncedBooking> = {}) => ({
  ...{ id, bookingDate: date === null ? null : day(date), valueDate: null, amount: decimal(amount) },
  ...{ currency: null, description: '', details: '', code: null, transferReference: null, feeCharge: null },
  ...more,
});

interface Stored extends Partial<SyncedBookings> {
  account: SyncedAccount;
  read?: Partial<SyncedBalance>;
}

const NO_BALANCE: SyncedBalance = {
  ...{ productId: '', accountBalance: null, availableBalance: null, accountAvailability: null },
  ...{ accountAvailableCredit: null, asOf: null },
};

/** Data with these accounts of customers. An account without days was never read to its end. */
function dataOf(stored: Record<string, Stored[]>): SyncedData {
  const find = (customerId: string, productId: string) =>
    (stored[customerId] ?? []).find((each) => each.account.productId === productId);
  return {
    customers: async () => Object.keys(stored),
    accounts: async (customerId) => (stored[customerId] ?? []).map((each) => each.account),
    balance: async (customerId, productId) => {
      const { read } = find(customerId, productId) ?? {};
      return read && { ...NO_BALANCE, productId, ...read };
    },
    days: async (customerId, productId) => {
      const { from, through } = find(customerId, productId) ?? {};
      return from && through && { from, through };
    },
    booked: async (customerId, productId) => {
      const found: Partial<Stored> = find(customerId, productId) ?? {};
      const { from, through, rows = [], balance = null, difference = null, contradictions = [] } = found;
      return from && through && { from, through, rows, balance, difference, contradictions };
    },
  };
}

const READ = { from: day('2026-09-01'), through: day('2026-11-21') };
const euros = (amount: string) => ({ amount: decimal(amount), currency: 'EUR' });
const open = () => openCommand(newConfigFolder(temporary), NOW, { globals: { customer: '1' } });

describe('the statement of stored days', () => {
  const statement = (stored: Omit<Stored, 'account'>, of: Partial<SyncedAccount> = {}, asked = {}) => {
    const data = dataOf({ '1': [{ account: account(A, of), ...READ, ...stored }] });
    return storedStatement(open().context, data, A, { ...OCTOBER, ...asked });
  };

  it('has the rows of the days, and the balances around them', async () => {
    const [first, second] = [row('a', '2026-10-01', '-1.50'), row('b', '2026-10-20', '30.00')];
    const rows = [row('c', '2026-11-02', '-5.00'), second, first];
    const of = { name: 'Current', iban: 'DE89370400440532013000', productCode: 'K1' };
    const { history, createdAt, ...rest } = await statement(
      { rows, balance: euros('100.00') },
      { ...of, productDescription: 'CONTO' },
    );
    expect(rest).toEqual({
      ...{ ...of, productId: A, currency: 'EUR', noBalance: null, certainFrom: null, doubt: null },
      ...{ foreign: [], contradictions: [], creditLimitIncluded: null },
    });
    expect(createdAt).toBe('2026-11-21T13:00:00+01:00');
    expect(history).toMatchObject({ ...OCTOBER, opening: '76.50', closing: '105.00' });
    expect(history.bookings.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  const FRANCS = { amount: decimal('1.00'), currency: 'CHF' };
  it.each<[string, Partial<SyncedAccount>, Omit<Stored, 'account'>, string, string | null]>([
    ['of the account', { currency: 'USD', name: null, productDescription: 'CONTO' }, {}, 'USD', 'CONTO'],
    ['of the balance', { currency: '' }, { balance: FRANCS }, 'CHF', null],
    ['of most accounts', { currency: '' }, { balance: null }, 'EUR', null],
  ])('is in the currency %s', async (_, of, stored, currency, name) => {
    expect(await statement(stored, of)).toMatchObject({ currency, name });
  });

  it('takes a row without a booking day by its value day, and a row in the currency of the account', async () => {
    const rows = [row('a', null, '1.00', { valueDate: day('2026-10-05') })];
    const { history } = await statement({ rows });
    expect(history.bookings).toMatchObject([{ id: 'a', day: '2026-10-05' }]);
    const both = [row('b', '2026-10-06', '1.00', { valueDate: day('2026-10-09'), currency: 'EUR' })];
    expect((await statement({ rows: both })).history.bookings).toMatchObject([{ day: '2026-10-06' }]);
  });

  it.each([['has no date', row('a', null, '1.00')]])('is refused if a row %s', async (what, wrong) => {
    expect(await failureOf(statement({ rows: [wrong] }))).toEqual({
      ...{ code: 'bank_answer', exitCode: 11, message: `The stored transaction a of ${A} ${what}` },
      hint: 'The bank gave neither a booking day nor a value day. See it in the rows of the sync.',
    });
  });

  const rows = [row('a', '2026-10-05', '1.00')];
  const known = { rows, balance: euros('100.00') };
  const DIFFERS = "the bank's balance differs by -3.50 from the stored transactions";
  const UNKNOWN = 'no sync could say which transactions the balance has';
  it.each<[string, Omit<Stored, 'account'>, string | null]>([
    ['if the bank has another one', { ...known, difference: decimal('-3.50') }, DIFFERS],
    ['if the bank refused it', { rows, read: { reason: 'The bank failed' } }, 'The bank failed'],
    ['if its day is not known', { rows, read: { accountBalance: euros('100.00') } }, UNKNOWN],
    ['if the bank has none', { rows, read: {} }, null],
  ])('has no balances %s, and says why', async (_, stored, noBalance) => {
    const found = await statement(stored);
    expect(found).toMatchObject({ noBalance, history: { opening: null, closing: null, balances: [] } });
  });

  it.each(['0', '0.00', '-0.00'])('has its balances if the difference of the bank is %s', async (text) => {
    const found = await statement({ ...known, difference: decimal(text) });
    expect(found).toMatchObject({ noBalance: null, history: { closing: '100.00' } });
  });

  it.each<[string, string, string, string[]]>([
    ['in these days', '2026-09-01', '2026-10-01', ['1 is not 2']],
    ['in other days', '2026-09-01', '2026-09-30', []],
    ['in later days', '2026-11-01', '2026-11-21', []],
  ])('has what a statement of the bank %s contradicts', async (_, from, through, contradictions) => {
    const stored = {
      ...known,
      contradictions: [{ says: '1 is not 2', from: day(from), through: day(through) }],
    };
    expect(await statement(stored)).toMatchObject({ contradictions });
  });

  it('says whether a credit line is in its balances', async () => {
    const read = { accountBalance: euros('100.00'), creditLimitIncluded: { accountBalance: true } };
    expect(await statement({ ...known, read })).toMatchObject({ creditLimitIncluded: true });
  });

  const doubt = { balanced: null, difference: null, complete: true, certainFrom: null, message: 'why' };
  const partly = { ...doubt, complete: false, certainFrom: READ.from };
  const before = { ...partly, certainFrom: day('2026-08-01') };
  const late = { ...partly, certainFrom: day('2026-10-05') };
  it.each<[string, Omit<Doubt, 'at' | 'productId'>, object, string | null, boolean, boolean]>([
    ['is not certain', doubt, {}, null, false, true],
    ['may lack a row', { ...doubt, balanced: false }, {}, null, true, false],
    ['lacks days', partly, { from: day('2026-08-01') }, READ.from, false, true],
    ['begins with days that are certain', partly, { from: READ.from }, null, false, true],
    ['lacks days that were thought certain', late, {}, late.certainFrom, false, true],
    [
      'is certain from a day before the store begins',
      before,
      { from: day('2026-08-15') },
      READ.from,
      false,
      true,
    ],
    ['has all that is certain', partly, { from: undefined }, READ.from, false, true],
  ])('says what the last sync has found: it %s', async (_, found, asked, certainFrom, mayLackRows, warns) => {
    const { context, said } = open();
    const { results } = await context.store();
    const doubts = [{ productId: A, ...found }];
    await results.add([{ customerId: '1', at: NOW, failures: [], skipped: [], doubts }]);
    const data = dataOf({ '1': [{ account: account(A), ...READ, ...known }] });
    const written = await storedStatement(context, data, A, { ...OCTOBER, ...asked });
    expect(written).toMatchObject({ certainFrom, doubt: { message: 'why', mayLackRows } });
    expect(said().includes(`Not certain of ${A}: why.`)).toBe(warns);
  });

  it('of an account whose transactions no sync has stored is refused', async () => {
    const data = dataOf({ '1': [{ account: account(A) }] });
    const nothing = {
      ...{ code: 'usage', exitCode: 2, message: `No sync has stored the transactions of ${A}` },
      hint: 'Run a sync first, or leave out --from-store.',
    };
    const gone: SyncedData = { ...data, days: async () => READ };
    for (const each of [data, gone])
      expect(await failureOf(storedStatement(open().context, each, A, OCTOBER))).toEqual(nothing);
  });
});

it('a balance that no sync has stored is refused, and that of another account is not taken', async () => {
  const data = dataOf({ '1': [{ account: account('B') }, { account: account(A) }] });
  const asked: string[] = [];
  const balance: SyncedData['balance'] = async (customerId, productId) => {
    asked.push(`${customerId} ${productId}`);
    return undefined;
  };
  expect(await failureOf(storedBalance(open().context, { ...data, balance }, A))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: `No sync has stored the balance of ${A}` },
    hint: 'Run a sync first, or leave out --from-store.',
  });
  expect(asked).toEqual([`1 ${A}`]);
});

describe('of the days from the 10th to the 20th', () => {
  const asked = days('2026-10-10', '2026-10-20');
  const october = (text: string) => {
    const [from, to] = text.split('-');
    return days(`2026-10-${from}`, `2026-10-${to}`);
  };

  it.each<[stored: string, part: string | null, ...gaps: string[]]>([
    ['01-25', '10-20'],
    ['10-21', '10-20'],
    // The last day of a sync may have got more rows.
    ['10-20', '10-20', '20-20'],
    ['11-19', '11-19', '10-10', '19-20'],
    ['15-25', '15-20', '10-14'],
    ['01-15', '10-15', '15-20'],
    ['20-25', '20-20', '10-19'],
    ['21-25', null, '10-20'],
    ['01-10', '10-10', '10-20'],
    ['01-11', '10-11', '11-20'],
    ['01-09', null, '10-20'],
  ])('a store of %s has a part, and gaps', (stored, part, ...gaps) => {
    const { from, to: through } = october(stored);
    expect(storedPart({ from, through }, asked)).toEqual(part === null ? undefined : october(part));
    expect(gapsIn({ from, through }, asked)).toEqual(gaps.map(october));
  });

  it('an account that was never read has none', () => {
    expect([storedPart(undefined, asked), gapsIn(undefined, asked)]).toEqual([undefined, [asked]]);
  });
});

describe('a month of all accounts', () => {
  async function exporting(
    stored: Record<string, Stored[]>,
    {
      month = '2026-10',
      now = NOW,
      known = Object.keys(stored),
      consented = [] as string[],
      tried = [] as string[],
      needsFolder = true,
      format = 'ofx' as 'csv' | 'ofx',
    } = {},
  ) {
    const { context, printed } = openCommand(newConfigFolder(temporary), now, { format: 'table' });
    for (const customer of known) await storeLogin(context, customer);
    for (const customer of consented) await keepConsent(context, customer, 'co-1');
    const failures = [{ productId: null, code: 'not_logged_in', message: 'Nobody' }];
    const { results } = await context.store();
    await results.add(tried.map((customerId) => ({ customerId, at: NOW, failures, skipped: [] })));
    const wholeStore: Context['wholeStore'] = async () => ({ ...(await context.wholeStore()), needsFolder });
    const out = mkdtempSync(join(temporary, 'out-'));
    const work = exportAll({ ...context, wholeStore }, dataOf(stored), { month, format, out });
    const failure = await work.then(() => null).catch(() => failureOf(work));
    const manifest = join(out, 'manifest.json');
    const { accounts } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
    return { accounts, failure, out, printed: printed() };
  }
  const read = (id: string, more: Partial<Stored> = {}): Stored => ({
    ...{ account: account(id), ...READ, rows: [row('a', '2026-10-05', '1.00')], balance: euros('5.00') },
    ...more,
  });
  const ids = (accounts: { customerId: string; productId: string | null }[]) =>
    accounts.map(({ customerId, productId }) => `${customerId} ${productId}`);

  it('has the accounts of all customers, by customer', async () => {
    const stored = { '3': [read('C')], '1': [read('B'), read('A')] };
    const { accounts, failure, printed } = await exporting(stored, { format: 'csv' });
    expect([ids(accounts), failure]).toEqual([['1 B', '1 A', '3 C'], null]);
    expect(accounts[0].file).toBe(join('1', 'B-2026-10.csv'));
    expect(printed).toBe('Month\t2026-10\nFormat\tcsv\nAccounts\t3\nFiles\t3\nRows\t3\nWith gaps\t0\n');
  });

  it('goes on after an account that the format cannot carry, and counts what has a file and what has gaps', async () => {
    const [A, B, C] = [read('A', { balance: null }), read('B'), read('C', { from: day('2026-10-10') })];
    const { accounts, failure, printed, out } = await exporting({
      '1': [A, B, C, { account: account('D') }],
    });
    expect(accounts).toMatchObject([
      {
        ...{ customerId: '1', productId: 'A', iban: null, file: null, rows: 0, days: 31, gaps: [] },
        ...{ sha256: null, problem: 'There is no balance for A, but ofx needs one' },
      },
      { productId: 'B', file: join('1', 'B-2026-10.ofx'), rows: 1, days: 31, problem: null },
      { productId: 'C', rows: 0, days: 22, gaps: [days('2026-10-01', '2026-10-09')], problem: null },
      { productId: 'D', file: null, days: 0, problem: 'no sync has stored a day of the month' },
    ]);
    expect(printed).toContain('Accounts\t4\nFiles\t2\nRows\t1\nWith gaps\t2\n');
    expect(failure).toEqual({
      ...{ code: 'needs_attention', exitCode: 12, message: '3 of 4 accounts are not complete for 2026-10' },
      hint: `The manifest in ${out} has the missing days. See what syncs could not read with:`,
      next: [['sync', 'status', '--failed']],
    });
  });

  it('names first what the bank contradicts, then what the format leaves out', async () => {
    const contradictions = [{ says: '1 is not 2', ...{ from: OCTOBER.from, through: OCTOBER.to } }];
    const rows = [row('a', '2026-10-05', '1.00'), row('b', '2026-10-06', '2.00', { currency: 'USD' })];
    const problems = async (more: Partial<Stored>) =>
      (await exporting({ '1': [read('A', { rows, ...more })] })).accounts[0]?.problem;
    expect([await problems({}), await problems({ contradictions })]).toEqual([
      expect.stringContaining('OFX'),
      '1 is not 2',
    ]);
  });

  it.each([
    ['csv', 2],
    ['ofx', 1],
  ] as const)('counts the rows that a file of the format %s has: %i', async (format, rows) => {
    const foreign = { ...row('b', '2026-10-06', '2.00'), currency: 'USD' };
    const stored = { '1': [read('A', { rows: [row('a', '2026-10-05', '1.00'), foreign] })] };
    expect((await exporting(stored, { format })).accounts).toMatchObject([{ rows }]);
  });

  it('leaves out customers of other profiles in a folder, and has all of a database', async () => {
    const stored = { '1': [read('A')], '2': [read('B')] };
    const accountsWith = async (needsFolder: boolean) =>
      ids((await exporting(stored, { known: ['2'], needsFolder })).accounts);
    expect([await accountsWith(true), await accountsWith(false)]).toEqual([['2 B'], ['1 A', '2 B']]);
  });

  it.each([
    ['who has logged in', { known: ['9'] }],
    ['who has consented', { known: [], consented: ['9'] }],
    ['whom a sync has tried to read', { known: [], tried: ['9'] }],
  ])('has a customer %s, with what a folder has of them or nothing', async (_, how) => {
    const accountsWith = async (stored: Record<string, Stored[]>) =>
      ids((await exporting(stored, how)).accounts);
    expect(await accountsWith({})).toEqual(['9 null']);
    expect(await accountsWith({ '1': [read('A')], '9': [read('B')] })).toEqual(['9 B']);
  });

  it('lists a customer whom a sync has only tried to read, and ends with another failure of an account', async () => {
    const { accounts, failure } = await exporting({}, { tried: ['9'] });
    expect(failure?.message).toBe('1 of 1 accounts are not complete for 2026-10');
    expect(accounts).toMatchObject([{ customerId: '9', productId: null }]);
    const dateless = await exporting({ '1': [read('A', { rows: [row('a', null, '1.00')] })] });
    expect(dateless.failure?.message).toBe('The stored transaction a of A has no date');
  });

  it.each(['2026-11-01T00:00:00.000Z', '2026-11-01T23:30:00.000Z', '2026-11-30T12:00:00.000Z'])(
    'may be the month that has begun: November at %s',
    async (now) => {
      const { accounts } = await exporting({ '1': [read('A')] }, { month: '2026-11', now });
      expect(accounts).toMatchObject([{ productId: 'A', file: join('1', 'A-2026-11.ofx') }]);
    },
  );

  const NO_MONTH = { hint: 'For example 2026-10.' };
  it.each<[string, string, object]>([
    ['2026-12', 'The month 2026-12 has not begun yet', {}],
    ...['2026-00', '2026-13', '2026-1', '2026-100', '2026-10-01', '12026-10'].map(
      (month): [string, string, object] => [month, `--month "${month}" is not a month`, NO_MONTH],
    ),
  ])('is not %s', async (month, message, advice) => {
    const { failure } = await exporting({}, { month });
    expect(failure).toEqual({ code: 'usage', exitCode: 2, message, ...advice });
  });
});
