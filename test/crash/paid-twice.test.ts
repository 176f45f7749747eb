import { describe, expect, it } from 'vitest';
import { sample } from '../support/sample.ts';
import { BACKENDS, type Backend, useBackends } from './backends.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { CLOCK_WAY, judgeTwice, rulesWith, type TwiceMeans, tryTwice, WAYS, type Way } from './paid-twice.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers } from './tried.ts';

/** The points that a run of all tests takes of each kind. */
const SOME = 12;

function useMeans(rules: string[]): TwiceMeans {
  const bank = useCrashBank(rules);
  const followers = useFollowers(bank, SIDE_BY_SIDE);
  return { bank, followers, relay: useRelay(bank.sandbox), lodge: useBackends(bank, followers) };
}

/** @param oneByOne the bank's time moves, so the tries do not run side by side */
async function tryAll(means: TwiceMeans, way: Way, backend: Backend, oneByOne = false): Promise<string[]> {
  const all = way.points.map((at) => ({ at, phase: '' }));
  const points = choose(all, undefined, SOME);
  const name = `${way.kind}, ${way.door}, ${backend}`;
  const tries = await goThrough(triedShape, name, 'all', points, async (some) => {
    const attempt = ({ at }: { at: string }) => tryTwice(means, way, backend, at);
    if (!oneByOne) return judgeTwice(means.bank, await sideBySide(some, attempt));
    const done = [];
    for (const point of some) done.push(await attempt(point));
    return judgeTwice(means.bank, done);
  });
  return problemsOf(tries);
}

const cases = WAYS.flatMap((way) => BACKENDS.map((backend) => [way.kind, way.door, backend, way] as const));

describe('nothing is paid twice, and what is told is right', () => {
  const means = useMeans(rulesWith());

  it.each(sample(cases, 4, ([kind, door, backend]) => `${kind} ${door} ${backend}`))(
    '%s (%s, %s)',
    async (_kind, _door, backend, way) => {
      expect(await tryAll(means, way, backend)).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describe('whatever the clocks of two machines say', () => {
  const means = useMeans(rulesWith('no-sca'));

  it.each(sample(BACKENDS, 1))(
    'an initiation whose answer is lost is paid once (%s)',
    async (backend) => {
      expect(await tryAll(means, CLOCK_WAY, backend, true)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
