import { expect, it } from 'vitest';
import { assertWhole, fetchStatement } from '../../../src/commands/accounts/statement.ts';
import { writeExport } from '../../../src/commands/accounts/write-export.ts';
import { accountHistory } from '../../../src/domain/account-history.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { answeringBank } from '../../bank/answering-bank.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const PRODUCT = parseProductId('0000012345');
const NOW = '2026-11-21T12:00:00.000Z';
const day = (text: string) => parseDate('--date', text);

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
