// node test/support/day-of-run.js <text>: how far the clock of a run is ahead, in milliseconds. The text, a commit's hash, chooses
// one of the days at which software stumbles.
import { createHash } from 'node:crypto';
import { argv, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';

const DAY_MS = 24 * 60 * 60 * 1000;

const isLastSunday = (day) => day.getUTCDay() === 0 && day.getUTCDate() > 24;

/** The days, each with what makes a date one. Dates are in UTC, months count from 0. */
export const DAYS = {
  'the 28th': (day) => day.getUTCDate() === 28,
  'the 31st': (day) => day.getUTCDate() === 31,
  'the 29th of February': (day) => day.getUTCMonth() === 1 && day.getUTCDate() === 29,
  "New Year's Eve": (day) => day.getUTCMonth() === 11 && day.getUTCDate() === 31,
  'the clock goes forward': (day) => day.getUTCMonth() === 2 && isLastSunday(day),
  'the clock goes back': (day) => day.getUTCMonth() === 9 && isLastSunday(day),
  'the 1st of a quarter': (day) => day.getUTCMonth() % 3 === 0 && day.getUTCDate() === 1,
};

/**
 * @param {string} text chooses the day
 * @param {number} now milliseconds since 1970
 * @returns {{ name: string, aheadMs: number }} the day, and how far the next one is, in whole days
 */
export function dayOfRun(text, now) {
  const names = Object.keys(DAYS);
  const name = names[createHash('sha256').update(text).digest().readUInt32BE() % names.length];
  let aheadMs = DAY_MS;
  while (!DAYS[name](new Date(now + aheadMs))) aheadMs += DAY_MS;
  return { name, aheadMs };
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const { name, aheadMs } = dayOfRun(argv[2] ?? '', Date.now());
  process.stderr.write(`${name}: ${new Date(Date.now() + aheadMs).toISOString().slice(0, 10)}\n`);
  stdout.write(`${aheadMs}\n`);
}
