import { availableParallelism } from 'node:os';
import type { Pace } from '../../bank/call/pace.ts';
import { addDays, bankDay, bankLocalTime, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { DAYS_WITHOUT_SCA } from '../../flows/sync.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { customerOf } from '../open/store.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { readWholeNumber } from '../shared/whole-number.ts';
import {
  type CustomerReport,
  SharedProgress,
  type SyncedCustomers,
  type SyncJob,
  syncCustomers,
} from './customers.ts';
import { syncReport } from './shape.ts';

export interface SyncOptions {
  out: string;
  allCustomers: boolean;
  since: string | undefined;
  concurrency: string;
  /** Undefined: all that there are. */
  cores: string | undefined;
  unattendedReads: string;
}

/** Signatures and waits for the disk; Node has four by itself. */
const POOL_THREADS = 16;

/**
 * `psd2 sync`: brings a folder up to date for each customer. What goes wrong with one customer stops no other.
 *
 * @throws Psd2Error of the first failure, once all customers had their turn
 */
export async function sync(context: Context, options: SyncOptions): Promise<void> {
  const today = bankDay(context.world.now());
  const since =
    options.since === undefined ? addDays(today, -DAYS_WITHOUT_SCA) : parseDate('--since', options.since);
  if (since > today) throw new Psd2Error('invalid_date', `--since ${since} is in the future`);
  if (options.out === '') throw new Psd2Error('usage', '--out names no folder');
  const concurrency = readWholeNumber('--concurrency', options.concurrency, 1, 99);
  const cores =
    options.cores === undefined ? availableParallelism() : readWholeNumber('--cores', options.cores, 1, 999);
  const unattendedReads = readWholeNumber('--unattended-reads', options.unattendedReads, 1, 9999);
  // Read when the pool is first used, which is later: four threads that wait for the disk would keep signatures waiting.
  process.env.UV_THREADPOOL_SIZE ??= String(POOL_THREADS);
  const customers = await customersOf(context, options.allCustomers);
  const { ownPace: pace } = await context.transport();

  const progress = new SharedProgress();
  const threads = threadsFor(cores, concurrency, customers.length);
  const jobs = shares(concurrency, threads).map((share) => ({
    ...{
      out: options.out,
      since: options.since === undefined ? undefined : since,
      today,
      unattendedReads,
      customers,
      progress,
    },
    concurrency: share,
  }));
  const start = context.world.now().getTime();
  // A few may have accounts of a million rows. Of many, each is soon done, and looking for garbage often takes a twentieth.
  if (customers.length < LEAST_CUSTOMERS) keepHeapSmall();
  const synced = await context.terminal.whileWaiting(
    () => progressLine(customers.length, progress.done, pace.turns, context.world.now().getTime() - start),
    syncInThreads(context, pace, jobs),
  );
  const reports = synced.flatMap((each) => each.reports);
  const failures = synced.flatMap((each) => each.failures);
  if (context.world.signal.aborted) throw stopped(progress.done, customers.length, failures[0]);

  await (await import('../expiring/warn.ts')).warnOfEndings(context, customers);
  reports.sort((a, b) => a.customerId.localeCompare(b.customerId));
  const hasSkipped = reports.some(({ status, skipped }) => status === 'waiting' || skipped.length > 0);
  const nextReadsAt = hasSkipped ? new Date(bankLocalTime(addDays(today, 1), '00:00')).toISOString() : null;
  if (nextReadsAt !== null) warnOfSkipped(context, reports, unattendedReads, nextReadsAt);
  report(context, { out: options.out, since, customers: reports, nextReadsAt }, pace.turns);
  const [first] = failures;
  if (first) {
    const incomplete = reports.filter(({ errors }) => errors.length > 0).length;
    throw new Psd2Error(
      first.code,
      `${incomplete} of ${customers.length} customers could not be synced completely; the first failure: ${first.message}`,
      { ...first.context, hint: first.code === 'sca_required' ? SCA_FIRST : RUN_AGAIN },
    );
  }
}

const RUN_AGAIN = 'What was written is good. Run the same psd2 sync again to go on.';
const SCA_FIRST =
  'What was written is good. The customer has to be there once: psd2 accounts transactions <productId> sends them to the bank (--customer says whom). Then run the same psd2 sync again.';

/** What an operator is told who has stopped a sync. */
function stopped(done: number, all: number, failure: Psd2Error | undefined): Psd2Error {
  const failed = failure ? ` The first failure until then: ${failure.message}.` : '';
  return new Psd2Error('interrupted', `Interrupted: ${done} of ${all} customers were done`, {
    hint: `What was read is stored. Run the same psd2 sync again to go on.${failed}`,
  });
}

/** @throws Psd2Error `not_logged_in` when there is nobody to sync */
async function customersOf(context: Context, all: boolean): Promise<string[]> {
  if (!all) return [await customerOf(context)];
  if (context.globals.customer !== undefined) {
    throw new Psd2Error('usage', '--customer and --all-customers contradict each other', {
      hint: 'Leave one of them out.',
    });
  }
  const customers = await (await context.store()).tokens.customers();
  if (customers.length > 0) return customers;
  const { name } = context.profile();
  throw new Psd2Error('not_logged_in', `Nobody is logged in with the profile ${name}`, {
    next: [['--profile', name, 'auth', 'login']],
  });
}

/** The first share on this thread, each other one on a thread of its own. */
async function syncInThreads(
  context: Context,
  pace: Pace,
  [own, ...others]: SyncJob[],
): Promise<SyncedCustomers[]> {
  if (own === undefined) return [];
  const work = [syncCustomers(context, own)];
  if (others.length > 0) {
    const { syncInThread } = await import('./threads.ts');
    work.push(...others.map((job) => syncInThread(context, job, pace.state)));
  }
  // All of them, before one that failed ends the command: what they have read is stored.
  const ended = await Promise.allSettled(work);
  return ended.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** With fewer customers a thread, its start takes longer than it saves. */
const LEAST_CUSTOMERS = 100;

/** @returns how many threads to work on */
function threadsFor(cores: number, concurrency: number, customers: number): number {
  return Math.max(1, Math.min(cores, concurrency, Math.floor(customers / LEAST_CUSTOMERS)));
}

/** A number in `count` parts that differ by at most one. */
function shares(whole: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((whole + index) / count));
}

/** @param at when they may be read again, ISO 8601 */
function warnOfSkipped({ terminal }: Context, reports: CustomerReport[], budget: number, at: string): void {
  const customers = reports.filter(({ status }) => status === 'waiting').length;
  const accounts = reports.reduce((all, { skipped }) => all + skipped.length, 0);
  const skipped = [
    ...(customers > 0 ? [`${customers} customer${customers === 1 ? '' : 's'}`] : []),
    ...(accounts > 0 ? [`${accounts} account${accounts === 1 ? '' : 's'}`] : []),
  ];
  terminal.warn(
    `Skipped: ${skipped.join(' and ')}, read ${budget} time${budget === 1 ? '' : 's'} today without the customer (--unattended-reads). They may be read again from ${terminal.writeTime(at)}.`,
  );
}

const TOTAL_FIELDS: Column<SyncReport>[] = [
  { title: 'Folder', value: ({ out }) => out },
  { title: 'Customers', value: ({ customers }) => String(customers.length) },
  { title: 'Completely synced', value: ({ totals }) => String(totals.synced) },
  { title: 'Accounts', value: ({ totals }) => String(totals.accounts) },
  { title: 'New transactions', value: ({ totals }) => String(totals.newTransactions) },
  { title: 'Pending', value: ({ totals }) => String(totals.pending) },
  { title: 'Calls', value: ({ totals }) => String(totals.calls) },
];

/** What a sync did. */
interface SyncReport {
  out: string;
  since: IsoDate;
  /** ISO 8601; null where nothing was skipped. */
  nextReadsAt: string | null;
  totals: { synced: number; accounts: number; newTransactions: number; pending: number; calls: number };
  customers: CustomerReport[];
}

function report({ output, terminal }: Context, done: Omit<SyncReport, 'totals'>, calls: number): void {
  const { customers } = done;
  const sum = (of: (customer: CustomerReport) => number) =>
    customers.reduce((all, each) => all + of(each), 0);
  const totals = {
    synced: customers.filter(({ status }) => status === 'synced').length,
    accounts: sum(({ accounts }) => accounts),
    newTransactions: sum(({ newTransactions }) => newTransactions),
    pending: sum(({ pending }) => pending),
    calls,
  };
  for (const { customerId, errors } of customers) {
    for (const { productId, message } of errors) {
      terminal.warn(
        cleanText(`Customer ${customerId}${productId ? `, product ${productId}` : ''}: ${message}`),
      );
    }
  }
  output.record({ ...done, totals }, TOTAL_FIELDS, syncReport);
}

const BAR_WIDTH = 20;

/** For example `[=====>              ] 120 of 500 customers, 35.2 calls/s, 1 min left`. */
function progressLine(all: number, done: number, calls: number, milliseconds: number): string {
  const filled = Math.floor((done / all) * BAR_WIDTH);
  const bar = `${'='.repeat(filled)}${filled < BAR_WIDTH ? '>' : ''}`.padEnd(BAR_WIDTH);
  const seconds = milliseconds / 1000;
  const left = done === 0 ? '' : `, ${writeDuration((seconds / done) * (all - done))} left`;
  const rate = seconds < 1 ? '' : `, ${(calls / seconds).toFixed(1)} calls/s`;
  return `[${bar}] ${done} of ${all} customers${rate}${left}`;
}

function writeDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
