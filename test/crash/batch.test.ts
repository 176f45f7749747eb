import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { sample } from '../support/sample.ts';
import { BACKENDS, useBackends } from './backends.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { DOORS, type Door, judgeBatches, recordRun, rulesFor, tryRun } from './batches.ts';
import { choose, goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { triedShape, useFollowers } from './tried.ts';

/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** Where all points are tried, they are at most this many of a case, spread over the run: the account has no money for more. */
const MOST = 150;

const doors = Object.keys(DOORS).filter((name): name is Door => name in DOORS);
const cases = doors.flatMap((door) => BACKENDS.map((backend) => [door, backend] as const));

describe.each(sample(cases, 1))('a batch of five (%s, %s)', (door, backend) => {
  const bank = useCrashBank(rulesFor(temporaryFolder()));
  const followers = useFollowers(bank, SIDE_BY_SIDE);
  const home = { backend, lodge: useBackends(bank, followers) };

  it.each(sample(['SIGKILL', 'SIGSTOP'] as const, 1))(
    'whose run is stopped at any step (%s) is paid once, and psd2 says what was paid',
    async (how) => {
      const all = await recordRun(door, home);
      const each = Math.ceil((2 * all.length) / MOST);
      const spread = all.filter((_, index) => index % each === (how === 'SIGKILL' ? 0 : each >> 1));
      const points = choose(spread, undefined, SOME);
      const name = `batch of five, ${door}, ${backend}`;
      const tries = await goThrough(triedShape, name, how, points, async (some) =>
        judgeBatches(bank, await sideBySide(some, (point) => tryRun(door, home, how, point))),
      );
      expect(problemsOf(tries)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
