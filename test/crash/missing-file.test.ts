import { expect, it } from 'vitest';
import { bySeed, fewer } from '../support/sample.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { goThrough, type Point, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { liveIn, tryMissing, withoutIds } from './missing-file.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const means = { bank, relay, followers };
/** The files of a store that a test run removes, one at a time. */
const SOME = 6;

it(
  'if any file of a store is missing, psd2 pays nothing again, and says what is wrong',
  async () => {
    const lived = await liveIn(means);
    const seeded = bySeed(lived.files, ({ at }) => withoutIds(at));
    const files = ALL ? lived.files : seeded.slice(0, fewer(SOME));
    const tries = await goThrough(triedShape, 'a store with payments', 'removed', files, (some: Point[]) =>
      sideBySide(some, ({ at }) => tryMissing(means, lived, 'a store with payments', at)),
    );
    lived.place.remove();
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
