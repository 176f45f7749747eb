import type { Account, Balance, Transaction } from '../../bank/ports/bank.ts';
import {
  accountHistory,
  type Booking,
  byCurrency,
  type ForeignBooking,
} from '../../domain/account-history.ts';
import { dayOfRow, withIds } from '../../domain/booked-ids.ts';
import {
  addDays,
  bankDay,
  bankTime,
  type DayRange,
  earlier,
  type IsoDate,
  later,
} from '../../domain/calendar.ts';
import { type Money, normalDecimal } from '../../domain/decimal.ts';
import type { AccountId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import {
  assertComplete,
  type Certain,
  contradicts,
  isWhole,
  lacksDays,
  RangeWatch,
  withOlder,
} from '../../flows/reading/range.ts';
import {
  currencyOf,
  keepsChanging,
  MAX_READINGS,
  WholeReadings,
} from '../../flows/reading/transaction-reading.ts';
import { DAYS_WITHOUT_SCA, isOfOneProduct } from '../../flows/sync.ts';
import { leftOutOf, type Statement } from '../../statements/statement.ts';
import type { Context, CustomerBank } from '../context.ts';
import { findAccount, withinHistory } from './account.ts';

/**
 * Reads the booked transactions of an account in a range, and computes the balances then from the balance now. Without
 * `from` it begins with the bank's first transaction. It ends today at the latest.
 *
 * @param named the id of the account, or its IBAN
 * @param listedAccount what psd2 knows of the account (`keptAccount`). Undefined: the bank's list says it
 * @throws Psd2Error `usage` if the customer has no such account, `bank_answer` if the bank's answers contradict each other,
 *   `list_changed` if something is booked during every attempt to read, and what the calls throw
 */
export async function fetchStatement(
  context: Pick<Context, 'world' | 'terminal'> & {
    bank(): Promise<Pick<CustomerBank, 'bank' | 'customerId'>>;
  },
  named: AccountId,
  days: DayRange,
  listedAccount?: Account,
): Promise<Statement> {
  const { bank, customerId } = await context.bank();
  const transactionId = context.world.newId();
  const range = withinHistory(context, bank.accounts, days);
  const list = () => bank.accounts.list(customerId, transactionId);
  const account = listedAccount ?? findAccount(await list(), named, customerId);
  const { productId } = account;
  const now = context.world.now();
  const today = bankDay(now);
  const to = range.to && range.to < today ? range.to : today;
  if (range.from && range.from > to)
    throw new Psd2Error('invalid_date', `--from ${range.from} is in the future: at the bank it is ${today}`);
  const balanceNow = () => readBalance(bank.accounts.balance(customerId, productId, transactionId), today);

  let balance = await balanceNow();
  const currency = currencyOf(account, balance.money);
  const needed = range.from && balance.day ? earlier(range.from, addDays(balance.day, 1)) : range.from;
  const from = needed && range.from && firstRead(needed, range.from, today, bank.accounts.earliestDay?.());
  // The balance at the end of the range also depends on later transactions.
  const query = { customerId, productId, from, transactionId, status: 'booked' as const };
  const readings = new WholeReadings(bank.accounts, { ...query, to: undefined });
  const watched = (rows: Transaction[], ended: WholeReadings, last?: IsoDate) => {
    const watch = new RangeWatch({ from, to: last, today }).add(rows, ended);
    return { rows, ...watch.certain, cutAt: bank.accounts.identifiesRows && watch.cutAt };
  };
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const rows = await readings.next();
    // Nothing that is booked now changes the balance of a day that is over.
    const after = balance.day !== null && balance.day < today ? balance : await balanceNow();
    if (rows && after.money?.amount === balance.money?.amount) {
      const list = await withOlder(watched(rows, readings), async (last) => {
        const older = new WholeReadings(bank.accounts, { ...query, to: last });
        const olderRows = await older.next();
        return olderRows && watched(olderRows, older, last);
      });
      const named = withIds({ productId, currency, naming: bank.accounts.rowNaming }, list.rows);
      const read = {
        rows: named.map((row) => toBooking(row, currency, productId)),
        certain: list,
        contradictions: [...readings.contradictions],
        unreadDays: readings.unreadDays,
        reachesBalance: balance.day === null || from === needed,
      };
      return statementOf(account, currency, read, balance, {
        from: range.from,
        to,
        createdAt: bankTime(now),
      });
    }
    balance = after;
  }
  throw keepsChanging({ productId, transactionId });
}

/** What was read of an account. */
interface Rows {
  rows: readonly ForeignBooking[];
  certain: Certain;
  contradictions: string[];
  unreadDays: number;
  reachesBalance: boolean;
}

/** The statement of the days of a range. Without `from` it begins with the first row. */
function statementOf(
  { productId, iban, productCode, name, productDescription }: Account,
  currency: string,
  { rows, certain, contradictions, unreadDays, reachesBalance }: Rows,
  balance: KnownBalance,
  { from, to, createdAt }: { from: IsoDate | undefined; to: IsoDate; createdAt: string },
): Statement {
  // Also a row in another currency may be the first one.
  const days = rows.map(({ day }) => day).filter((day) => day <= to);
  const first = from ?? days.toSorted()[0];
  const { own: bookings, foreign } = byCurrency(rows, currency, { from: first, to });
  const { certainFrom = null, certainThrough, refusal } = certain;
  const reaches = isWhole(certain) && reachesBalance;
  return {
    productId,
    iban,
    currency,
    name: name ?? productDescription,
    productCode,
    ...historyOf(bookings, balance, reaches, { from: first, to }),
    foreign,
    certainFrom,
    certainThrough,
    refusal,
    doubt: null,
    contradictions,
    unreadDays,
    creditLimitIncluded: balance.hasCreditLimit,
    createdAt,
  };
}

/** The first day to read. To reach the day of the balance, psd2 reads no days that the bank shows only after SCA. */
function firstRead(
  needed: IsoDate,
  wantedFrom: IsoDate,
  today: IsoDate,
  earliest: IsoDate | undefined,
): IsoDate {
  const first = earlier(wantedFrom, later(needed, addDays(today, -DAYS_WITHOUT_SCA)));
  return earliest ? later(first, earliest) : first;
}

/** What the bookings say of a range. @param reaches whether they reach back to the day of the balance */
function historyOf(
  bookings: readonly Booking[],
  { money, day, problem }: KnownBalance,
  reaches: boolean,
  range: { from: IsoDate | undefined; to: IsoDate },
) {
  const noBalance = reaches ? problem : (problem ?? 'the transactions do not reach to its day');
  const amount = noBalance === null && money ? normalDecimal(money.amount) : null;
  return { noBalance, history: accountHistory(bookings, amount, { ...range, balanceDay: day ?? undefined }) };
}

/** A booked balance with the last day whose rows it has, and why there is none. */
interface KnownBalance {
  money: Money | null;
  day: IsoDate | null;
  problem: string | null;
  /** Null: the bank does not say. */
  hasCreditLimit: boolean | null;
}

/** A balance that cannot be read never keeps the transactions from being read. */
async function readBalance(reading: Promise<Balance>, today: IsoDate): Promise<KnownBalance> {
  try {
    const { accountBalance: money, bookedDay: day = today, creditLimitIncluded } = await reading;
    const problem = money && day === null ? 'the bank does not say to which day its balance belongs' : null;
    return { money, day, problem, hasCreditLimit: creditLimitIncluded?.accountBalance ?? null };
  } catch (error) {
    if (!(error instanceof Psd2Error) || !isOfOneProduct(error)) throw error;
    return { money: null, day: null, problem: error.message, hasCreditLimit: null };
  }
}

/**
 * Reports what a document lacks, after it was written.
 *
 * @param needsBalances whether the document shows balances
 * @throws Psd2Error `needs_attention`
 */
export function assertWhole(statement: Statement, needsBalances: boolean): void {
  const {
    productId,
    certainFrom,
    certainThrough,
    refusal,
    noBalance,
    doubt,
    contradictions,
    unreadDays = 0,
  } = statement;
  assertComplete(productId, { certainFrom: certainFrom ?? undefined, certainThrough, refusal });
  if (doubt?.mayLackRows)
    throw new Psd2Error(
      'needs_attention',
      `The transactions of ${productId} may lack some: ${doubt.message}`,
    );
  if (contradictions.length > 0) throw contradicts(productId, contradictions);
  if (unreadDays > 0) throw lacksDays(productId, unreadDays);
  if (noBalance !== null && needsBalances)
    throw new Psd2Error('needs_attention', `The balances of ${productId} are not known: ${noBalance}`);
}

/** Warns about what a document with one currency leaves out. */
export function sayLeftOut(
  { terminal }: Pick<Context, 'terminal'>,
  statement: Statement,
  document: string,
): void {
  const sentence = leftOutOf(statement, document);
  if (sentence !== null) terminal.warn(sentence);
}

/** @throws Psd2Error `bank_answer` for a row without a day */
function toBooking(row: Transaction & { id: string }, currency: string, productId: string): ForeignBooking {
  const { index: _index, status: _status, bookingDate, currency: own, ...booking } = row;
  const day = dayOfRow({ bookingDate, valueDate: row.valueDate });
  const refuse = (what: string) =>
    new Psd2Error('bank_answer', `The booked transaction ${row.index} of ${productId} ${what}`, {
      hint: 'See it with:',
      next: [['accounts', 'transactions', productId]],
    });
  if (day === null) throw refuse('has no date');
  const isValueDay = bookingDate === null && { isValueDay: true as const };
  return { ...booking, day, ...isValueDay, amount: normalDecimal(row.amount), currency: own ?? currency };
}
