import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { syncCustomer } from '../../flows/sync.ts';
import type { Dealt, Round } from '../../store/ports/rounds.ts';
import type { SyncRun } from '../../store/ports/sync.ts';
import type { Context } from '../context.ts';

/** What a sync did for one customer. */
export interface CustomerReport {
  customerId: string;
  /** `waiting`: it was read as often as it may be today. */
  status: 'synced' | 'partly' | 'waiting' | 'failed';
  accounts: number;
  newTransactions: number;
  pending: number;
  /** Products that were read as often as they may be today. */
  skipped: string[];
  /** With `productId` null it is the customer as a whole that could not be synced. */
  errors: { productId: string | null; code: string; message: string }[];
}

/** What a thread is to do of a round. */
export interface SyncJob {
  /** Undefined where the store needs no folder. */
  out: string | undefined;
  /** How far back the operator wants it; undefined when that was not said. */
  since: IsoDate | undefined;
  today: IsoDate;
  /** How often an account may be read a day while the customer is not there. */
  unattendedReads: number;
  /** Customers at a time. */
  concurrency: number;
  stop: SharedStop;
}

/** Is told of each customer that had their turn, and of the first thing that went wrong with them. */
export type Tell = (report: CustomerReport, failure: Psd2Error | undefined) => void;

/** That no further customer is to be begun, for all threads. */
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

/** Before the rest of a round is asked for again, which others have. */
const PAUSE_MS = 250;
/** Before a store that is away is asked again; a home has some patience of its own. */
const AWAY_MS = 1_000;
const MOST_REFUSALS = 3;

/**
 * Syncs customers until the round is over. What goes wrong with one stops no other. When the operator interrupts, no further
 * one is begun, and what was read of those at hand is stored before this returns. While the store is away no customer is
 * begun, and those at hand have their turn again.
 */
export async function syncCustomers(context: Context, job: SyncJob, round: Round, tell: Tell): Promise<void> {
  const { signal, sleep } = context.world;
  const { sync, rounds: open } = await context.store();
  const rounds = await open();
  const outage = outageOf(context);
  const syncOne = customerSync(context, job, rounds.isAway, tell);
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
      // All of them, before the process may end: what they have read is stored.
      Promise.allSettled(Array.from({ length: slots }, () => work(run))),
    );
    for (const outcome of ended) {
      if (outcome.status === 'rejected' && !isInterruption(outcome.reason)) throw outcome.reason;
    }
  } finally {
    await round.leave();
  }
}

/** @returns what syncs one customer and says what became of them; one who can't be synced now has their turn again */
function customerSync(
  context: Context,
  job: SyncJob,
  isAway: (error: unknown) => boolean,
  tell: Tell,
): (run: SyncRun, dealt: Dealt) => Promise<void> {
  const turnedAway = new Map<string, number>();
  const finish = async (dealt: Dealt, report: CustomerReport, failure?: Psd2Error) => {
    const [first] = report.errors;
    tell(report, failure);
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
      // The operator's Ctrl-C and bugs of ours are no matter of one customer.
      if (!(error instanceof Psd2Error) || isInterruption(error) || isAway(error)) throw error;
      if (error.code === 'overtaken') {
        // Another worker has done the customer, or is at it: for this one they are neither done nor failed.
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

/** @throws Psd2Error when the customer as a whole can't be synced */
async function syncWhole(
  context: Context,
  { since, today, unattendedReads: budget }: SyncJob,
  run: SyncRun,
  customerId: string,
): Promise<{ report: CustomerReport; failure: Psd2Error | undefined }> {
  const { bank, reads } = await context.forCustomer(customerId).unattendedBank();
  const mayRead = (productId: string | null) => reads.take(customerId, productId, budget);
  const query = { customerId, since, today, transactionId: context.world.newId(), mayRead };
  if (!(await mayRead(null)))
    return { report: { customerId, status: 'waiting', ...NOTHING, errors: [] }, failure: undefined };
  const { failures, ...counts } = await run.customer(customerId, (to) => syncCustomer(bank, to, query));
  const errors = failures.map(({ productId, error }) => ({ productId, ...describe(error) }));
  const status = errors.length > 0 || counts.skipped.length > 0 ? 'partly' : 'synced';
  return { report: { customerId, status, ...counts, errors }, failure: failures[0]?.error };
}

/** Says once that the store is away, and once that it is back. */
function outageOf({ terminal }: Context) {
  let isAway = false;
  return {
    tell(error: unknown) {
      if (!isAway && error instanceof Psd2Error)
        terminal.warn(`${error.message}. The sync goes on when it is back.`);
      isAway = true;
    },
    isOver() {
      if (isAway) terminal.say('The store is back; the sync goes on.');
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
