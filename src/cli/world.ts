import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Surroundings } from '../commands/context.ts';

/** Work that must finish before the command ends, and what would be lost without it. */
export type Unfinished = Map<Promise<unknown>, string>;

/**
 * The real time and randomness.
 *
 * @param signal aborted when the operator interrupts
 * @param unfinished holds the work that must finish, while it runs
 */
export function realWorld(signal: AbortSignal, unfinished: Unfinished = new Map()): Surroundings['world'] {
  return {
    now: () => new Date(),
    newId: () => randomUUID(),
    random: Math.random,
    signal,
    sleep: (milliseconds, early) =>
      delay(milliseconds, undefined, { signal: early ? AbortSignal.any([signal, early]) : signal }).catch(
        () => signal.throwIfAborted(),
      ),
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
