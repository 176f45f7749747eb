import { fileURLToPath } from 'node:url';

const CLOCK = `--require="${fileURLToPath(new URL('shifted-clock.cjs', import.meta.url))}"`;

/** The option of a process that has the clock of the run (test/support/day-of-run.js), if that is another one than the machine's. */
export const CLOCK_OF_RUN = process.env.CLOCK_AHEAD_MS === undefined ? [] : [CLOCK];

/**
 * The environment of processes of psd2 with another clock.
 *
 * @param aheadMs how far it is ahead of the real time; negative: behind
 */
export function shiftClock(aheadMs: number): { NODE_OPTIONS: string; CLOCK_AHEAD_MS: string } {
  return { NODE_OPTIONS: CLOCK, CLOCK_AHEAD_MS: String(Math.round(aheadMs)) };
}
