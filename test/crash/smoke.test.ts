import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../store/postgres/server.ts';
import { sample } from '../support/sample.ts';
import { BACKENDS } from './backends.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, type Point, problemsAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import { judgeMoney, type Means, recordSmoke, rulesOf, SMOKE_BANKS, tryStopped } from './smoke.ts';
import { type Tried, useFollowers } from './tried.ts';

const HOW = ['SIGKILL', 'SIGINT', 'SIGTERM', 'twice'] as const;
/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** The points of all ways together: each place pays another amount, and only a person may pay more than 1.00. */
const MOST = 80;

const CASES = BACKENDS.flatMap((home) => SMOKE_BANKS.map((at) => [at.name, home, at] as const));

describe.each(CASES)('psd2 smoke at %s with a store in %s', (name, home, at) => {
  const bank = useCrashBank(rulesOf(at));
  const means: Means = { bank, followers: useFollowers(bank, SIDE_BY_SIDE), server: undefined };
  beforeAll(() => {
    if (home === 'PostgreSQL') means.server = startServer(undefined, 200);
  });
  afterAll(() => means.server?.stop());

  it.each(at.makes.flatMap((makes) => sample(HOW, 1).map((how) => [makes, how] as const)))(
    'what a run of --%s makes that is stopped at any step (%s) is ended by the next run, or named',
    async (makes, how) => {
      const before = (await bank.bookings())('0.01');
      const all = await recordSmoke(means, at, makes);
      const share = shareOf(all, MOST, HOW.indexOf(how), HOW.length, SMOKE_BANKS.indexOf(at));
      const points = choose(share, undefined, SOME);
      const what = `smoke ${makes} ${name} ${home}`;
      const one = (point: Point) => tryStopped(means, at, makes, how, point);
      const judge = (tries: Tried[]) => judgeMoney(bank, makes, before, tries);
      expect(await problemsAt([what, how], points, one, judge)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
