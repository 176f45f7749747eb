import type { Worker } from 'node:worker_threads';
import type { PaceState } from '../../bank/call/pace.ts';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../../errors.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, Globals } from '../context.ts';
import type { CustomerReport, SyncedCustomers, SyncJob } from './customers.ts';

/** What a further thread of `psd2 sync` is started with. */
export interface ThreadStart {
  globals: Globals;
  sources: Record<Parameters<Context['sourceOf']>[0], ReturnType<Context['sourceOf']>>;
  job: Omit<SyncJob, 'progress'>;
  counts: Int32Array<SharedArrayBuffer>;
  pace: PaceState;
}

/** What a thread says to the one that started it. */
export type ThreadMessage =
  | { say: string }
  | { warn: string }
  /** A token call is on its way, which the command must not end before. */
  | { begun: string; atStake: string }
  | { finished: string }
  /** It could not begin, and has taken no customer. */
  | { unable: string }
  | { reports: CustomerReport[]; failures: ThreadFailure[] };

/** A Psd2Error, as it goes from thread to thread. */
export interface ThreadFailure {
  code: ErrorCode;
  message: string;
  context: Omit<ErrorContext, 'cause'>;
}

/** What the thread that was started is told: the operator has interrupted. */
export const STOP = 'stop';

export function toThreadFailure({ code, message, context }: Psd2Error): ThreadFailure {
  const { cause: _cause, ...rest } = context;
  return { code, message, context: rest };
}

/**
 * Starts a further thread for customers that no other one has begun. It makes calls over connections of its own.
 *
 * @returns what it has synced, also when the operator interrupts; it has ended then
 * @throws Error that it ended with: a bug of ours
 */
export async function syncInThread(
  context: Context,
  job: SyncJob,
  pace: PaceState,
): Promise<SyncedCustomers> {
  const { Worker } = await import('node:worker_threads');
  const { progress, ...rest } = job;
  const start: ThreadStart = {
    globals: context.globals,
    sources: {
      profile: context.sourceOf('profile'),
      timeout: context.sourceOf('timeout'),
      scaTimeout: context.sourceOf('scaTimeout'),
      psuIp: context.sourceOf('psuIp'),
      lang: context.sourceOf('lang'),
      trace: context.sourceOf('trace'),
    },
    job: rest,
    counts: progress.counts,
    pace,
  };
  const worker = new Worker(new URL('../sync-thread.js', import.meta.url), { workerData: start });
  const { signal } = context.world;
  const stop = () => worker.postMessage(STOP);
  signal.addEventListener('abort', stop);
  try {
    return await resultOf(worker, context);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function resultOf(worker: Worker, { terminal, world }: Context): Promise<SyncedCustomers> {
  return new Promise((resolve, reject) => {
    let synced: SyncedCustomers = { reports: [], failures: [] };
    const unfinished = new Map<string, () => void>();
    const begin = (id: string, atStake: string) => {
      const work = () => new Promise<void>((finished) => unfinished.set(id, finished));
      // That the operator has interrupted is no matter of who waits here.
      world.finish(atStake, work).catch(() => {});
    };
    worker.on('message', (message: ThreadMessage) => {
      if ('say' in message) terminal.say(message.say);
      else if ('warn' in message) terminal.warn(message.warn);
      else if ('begun' in message) begin(message.begun, message.atStake);
      else if ('finished' in message) unfinished.get(message.finished)?.();
      else if ('unable' in message)
        terminal.warn(cleanText(`A further core could not be used: ${message.unable}`));
      else {
        const failures = message.failures.map(
          (failure) => new Psd2Error(failure.code, failure.message, failure.context),
        );
        synced = { reports: message.reports, failures };
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      for (const finished of unfinished.values()) finished();
      resolve(synced);
    });
  });
}
