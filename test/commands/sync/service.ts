import type { Context } from '../../../src/commands/context.ts';
import { runIn } from '../command.ts';
import { type Failure, failureOf } from '../failure.ts';
import type { OperatorHere } from '../operator.ts';

/** What a test does with a `psd2 sync --every` that runs. */
export interface Service {
  /** As the system's signal: no other round begins. */
  stop(signal: 'SIGTERM' | 'SIGINT'): void;
  /** As a second signal: everything ends. */
  interrupt(): void;
}

/** How a `psd2 sync --every` ended. */
interface Ended {
  printed: string;
  said: string;
  failure: Failure | null;
  /** The waits between the rounds, in seconds. */
  waits: number[];
}

/** No test waits as often as this. */
const MANY = 100;

type How = NonNullable<Parameters<OperatorHere['open']>[0]> & {
  /** What is different in the context of the command. */
  context?: (context: Context, service: Service) => Context;
};

/**
 * Runs `psd2 sync --every` in the process of the test, with the clock of the sandbox: a wait takes no time, and moves the clock.
 *
 * @param between what happens when psd2 first waits after each round. The service ends with the last one, or after it
 */
export async function runService(
  operator: OperatorHere,
  words: readonly string[],
  between: readonly ((service: Service) => void | Promise<void>)[],
  { context: change = (context) => context, ...how }: How = {},
): Promise<Ended> {
  const { clock } = operator.bank;
  const [gentle, interruption] = [new AbortController(), new AbortController()];
  const waits: number[] = [];
  const left = [...between];
  let rounds = 0;
  const service: Service = {
    stop: (signal) => gentle.abort(signal),
    interrupt: () => interruption.abort(new Error('Interrupted')),
  };
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds / 1000);
    if (waits.length > MANY) throw new TypeError('The service waits without end');
    clock.advance(milliseconds);
    const ended = command.said().split('A round has ended').length - 1;
    if (ended > rounds) {
      rounds = ended;
      const next = left.shift();
      if (next === undefined) throw new TypeError('The service still runs');
      await next(service);
    }
    interruption.signal.throwIfAborted();
  };
  const { signal } = interruption;
  const command = operator.open({
    ...how,
    changes: (world) => ({
      world: { ...world.world, now: clock.now, sleep, signal },
      stopGently: () => gentle.signal,
      ...how.changes?.(world),
    }),
  });
  const work = runIn(change(command.context, service), 'sync', ...words);
  const failure = await work.then(() => null).catch(() => failureOf(work));
  return { printed: command.printed(), said: command.said(), failure, waits };
}
