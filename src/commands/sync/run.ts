import { addDays, bankDay, type IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { DAYS_WITHOUT_SCA } from '../../flows/sync.ts';
import { rememberSyncFolder } from '../../store/machine/sync-folders.ts';
import type { Round, Rounds } from '../../store/ports/sync.ts';
import type { Context } from '../context.ts';
import { verb } from '../declare.ts';
import { notifyOfUnknown } from '../flow/notify-unknown.ts';
import { grantOf } from '../open/bank.ts';
import { customerOf } from '../open/customer.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { ChangedKeys } from './changed-keys.ts';
import type { Shared } from './customers.ts';
import { type OnReport, SharedStop, type SyncJob, syncCustomers } from './customers.ts';
import { notifyOfFailed } from './notify-failed.ts';
import { HELP, type Plan, readPlan, type SyncOptions, withSyncOptions } from './plan.ts';
import { profileStateOf } from './profile-state.ts';
import {
  incomplete,
  progressLine,
  report,
  SyncTally,
  stopped,
  syncReport,
  tellOfSkipped,
  warnOfDoubts,
  warnOfErrors,
} from './report.ts';
import { SyncWatch } from './watch.ts';

/** `psd2 sync run`: brings the local copy of each customer's data up to date. */
export const run = verb(
  { prints: { what: 'what was synced', shape: syncReport }, help: HELP },
  withSyncOptions,
  (context, options) => sync(context, options),
);

/** Serves the metrics until the command ends. @throws Psd2Error `config` if it cannot listen */
async function serve(
  context: Context,
  { host, port }: NonNullable<Plan['metricsAt']>,
  watch: SyncWatch,
): Promise<void> {
  const { serveMetrics } = await import('./metrics-server.ts');
  const server = await serveMetrics(host, port, () => watch.metrics());
  context.onEnd(() => server.close());
  context.terminal.say(`Metrics: ${server.address}/metrics`);
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
  const keys = plan.every === undefined ? undefined : await ChangedKeys.begin(context);
  const { ownPace: pace, tally: calls } = await context.transport(await grantOf(context));
  const tally = new SyncTally(
    one !== undefined || (plan.every === undefined && needsFolder),
    plan.every !== undefined,
  );
  const state = profileStateOf(() => keys?.context ?? context);
  const watch = new SyncWatch(context, tally, { pace, tally: calls, state }, options.metricsFile);
  watch.write();
  if (plan.out !== undefined) await rememberSyncFolder(context.folder, context.profile().name, plan.out);
  if (plan.metricsAt) await serve(context, plan.metricsAt, watch);
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
    await keys?.look();
    run.context = keys?.context ?? context;
    await goRound(run, round, today);
    if (context.world.signal.aborted) throw stopped(tally, round.size);
    await notifyOfFailed(run.context, tally, one);
    await notifyOfUnknown(run.context);
    await warnOfEndings(run.context, round);
    if (plan.every === undefined || gentle.aborted) break;
    endOfRound(run);
  }
  const since = plan.since ?? addDays(today, -DAYS_WITHOUT_SCA);
  report(context, { ...plan, since }, tally, pace.turns - callsBefore);
  const failure = plan.every === undefined ? incomplete(tally, plan.isByConsent) : interruptedBy(gentle);
  if (failure) throw failure;
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
        // Nothing of the last round is left, and a customer who was forgotten may have come back.
        if (!isFirst) context.folder.forgotten.begin();
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
        await world.sleep(Math.min(joined.dueIn, LOOK_MS), gentle);
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
  if (customers === 'named by the operator')
    return new Psd2Error('not_logged_in', `No customer has given a consent with the profile ${name}`, {
      next: [['--profile', name, 'consent', 'request']],
    });
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
  const start = context.world.now().getTime();
  const callsBefore = pace.turns;
  const line = () => {
    const own = tally.totals.customers;
    const done = Math.max(own, 'customers' in round.share ? 0 : round.size - (watch.due ?? round.size));
    return progressLine(round.size, done, pace.turns - callsBefore, context.world.now().getTime() - start);
  };
  const shared = { round: round.share, pace: pace.state, tally: calls.state };
  const failed = new Set<string>();
  const onReport: OnReport = (each, failure) => {
    if (each.status === 'failed') failed.add(each.customerId);
    tally.add(each, failure);
  };
  const syncAll = () =>
    watch.during(round, plan.allCustomers, () =>
      context.terminal.whileWaiting(line, syncInThreads(context, round, jobs, shared, onReport)),
    );
  try {
    // A few customers may have accounts with a million rows. With many customers, each is soon done, and frequent garbage
    // collection would cost a twentieth of the time.
    await (due < MIN_CUSTOMERS ? keepHeapSmall(syncAll) : syncAll());
  } finally {
    gentle.removeEventListener('abort', end);
  }
  if (plan.allCustomers && plan.isByConsent) await reportWithdrawn(context, failed, onReport);
}

/**
 * Reports the customers whose only consent was withdrawn or has ended: no round reads anything of them.
 *
 * @param failed customers of this round that are reported already: the bank has said it in this round
 */
async function reportWithdrawn(
  context: Context,
  failed: ReadonlySet<string>,
  onReport: OnReport,
): Promise<void> {
  const { whyWithdrawn, withdrawnConsents } = await import('../open/withdrawn.ts');
  const { customers } = await context.store();
  // With more, each round would read too many journals. psd2 status names them.
  if ((await customers.list()).length > MAX_LOOKED_AT) return;
  for (const { customerId, state } of await withdrawnConsents(context)) {
    if (failed.has(customerId)) continue;
    const error = new Psd2Error('not_logged_in', `${customerId} was not read: ${whyWithdrawn({ state })}`, {
      hint: 'Ask the customer for another:',
      next: [['consent', 'request', '--customer', customerId]],
    });
    const { code, message } = error;
    const nothing = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], checks: [] };
    onReport(
      { customerId, status: 'failed', ...nothing, errors: [{ productId: null, code, message }] },
      error,
    );
  }
}

const MAX_LOOKED_AT = 1_000;

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
  const { MAX_CUSTOMERS, warnOfEndings: warn } = await import('../checks/warn.ts');
  if ('customers' in share) await warn(context, share.customers);
  else await warn(context, size > MAX_CUSTOMERS ? 'many' : await (await context.store()).tokens.customers());
}

/** Reports the result of a round before the next one begins. */
function endOfRound({ context, plan, tally }: Run): void {
  tellOfSkipped(context, tally, plan);
  warnOfErrors(context, tally.reports);
  warnOfDoubts(context, tally.reports);
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
