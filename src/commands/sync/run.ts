import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { addDays, bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { DAYS_WITHOUT_SCA } from '../../flows/sync.ts';
import { rememberSyncFolder } from '../../store/machine/sync-folders.ts';
import type { Round, Rounds } from '../../store/ports/sync.ts';
import type { Context } from '../context.ts';
import { type OptionsOf, verb } from '../declare.ts';
import { customerOf, grantOf } from '../open/bank.ts';
import { readDuration } from '../shared/duration.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { readWholeNumber } from '../shared/whole-number.ts';
import type { Shared } from './customers.ts';
import { type OnReport, SharedStop, type SyncJob, syncCustomers } from './customers.ts';
import {
  incomplete,
  progressLine,
  report,
  SyncTally,
  stopped,
  syncReport,
  tellOfSkipped,
  warnOfErrors,
} from './report.ts';
import { SyncWatch } from './watch.ts';

const FILES = `
Files in a customer's folder:
  transactions/<productId>.ndjson  booked transactions: append-only, each once, with its own id
  current.ndjson                   accounts, balances and pending transactions as they are now ("kind" says which)
  sync-<n>.ndjson                  the progress of psd2 sync itself

With a store in PostgreSQL, the rows are in its tables (docs/store.md). With --out, psd2 writes the files too.`;

const HOW = `
If a sync is interrupted, the next one continues where it stopped. After Ctrl-C or SIGTERM, psd2 begins no new
customer, stores what it has read, and ends with exit code 130. A second signal ends it at once. With --every, psd2
finishes the customers in progress first, and ends with exit code 0 after SIGTERM. A second signal interrupts it.

With PostgreSQL, --all-customers joins the round that other workers have begun, so each customer is synced once.
Every worker stays until the round is over, and takes over the customers of a worker that died.

With hundreds of customers, psd2 uses all cores; --cores limits them. --concurrency is for all cores together.

A bank may allow only four reads of an account a day while the customer is absent (RTS (EU) 2018/389, article 36
(5) (b)). psd2 counts them by the bank's day, including those of other commands. A read that brought no data is free.
After --unattended-reads reads psd2 skips the account, and a warning says when it can be read again. This is not a
failure, but if it reads nothing at all for this reason, the exit code is 12. With --psu-ip psd2 does not count.

With --every, psd2 spreads these reads over the day: with 4, one from 0:00, 6:00, 12:00 and 18:00 on, Rome time. A
read that was not made earlier in the day is not lost. After a failed read it pauses, 5 minutes at first and 2 hours
at most. Without --every, a sync may use all reads at once, and never pauses.

A failure of one customer does not stop the others. The exit code is that of the first failure. If the bank requires
a customer's SCA (exit code 6), run psd2 accounts transactions once with that customer present.`;

const EXAMPLES = `
Examples:
  $ psd2 sync --out ~/banking
  $ psd2 sync --out /srv/banking --all-customers --json | jq .totals
  $ psd2 sync --all-customers --every 6h --metrics-file /var/lib/node_exporter/psd2.prom`;

function withOptions(command: Command) {
  return command
    .option(
      '--out <folder>',
      'folder for the files, with a subfolder for each customer; optional with PostgreSQL',
    )
    .option('--all-customers', 'sync all customers who are logged in with the profile')
    .option(
      '--since <date>',
      'first day to read (YYYY-MM-DD), even if synced before; default: 89 days ago on the first run, then only what is new',
    )
    .option('--concurrency <n>', 'maximum number of customers to sync at once', '8')
    .option('--cores <n>', 'number of cores to use; default: all')
    .option(
      '--unattended-reads <n>',
      'maximum reads of an account a day while the customer is absent (no --psu-ip); default: 4, or what the consent allows',
    )
    .option('--every <duration>', 'keep running; begin a round at this interval: 30s, 15m, 6h, 1d')
    .option(
      '--metrics-file <path>',
      "file for Prometheus metrics, written every 5 s for node_exporter's textfile collector",
    );
}

type SyncOptions = OptionsOf<typeof withOptions>;

/** `psd2 sync run`: brings the local copy of each customer's data up to date. */
export const run = verb(
  { prints: { what: 'what was synced', shape: syncReport }, help: `${FILES}\n${HOW}\n${EXAMPLES}` },
  withOptions,
  (context, options) => sync(context, options),
);

/** The parsed options. */
interface Plan {
  out: string | undefined;
  allCustomers: boolean;
  /** The operator's `--since`; undefined if it was not given. */
  since: IsoDate | undefined;
  concurrency: number;
  cores: number;
  unattendedReads: number;
  /** The operator has not chosen `unattendedReads`, and the consents of this bank say how often psd2 may read. */
  isByConsent: boolean;
  /** Milliseconds from the beginning of a round to the next. */
  every: number | undefined;
}

/** What one run of the command works with. */
interface Run {
  context: Context;
  plan: Plan;
  tally: SyncTally;
  watch: SyncWatch;
  /** When it is aborted, psd2 begins no other customer, and finishes those in progress. */
  gentle: AbortSignal;
}

/** Threads for signatures and for waits for the disk. Node's default is four. */
const POOL_THREADS = 16;
/** How often a bank lets psd2 read an account without the customer, if nothing else is said. */
const READS_A_DAY = 4;
const LONGEST_EVERY_MS = 7 * 86_400_000;
/** How often psd2 checks whether another worker has begun a round, or the database is back. */
const LOOK_MS = 15_000;

/**
 * Goes from round to round. A failure of one customer does not stop the others.
 *
 * @throws Psd2Error the first failure, after all customers were processed; `reads_used_up` if no account could be read
 */
async function sync(context: Context, options: SyncOptions): Promise<void> {
  const { needsFolder } = await context.wholeStore();
  const plan = await readPlan(context, options, needsFolder);
  // Node reads this when it first uses the pool, which is later. With four threads, waits for the disk would delay
  // signatures.
  process.env.UV_THREADPOOL_SIZE ??= String(POOL_THREADS);
  const one = plan.allCustomers ? undefined : await customerOf(context);
  const { ownPace: pace, tally: calls } = await context.transport(await grantOf(context));
  const tally = new SyncTally(one !== undefined || (plan.every === undefined && needsFolder));
  const watch = new SyncWatch(context, tally, { pace, tally: calls }, options.metricsFile);
  watch.write();
  if (plan.out !== undefined) await rememberSyncFolder(context.folder, context.profile().name, plan.out);
  const gentle = plan.every === undefined ? new AbortController().signal : context.stopGently();
  const run: Run = { context, plan, tally, watch, gentle };
  const rounds = roundsOf(run, one);
  let today = bankDay(context.world.now());
  let callsBefore = pace.turns;
  for (;;) {
    const round = await rounds.next();
    if (!round) break;
    today = bankDay(context.world.now());
    callsBefore = pace.turns;
    tally.beginRound();
    await goRound(run, round, today);
    if (context.world.signal.aborted) throw stopped(tally, round.size);
    await warnOfEndings(context, round);
    if (plan.every === undefined || gentle.aborted) break;
    endOfRound(run);
  }
  const since = plan.since ?? addDays(today, -DAYS_WITHOUT_SCA);
  report(context, { ...plan, since }, tally, pace.turns - callsBefore);
  const failure = plan.every === undefined ? incomplete(tally) : interruptedBy(gentle);
  if (failure) throw failure;
}

/** @throws Psd2Error `usage`, `invalid_date` */
async function readPlan(context: Context, options: SyncOptions, needsFolder: boolean): Promise<Plan> {
  const { out, allCustomers = false, unattendedReads } = options;
  const since = options.since === undefined ? undefined : parseDate('--since', options.since);
  if (since !== undefined && since > bankDay(context.world.now()))
    throw new Psd2Error('invalid_date', `--since ${since} is in the future`);
  if (out === '') throw new Psd2Error('usage', '--out is empty');
  if (out === undefined && needsFolder) {
    throw new Psd2Error('usage', '--out is missing: psd2 needs a folder for the files', {
      hint: 'Add --out <folder>. With a store in PostgreSQL it is optional.',
      next: [['store', '--help']],
    });
  }
  if (options.metricsFile === '') throw new Psd2Error('usage', '--metrics-file is empty');
  // PSD2_CUSTOMER is only a default, and --all-customers counts more.
  if (allCustomers && context.globals.customer !== undefined && context.sourceOf('customer') === 'option') {
    throw new Psd2Error('usage', '--customer and --all-customers cannot be used together', {
      hint: 'Leave one of them out.',
    });
  }
  return {
    ...{ out, allCustomers },
    since: since && (await withinHistoryOf(context, since)),
    concurrency: readWholeNumber('--concurrency', options.concurrency, 1, 99),
    cores:
      options.cores === undefined
        ? availableParallelism()
        : readWholeNumber('--cores', options.cores, 1, 999),
    unattendedReads:
      unattendedReads === undefined
        ? READS_A_DAY
        : readWholeNumber('--unattended-reads', unattendedReads, 1, 9999),
    isByConsent:
      unattendedReads === undefined && (await context.bankInterface()).customers === 'named by the operator',
    every: options.every === undefined ? undefined : readDuration('--every', options.every, LONGEST_EVERY_MS),
  };
}

/** The first day to read: not before the bank's history. */
async function withinHistoryOf(context: Context, since: IsoDate): Promise<IsoDate> {
  const { accounts } = (await context.applicationBank(await grantOf(context))).connect();
  const earliest = accounts.earliestDay?.();
  if (earliest === undefined || since >= earliest) return since;
  context.terminal.warn(`The bank shows no transactions before ${earliest}, so psd2 reads from that day on.`);
  return earliest;
}

/** The rounds of a run, one after the other. @param one the customer of a sync without `--all-customers` */
function roundsOf({ context, plan: { every }, gentle }: Run, one: string | undefined) {
  const { world } = context;
  let begun: number | undefined;
  let open: Promise<Rounds> | undefined;
  /** Opened once, because the backend for files remembers in it when the last round began. */
  const opened = () => {
    open ??= context.store().then((store) => store.rounds());
    return open;
  };
  const join = async (): Promise<Round | { dueIn: number }> => {
    const rounds = await opened();
    if (one === undefined) return rounds.join(every);
    const dueIn = begun === undefined ? 0 : begun + (every ?? 0) - world.now().getTime();
    if (dueIn > 0) return { dueIn };
    begun = world.now().getTime();
    return rounds.over([one]);
  };
  let isFirst = true;
  return {
    /** @returns undefined if the operator has ended the sync */
    async next(): Promise<Round | undefined> {
      for (;;) {
        if (gentle.aborted) return undefined;
        const joined = await join().catch(async (error: unknown) => {
          const rounds = await opened();
          // If psd2 has never reached the store, report that at once.
          if (isFirst || !rounds.isAway(error)) throw error;
          return { dueIn: LOOK_MS };
        });
        if (!('dueIn' in joined)) {
          if (joined.size === 0 && isFirst) throw await nobodyLoggedIn(context);
          isFirst = false;
          return joined;
        }
        if (isFirst) saySoon(context, joined.dueIn);
        isFirst = false;
        const signal = AbortSignal.any([world.signal, gentle]);
        await delay(Math.min(joined.dueIn, LOOK_MS), undefined, { signal }).catch(() => {});
        world.signal.throwIfAborted();
      }
    },
  };
}

function saySoon({ terminal, world }: Context, dueIn: number): void {
  const at = new Date(world.now().getTime() + dueIn).toISOString();
  terminal.say(
    `The last round began less than --every ago. The next one begins at ${terminal.writeTime(at)}.`,
  );
}

async function nobodyLoggedIn(context: Context): Promise<Psd2Error> {
  const { name } = context.profile();
  const { customers } = await context.bankInterface();
  if (customers === 'named by the operator') {
    return new Psd2Error('not_logged_in', `No customer has given a consent with the profile ${name}`, {
      next: [['--profile', name, 'consent', 'request']],
    });
  }
  return new Psd2Error('not_logged_in', `Nobody is logged in with the profile ${name}`, {
    next: [['--profile', name, 'auth', 'login']],
  });
}

/** With fewer customers per thread, a thread costs more time than it saves. */
const MIN_CUSTOMERS = 100;

async function goRound(run: Run, round: Round, today: IsoDate): Promise<void> {
  const { context, plan, tally, watch, gentle } = run;
  const { ownPace: pace, tally: calls } = await context.transport(await grantOf(context));
  const { due } = await round.counts();
  const threads = Math.max(1, Math.min(plan.cores, plan.concurrency, Math.floor(due / MIN_CUSTOMERS)));
  const stop = new SharedStop();
  const end = () => stop.set();
  gentle.addEventListener('abort', end);
  if (gentle.aborted) end();
  const { out, since, unattendedReads: budget, isByConsent } = plan;
  const allowance = { budget, isOperators: !isByConsent, isSpread: plan.every !== undefined };
  const jobs = shares(plan.concurrency, threads).map(
    (concurrency): SyncJob => ({ out, since, today, allowance, stop, concurrency }),
  );
  // A few customers may have accounts with a million rows. With many customers, each is soon done, and frequent garbage
  // collection would cost a twentieth of the time.
  if (due < MIN_CUSTOMERS) keepHeapSmall();
  const start = context.world.now().getTime();
  const callsBefore = pace.turns;
  const line = () => {
    const own = tally.totals.customers;
    const done = Math.max(own, 'customers' in round.share ? 0 : round.size - (watch.due ?? round.size));
    return progressLine(round.size, done, pace.turns - callsBefore, context.world.now().getTime() - start);
  };
  const shared = { round: round.share, pace: pace.state, tally: calls.state };
  const onReport: OnReport = (each, failure) => tally.add(each, failure);
  await watch.during(round, plan.allCustomers, () =>
    context.terminal.whileWaiting(line, syncInThreads(context, round, jobs, shared, onReport)),
  );
  gentle.removeEventListener('abort', end);
}

/** Splits a number into `count` parts that differ by at most one. */
function shares(whole: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((whole + index) / count));
}

/** Runs the first job on this thread, and each other job on its own thread. */
async function syncInThreads(
  context: Context,
  round: Round,
  [own, ...others]: SyncJob[],
  shared: Shared,
  onReport: OnReport,
): Promise<void> {
  if (own === undefined) return;
  const work = [syncCustomers(context, own, round, onReport)];
  if (others.length > 0) {
    const { syncInThread } = await import('./customers.ts');
    work.push(...others.map((job) => syncInThread(context, job, shared, onReport)));
  }
  // Wait for all of them before a failure ends the command, so that they store what they have read.
  for (const outcome of await Promise.allSettled(work))
    if (outcome.status === 'rejected') throw outcome.reason;
}

async function warnOfEndings(context: Context, { share, size }: Round): Promise<void> {
  const { MAX_CUSTOMERS, warnOfEndings: warn } = await import('../expiring/warn.ts');
  if ('customers' in share) await warn(context, share.customers);
  else await warn(context, size > MAX_CUSTOMERS ? 'many' : await (await context.store()).tokens.customers());
}

/** Reports the result of a round before the next one begins. */
function endOfRound({ context, plan, tally }: Run): void {
  tellOfSkipped(context, tally, plan);
  warnOfErrors(context, tally.reports);
  tally.isTold = true;
  const { customers, synced } = tally.totals;
  context.terminal.say(
    tally.hasReadNothing
      ? 'A round has ended without a read.'
      : `A round has ended: ${synced} of ${customers} customers are completely synced.`,
  );
}

/** SIGTERM is the normal end of a service. Ctrl-C is an interruption. */
function interruptedBy(gentle: AbortSignal): Psd2Error | undefined {
  if (!gentle.aborted || gentle.reason === 'SIGTERM') return undefined;
  return new Psd2Error('interrupted', 'Interrupted: psd2 has finished the customers in progress');
}
