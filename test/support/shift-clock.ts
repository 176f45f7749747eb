import { fileURLToPath, pathToFileURL } from 'node:url';

const CLOCK = pathToFileURL(fileURLToPath(new URL('shifted-clock.js', import.meta.url))).href;

/**
 * The environment of processes of psd2 with another clock.
 *
 * @param aheadMs how far it is ahead of the real time; negative: behind
 */
export function shiftClock(aheadMs: number): { NODE_OPTIONS: string; CLOCK_AHEAD_MS: string } {
  return { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_AHEAD_MS: String(Math.round(aheadMs)) };
}
