import { expect, it } from 'vitest';
import { bySeed, fewer } from '../support/sample.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { asTried, type Point, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { liveIn, tryMissing, withoutIds } from './missing-file.ts';
import { useRelay } from './relay.ts';
import { useFollowers } from './tried.ts';

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
    const name = 'a store with payments';
    const one = ({ at }: Point) => tryMissing(means, lived, name, at);
    const problems = await problemsAt([name, 'removed'], files, one, asTried);
    lived.place.remove();
    expect(problems).toEqual([]);
  },
  PATIENCE_MS,
);
