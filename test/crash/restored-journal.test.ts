import { expect, it } from 'vitest';
import { bySeed, sample } from '../support/sample.ts';
import { BACKENDS, useBackends } from './backends.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { judgeLedger, STATUSES } from './gateway.ts';
import { type Point, problemsAt, SIDE_BY_SIDE } from './matrix.ts';
import { useRelay } from './relay.ts';
import { howOf, type Restored, recordStory, STORIES, tryRestored } from './restored-journal.ts';
import { type Tried, useFollowers } from './tried.ts';

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const lodge = useBackends(bank, followers);
const means = { bank, relay, followers };

const WAYS: Restored[] = BACKENDS.flatMap((backend) =>
  STATUSES.map((statusKind) => ({ backend, statusKind })),
);
/** A test run takes one way for each story. */
const waysOf = (name: string) => (ALL ? WAYS : bySeed(WAYS, (way) => `${name} ${howOf(way)}`).slice(0, 1));
const cases = STORIES.flatMap((story) =>
  waysOf(story.name).map((way) => [story.name, howOf(way), story, way] as const),
);

it.each(sample(cases, 2, ([name]) => name))(
  '%s (%s): if its journal is restored from before any of its lines, psd2 pays nothing twice',
  async (name, how, story, way) => {
    const points = await lodge(way.backend, (lodging) => recordStory(means, lodging, way.backend, story));
    const seeded = bySeed(points, ({ at }) => `${name} ${how} ${at}`);
    const one = (point: Point) =>
      lodge(way.backend, (lodging) => tryRestored(means, lodging, story, way, point));
    const judge = async (tries: Tried[]) => {
      await judgeLedger(bank, tries);
      return tries;
    };
    expect(await problemsAt([name, how], ALL ? points : seeded.slice(0, 2), one, judge)).toEqual([]);
  },
  PATIENCE_MS,
);
