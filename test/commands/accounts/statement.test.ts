import { describe, expect, it } from 'vitest';
import type { Accounts, TransactionPage } from '../../../src/bank/ports/bank.ts';
import { assertWhole, fetchStatement } from '../../../src/commands/accounts/statement.ts';
import { writeExport } from '../../../src/commands/accounts/write-export.ts';
import { accountHistory } from '../../../src/domain/account-history.ts';
import { addDays, parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { Statement } from '../../../src/statements/statement.ts';
import { answeringBank } from '../../bank/answering-bank.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { openCommand } from '../command.ts';
import { differing } from '../named-bank.ts';
import { payerAt, TODAY } from '../payer-here.ts';

const temporary = temporaryFolder();
const PRODUCT = parseProductId('0000012345');
const NOW = '2026-11-21T12:00:00.000Z';
const day = (text: string) => parseDate('--date', text);
/** A day before today, as a day or as undefined. */
const ago = (days: number | undefined) => (days === undefined ? undefined : addDays(TODAY, -days));

/** A booked transaction, as the bank sends it. */
const booked = (date: string, amount: string, currency = 'EUR') => ({
  ...{ index: 'A1', date },
  amountTransaction: { amount, currency },
  dateAccountingCurrency: `${date.replaceAll('-', '')}T00:00:00`,
});

type Row = Omit<ReturnType<typeof booked>, 'amountTransaction'> & { amountTransaction: object };

/** Reads a statement. @param balances the balance at each call; the last one stays */
async function read(
  rows: Row[],
  balances: (string | null)[],
  range: Partial<Parameters<typeof fetchStatement>[2]> = {},
) {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  let reads = 0;
  const dataOf = ({ pathname, searchParams }: URL) => {
    if (pathname.includes('/transactions/')) {
      reads += 1;
      const until = searchParams.get('dateTo')?.split('/').reverse().join('-');
      const listed = rows.filter(({ date }) => until === undefined || date <= until);
      return { transactionsAccounting: listed, numberTransactionsAccounting: listed.length };
    }
    if (!pathname.includes('/balance/')) return { accounts: [{ accountId: PRODUCT, currency: 'EUR' }] };
    const amount = balances.length > 1 ? balances.shift() : balances[0];
    return amount
      ? { accountBalance: { amount, currency: 'EUR' } }
      : { availableBalance: { amount: '1.00' } };
  };
  const bank = answeringBank((url) => ({ data: dataOf(url) }));
  const statement = await fetchStatement(
    { world: context.world, terminal: context.terminal, bank: async () => ({ bank, customerId: '1000001' }) },
    PRODUCT,
    { from: undefined, to: undefined, ...range },
  );
  return { ...statement.history, foreign: statement.foreign, reads };
}

it('if the balance changes while psd2 reads a statement, it reads again, so that both are of one moment', async () => {
  const rows = [booked('2026-11-20', '-1.00')];
  expect(await read(rows, ['10.00', '9.00', '9.00'])).toMatchObject({
    ...{ reads: 2, opening: '10.00', closing: '9.00' },
  });
  expect(await read(rows, ['5.00', '4.00', '3.00', '3.00'])).toMatchObject({ reads: 3, closing: '3.00' });
  await expect(read(rows, ['5.00', '4.00', '3.00', '2.00'])).rejects.toMatchObject({ code: 'list_changed' });
});

it('a row in another currency is beside the history, in which it does not count', async () => {
  const rows = [booked('2026-11-20', '-1.00', 'USD'), booked('2026-11-19', '-2.00')];
  expect(await read(rows, ['9.00'])).toMatchObject({
    ...{ opening: '11.00', closing: '9.00' },
    foreign: [{ day: '2026-11-20', amount: '-1.00', currency: 'USD' }],
  });
});

it('a statement begins with the first row, whatever its currency is', async () => {
  const [own, foreign] = [booked('2026-11-20', '-1.00'), booked('2026-11-18', '-2.00', 'USD')];
  for (const rows of [
    [own, foreign],
    [foreign, own],
  ])
    expect(await read(rows, ['9.00'])).toMatchObject({
      from: '2026-11-18',
      foreign: [{ day: '2026-11-18', currency: 'USD' }],
    });
});

it('a booking day that cannot be read is in no export as the value day, and is said', async () => {
  const row = { ...booked('2026-11-20', '-1.00'), dateLiquidationValue: '20261118T00:00:00' };
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const written = async (dateAccountingCurrency: string) => {
    const rows = [{ ...row, dateAccountingCurrency }];
    const bank = answeringBank(({ pathname }) => ({
      data: pathname.includes('/transactions/')
        ? { transactionsAccounting: rows, numberTransactionsAccounting: 1 }
        : pathname.includes('/balance/')
          ? { accountBalance: { amount: '9.00', currency: 'EUR' } }
          : { accounts: [{ accountId: PRODUCT, currency: 'EUR' }] },
    }));
    const of = { ...context, bank: async () => ({ bank, customerId: '1000001' }) };
    const statement = await fetchStatement(of, PRODUCT, { from: undefined, to: undefined });
    const whole = () => assertWhole(statement, false);
    const [camt, csv] = [await writeExport(statement, 'camt053'), await writeExport(statement, 'csv')];
    return { whole, days: [/<BookgDt>.*<\/BookgDt>/.exec(camt)?.[0], csv.split('\r\n')[1]?.split(',')[2]] };
  };
  const read = await written('20261120T00:00:00');
  expect(read.days).toEqual(['<BookgDt><Dt>2026-11-20</Dt></BookgDt>', '2026-11-20']);
  expect(read.whole).not.toThrow();
  const unread = await written('20261131T00:00:00');
  expect(unread.days).toEqual([undefined, '']);
  expect(unread.whole).toThrow(
    `The booking day (bookingDate) cannot be read: 1 transaction has none of ${PRODUCT}`,
  );
});

it.each([['has no date', { ...booked('2026-11-20', '-1.00'), dateAccountingCurrency: '' }]])(
  'psd2 makes no statement of a transaction that %s',
  async (what, row) => {
    await expect(read([row], ['9.00'])).rejects.toThrow(
      new Psd2Error('bank_answer', `The booked transaction A1 of ${PRODUCT} ${what}`, {
        hint: 'See it with:',
        next: [['accounts', 'transactions', PRODUCT]],
      }),
    );
  },
);

it.each([
  ['csv', '10.00', 'EUR', undefined],
  ['csv', null, 'EUR', undefined],
  ['csv', '10.00', 'X', undefined],
  ['ofx', null, 'EUR', `There is no balance for ${PRODUCT}, but ofx needs one`],
  ['camt053', null, 'EUR', `There is no balance for ${PRODUCT}, but camt053 needs one`],
  ['ofx', '10.00', 'euro', 'ofx does not support the currency "euro"'],
  ['camt053', '10.00', 'EURO', 'camt053 does not support the currency "EURO"'],
  ['camt053', '10.00', 'eur', 'camt053 does not support the currency "eur"'],
] as const)('as %s, with the balance %s in %s: %s', async (format, balance, currency, refusal) => {
  const days = { from: day('2026-11-19'), to: day('2026-11-21') };
  const history = accountHistory([], balance === null ? null : decimalOf(1000), days);
  const statement = {
    ...{
      productId: PRODUCT,
      iban: null,
      currency,
      name: null,
      productCode: null,
      noBalance: null,
      creditLimitIncluded: null,
    },
    ...{ certainFrom: null, doubt: null, foreign: [], contradictions: [], history, createdAt: NOW },
  };
  const written = writeExport(statement, format);
  if (refusal === undefined) expect(await written).toMatch(/^id,/);
  else await expect(written).rejects.toThrow(new Psd2Error('usage', refusal, { hint: 'Use --format csv.' }));
});

it.each<[string, string | undefined, string | undefined, object?]>([
  ['ends today at the latest', undefined, '2026-12-31', { to: '2026-11-21', closing: '7.00' }],
  ['of today alone', '2026-11-21', '2026-11-21', { opening: '8.00', closing: '7.00' }],
  ['of a day in the past alone', '2026-11-20', '2026-11-20', { opening: '10.00', closing: '8.00' }],
  ['without what was booked later', undefined, '2026-11-20', { opening: '10.00', closing: '8.00' }],
  ['cannot begin in the future', '2026-11-22', undefined],
])('a statement %s', async (_, first, last, expected) => {
  const rows = [booked('2026-11-21', '-1.00'), booked('2026-11-20', '-2.00')];
  const range = { ...(first && { from: day(first) }), ...(last && { to: day(last) }) };
  const work = read(rows, ['7.00'], range);
  if (expected) expect(await work).toMatchObject({ ...range, ...expected });
  else await expect(work).rejects.toMatchObject({ code: 'invalid_date' });
});

it.each([
  ['came', [null, '5.00', '5.00'], '5.00'],
  ['went', ['5.00', null, null], null],
  ['was never there', [null], null],
] as const)('a balance that %s is that of the last reading', async (_, balances, closing) => {
  const rows = [booked('2026-11-20', '-1.00')];
  expect(await read(rows, [...balances])).toMatchObject({ closing });
});

it('a row in the currency of the account, or in none, is taken, also one of the first day of the calendar', async () => {
  const plain = booked('2026-11-20', '-1.00');
  const none = { ...plain, amountTransaction: { amount: '-1.00' } };
  const first = booked('1900-01-01', '-1.00');
  const { bookings } = await read([plain, none, first], ['7.00'], { from: day('2026-11-19') });
  expect(bookings).toHaveLength(2);
});

/** The statement of an account at a bank in memory. @param accounts what other banks have */
async function statementAt(bank: BankHere, from?: number, accounts: Partial<Accounts> = {}) {
  const known = differing(bank.interface, (own) => ({ accounts: { ...own.accounts, ...accounts } }));
  const { open } = await payerAt({ interface: known }, temporary);
  return fetchStatement(open().context, PRODUCT, { from: ago(from), to: undefined });
}

/** A bank with a row of today, and a balance of 10.00 EUR. */
function bankWith(change: Partial<BankHere> = {}): BankHere {
  const bank = new BankHere();
  const row = transactionOf({ bookingDate: TODAY, valueDate: TODAY, currency: null });
  bank.booked = [row];
  return Object.assign(
    bank,
    { balances: { accountBalance: { amount: decimalOf(1000), currency: 'EUR' } } },
    change,
  );
}

const UNREACHED = 'the transactions do not reach to its day';
describe('the balance of a statement, with a day of its own', () => {
  it.each<
    [
      bookedDay: number | null | undefined,
      from: number | undefined,
      earliest: number | undefined,
      ...string[],
    ]
  >([
    [undefined, 10, undefined, '10', '2'],
    [0, 10, undefined, '10', '2'],
    [1, 10, undefined, '10', '1'],
    [20, 10, undefined, '19', '1'],
    [20, undefined, undefined, 'undefined', '1'],
    [90, 10, undefined, '89', '1'],
    // The bank shows older days only after SCA.
    [91, 10, undefined, '89', '1', UNREACHED],
    [91, 100, undefined, '100', '1'],
    [20, 10, 19, '19', '1'],
    [20, 10, 18, '18', '1', UNREACHED],
    [null, 10, undefined, '10', '2', 'the bank does not say to which day its balance belongs'],
  ])('of %s days ago, from %s days ago, at a bank that begins %s days ago', async (...row) => {
    const [bookedDay, from, earliest, queried = '', reads, noBalance = null] = row;
    const bank = bankWith();
    if (earliest !== undefined) bank.earliestDay = addDays(TODAY, -earliest);
    if (bookedDay !== undefined)
      bank.balances = { ...bank.balances, bookedDay: bookedDay === null ? null : addDays(TODAY, -bookedDay) };
    const statement = await statementAt(bank, from);
    const first = queried === 'undefined' ? undefined : ago(Number(queried));
    expect(bank.calls.filter((call) => call.startsWith('bookings'))).toEqual([
      `bookings ${OWN_ACCOUNT} from ${first}, booked`,
    ]);
    expect(bank.calls.filter((call) => call.startsWith('balance'))).toHaveLength(Number(reads));
    expect(statement).toMatchObject({ noBalance, certainFrom: null, doubt: null });
    expect(statement.history.closing === null).toBe(noBalance !== null);
    if (from !== undefined) expect(statement.history.from).toBe(ago(from));
  });

  it('is missing if the bank refuses it, and any other failure ends the reading', async () => {
    const bank = bankWith();
    const refusal = new Psd2Error('forbidden', 'No right to balances');
    bank.meets('balance', refusal, refusal);
    const statement = await statementAt(bank, 10);
    expect(statement).toMatchObject({ noBalance: refusal.message, creditLimitIncluded: null });
    expect([statement.history.closing, statement.history.bookings.length]).toEqual([null, 1]);
    bank.meets('balance', new Psd2Error('not_logged_in', 'The login is over'));
    await expect(statementAt(bank, 10)).rejects.toThrow('The login is over');
  });

  it.each([true, false, undefined])(
    'has a credit line in it, as the bank says: %s',
    async (accountBalance) => {
      const bank = bankWith();
      Object.assign(bank.balances, {
        creditLimitIncluded: accountBalance === undefined ? {} : { accountBalance },
      });
      expect((await statementAt(bank)).creditLimitIncluded).toBe(accountBalance ?? null);
    },
  );
});

it('a statement has the name of the account, else that of its kind, and its rows in its currency', async () => {
  const more = { name: null, productDescription: 'CONTO', productCode: 'K1', currency: 'USD' };
  const bank = bankWith({ accounts: [account(OWN_ACCOUNT, OWN_IBAN, more)] });
  const { history, ...statement } = await statementAt(bank);
  expect(statement).toMatchObject({
    productId: OWN_ACCOUNT,
    iban: OWN_IBAN,
    currency: 'USD',
    name: 'CONTO',
    productCode: 'K1',
  });
  expect(history.bookings).toMatchObject([{ day: TODAY, amount: '1.00' }]);
  bank.accounts = [account(OWN_ACCOUNT, null, { productDescription: 'CONTO' })];
  expect(await statementAt(bank)).toMatchObject({ iban: null, currency: 'EUR', name: 'Current account' });
});

describe('a list of rows that the bank may have cut', () => {
  /** A bank that gives this many rows of a day, whatever it is asked for. */
  const cutAfter = (count: number) => {
    const asked: (string | undefined)[] = [];
    const rows = Array.from({ length: count }, (_, index) =>
      transactionOf({ index: `${index}`, transactionId: `t${index}`, bookingDate: ago(5) ?? null }),
    );
    const pages: Accounts['pages'] = async function* ({ to }) {
      asked.push(to);
      yield { booked: { rows, total: null, hasMore: false } };
    };
    return { asked, pages };
  };

  it.each<
    [count: number, identifiesRows: boolean, asked: (number | undefined)[], certainFrom: number | null]
  >([
    [49, true, [undefined], null],
    [50, true, [undefined, 5], 4],
    [50, false, [undefined], null],
    [51, true, [undefined], null],
  ])(
    'after %i rows, at a bank that identifies them: %s',
    async (count, identifiesRows, days, certainFrom) => {
      const { asked, pages } = cutAfter(count);
      const statement = await statementAt(bankWith(), 10, {
        pages,
        ...(identifiesRows && { identifiesRows }),
      });
      expect(asked).toEqual(days.map(ago));
      const isCertain = certainFrom === null;
      expect(statement).toMatchObject({
        ...{ certainFrom: isCertain ? null : ago(certainFrom), noBalance: isCertain ? null : UNREACHED },
      });
      expect(statement.history.bookings).toHaveLength(count);
    },
  );
});

it('what the statements of a bank contradict is in a statement, which is not whole then', async () => {
  const page: TransactionPage = {
    booked: { rows: [], total: null, hasMore: false },
    contradictions: ['1 is not 2'],
  };
  const pages: Accounts['pages'] = async function* () {
    yield page;
  };
  const statement = await statementAt(bankWith(), 10, { pages });
  expect(statement.contradictions).toEqual(['1 is not 2']);
  expect(() => assertWhole(statement, false)).toThrow('1 is not 2');
});

describe('a document is not whole', () => {
  const days = { from: day('2026-11-01'), to: day('2026-11-21') };
  const whole: Statement = {
    ...{ productId: PRODUCT, iban: null, currency: 'EUR', name: null, productCode: null },
    ...{ history: accountHistory([], decimalOf(0), days), foreign: [], noBalance: null, certainFrom: null },
    ...{ doubt: null, contradictions: [], creditLimitIncluded: null, createdAt: NOW },
  };
  const doubt = (mayLackRows: boolean) => ({ doubt: { message: 'why', mayLackRows } });
  const certain = { certainFrom: day('2026-11-05') };
  const contradictions = ['1 is not 2'];
  const DAYS = `days from 2026-11-05 on are certain`;
  const LACKS = `The transactions of ${PRODUCT} may lack some: why`;
  const CONTRADICTS = `The bank's statements of ${PRODUCT} contradict their own transactions. 1 is not 2`;
  const UNREAD = `The booking day (bookingDate) cannot be read: 2 transactions have none of ${PRODUCT}`;
  it.each<[string, Partial<Statement>, string | null]>([
    ['if nothing is missing', { unreadDays: 0 }, null],
    ['if only a doubt is about its rows', doubt(false), null],
    ['if its first days are not certain', { ...certain, ...doubt(true) }, DAYS],
    [
      'if its last days are not certain',
      { certainThrough: day('2026-11-05') },
      'days up to 2026-11-05 are certain',
    ],
    ['if rows may be missing', { ...doubt(true), contradictions }, LACKS],
    ['if the bank contradicts itself', { contradictions, unreadDays: 2 }, CONTRADICTS],
    ['if it does so twice', { contradictions: [...contradictions, 'b'] }, `${CONTRADICTS} (and 1 more)`],
    ['if booking days cannot be read', { unreadDays: 2, noBalance: 'no' }, UNREAD],
  ])('%s', (_, lacks, message) => {
    for (const needsBalances of [true, false]) {
      const check = () => assertWhole({ ...whole, ...lacks }, needsBalances);
      if (message === null) expect(check).not.toThrow();
      else
        expect(check).toThrow(
          expect.objectContaining({ code: 'needs_attention', message: expect.stringContaining(message) }),
        );
    }
  });

  it('without a balance, if it needs one', () => {
    const lacks = { ...whole, noBalance: 'the bank is away' };
    expect(() => assertWhole(lacks, false)).not.toThrow();
    expect(() => assertWhole(lacks, true)).toThrow(
      new Psd2Error('needs_attention', `The balances of ${PRODUCT} are not known: the bank is away`),
    );
  });
});
