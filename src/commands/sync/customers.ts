import type { IsoDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { syncCustomer } from '../../flows/sync.ts';
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

/** What is to be synced, by all threads together. */
export interface SyncJob {
  out: string;
  /** How far back the operator wants it; undefined when that was not said. */
  since: IsoDate | undefined;
  today: IsoDate;
  /** How often an account may be read a day while the customer is not there. */
  unattendedReads: number;
  customers: readonly string[];
  /** Customers at a time. */
  concurrency: number;
  progress: SharedProgress;
}

/** How far the threads are together. */
export class SharedProgress {
  /** How many customers were begun, and how many are done. */
  readonly counts: Int32Array<SharedArrayBuffer>;

  constructor(counts = new Int32Array(new SharedArrayBuffer(8))) {
    this.counts = counts;
  }

  /** The index of a customer whom no thread has begun. */
  next(): number {
    return Atomics.add(this.counts, 0, 1);
  }

  finish(): void {
    Atomics.add(this.counts, 1, 1);
  }

  get done(): number {
    return Atomics.load(this.counts, 1);
  }
}

export interface SyncedCustomers {
  reports: CustomerReport[];
  failures: Psd2Error[];
}

/**
 * Syncs customers until there are no more of them. What goes wrong with one stops no other. When the operator interrupts,
 * no further one is begun, and what was read of those at hand is stored before this returns.
 */
export async function syncCustomers(context: Context, job: SyncJob): Promise<SyncedCustomers> {
  const { signal } = context.world;
  const { progress, customers } = job;
  const synced: SyncedCustomers = { reports: [], failures: [] };
  /** Whom the bank had no time for: they have their turn again, later. */
  const waiting: string[] = [];
  const turnedAway = new Map<string, number>();
  let isBroken = false;
  (await context.reads()).begin();

  const syncOne = async (run: SyncRun, customerId: string) => {
    const { bank, reads } = await context.forCustomer(customerId).unattendedBank();
    const { since, today, unattendedReads: budget } = job;
    const mayRead = (productId: string | null) => reads.take(customerId, productId, budget);
    const query = { customerId, since, today, transactionId: context.world.newId(), mayRead };
    if (!(await mayRead(null))) {
      synced.reports.push({ customerId, status: 'waiting', ...NOTHING, errors: [] });
      progress.finish();
      return;
    }
    try {
      const { failures, ...counts } = await run.customer(customerId, (to) => syncCustomer(bank, to, query));
      const errors = failures.map(({ productId, error }) => ({ productId, ...describe(error) }));
      synced.failures.push(...failures.map(({ error }) => error));
      synced.reports.push({
        customerId,
        status: errors.length > 0 || counts.skipped.length > 0 ? 'partly' : 'synced',
        ...counts,
        errors,
      });
    } catch (error) {
      // The operator's Ctrl-C and bugs of ours are no matter of one customer.
      if (!(error instanceof Psd2Error) || isInterruption(error)) throw error;
      const refused = turnedAway.get(customerId) ?? 0;
      if (error.code === 'too_many_calls' && refused < 3) {
        turnedAway.set(customerId, refused + 1);
        waiting.push(customerId);
        return;
      }
      synced.failures.push(error);
      synced.reports.push({
        customerId,
        status: 'failed',
        ...NOTHING,
        errors: [{ productId: null, ...describe(error) }],
      });
    }
    progress.finish();
  };
  const work = async (run: SyncRun) => {
    while (!signal.aborted && !isBroken) {
      const customerId = customers[progress.next()] ?? waiting.shift();
      if (customerId === undefined) return;
      try {
        await syncOne(run, customerId);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
  };
  const slots = Math.min(job.concurrency, customers.length);
  const { sync } = await context.store();
  const ended = await sync(job.out).run(signal, (run) =>
    // All of them, before the process may end: what they have read is stored.
    Promise.allSettled(Array.from({ length: slots }, () => work(run))),
  );
  for (const outcome of ended) {
    if (outcome.status === 'rejected' && !isInterruption(outcome.reason)) throw outcome.reason;
  }
  return synced;
}

function isInterruption(error: unknown): boolean {
  return error instanceof Psd2Error && error.code === 'interrupted';
}

const NOTHING = { accounts: 0, newTransactions: 0, pending: 0, skipped: [] };

function describe({ code, message }: Psd2Error) {
  return { code, message };
}
