import { expect, it } from 'vitest';
import { bySeed, sample } from '../support/sample.ts';
import { FATES, MIXED, mixturesOf, tryMixed } from './anothers-answer.ts';
import { ALL, PATIENCE_MS, useCrashBank } from './bank.ts';
import { judgeLedger } from './gateway.ts';
import { goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers } from './tried.ts';

const bank = useCrashBank(['--page-size', '1000']);
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const means = { bank, relay, followers };

const cases = MIXED.flatMap((mixed) => FATES.map((fate) => [mixed.name, fate, mixed] as const));

it.each(sample(cases, 3, ([name, fate]) => `${name} ${fate}`))(
  '%s (%s): if it gets answers that belong to other requests, psd2 calls nothing done or failed that is not',
  async (name, fate, mixed) => {
    const all = bySeed(mixturesOf(mixed), ({ at }) => `${name} ${fate} ${at}`);
    const tries = await goThrough(triedShape, name, fate, ALL ? all : all.slice(0, 1), async (some) => {
      const tried = await sideBySide(some, (mixture) => tryMixed(means, mixed, fate, mixture));
      await judgeLedger(bank, tried);
      return tried;
    });
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);
