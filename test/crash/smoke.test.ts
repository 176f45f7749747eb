import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, goThrough, problemsOf, SIDE_BY_SIDE, shareOf, sideBySide } from './matrix.ts';
import { judgeMoney, recordSmoke, rulesOf, SMOKE_BANKS, tryStopped } from './smoke.ts';
import { triedShape, useFollowers } from './tried.ts';

const HOW = ['SIGKILL', 'SIGINT', 'SIGTERM', 'twice'] as const;
/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** The points of all ways together: each place pays another amount, and only a person may pay more than 1.00. */
const MOST = 80;

describe.each(SMOKE_BANKS.map((at) => [at.name, at] as const))('psd2 smoke at %s', (name, at) => {
  const bank = useCrashBank(rulesOf(at));
  const means = { bank, followers: useFollowers(bank, SIDE_BY_SIDE) };

  it.each(at.makes.flatMap((makes) => sample(HOW, 1).map((how) => [makes, how] as const)))(
    'what a run of --%s makes that is stopped at any step (%s) is ended by the next run, or named',
    async (makes, how) => {
      const before = (await bank.bookings())('0.01');
      const all = await recordSmoke(means, at, makes);
      const share = shareOf(all, MOST, HOW.indexOf(how), HOW.length, SMOKE_BANKS.indexOf(at));
      const points = choose(share, undefined, SOME);
      const what = `smoke ${makes} ${name}`;
      const tries = await goThrough(triedShape, what, how, points, async (some) =>
        judgeMoney(
          bank,
          makes,
          before,
          await sideBySide(some, (point) => tryStopped(means, at, makes, how, point)),
        ),
      );
      expect(problemsOf(tries)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
