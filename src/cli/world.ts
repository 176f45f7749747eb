import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Surroundings } from '../commands/context.ts';

/** What the command does not end before, with what is at stake. */
export type Unfinished = Map<Promise<unknown>, string>;

/**
 * Time and randomness as they are.
 *
 * @param signal aborted when the operator interrupts
 * @param unfinished holds what is to be finished while it runs
 */
export function realWorld(signal: AbortSignal, unfinished: Unfinished = new Map()): Surroundings['world'] {
  return {
    now: () => new Date(),
    newId: () => randomUUID(),
    random: Math.random,
    signal,
    sleep: (milliseconds) =>
      delay(milliseconds, undefined, { signal }).catch(() => {
        throw signal.reason;
      }),
    async finish(atStake, work) {
      const running = work();
      unfinished.set(running, atStake);
      try {
        const result = await running;
        signal.throwIfAborted();
        return result;
      } finally {
        unfinished.delete(running);
      }
    },
  };
}
