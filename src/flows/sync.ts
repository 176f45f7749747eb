import Big from 'big.js';
import type { Account, Accounts, Balance, Bank, Transaction } from '../bank/ports/bank.ts';
import { written } from '../domain/account-history.ts';
import { dayOfRow, isFuture, type RowsOf, withIds } from '../domain/booked-ids.ts';
import { addDays, bankDay, daysApart, earlier, type IsoDate, later } from '../domain/calendar.ts';
import { type Decimal, isZero, type Money } from '../domain/decimal.ts';
import { rowsBeyondBalance } from '../domain/replaced-rows.ts';
import { MOVED_DAYS } from '../domain/same-rows.ts';
import { type ErrorCode, Psd2Error } from '../errors.ts';
import type {
  Appended,
  BookedRows,
  Contradiction,
  Progress,
  SyncedRow,
  SyncTarget,
} from '../store/ports/sync.ts';
import { BalanceAudit, type DayBalance } from './balance-audit.ts';
import {
  contradicts,
  notComplete,
  OUTSIDE_DAYS,
  RangeWatch,
  type WatchedList,
  withOlder,
} from './reading/range.ts';
import {
  type BookedTransaction,
  fetchAfter,
  newestOf,
  oldestFirst,
  type SyncQuery,
} from './reading/reading-on.ts';
import {
  collectTransactions,
  currencyOf,
  keepsChanging,
  MAX_READINGS,
  WholeReadings,
} from './reading/transaction-reading.ts';

/** The bank shows older transactions only after SCA (RTS (EU) 2018/389, article 10). */
export const DAYS_WITHOUT_SCA = 89;
/** Each sync fetches this many known days again, because a bank may book a transaction some days late. */
const OVERLAP_DAYS = 10;
/** Rows up to this many days older are recognised too, because a bank may select a range by another date. */
const FURTHER_KNOWN_DAYS = 30;
/** The maximum number of days per fetch and write, so that memory stays small and a kill loses little. */
const MAX_DAYS = 90;
/** With more rows than this, psd2 fetches fewer days at once. A single day is always fetched whole. */
const MAX_ROWS = 2_000;

export interface SyncedCustomer {
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that `mayRead` excluded, and those whose reads of today are used up for the bank. */
  skipped: string[];
  /** The errors of single products. The others are synced. */
  failures: { productId: string; error: Psd2Error }[];
  /** One for each account whose rows were read. Ids are those under which the accounts are stored. */
  checks: AccountCheck[];
}

/** What is certain of the rows of an account, and what is not. */
export interface AccountCheck {
  productId: string;
  /** Whether the stored balance and the new rows lead to the bank's balance. Null: there are no two balances to compare. */
  balanced: boolean | null;
  /** What the bank's balance has beyond that. Null as `balanced`. */
  difference: Decimal | null;
  /** The first day from which the list is shown to be complete, if not all of it is. */
  certainFrom: IsoDate | null;
  /** The last day up to which it is, likewise. */
  certainThrough: IsoDate | null;
  /** Whether the list is shown to have all rows of the days that psd2 asked for. */
  complete: boolean;
  /** New rows whose day had been read, some days earlier. */
  late: number;
  /** Rows of days to come. */
  coming: number;
  /** Rows that vanished before their day. */
  cancelled: number;
  /** Rows that the bank hid when it showed others for them, so that its balance agrees without them. */
  replaced: number;
  /** Stored rows that the bank does not show any more. */
  vanished: number;
  /** Rows that are probably stored, with another text or day. */
  changed: number;
  /** The bank's id of before, if only kind, currency and name say that it is the same account. */
  takenFor: string | null;
}

/** @returns the error for an account that may be one of several that are stored */
function notKnownWhich({ productId, currency, name }: Account): Psd2Error {
  return new Psd2Error(
    'needs_attention',
    `It is not known which of the stored accounts ${productId} is: ${[name, currency].filter(Boolean).join(', ')} fits more than one, and the bank gives ids that change`,
    {
      hint: 'psd2 has stored nothing of it, so that nothing is stored twice. Name the customer otherwise with --customer to store all of it anew.',
    },
  );
}

/** What an error that ended the sync of a customer has left. */
export interface StoppedSync extends Pick<SyncedCustomer, 'skipped' | 'failures'> {
  /** The product of the error and those after it. */
  unread: string[];
}

/** What {@link syncCustomer} reads. */
interface CustomerQuery {
  customerId: string;
  since: IsoDate | undefined;
  today: IsoDate;
  transactionId: string;
  mayRead?: (productId: string) => Promise<boolean>;
  onStopped?: (at: StoppedSync) => void;
}

/**
 * Brings a customer's folder up to date: the current accounts and balances, the booked transactions that are not there
 * yet, and the current pending ones.
 *
 * A day counts as synced only after the bank's own clock has reached it, because psd2 does not ask for a synced day again.
 *
 * @param query `since`: the first day to read, even if it was read before. Undefined: the first sync reads as far back as the
 *   bank shows transactions without SCA, later ones read what is new. `today`: the day by the clock of this machine.
 *   `mayRead`: called before each product. `onStopped`: called before an error that ends the sync of the customer
 * @throws Psd2Error if the customer as a whole cannot be synced. The written data is valid, and the next sync continues.
 */
export async function syncCustomer(
  bank: SyncedBank,
  to: SyncTarget,
  query: CustomerQuery,
): Promise<SyncedCustomer> {
  const { customerId, transactionId } = query;
  const { accounts: calls } = bank;
  // A service may run for months.
  bank.forgetAnswers?.();
  const clock = bankClock(bank, query.today);
  const accounts = await calls.list(customerId, transactionId);
  for (const { productId } of accounts) assertAccountId(calls, productId, transactionId);
  const places = await to.place(accounts, calls.namesAccounts === true);
  const synced: SyncedCustomer = {
    accounts: accounts.length,
    newTransactions: 0,
    pending: 0,
    skipped: [],
    failures: [],
    checks: [],
  };

  const balances: Balance[] = [];
  for (const [index, { account, storedAs, takenFor }] of places.entries()) {
    const { productId } = account;
    if (storedAs === null) {
      synced.failures.push({ productId, error: notKnownWhich(account) });
      continue;
    }
    if (query.mayRead && !(await query.mayRead(productId))) {
      synced.skipped.push(storedAs);
      continue;
    }
    try {
      const own = { ...account, storedAs, takenFor };
      await syncAccount({ calls, to, query, clock }, own, synced, balances);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (noteError(synced, storedAs, error)) continue;
      const { skipped, failures } = synced;
      const unread = places.slice(index).map((each) => each.storedAs ?? each.account.productId);
      query.onStopped?.({ unread, skipped, failures });
      throw error;
    }
  }
  if (synced.skipped.length === 0) to.replace('balances', balances);
  // Keep the balances of skipped products.
  else for (const { productId, ...rest } of balances) to.replace(`balances/${productId}`, [rest]);
  return synced;
}

/** What a sync needs to read an account, and where it stores that. */
interface Means<Query> {
  calls: Accounts;
  to: SyncTarget;
  query: Query;
  clock: BankClock;
}

/**
 * Syncs one account: its balance, then its rows, which are read even if the balance cannot be.
 *
 * @param synced gets what was stored, and what failed of it
 * @param balances gets the balance
 * @throws Psd2Error if the rows cannot be read
 */
async function syncAccount(
  { calls, to, query, clock }: Means<CustomerQuery>,
  account: Account & { storedAs: string; takenFor: string | null },
  synced: SyncedCustomer,
  balances: Balance[],
): Promise<void> {
  const { customerId, transactionId } = query;
  const { productId, storedAs, takenFor } = account;
  const readBalance = () => calls.balance(customerId, productId, transactionId);
  const balance = await readBalance().catch((error: unknown) => {
    if (!(error instanceof Psd2Error) || !(error.lasts || isOfOneProduct(error))) throw error;
    if (error.lasts) synced.skipped.push(storedAs);
    else synced.failures.push({ productId: storedAs, error: withoutBalance(error) });
    return nothingOf(productId, error);
  });
  if (!('reason' in balance)) balances.push(balance);
  const currency = currencyOf(account, balance.accountBalance);
  const ofAccount = { ...query, productId, storedAs, currency, balance, readBalance };
  const { added, pending, check, contradictions, refusal } = await syncTransactions({
    calls,
    to,
    query: ofAccount,
    clock,
  });
  if ('reason' in balance) balances.push(balance);
  synced.newTransactions += added;
  synced.pending += pending;
  synced.checks.push({ ...check, takenFor });
  if (!check.complete)
    synced.failures.push({
      productId: storedAs,
      error: notComplete(productId, {
        certainFrom: check.certainFrom ?? undefined,
        certainThrough: check.certainThrough ?? undefined,
        refusal,
      }),
    });
  if (contradictions.size > 0)
    synced.failures.push({ productId: storedAs, error: contradicts(productId, contradictions) });
}

/** Notes the error of one account. @returns false: it ends the sync of the customer */
function noteError(synced: SyncedCustomer, productId: string, error: Psd2Error): boolean {
  if (error.lasts) synced.skipped = [...new Set([...synced.skipped, productId])];
  else if (isOfOneProduct(error)) {
    // Its balance may have failed before.
    const others = synced.failures.filter((failure) => failure.productId !== productId);
    synced.failures = [...others, { productId, error }];
  } else return false;
  return true;
}

/** The errors that concern only one product. */
const OF_ONE_PRODUCT: ErrorCode[] = [
  'forbidden',
  'sca_required',
  'bank_refused',
  'bank_answer',
  'bank_failing',
  'list_changed',
];

function withoutBalance(error: Psd2Error): Psd2Error {
  return new Psd2Error(error.code, `The balance could not be read: ${error.message}`, error.context);
}

/** The balance of an account whose balance cannot be read. Its rows are read all the same. */
function nothingOf(productId: string, { message }: Psd2Error): Balance & { reason: string } {
  const none = { accountBalance: null, availableBalance: null, accountAvailability: null };
  return {
    accountId: productId,
    productId,
    ...none,
    accountAvailableCredit: null,
    asOf: null,
    reason: message,
  };
}

/** Whether an error concerns one account. A bank that accepts the login can still miss the customer's consent for a product: it has read the request then. */
export function isOfOneProduct({ code, refusal }: Psd2Error): boolean {
  if (code === 'not_logged_in') return refusal === 'content' || refusal === 'other';
  return OF_ONE_PRODUCT.includes(code);
}

/** What a sync needs of a bank. */
type SyncedBank = Pick<Bank, 'accounts' | 'earliestAnswer' | 'forgetAnswers'>;

/** The current day. Later answers may set it back. */
interface BankClock {
  /** The last day that both the bank and this machine have reached. */
  readonly today: IsoDate;
  /** The oldest day that the bank shows without SCA. */
  readonly oldest: IsoDate;
  /** The bank shows no earlier day at all. Undefined: it has not said so. */
  readonly earliest: IsoDate | undefined;
}

/** @param machineDay today by the clock of this machine. It may be wrong */
function bankClock({ accounts, earliestAnswer }: SyncedBank, machineDay: IsoDate): BankClock {
  const earliest = accounts.earliestDay?.();
  const answered = () => {
    const time = earliestAnswer();
    return time && bankDay(time);
  };
  return {
    get today() {
      const day = answered();
      return day === undefined ? machineDay : earlier(machineDay, day);
    },
    get oldest() {
      const withoutSca = addDays(answered() ?? machineDay, -DAYS_WITHOUT_SCA);
      return earliest === undefined ? withoutSca : later(withoutSca, earliest);
    },
    earliest,
  };
}

/** A new row may have a day that was read as many days ago, without a word. */
const LATE_DAYS = MOVED_DAYS;

/** What to read of an account. */
interface AccountQuery extends RowsQuery {
  /** The id under which the account is stored. */
  storedAs: string;
  since: IsoDate | undefined;
  balance: Balance;
  readBalance: () => Promise<Balance>;
  mayRead?: (productId: string) => Promise<boolean>;
}

/** Syncs the rows of one account, step by step. @throws Psd2Error if they cannot be read or stored */
async function syncTransactions(means: Means<AccountQuery>): Promise<{
  added: number;
  pending: number;
  check: AccountCheck;
  contradictions: ReadonlySet<string>;
  refusal: { message: string } | undefined;
}> {
  const { to, query } = means;
  const { productId, since } = query;
  const begun = { ...means.clock };
  const plan = planOf(await to.progress(productId), since, begun);
  const rows = await to.booked(productId, plan.readsKnownDays);
  const sync = new AccountSync(means, plan, rows, await firstDayOfPlan(plan, since, rows));
  const pending = (await sync.readOn()) ?? (await sync.readDays());
  if (pending) to.replace(`pending/${productId}`, pending);
  const balance = await sync.compareBalance();
  const check = await sync.end(balance);
  const { added, contradictions, refusal } = sync;
  return { added, pending: pending?.length ?? 0, check, contradictions, refusal };
}

/** What a sync of an account has to read, after what was read before. */
interface Plan {
  before: Progress | undefined;
  /** Today and the oldest day, as the sync of the account begins. */
  today: IsoDate;
  oldest: IsoDate;
  /** The first day whose rows shall be there in the end. */
  since: IsoDate;
  /** It is before any day that was read. */
  furtherBack: boolean;
  /** The bank had reached all days that count as read. */
  isCertain: boolean;
  /** Days are read again whose rows may all be there. */
  readsKnownDays: boolean;
}

/** @param wanted the first day to read, even if it was read before */
function planOf(before: Progress | undefined, wanted: IsoDate | undefined, clock: BankClock): Plan {
  const { today, oldest, earliest = wanted ?? oldest } = clock;
  const since = later(earlier(wanted ?? oldest, today), earlier(earliest, today));
  // If this sync goes further back than before, any row of the file may be repeated.
  const furtherBack = before !== undefined && since < before.from;
  // If a clock was ahead, days may count as synced that the bank had not reached.
  const isCertain = before !== undefined && before.through <= today;
  const readsAgain =
    wanted !== undefined && before !== undefined && since < addDays(before.through, -OVERLAP_DAYS);
  const readsKnownDays = before !== undefined && (furtherBack || readsAgain || !isCertain);
  return { before, today, oldest, since, furtherBack, isCertain, readsKnownDays };
}

/** The first day to read. @param wanted the operator's, if any */
async function firstDayOfPlan(plan: Plan, wanted: IsoDate | undefined, rows: BookedRows): Promise<IsoDate> {
  const { before, since, furtherBack, isCertain } = plan;
  const again = before && !furtherBack ? await firstAgain(before, rows, isCertain, plan) : since;
  return wanted === undefined ? again : earlier(again, since);
}

/** The rows of one account while they are synced. {@link syncTransactions} has the order of the steps. */
class AccountSync {
  readonly #calls: Accounts;
  readonly #to: SyncTarget;
  readonly #query: AccountQuery;
  readonly #clock: BankClock;
  readonly #plan: Plan;
  readonly #rows: BookedRows;
  readonly #first: IsoDate;
  /** Rows of earlier days may not be recognised. */
  readonly #known: IsoDate;
  readonly #of: RowsOf;
  readonly #audit: BalanceAudit;
  readonly #check: AccountCheck;
  /** What the bank's own statements say that their rows do not, in what was read. */
  readonly #contradictions: Contradiction[] = [];
  /** What the bank said to a page that it refused. */
  refusal: { message: string } | undefined;
  #added = 0;
  /** Rows of any day are recognised. */
  #hasAll: boolean;
  /** The bank's reference of the newest row. */
  #newest: string | undefined;
  /** See `Appended.doubtful`. */
  readonly #doubtful: (readonly { id: string }[])[] = [];
  readonly #replaced = new Set<string>();

  /** @param first the first day to read */
  constructor(
    { calls, to, query, clock }: Means<AccountQuery>,
    plan: Plan,
    rows: BookedRows,
    first: IsoDate,
  ) {
    const { storedAs, currency } = query;
    this.#calls = calls;
    this.#to = to;
    this.#query = query;
    this.#clock = clock;
    this.#plan = plan;
    this.#rows = rows;
    this.#first = first;
    this.#known = addDays(first, -FURTHER_KNOWN_DAYS);
    this.#of = { productId: storedAs, currency, naming: calls.rowNaming };
    this.#audit = new BalanceAudit(plan.before, currency);
    this.#check = newCheck(storedAs);
    this.#hasAll = plan.readsKnownDays || plan.before === undefined;
    this.#newest = plan.before?.newest;
  }

  get contradictions(): ReadonlySet<string> {
    return new Set(this.#contradictions.map(({ says }) => says));
  }

  /** How many rows were missing. */
  get added(): number {
    return this.#added;
  }

  /**
   * Appends what came after the newest row of the last sync.
   *
   * @returns the pending rows. Undefined: only whole days show what is new
   */
  async readOn(): Promise<Transaction[] | undefined> {
    const { before, oldest, readsKnownDays } = this.#plan;
    const query = { ...this.#query, of: this.#of };
    const readsDays = readsKnownDays || query.since !== undefined || this.#first < oldest;
    const after = readsDays ? undefined : before?.newest;
    const on = await appendAfter(this.#calls, this.#rows, query, after, this.#known);
    this.#count(on.booked, on.appended, undefined);
    this.#newest = on.newest ?? this.#newest;
    return on.pending;
  }

  /**
   * Reads all days from the first one on, some at once, or up to a page that the bank refuses.
   *
   * @returns the pending rows. Undefined: nobody knows them
   */
  async readDays(): Promise<Transaction[] | undefined> {
    const first = this.#first;
    for (let from = first, max = MAX_DAYS; ; ) {
      const { booked, pending, days, end, to: until } = await this.#read(from, undefined, max);
      this.#newest = newestOf(booked) ?? this.#newest;
      const allPending = () => fetchPending(this.#calls, { ...this.#query, from: first });
      const hasPending = until === undefined && from === first;
      if (this.#check.certainThrough !== null) {
        await this.#readNewer();
        return hasPending ? pending : orNothing(allPending());
      }
      if (until === undefined) return hasPending ? pending : allPending();
      // The bank may have booked a row of the days that are still to be read before the newest one of these.
      if (!this.#plan.readsKnownDays)
        this.#remember(earlier(end, this.#clock.today), this.#plan.before?.newest);
      await this.#to.commit();
      from = addDays(end, 1);
      max = booked.length < MAX_ROWS / 4 ? Math.min(days * 2, MAX_DAYS) : days;
    }
  }

  /**
   * If the days that are read again fill the one page that the bank gives, reads the days after them alone: otherwise no sync would get
   * further.
   */
  async #readNewer(): Promise<void> {
    const { certainThrough } = this.#check;
    const storedThrough = this.#plan.before?.through;
    const isAhead = storedThrough === undefined || certainThrough === null || certainThrough > storedThrough;
    if (isAhead || this.#first >= storedThrough || !(await this.#mayAskAgain())) return;
    const newer = await orNothing(this.#read(storedThrough, undefined, MAX_DAYS));
    if (!newer) return;
    this.#newest = newestOf(newer.booked) ?? this.#newest;
    if (newer.certainThrough !== undefined) return;
    this.#check.certainThrough = newer.to ?? null;
    this.#check.complete = newer.to === undefined && this.#check.certainFrom === null;
    if (this.#check.complete) this.refusal = undefined;
  }

  /**
   * Compares the bank's balance with the rows. If they differ, reads the balance once more, looks for rows that others replaced,
   * then reads older days too.
   *
   * @returns the balance that the rows lead to today. Undefined if it cannot be said
   */
  async compareBalance(): Promise<Money | undefined> {
    const { before, oldest } = this.#plan;
    // It has rows that are not in hand.
    if (this.#check.certainThrough !== null) return undefined;
    let balance = this.#carried(this.#query.balance);
    const isOff = () => isSome(this.#audit.differenceOf(balance));
    if (!isOff()) return balance;
    const wasOff = isSome(before?.difference);
    // Something may have been booked since.
    const now = wasOff ? undefined : await orNothing(this.#query.readBalance());
    if (now) balance = this.#carried(now);
    if (isOff()) await this.#markReplaced(balance, this.#first);
    if (wasOff || !isOff() || oldest >= this.#first) return balance;
    await this.#readOlderDays();
    if (isOff()) await this.#markReplaced(balance, oldest);
    return balance;
  }

  /**
   * Marks the rows that the bank has replaced or released: it shows their days without them, and its balance agrees without them. A row
   * that came for another is not looked for: it may have another amount, and come in another sync.
   *
   * @param from the first day that was read
   */
  async #markReplaced(balance: Money | undefined, from: IsoDate): Promise<void> {
    const { before } = this.#plan;
    const difference = this.#audit.differenceOf(balance);
    if (!before || difference === undefined) return;
    const { currency } = this.#query;
    const gone = (await this.#rows.gone()).filter(
      (row) =>
        (row.currency ?? currency) === currency &&
        isShownIfBooked(row, from) &&
        (dayOfRow(row) ?? '') <= before.through,
    );
    // What this sync does not explain may be what an earlier one has left, or not.
    const ofThisSync = written(new Big(difference).minus(before.difference ?? 0));
    const replaced = [ofThisSync, difference]
      .map((beyond) => rowsBeyondBalance(gone, beyond))
      .find((rows) => rows.length > 0);
    if (!replaced) return;
    await this.#rows.replace(replaced);
    this.#audit.without(replaced);
    for (const { id } of replaced) this.#replaced.add(id);
  }

  /** Remembers how far the sync has come, and ends the reading. @returns what is certain of the rows */
  async end(balance: Money | undefined): Promise<AccountCheck> {
    const { before, today } = this.#plan;
    const difference = this.#audit.differenceOf(balance);
    const isBalanced = difference === undefined ? null : isZero(difference);
    const { cancelled, gone } = await this.#rows.end(addDays(this.#first, OUTSIDE_DAYS));
    const { certainThrough } = this.#check;
    const money = balance ?? this.#audit.goneOn ?? balanceOfToday(this.#query.balance, today);
    this.#remember(this.#lastDay(), this.#newest, {
      ...(certainThrough === null && { balance: money }),
      ...(isBalanced === false
        ? { difference }
        : difference === undefined && { difference: before?.difference }),
    });
    const isOpen = (rows: readonly { id: string }[]) => rows.some(({ id }) => !this.#replaced.has(id));
    return {
      ...this.#check,
      balanced: isBalanced,
      difference: difference ?? null,
      cancelled,
      vanished: gone,
      replaced: this.#replaced.size,
      changed: this.#check.changed + this.#doubtful.filter(isOpen).length,
    };
  }

  /** The last day that is read. */
  #lastDay(): IsoDate {
    const today = earlier(this.#plan.today, this.#clock.today);
    const { certainThrough } = this.#check;
    if (certainThrough === null) return today;
    // What was read before stays read.
    return earlier(later(certainThrough, this.#plan.before?.through ?? certainThrough), today);
  }

  /** Reads days, and appends what is missing. @param last undefined: up to now */
  async #read(from: IsoDate, last: IsoDate | undefined, max: number) {
    const window = await this.#fetch(from, last, max);
    const through = earlier(window.to ?? this.#plan.today, this.#plan.today);
    for (const says of window.contradictions) this.#contradictions.push({ says, from, through });
    const { certainFrom: certain, certainThrough } = window;
    const booked = namedOldestFirst(this.#of, window.rows);
    const pending = window.rows.filter((row) => row.status === 'pending');
    // Older rows: the bank ignores the range.
    if (!this.#hasAll && booked.some((row) => (dayOfRow(row) ?? this.#known) < this.#known))
      await this.#recall();
    const covered = { from: later(from, certain ?? from), to: certainThrough ?? window.to };
    this.refusal ??= window.refusal;
    if (certainThrough !== undefined) {
      this.#check.complete = false;
      this.#check.certainThrough = certainThrough;
    }
    if (certain !== undefined) {
      this.#check.complete = false;
      this.#check.certainFrom = later(this.#check.certainFrom ?? certain, certain);
    }
    const { today } = this.#clock;
    const marked = booked.map((row) => (isFuture(row, today) ? { ...row, future: true as const } : row));
    this.#count(marked, await this.#rows.append(marked, { of: this.#of, covered, today }), from);
    return { ...window, booked, pending, end: addDays(from, window.days - 1) };
  }

  /** Fetches days, and the oldest rows once more if the bank may have cut the list. */
  async #fetch(from: IsoDate, last: IsoDate | undefined, max: number): Promise<Window> {
    const wanted = { ...this.#query, today: this.#plan.today, from, last };
    const list = await fetchWindow(this.#calls, wanted, max);
    return withOlder(list, async (cut) =>
      (await this.#mayAskAgain()) ? fetchWindow(this.#calls, { ...wanted, last: cut }, MAX_DAYS) : undefined,
    );
  }

  async #mayAskAgain(): Promise<boolean> {
    const { mayRead, productId } = this.#query;
    return !mayRead || mayRead(productId);
  }

  /** Makes rows of any day known, also those that progress has settled since. */
  async #recall(): Promise<void> {
    await this.#rows.recall();
    this.#hasAll = true;
  }

  /** Reads the days before the first one, as far as the bank shows them. */
  async #readOlderDays(): Promise<void> {
    await this.#recall();
    for (let from = this.#plan.oldest; from < this.#first; ) {
      const window = await orNothing(this.#read(from, addDays(this.#first, -1), MAX_DAYS));
      if (!window) break;
      from = addDays(window.end, 1);
    }
  }

  /** Counts what was shown and appended. @param from the first of the days. Undefined: rows that came after others */
  #count(shown: BookedTransaction[], appended: Appended<BookedTransaction>, from: IsoDate | undefined): void {
    const { before, isCertain } = this.#plan;
    this.#audit.add(shown, appended, from, this.#clock.today);
    this.#added += appended.added.length;
    this.#check.changed += appended.unsure;
    this.#doubtful.push(...appended.doubtful);
    this.#check.coming += shown.filter(({ future }) => future).length;
    if (before && isCertain)
      this.#check.late += appended.added.filter((row) => {
        const day = dayOfRow(row);
        return day !== null && day >= before.from && day < addDays(before.through, -LATE_DAYS);
      }).length;
  }

  /**
   * The balance of the bank, carried over to today. Undefined around midnight, or if a clock is wrong: it is not sure which
   * rows the balance has.
   */
  #carried(balance: Balance): Money | undefined {
    const { today } = this.#clock;
    if (today !== this.#query.today) return undefined;
    return this.#audit.carried(dayBalanceOf(balance, today), today);
  }

  /** Stores the progress. @param through the last day that is read */
  #remember(
    through: IsoDate,
    newest: string | undefined,
    balance?: Pick<Progress, 'balance' | 'difference'>,
  ): void {
    const { before, since, furtherBack } = this.#plan;
    const { certainFrom: certain } = this.#check;
    const whole = before && !furtherBack ? before.from : since;
    const certainSince =
      before && certain && certain <= before.through ? earlier(certain, before.from) : certain;
    const from = certainSince ?? whole;
    const reached = this.#calls.readsOn && newest !== undefined ? { newest } : {};
    const progress: Progress = {
      from: earlier(from, through),
      through,
      ...reached,
      ...balance,
      contradictions: contradictionsAfter(before?.contradictions, this.#contradictions, {
        from: this.#first,
        through,
      }),
    };
    const settled = addDays(through, -OVERLAP_DAYS - FURTHER_KNOWN_DAYS);
    this.#to.remember(this.#query.productId, progress, settled);
  }
}

/** More sentences than these say nothing more. */
const MAX_CONTRADICTIONS = 20;

/**
 * What the bank's statements of all stored days say that their rows do not: of days that are read again, only what was found now.
 *
 * @param read the days that are read
 */
function contradictionsAfter(
  before: readonly Contradiction[] = [],
  fresh: readonly Contradiction[],
  read: { from: IsoDate; through: IsoDate },
): Contradiction[] {
  const isReadAgain = ({ from, through }: Contradiction) => from >= read.from && through <= read.through;
  const all = new Map<string, Contradiction>();
  for (const each of [...before.filter((old) => !isReadAgain(old)), ...fresh]) {
    const { from, through } = all.get(each.says) ?? each;
    all.set(each.says, { ...each, from: earlier(from, each.from), through: later(through, each.through) });
  }
  return [...all.values()].slice(-MAX_CONTRADICTIONS);
}

function newCheck(productId: string): AccountCheck {
  const none = { late: 0, coming: 0, cancelled: 0, replaced: 0, vanished: 0, changed: 0 };
  return {
    productId,
    balanced: null,
    difference: null,
    complete: true,
    certainFrom: null,
    certainThrough: null,
    ...none,
    takenFor: null,
  };
}

/** Whether a bank that selects days by the booking day or by the value date shows a row, if it has it. */
function isShownIfBooked(row: SyncedRow, from: IsoDate): boolean {
  const day = dayOfRow(row);
  return day !== null && day >= from && (row.valueDate ?? addDays(day, -OUTSIDE_DAYS)) >= from;
}

function isSome(amount: Decimal | undefined): boolean {
  return amount !== undefined && !isZero(amount);
}

/** Undefined if the bank gives no booked balance, or does not say its day. */
function dayBalanceOf(balance: Balance, today: IsoDate): DayBalance | undefined {
  const { accountBalance: money, bookedDay: day = today } = balance;
  return money && day !== null ? { money, day } : undefined;
}

/** The bank's balance if it has all rows up to now. */
function balanceOfToday(balance: Balance, today: IsoDate): Money | undefined {
  const dayBalance = dayBalanceOf(balance, today);
  return dayBalance && dayBalance.day >= today ? dayBalance.money : undefined;
}

/** What another reading gives. It only makes more certain what is read already. */
async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted' || error.code === 'overtaken')
      throw error;
    return undefined;
  }
}

/** The first day to read after an earlier sync. */
async function firstAgain(
  before: Progress,
  rows: BookedRows,
  isCertain: boolean,
  { today, oldest }: Pick<BankClock, 'today' | 'oldest'>,
): Promise<IsoDate> {
  // If a clock was ahead, only the rows show how far the sync really came.
  const through = before.through <= today ? before.through : ((await rows.lastDay(today)) ?? before.from);
  const overlap = addDays(through, -OVERLAP_DAYS);
  return later(before.from, isCertain ? overlap : earlier(overlap, oldest));
}

/**
 * Appends what the bank has booked after the newest row of the last sync.
 *
 * @returns `pending` is missing if only whole days show what is new, because the bank gave rows that are there, or may be
 */
async function appendAfter(
  calls: Accounts,
  rows: BookedRows,
  query: SyncQuery & { of: RowsOf },
  newest: string | undefined,
  knownFrom: IsoDate,
): Promise<{
  booked: BookedTransaction[];
  appended: Appended<BookedTransaction>;
  newest?: string;
  pending?: Transaction[];
}> {
  const on =
    newest === undefined
      ? undefined
      : await fetchAfter(calls, query, newest, { knownFrom, maxRows: MAX_ROWS });
  if (!on) return { booked: [], appended: { added: [], awaited: new Map(), unsure: 0, doubtful: [] } };
  const { booked } = on;
  const appended = await rows.append(booked, { of: query.of, covered: undefined });
  const last = newestOf(booked);
  return {
    booked,
    appended,
    ...(last !== undefined && { newest: last }),
    ...(appended.added.length === booked.length && { pending: on.pending }),
  };
}

type RowsQuery = SyncQuery & { today: IsoDate };
type WindowQuery = RowsQuery & { from: IsoDate; last: IsoDate | undefined };

/** The bank's rows of some days, with pending ones if it ends today. */
interface Window extends WatchedList {
  /** The last day. Undefined: now. */
  to: IsoDate | undefined;
  days: number;
  /** What the bank's own statements say that their rows do not. */
  contradictions: ReadonlySet<string>;
}

/**
 * Fetches the rows of `max` days, or of fewer days if there are too many rows for the memory. If the rows come on one
 * page, they are already in memory, and fewer days would not help.
 *
 * @param query `last`: the last day to fetch. Undefined: up to now
 */
async function fetchWindow(calls: Accounts, query: WindowQuery, max: number): Promise<Window> {
  for (let days = max; ; ) {
    const end = earlier(addDays(query.from, days - 1), query.last ?? addDays(query.today, MAX_DAYS));
    const to = query.last === undefined && end >= query.today ? undefined : end;
    const readings = new WholeReadings(calls, { ...query, to, status: to && 'booked' });
    /** If there are too many rows: the number of days that they belong to. */
    let daysOfTooMany: number | undefined;
    let rows: Transaction[] | undefined;
    for (let reading = 1; !rows && daysOfTooMany === undefined; reading += 1) {
      if (reading > MAX_READINGS) throw keepsChanging(query);
      rows = await readings.next((some, pageRows) => {
        const isTooMany = some.length > MAX_ROWS && pageRows < MAX_ROWS && days > 1;
        if (isTooMany) daysOfTooMany = new Set(some.map(dayOfRow)).size;
        return isTooMany;
      });
    }
    if (rows && daysOfTooMany === undefined) {
      const watch = new RangeWatch({ ...query, to }).add(rows, readings);
      const cutAt = calls.identifiesRows && watch.cutAt;
      const { certain, contradictions } = watch;
      return { rows, to, days: daysApart(query.from, end) + 1, ...certain, cutAt, contradictions };
    }
    // Half of these days is a safe number.
    days = Math.max(1, Math.floor(Math.min(daysOfTooMany ?? days, days) / 2));
  }
}

function namedOldestFirst(of: RowsOf, rows: readonly Transaction[]): BookedTransaction[] {
  const booked = rows.filter((row) => row.status === 'booked');
  return oldestFirst(withIds(of, booked).map(({ index: _restarts, ...row }) => row));
}

/** All pending rows from a given day on. They are not split into windows. */
async function fetchPending(
  calls: Accounts,
  query: Omit<RowsQuery, 'today'> & { from: IsoDate },
): Promise<Transaction[]> {
  return collectTransactions(calls, { ...query, to: undefined, status: 'pending' });
}

/** Checks an account id, because the store keeps it. @throws Psd2Error `bank_answer` */
function assertAccountId(accounts: Accounts, accountId: string, transactionId: string): void {
  if (accounts.isId(accountId)) return;
  throw new Psd2Error(
    'bank_answer',
    `The bank sent an account with the invalid id ${JSON.stringify(accountId)}`,
    { transactionId },
  );
}
