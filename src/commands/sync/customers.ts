import type { Worker } from 'node:worker_threads';
import type { PaceState } from '../../bank/ports/call.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import { type ErrorCode, type ErrorContext, endSentence, Psd2Error } from '../../errors.ts';
import { type StoppedSync, syncCustomer } from '../../flows/sync.ts';
import type { Dealt, Round, RoundShare, SyncRun } from '../../store/ports/sync.ts';
import { cleanText } from '../../terminal/clean.ts';
import {
  day,
  decimal,
  flag,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import type { Allowance, Context, Globals } from '../context.ts';

/** What is certain of the transactions of an account. */
const accountCheck = object({
  productId: text('the account'),
  balanced: orNull(
    flag("whether the stored balance and the new transactions lead to the bank's; null: not known"),
  ),
  difference: orNull(decimal("what the bank's balance has beyond that; null: not known")),
  complete: flag('whether the bank showed all transactions of the days that psd2 asked for'),
  certainFrom: orNull(day('the first day from which that is certain, if it is not complete')),
  certainThrough: orNull(day('the last day up to which that is certain, if the bank refused a later page')),
  late: whole('new transactions whose day psd2 had read before'),
  coming: whole('transactions booked for a day to come'),
  cancelled: whole('transactions that vanished before their day'),
  replaced: whole(
    'stored transactions that the bank no longer shows, and that its balance does not count: it shows others for them, or none',
  ),
  vanished: whole('stored transactions that the bank no longer shows'),
  changed: whole('transactions that are probably stored, with another text or day'),
  takenFor: orNull(
    text(
      "the bank's id of the account before, if only its kind, currency and name say that it is the same; else null",
    ),
  ),
});

/** What a sync did for one customer. */
export const customerReport = object({
  customerId: text('id of the customer'),
  status: oneOf(
    ['synced', 'partly', 'waiting', 'failed'],
    'result for the customer; waiting: psd2 may not read their accounts now (--unattended-reads)',
  ),
  accounts: whole('number of accounts'),
  newTransactions: whole('number of transactions that were added'),
  pending: whole('number of pending transactions now'),
  skipped: list(text(), 'id of each account that psd2 may not read now'),
  unread: optional(
    list(
      object({ field: text('name in the interface of the bank'), count: whole('how often') }),
      'fields of transactions that psd2 could not read; absent if there is none',
    ),
  ),
  errors: list(
    object({
      productId: orNull(text('null if psd2 could not read the list of accounts')),
      code: text('error code'),
      message: text('error message'),
    }),
    'failures',
  ),
  checks: list(accountCheck, 'one for each account whose transactions were read'),
});

export type CustomerReport = ValueOf<typeof customerReport>;

/** A thread's part of a round. */
export interface SyncJob {
  /** Undefined if the store needs no folder. */
  out: string | undefined;
  /** The operator's `--since`; undefined if it was not given. */
  since: IsoDate | undefined;
  today: IsoDate;
  allowance: Allowance;
  /** How many customers to sync at a time. */
  concurrency: number;
  stop: SharedStop;
}

/** Called after each customer's turn, with the customer's first failure. */
export type OnReport = (report: CustomerReport, failure: Psd2Error | undefined) => void;

/** Makes all threads begin no other customer. */
export class SharedStop {
  readonly state: Int32Array<SharedArrayBuffer>;

  constructor(state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.state = state;
  }

  get isSet(): boolean {
    return Atomics.load(this.state, 0) !== 0;
  }

  set(): void {
    Atomics.store(this.state, 0, 1);
  }
}

/** The pause before psd2 asks again for the rest of a round, which other workers have. */
const PAUSE_MS = 250;
/** The pause before psd2 tries again to reach the store. The store itself has already tried for some seconds. */
const AWAY_MS = 1_000;
const MAX_REFUSALS = 3;

/**
 * Syncs customers until the round is over. A failure of one customer does not stop the others. If the operator
 * interrupts, psd2 begins no other customer, and stores what it has read before this returns. While the store cannot be
 * reached, psd2 begins no customer, and those in progress get another turn.
 */
export async function syncCustomers(
  context: Context,
  job: SyncJob,
  round: Round,
  onReport: OnReport,
): Promise<void> {
  const { signal, sleep } = context.world;
  const { sync, rounds: open } = await context.store();
  const rounds = await open();
  const outage = outageOf(context);
  const syncOne = customerSync(context, job, rounds.isAway, onReport);
  let isBroken = false;
  (await context.reads()).begin();

  const work = async (run: SyncRun) => {
    while (!signal.aborted && !job.stop.isSet && !isBroken) {
      try {
        const dealt = await round.next(2 * job.concurrency);
        outage.isOver();
        if (dealt === 'over') return;
        if (dealt === 'later') await sleep(PAUSE_MS);
        else await syncOne(run, dealt);
      } catch (error) {
        if (rounds.isAway(error) && !signal.aborted) {
          outage.tell(error);
          await sleep(AWAY_MS);
          continue;
        }
        isBroken = true;
        throw error;
      }
    }
  };
  const slots = Math.min(job.concurrency, round.size);
  try {
    const ended = await sync(job.out).run(signal, (run) =>
      // Wait for all of them, so that they store what they have read before the process ends.
      Promise.allSettled(Array.from({ length: slots }, () => work(run))),
    );
    for (const outcome of ended) {
      if (outcome.status === 'rejected' && !isInterruption(outcome.reason)) throw outcome.reason;
    }
  } finally {
    await round.leave();
  }
}

/** @returns syncs one customer and reports the result. A customer who cannot be synced now gets another turn */
function customerSync(
  context: Context,
  job: SyncJob,
  isAway: (error: unknown) => boolean,
  onReport: OnReport,
): (run: SyncRun, dealt: Dealt) => Promise<void> {
  const turnedAway = new Map<string, number>();
  /** The failures of earlier turns. psd2 pauses after a failure, so the next turn skips these products. */
  const failedBefore = new Map<string, CustomerReport['errors']>();
  const finish = async (dealt: Dealt, report: CustomerReport, failure?: Psd2Error) => {
    const [first] = report.errors;
    report.errors.push(
      ...(failedBefore.get(dealt.customerId) ?? []).filter(({ productId }) =>
        report.skipped.some((skipped) => skipped === productId),
      ),
    );
    onReport(report, failure && naming(failure, dealt.customerId));
    await dealt.finish({
      status: report.status,
      code: first?.code ?? null,
      message: first?.message ?? null,
    });
  };
  return async (run, dealt) => {
    const { customerId } = dealt;
    let synced: { report: CustomerReport; failure: Psd2Error | undefined };
    let stopped: StoppedSync | undefined;
    const onStopped = (at: StoppedSync) => {
      stopped = at;
    };
    try {
      synced = await syncWhole(context, job, run, { customerId, onStopped });
    } catch (error) {
      if (isAway(error)) dealt.again();
      // Ctrl-C and bugs concern the whole sync, not one customer.
      if (!(error instanceof Psd2Error) || isInterruption(error) || isAway(error)) throw error;
      if (error.code === 'overtaken') {
        // Another worker has synced the customer, or is doing so. For this one, that is not a failure.
        context.terminal.say(error.message);
        dealt.again();
        return;
      }
      const refused = turnedAway.get(customerId) ?? 0;
      if (error.code === 'too_many_calls' && refused < MAX_REFUSALS) {
        turnedAway.set(customerId, refused + 1);
        const failures = describeEach(stopped?.failures ?? []);
        failedBefore.set(customerId, [...failures, ...(failedBefore.get(customerId) ?? [])]);
        dealt.again();
        return;
      }
      await finish(dealt, { customerId, status: 'failed', ...NOTHING, ...leftBy(error, stopped) }, error);
      return;
    }
    await finish(dealt, synced.report, synced.failure);
  };
}

/** What was not read of a customer, because of the error that ended the sync or before it. */
function leftBy(error: Psd2Error, stopped?: StoppedSync): Pick<CustomerReport, 'skipped' | 'errors'> {
  const { unread = [null], skipped = [], failures = [] } = stopped ?? {};
  return {
    skipped,
    errors: [...unread.map((productId) => ({ productId, ...failureData(error) })), ...describeEach(failures)],
  };
}

/** The same error, whose commands are for this customer: another one may be the current one. */
function naming(failure: Psd2Error, customerId: string): Psd2Error {
  const { next } = failure;
  const forCustomer = (words: string[]) =>
    words.includes('--customer') ? words : [...words, '--customer', customerId];
  return next ? failure.with({ next: next.map(forCustomer) }) : failure;
}

/** @throws Psd2Error if the customer cannot be synced at all */
async function syncWhole(
  context: Context,
  { since, today, allowance }: SyncJob,
  run: SyncRun,
  { customerId, onStopped }: { customerId: string; onStopped: (at: StoppedSync) => void },
): Promise<{ report: CustomerReport; failure: Psd2Error | undefined }> {
  const { bank, reads } = await context.forCustomer(customerId).unattendedBank();
  const mayRead = async (productId: string | null) =>
    (await reads.take(customerId, productId, allowance)) === 'taken';
  const query = { customerId, since, today, transactionId: context.world.newId(), mayRead, onStopped };
  if (!(await mayRead(null)))
    return { report: { customerId, status: 'waiting', ...NOTHING, errors: [] }, failure: undefined };
  try {
    const { failures, ...counts } = await run.customer(customerId, (to) => syncCustomer(bank, to, query));
    const errors = describeEach(failures);
    const status = errors.length > 0 || counts.skipped.length > 0 ? 'partly' : 'synced';
    const unread = [...(bank.oddities?.unread ?? [])].map(([field, count]) => ({ field, count }));
    return {
      report: { customerId, status, ...counts, ...(unread.length > 0 && { unread }), errors },
      failure: failures[0]?.error,
    };
  } catch (error) {
    // The bank has counted more reads than psd2 knows of.
    if (!(error instanceof Psd2Error) || !error.lasts) throw error;
    return { report: { customerId, status: 'waiting', ...NOTHING, errors: [] }, failure: undefined };
  } finally {
    // If it failed before the first call, nothing was read.
    await reads.giveBack(customerId);
  }
}

/** Tells the operator once that the store cannot be reached, and once that it is back. */
function outageOf({ terminal }: Context) {
  let isAway = false;
  return {
    tell(error: unknown) {
      if (!isAway && error instanceof Psd2Error)
        terminal.warn(`${endSentence(error.message)} The sync continues when the store is back.`);
      isAway = true;
    },
    isOver() {
      if (isAway) terminal.say('The store is back. The sync continues.');
      isAway = false;
    },
  };
}

function isInterruption(error: unknown): boolean {
  return error instanceof Psd2Error && error.code === 'interrupted';
}

const NOTHING = { accounts: 0, newTransactions: 0, pending: 0, skipped: [], checks: [] };

function failureData({ code, message }: Psd2Error) {
  return { code, message };
}

function describeEach(failures: StoppedSync['failures']) {
  return failures.map(({ productId, error }) => ({ productId, ...failureData(error) }));
}

declare const PSD2_VERSION: string;

/** What another thread of `psd2 sync` starts with. */
export interface ThreadStart {
  /** The version of the program that starts the thread. After an upgrade, the file of the thread is of another one. */
  version: string;
  globals: Globals;
  sources: Record<Parameters<Context['sourceOf']>[0], ReturnType<Context['sourceOf']>>;
  job: Omit<SyncJob, 'stop'>;
  round: RoundShare;
  stop: SharedStop['state'];
  pace: PaceState;
  tally: SharedArrayBuffer;
  /** The record of forgotten customers as it was when the command began. */
  forgottenBefore: string;
}

/** A message from another thread to the one that started it. */
export type ThreadMessage =
  | { say: string }
  | { warn: string }
  /** The thread makes a token call. The command must not end before it has finished. */
  | { begun: string; atStake: string }
  | { finished: string }
  /** The thread could not start, and has taken no customer. */
  | { unable: string }
  | { report: CustomerReport; failure: ThreadFailure | undefined };

/** A Psd2Error in a form that a thread can send to another one. */
export interface ThreadFailure {
  code: ErrorCode;
  message: string;
  context: Omit<ErrorContext, 'cause'>;
}

/** The message to another thread: the operator has interrupted. */
export const STOP = 'stop';

export function toThreadFailure({ code, message, context }: Psd2Error): ThreadFailure {
  const { cause: _cause, ...rest } = context;
  return { code, message, context: rest };
}

/** What the threads of a sync share. */
export interface Shared {
  round: RoundShare;
  pace: PaceState;
  tally: SharedArrayBuffer;
}

/**
 * Starts another thread, which syncs customers that no other thread has begun, over its own connections. Resolves when
 * the thread has ended, also after an interruption.
 *
 * @throws Error if the thread ended with a bug of psd2
 */
export async function syncInThread(
  context: Context,
  { stop, ...job }: SyncJob,
  shared: Shared,
  onReport: OnReport,
): Promise<void> {
  const { Worker } = await import('node:worker_threads');
  const start: ThreadStart = {
    version: PSD2_VERSION,
    globals: context.globals,
    sources: {
      customer: context.sourceOf('customer'),
      profile: context.sourceOf('profile'),
      timeout: context.sourceOf('timeout'),
      scaTimeout: context.sourceOf('scaTimeout'),
      psuIp: context.sourceOf('psuIp'),
      lang: context.sourceOf('lang'),
      trace: context.sourceOf('trace'),
    },
    job,
    stop: stop.state,
    forgottenBefore: context.folder.forgotten.before,
    ...shared,
  };
  const worker = new Worker(new URL('../../bin/sync-thread.js', import.meta.url), { workerData: start });
  const { signal } = context.world;
  const interrupt = () => worker.postMessage(STOP);
  signal.addEventListener('abort', interrupt);
  try {
    await workerEnd(worker, context, onReport);
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

function workerEnd(worker: Worker, { terminal, world }: Context, onReport: OnReport): Promise<void> {
  return new Promise((resolve, reject) => {
    const unfinished = new Map<string, () => void>();
    const begin = (id: string, atStake: string) => {
      const work = () => new Promise<void>((finished) => unfinished.set(id, finished));
      // Nobody uses the result, so an interruption does not matter here.
      world.finish(atStake, work).catch(() => {});
    };
    worker.on('message', (message: ThreadMessage) => {
      if ('say' in message) terminal.say(message.say);
      else if ('warn' in message) terminal.warn(message.warn);
      else if ('begun' in message) begin(message.begun, message.atStake);
      else if ('finished' in message) unfinished.get(message.finished)?.();
      else if ('unable' in message)
        terminal.warn(cleanText(`Another core could not be used: ${message.unable}`));
      else {
        const { report, failure } = message;
        onReport(report, failure && new Psd2Error(failure.code, failure.message, failure.context));
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      for (const finished of unfinished.values()) finished();
      resolve();
    });
  });
}
