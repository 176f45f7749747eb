import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds of long test files: the pattern of their paths, and how many `npm test` takes of each. */
const KINDS: readonly (readonly [RegExp, number])[] = [
  // A transfer is paid once and a consent is not lost, wherever psd2 is killed: no run goes without it.
  [/^crash\/kill\.test\.ts$/, 1],
  // Neither does one go without this: a PIN and a TAN are nowhere afterwards.
  [/^crash\/embedded-secrets\.test\.ts$/, 1],
  // Some of the rows in which money moves.
  [/^scenarios\/crash-.*\.long\.test\.ts$/, 1],
  [/^crash\/(?!kill\.|embedded-secrets\.).*\.test\.ts$/, 1],
  // The bank lies, the input is random, or the built program does something at length.
  [/^((hostile|fuzz)\/.*\.test|(?!scenarios\/).*\.long\.test)\.ts$/, 1],
];

/**
 * Returns what chooses the cases of a run.
 *
 * @param env `TEST_SEED` decides what a run takes where it does not take all. With `TEST_ALL` (`npm run test:all`) or
 *   `CRASH_MATRIX=all` (`npm run reliability`) it leaves nothing out.
 */
export function sampling(env: Readonly<Record<string, string | undefined>>) {
  const leavesOut = env.TEST_ALL === undefined && env.CRASH_MATRIX !== 'all';
  const seed = env.TEST_SEED ?? '1';

  /** Puts items in an order that the seed decides. */
  function bySeed<Item>(items: readonly Item[], textOf: (item: Item) => string): Item[] {
    const chance = (item: Item) =>
      createHash('sha256')
        .update(`${seed} ${textOf(item)}`)
        .digest('hex');
    return [...items].sort((a, b) => (chance(a) < chance(b) ? -1 : 1));
  }

  /** Returns how many of a kind to try: about a third in `npm test`, all of them in `npm run test:all`. */
  function fewer(all: number): number {
    return leavesOut ? Math.ceil(all / 3) : all;
  }

  /**
   * Returns a few cases in `npm test`, and all in `npm run test:all`. They keep their order.
   *
   * @param textOf what makes a case another one: its name
   */
  function sample<Case>(
    cases: readonly Case[],
    few: number,
    textOf: (each: Case) => string = String,
  ): Case[] {
    if (!leavesOut) return [...cases];
    const chosen = bySeed(cases, textOf).slice(0, few);
    return cases.filter((each) => chosen.includes(each));
  }

  /** The long test files that `npm test` takes: two that no run goes without, and one of each other kind. */
  function someFiles(folder: string): string[] {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return KINDS.flatMap(([kind, few]) =>
      bySeed(
        files.filter((file) => kind.test(file)),
        String,
      ).slice(0, few),
    ).map((file) => join(folder, file));
  }

  return { seed, bySeed, fewer, sample, someFiles };
}

/** Those of this run. vitest.config.ts chooses its seed. */
export const { seed: SEED, bySeed, fewer, sample, someFiles } = sampling(process.env);
