import { mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { parseDate } from '../../src/domain/calendar.ts';
import { type Products, SyncClaim } from '../../src/store/files/sync/claim.ts';
import { temporaryFolder } from './temporary-folder.ts';

const never = new AbortController().signal;
const through = (text: string): Products => ({
  A1: { from: parseDate('--from', '2026-11-01'), through: parseDate('--to', text), settled: 0 },
});
/** Some progress, and more. */
export const [SOME, MORE] = [through('2026-11-03'), through('2026-11-05')];

/** A line of a claim's file, by default of a run that works. */
export const line = (claim: number, products: Products, { run = 'them', ended = false } = {}) =>
  `${JSON.stringify({ claim, run, ended, products })}\n`;

/** Gives each test of the file a customer's folder, which runs take. */
export function useClaimFolder() {
  const temporary = temporaryFolder();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(temporary, 'customer-'));
    mkdirSync(join(folder, 'transactions'));
  });
  const pathOf = (run: string) => join(folder, `run-${run}`);
  const fileOf = (number: number) => join(folder, `sync-${number}.ndjson`);
  const lock = () => `${pathOf('them')}.lock`;
  return {
    folder: () => folder,
    take: (id = 'us', signal = never) => SyncClaim.take(folder, { id, pathOf }, signal),
    fileOf,
    claims: () => readdirSync(folder).filter((name) => name.startsWith('sync')),
    linesOf: (number: number) =>
      readFileSync(fileOf(number), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((text): unknown => JSON.parse(text)),
    /** Another run has the claim, and has stored some progress. */
    theyWork: (number = 1, products = SOME) =>
      writeFileSync(fileOf(number), line(number, products), { mode: 0o600 }),
    /** The lock of the other run. The run is alive while somebody touches it. */
    lock,
    theyAreAlive: (at = 0) => {
      writeFileSync(lock(), '{"pid":7,"host":"h","since":"2026-11-21T10:00:00.000Z"}');
      utimesSync(lock(), at, at);
    },
  };
}
