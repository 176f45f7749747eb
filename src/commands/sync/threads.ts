import type { Worker } from 'node:worker_threads';
import type { PaceState } from '../../bank/call/pace.ts';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../../errors.ts';
import type { RoundShare } from '../../store/ports/rounds.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, Globals } from '../context.ts';
import type { CustomerReport, OnReport, SharedStop, SyncJob } from './customers.ts';

declare const PSD2_VERSION: string;

/** What a further thread of `psd2 sync` starts with. */
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
}

/** A message from a further thread to the one that started it. */
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

/** The message to a further thread: the operator has interrupted. */
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
 * Starts a further thread, which syncs customers that no other thread has begun, over its own connections. Resolves when
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
    ...shared,
  };
  const worker = new Worker(new URL('../sync-thread.js', import.meta.url), { workerData: start });
  const { signal } = context.world;
  const interrupt = () => worker.postMessage(STOP);
  signal.addEventListener('abort', interrupt);
  try {
    await endOf(worker, context, onReport);
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

function endOf(worker: Worker, { terminal, world }: Context, onReport: OnReport): Promise<void> {
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
        terminal.warn(cleanText(`A further core could not be used: ${message.unable}`));
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
