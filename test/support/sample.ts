import { createHash } from 'node:crypto';

/** `npm run test:all` and `npm run reliability` leave nothing out. */
const LEAVES_OUT = process.env.TEST_ALL === undefined && process.env.CRASH_MATRIX !== 'all';

/** Decides what a run takes where it does not take all. vitest.config.ts chooses one for each run. */
export const SEED = process.env.TEST_SEED ?? '1';

/** Puts items in an order that the seed decides. */
export function bySeed<Item>(items: readonly Item[], textOf: (item: Item) => string): Item[] {
  const chance = (item: Item) =>
    createHash('sha256')
      .update(`${SEED} ${textOf(item)}`)
      .digest('hex');
  return [...items].sort((a, b) => (chance(a) < chance(b) ? -1 : 1));
}

/** Returns how many of a kind to try: about a third in `npm test`, all of them in `npm run test:all`. */
export function fewer(all: number): number {
  return LEAVES_OUT ? Math.ceil(all / 3) : all;
}

/**
 * Returns a few cases in `npm test`, and all in `npm run test:all`. They keep their order.
 *
 * @param textOf what makes a case another one: its name
 */
export function sample<Case>(
  cases: readonly Case[],
  few: number,
  textOf: (each: Case) => string = String,
): Case[] {
  if (!LEAVES_OUT) return [...cases];
  const chosen = bySeed(cases, textOf).slice(0, few);
  return cases.filter((each) => chosen.includes(each));
}
