import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { syncCustomer } from '../../flows/sync.ts';
import type { Dealt, Round } from '../../store/ports/rounds.ts';
import type { SyncRun } from '../../store/ports/sync.ts';
import type { Context } from '../context.ts';
import type { Allowance } from '../open/account-reads.ts';

/** What a sync did for one customer. */
export interface CustomerReport {
  customerId: string;
  /** `waiting`: psd2 may not read the customer's accounts now. */
  status: 'synced' | 'partly' | 'waiting' | 'failed';
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that psd2 may not read now. */
  skipped: string[];
  /** With `productId` null, psd2 could not sync the customer at all. */
  errors: { productId: string | null; code: string; message: string }[];
}

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

/** Tells all threads to begin no further customer. */
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
/** The pause before psd2 tries again to reach the store. The home itself has already tried for some seconds. */
const AWAY_MS = 1_000;
const MOST_REFUSALS = 3;

/**
 * Syncs customers until the round is over. A failure of one customer does not stop the others. If the operator
 * interrupts, psd2 begins no further customer, and stores what it has read before this returns. While the store cannot be
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
  const finish = async (dealt: Dealt, report: CustomerReport, failure?: Psd2Error) => {
    const [first] = report.errors;
    onReport(report, failure);
    await dealt.finish({
      status: report.status,
      code: first?.code ?? null,
      message: first?.message ?? null,
    });
  };
  return async (run, dealt) => {
    const { customerId } = dealt;
    let synced: { report: CustomerReport; failure: Psd2Error | undefined };
    try {
      synced = await syncWhole(context, job, run, customerId);
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
      if (error.code === 'too_many_calls' && refused < MOST_REFUSALS) {
        turnedAway.set(customerId, refused + 1);
        dealt.again();
        return;
      }
      const errors = [{ productId: null, ...describe(error) }];
      await finish(dealt, { customerId, status: 'failed', ...NOTHING, errors }, error);
      return;
    }
    await finish(dealt, synced.report, synced.failure);
  };
}

/** @throws Psd2Error if the customer cannot be synced at all */
async function syncWhole(
  context: Context,
  { since, today, allowance }: SyncJob,
  run: SyncRun,
  customerId: string,
): Promise<{ report: CustomerReport; failure: Psd2Error | undefined }> {
  const { bank, reads } = await context.forCustomer(customerId).unattendedBank();
  const mayRead = async (productId: string | null) =>
    (await reads.take(customerId, productId, allowance)) === 'taken';
  const query = { customerId, since, today, transactionId: context.world.newId(), mayRead };
  if (!(await mayRead(null)))
    return { report: { customerId, status: 'waiting', ...NOTHING, errors: [] }, failure: undefined };
  try {
    const { failures, ...counts } = await run.customer(customerId, (to) => syncCustomer(bank, to, query));
    const errors = failures.map(({ productId, error }) => ({ productId, ...describe(error) }));
    const status = errors.length > 0 || counts.skipped.length > 0 ? 'partly' : 'synced';
    return { report: { customerId, status, ...counts, errors }, failure: failures[0]?.error };
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
        terminal.warn(`${error.message}. The sync continues when the store is back.`);
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

const NOTHING = { accounts: 0, newTransactions: 0, pending: 0, skipped: [] };

function describe({ code, message }: Psd2Error) {
  return { code, message };
}
