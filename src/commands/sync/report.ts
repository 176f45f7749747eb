import type { IsoDate } from '../../domain/calendar.ts';
import { nextTurn } from '../../domain/read-turns.ts';
import { type ErrorCode, endSentence, Psd2Error } from '../../errors.ts';
import { certainDays } from '../../flows/reading/range.ts';
import type { ReadResult } from '../../store/ports/read-results.ts';
import type { CustomerEnd } from '../../store/ports/sync.ts';
import { cleanText } from '../../terminal/clean.ts';
import { day, list, object, orNull, seen, text, time, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { drawBar, writeLeft } from '../shared/progress.ts';
import { type CustomerReport, customerReport } from './customers.ts';

/** The sums over all customers, as people see them. */
type Totals = {
  totals: Record<'customers' | 'synced' | 'accounts' | 'newTransactions' | 'pending' | 'calls', number>;
};

/** The result of a sync. */
export const syncReport = object({
  out: orNull(text('the folder; null if the rows are only in the database')).as('Folder'),
  since: day('first day that psd2 asked for'),
  customers: list(
    customerReport,
    'one for each customer. With --every, or with PostgreSQL and --all-customers: only those of the last round that were not synced completely, at most 1000',
  ),
  nextReadsAt: orNull(time('when psd2 may read again what it skipped; null if it skipped nothing')),
  totals: object({
    customers: whole('customers processed; with --every, all totals are those of the last round'),
    synced: whole('customers who were synced completely'),
    accounts: whole('accounts of all customers'),
    newTransactions: whole('new transactions of all customers'),
    pending: whole('pending transactions of all customers'),
    calls: whole('calls to the bank'),
  }),
  allCustomers: seen('Customers', ({ totals }: Totals) => String(totals.customers)),
  synced: seen('Completely synced', ({ totals }: Totals) => String(totals.synced)),
  accounts: seen('Accounts', ({ totals }: Totals) => String(totals.accounts)),
  newTransactions: seen('New transactions', ({ totals }: Totals) => String(totals.newTransactions)),
  pending: seen('Pending', ({ totals }: Totals) => String(totals.pending)),
  calls: seen('Calls', ({ totals }: Totals) => String(totals.calls)),
});

/** Prints the result of the last round, and warns about failures. @param calls number of calls to the bank */
export function report(
  context: Context,
  plan: { out: string | undefined; since: IsoDate } & Allowed,
  tally: SyncTally,
  calls: number,
): void {
  const customers = tally.reports.toSorted((a, b) => a.customerId.localeCompare(b.customerId));
  if (!tally.isTold) {
    tellOfSkipped(context, tally, plan);
    warnOfErrors(context, customers);
    warnOfDoubts(context, customers);
  }
  const { out = null, since } = plan;
  const { customers: waiting, accounts } = tally.skipped;
  const nextReadsAt = waiting + accounts > 0 ? nextReads(context, plan) : null;
  const totals = { ...tally.totals, calls };
  context.output.record({ out, since, customers, nextReadsAt, totals }, syncReport, 'titles');
}

/** Warns about each failure. If an error has ended the sync of a customer, all accounts that were not read are in one line. */
export function warnOfErrors({ terminal }: Context, customers: readonly CustomerReport[]): void {
  for (const { customerId, errors } of customers) {
    const byMessage = new Map<string, string[]>();
    for (const { productId, message } of errors)
      byMessage.set(message, [...(byMessage.get(message) ?? []), ...(productId === null ? [] : [productId])]);
    for (const [message, products] of byMessage) {
      const which =
        products.length === 0
          ? ''
          : `, ${products.length === 1 ? 'account' : 'accounts'} ${products.join(', ')}`;
      terminal.warn(cleanText(`Customer ${customerId}${which}: ${message}`));
    }
  }
}

/** Warns about what is not certain of the rows that were read. */
export function warnOfDoubts({ terminal }: Context, customers: readonly CustomerReport[]): void {
  for (const { customerId, checks } of customers)
    for (const check of checks) {
      const doubts = doubtsOf(check);
      if (doubts.length > 0)
        terminal.warn(cleanText(`Customer ${customerId}, account ${check.productId}: ${doubts.join('; ')}.`));
    }
}

/** What is not certain of the rows of an account, in words. A list that is not complete is a failure, and told as one. */
export function doubtsOf(check: Omit<CustomerReport['checks'][number], 'productId'>): string[] {
  const rows = (number: number, words: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? 'transaction' : 'transactions'} ${words}`];
  return [
    ...(check.balanced === false
      ? [`the bank's balance differs by ${check.difference} from the stored transactions`]
      : []),
    ...(check.takenFor === null
      ? []
      : [
          `the bank called it ${check.takenFor} before: only its kind, currency and name say that it is the same`,
        ]),
    ...rows(check.late, 'arrived late, for days that had been read'),
    ...rows(check.changed, 'changed text or day, and no id of the bank names them for certain'),
    ...rows(check.vanished, 'of the store that the bank no longer shows'),
    ...rows(
      check.replaced,
      `that the bank no longer shows, and that its balance does not count, ${check.replaced === 1 ? 'is' : 'are'} marked as replaced`,
    ),
    ...rows(
      check.cancelled,
      `of a day to come vanished, and ${check.cancelled === 1 ? 'is' : 'are'} marked as cancelled`,
    ),
  ];
}

/** How often psd2 may read, and whether the reads are spread over the day. */
interface Allowed {
  unattendedReads: number;
  /** Each consent says how often psd2 may read. */
  isByConsent: boolean;
  /** Undefined without `--every`. */
  every: number | undefined;
}

/** Says what psd2 skipped. This is a warning, unless it only waits for the next turn of the day. */
export function tellOfSkipped(
  context: Context,
  { skipped: { customers, accounts } }: SyncTally,
  allowed: Allowed,
): void {
  if (customers + accounts === 0) return;
  const { terminal } = context;
  const { unattendedReads: budget, isByConsent, every } = allowed;
  const at = terminal.writeTime(nextReads(context, allowed));
  const skipped = [
    ...(customers > 0 ? [`${customers} customer${customers === 1 ? '' : 's'}`] : []),
    ...(accounts > 0 ? [`${accounts} account${accounts === 1 ? '' : 's'}`] : []),
  ].join(' and ');
  const times = isByConsent ? 'as often as the consent allows' : `${budget} time${budget === 1 ? '' : 's'}`;
  const option = isByConsent ? '' : ' (--unattended-reads)';
  if (every === undefined) {
    terminal.warn(
      `Skipped: ${skipped}, read ${times} today without the customer${option}. They may be read again from ${at}.`,
    );
    return;
  }
  terminal.say(
    `Skipped: ${skipped}. Without the customer, psd2 reads an account ${times} a day${option}, spread over the day, and pauses after failed reads. The next turn begins at ${at}.`,
  );
}

/** When psd2 may read again what it skipped, ISO 8601. */
function nextReads({ world }: Context, { unattendedReads, every }: Allowed): string {
  return nextTurn(world.now(), every === undefined ? 1 : unattendedReads).toISOString();
}

const VALID = 'The data that was written is valid.';
const RUN_AGAIN = `${VALID} Run the same psd2 sync again to continue.`;
/** Failures that another run may not meet. */
const MAY_PASS: readonly ErrorCode[] = [
  'bank_failing',
  'bank_unreachable',
  'too_many_calls',
  'list_changed',
  'overtaken',
  'config',
];
const SCA_FIRST = `${VALID} The customer must be present once: psd2 accounts transactions <account> sends them to the bank (name the customer with --customer). Then run the same psd2 sync again.`;

/**
 * The error for an incomplete sync; undefined if everything was synced, or some reads must wait.
 *
 * @param isByConsent each consent says how often psd2 may read: one for one reading never again
 */
export function incomplete(tally: SyncTally, isByConsent = false): Psd2Error | undefined {
  const { firstFailure: first, incomplete: count, totals, hasReadNothing } = tally;
  if (hasReadNothing)
    return new Psd2Error(
      'reads_used_up',
      "Nothing was read: today's reads without the customer are used up",
      {
        hint: `Run the same psd2 sync again tomorrow. ${isByConsent ? 'A consent for one reading needs a new one: psd2 consent request. ' : ''}If the customer is present, add --psu-ip <address>.`,
      },
    );
  if (!first) return undefined;
  return new Psd2Error(
    first.code,
    `${count} of ${totals.customers} customers could not be synced completely. First failure: ${first.message}`,
    { ...first.context, hint: hintAfter(first) },
  );
}

function hintAfter({ code, hint }: Psd2Error): string {
  if (code === 'sca_required') return SCA_FIRST;
  if (MAY_PASS.includes(code)) return RUN_AGAIN;
  return hint === undefined ? VALID : `${VALID} ${hint}`;
}

/** The error for a sync that the operator has stopped. @param all number of customers to sync */
export function stopped({ totals, firstFailure }: SyncTally, all: number): Psd2Error {
  const failed = firstFailure ? ` First failure: ${endSentence(firstFailure.message)}` : '';
  return new Psd2Error('interrupted', `Interrupted: ${totals.customers} of ${all} customers were done`, {
    hint: `What was read is stored. Run the same psd2 sync again to continue.${failed}`,
  });
}

/** For example `[=====>              ] 120 of 500 customers, 35.2 calls/s, 1 min left`. */
export function progressLine(all: number, done: number, calls: number, milliseconds: number): string {
  const rate = milliseconds < 1000 ? '' : `, ${(calls / (milliseconds / 1000)).toFixed(1)} calls/s`;
  return `${drawBar(all, done)} ${done} of ${all} customers${rate}${writeLeft(all, done, milliseconds)}`;
}

/** The maximum number of incomplete customers to report, if psd2 does not report all customers. */
const MAX_INCOMPLETE = 1_000;

/** While the store is away, psd2 keeps the results of this many customers. */
const MAX_UNSTORED = 100_000;
const USED_UP = { code: 'reads_used_up', message: "today's reads without the customer are used up" };

const NO_TOTALS = { customers: 0, synced: 0, accounts: 0, newTransactions: 0, pending: 0 };

/** The result of a round, over all threads. The counts by status and by code are of all rounds. */
export class SyncTally {
  /** The reports of all customers, or only of the first ones that were not synced completely. */
  readonly reports: CustomerReport[] = [];
  readonly totals = { ...NO_TOTALS };
  /** Of all rounds. */
  readonly byStatus = { synced: 0, partly: 0, waiting: 0, failed: 0 };
  /** The number of errors by error code, of all rounds. */
  readonly byCode = new Map<string, number>();
  /** The number of customers with an error. */
  incomplete = 0;
  /** Customers and accounts that psd2 may not read now. */
  readonly skipped = { customers: 0, accounts: 0 };
  firstFailure: Psd2Error | undefined;
  /** Whether the operator has seen the failures of the round. */
  isTold = false;
  #hasRead = false;
  readonly #keepsAll: boolean;
  #ends: (CustomerEnd & { customerId: string })[] = [];
  #results: Omit<ReadResult, 'at'>[] = [];
  readonly #isSpread: boolean;

  /**
   * @param keepsAll whether to keep the reports of all customers, which takes memory
   * @param isSpread whether reads are spread over the day, so that an account which waits for its turn is not late
   */
  constructor(keepsAll: boolean, isSpread = false) {
    this.#keepsAll = keepsAll;
    this.#isSpread = isSpread;
  }

  add(report: CustomerReport, failure: Psd2Error | undefined): void {
    const { customerId, status, errors, skipped } = report;
    const [first] = errors;
    this.firstFailure ??= failure;
    this.totals.customers += 1;
    this.totals.synced += status === 'synced' ? 1 : 0;
    this.totals.accounts += report.accounts;
    this.totals.newTransactions += report.newTransactions;
    this.totals.pending += report.pending;
    this.byStatus[status] += 1;
    this.incomplete += first ? 1 : 0;
    this.skipped.customers += status === 'waiting' ? 1 : 0;
    this.skipped.accounts += skipped.length;
    this.#hasRead ||= status !== 'waiting' && (report.accounts === 0 || skipped.length < report.accounts);
    for (const { code } of errors) this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
    const isCertain = report.checks.every((check) => doubtsOf(check).length === 0);
    if (this.#keepsAll || ((status !== 'synced' || !isCertain) && this.reports.length < MAX_INCOMPLETE))
      this.reports.push(report);
    this.#ends.push({ customerId, status, code: first?.code ?? null, message: first?.message ?? null });
    this.#addResult(report);
  }

  #addResult({ customerId, status, errors, skipped, checks }: CustomerReport): void {
    const late = status === 'waiting' ? [null] : skipped;
    if (this.#isSpread && status === 'waiting') return;
    const failures = this.#isSpread
      ? errors
      : [...errors, ...late.map((productId) => ({ productId, ...USED_UP }))];
    const doubts = checks.flatMap(({ productId, balanced, difference, complete, certainFrom, ...check }) => {
      const words = doubtsOf({ balanced, difference, complete, certainFrom, ...check });
      if (!complete) words.push(certainDays({ certainFrom, ...check }) || 'the list is not complete');
      if (words.length === 0) return [];
      return [{ productId, balanced, difference, complete, certainFrom, message: words.join('; ') }];
    });
    this.#results.push({ customerId, failures, skipped, ...(doubts.length > 0 && { doubts }) });
  }

  /** Whether the round had customers, and psd2 could read no account because it may not read them now. */
  get hasReadNothing(): boolean {
    return this.skipped.customers + this.skipped.accounts > 0 && !this.#hasRead;
  }

  /** Forgets the round before. */
  beginRound(): void {
    this.reports.length = 0;
    Object.assign(this.totals, NO_TOTALS);
    Object.assign(this.skipped, { customers: 0, accounts: 0 });
    this.incomplete = 0;
    this.firstFailure = undefined;
    this.isTold = false;
    this.#hasRead = false;
  }

  /** What was read, and what was not, since the last call. */
  takeResults(): Omit<ReadResult, 'at'>[] {
    const results = this.#results;
    this.#results = [];
    return results;
  }

  /** Brings back results that could not be stored. */
  bringBack(results: readonly Omit<ReadResult, 'at'>[]): void {
    this.#results = [...results, ...this.#results].slice(-MAX_UNSTORED);
  }

  /** The results of customers since the last call. */
  takeEnds(): (CustomerEnd & { customerId: string })[] {
    const ends = this.#ends;
    this.#ends = [];
    return ends;
  }
}
