import fc from 'fast-check';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../src/exit-codes.ts';
import { ACTED_UPON, type ResidentRun } from '../hostile/resident.ts';
import { fewer, SEED } from '../support/sample.ts';

/** `npm run fuzz` sets many. */
const RUNS = Number(process.env.PSD2_FUZZ_RUNS ?? fewer(150));

/** How long a test of that many runs may take, in milliseconds. */
export const FUZZ_TIMEOUT_MS = 60_000 + RUNS * 500;

/** Tries a property that many times, or a multiple. To repeat the inputs, set the seed: `TEST_SEED=<seed> npm run fuzz`. */
export async function fuzz<T>(
  input: fc.Arbitrary<T>,
  holds: (value: T) => Promise<void>,
  times = 1,
): Promise<void> {
  await fc.assert(fc.asyncProperty(input, holds), {
    numRuns: RUNS * times,
    seed: Number(SEED),
    endOnFailure: process.env.PSD2_FUZZ_RUNS === undefined,
  });
}

/** Checks that a run ended with a documented exit code, with no bug, and printed nothing that a terminal acts on. */
export function expectSoundEnd({ code, stdout, stderr, crash }: ResidentRun): void {
  expect(crash).toBeUndefined();
  expect(Object.keys(EXIT_CODES), stderr).toContain(String(code));
  expect(code, stderr).not.toBe(1);
  expect(stderr).not.toMatch(/\n {4}at |This is a bug/);
  expect(stdout + stderr).not.toMatch(ACTED_UPON);
}
