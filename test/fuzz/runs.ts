import fc from 'fast-check';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../src/exit-codes.ts';
import { ACTED_UPON, type ResidentRun } from '../hostile/resident.ts';
import { anyCharacter } from '../support/any-character.ts';
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

/** Text that an operator, a script or an attacker may give where no NUL is possible. */
export const junk = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom(
    '',
    ' ',
    '-',
    '--',
    '=',
    '@',
    '@-',
    '..',
    '../../x',
    '\n',
    '0',
    '-1',
    '1e9',
    '{}',
    '[]',
    'null',
    '%00',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    "'; rm -rf /",
    '\u001b[2J',
    'NaN',
    'true',
    'x'.repeat(5000),
  ),
);

/** Replaces or removes one part of a JSON value, or cuts it short; sometimes gives arbitrary text instead. */
export function damaged(value: unknown): fc.Arbitrary<string> {
  const parts = countParts(value);
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ part: fc.nat(parts - 1), change: change }).map((how) => mutate(value, how)),
    },
    {
      weight: 1,
      arbitrary: fc.nat(JSON.stringify(value).length).map((end) => JSON.stringify(value).slice(0, end)),
    },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 60 }) },
    { weight: 1, arbitrary: fc.json() },
  );
}

const REMOVED = Symbol('removed');
const change: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(REMOVED),
  fc.jsonValue(),
  junk,
  fc.constantFrom(
    null,
    '\ud800',
    'a\r\nb: c',
    -0,
    1e300,
    '99/99/9999',
    '2026-02-31',
    [],
    {},
    '9'.repeat(400),
  ),
);

function countParts(value: unknown): number {
  let parts = 0;
  JSON.stringify(value, (_, each) => {
    parts += 1;
    return each;
  });
  return parts;
}

function mutate(value: unknown, { part, change }: { part: number; change: unknown }): string {
  let number = -1;
  const mutated: string | undefined = JSON.stringify(value, (_, each) => {
    number += 1;
    if (number !== part) return each;
    return change === REMOVED ? undefined : change;
  });
  return mutated ?? '';
}
