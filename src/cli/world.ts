import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../commands/context.ts';

/** Time and randomness as they are. @param signal aborted when the operator interrupts */
export function realWorld(signal: AbortSignal): Context['world'] {
  return {
    now: () => new Date(),
    newId: () => randomUUID(),
    random: Math.random,
    signal,
    sleep: (milliseconds) =>
      delay(milliseconds, undefined, { signal }).catch(() => {
        throw signal.reason;
      }),
  };
}
