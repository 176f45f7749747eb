import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { type Backend, useBackends } from './backends.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { BATCH_HOWS, DOORS, type Door, judgeBatches, RULES, recordBatch, tryBatch } from './batches.ts';
import { choose, type Point, problemsAt, SIDE_BY_SIDE, shareOf } from './matrix.ts';
import { useFollowers } from './tried.ts';

/** The points that a run of all tests takes of each case. */
const SOME = 6;
/** Where all points are tried, they are at most this many of a case, spread over the run: the account has no money for more. */
const MOST = 150;

const doors = Object.keys(DOORS).filter((name): name is Door => name in DOORS);

/** Stops the runs of a batch at each door. Each backend has a file of its own, since one process runs a file. */
export function stopBatches(backend: Backend): void {
  describe.each(sample(doors, 1))(`a batch of five (%s, ${backend})`, (door) => {
    const bank = useCrashBank(RULES());
    const followers = useFollowers(bank, SIDE_BY_SIDE);
    const home = { bank, backend, lodge: useBackends(bank, followers) };

    it.each(sample(BATCH_HOWS, 1))(
      'that is stopped at any step (%s) is one batch, is paid once, and psd2 says what was paid',
      async (how) => {
        const all = await recordBatch(door, home, how);
        const spread =
          how === 'added twice' ? all : shareOf(all, MOST, BATCH_HOWS.indexOf(how), BATCH_HOWS.length);
        const points = choose(spread, undefined, SOME);
        const name = `batch of five, ${door}, ${backend}`;
        const one = (point: Point) => tryBatch(door, home, how, point);
        expect(await problemsAt([name, how], points, one, (tries) => judgeBatches(bank, tries))).toEqual([]);
      },
      PATIENCE_MS,
    );
  });
}
