import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.ts';
import { words } from '../support/words.ts';

/** Text that an operator, a script or an attacker may give where no NUL is possible. */
export const junk = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom(
    ...words`- -- = @ @- .. ../../x 0 -1 1e9 {} [] null %00 __proto__ constructor toString NaN true`,
  ),
  fc.constantFrom('', ' ', '\n', "'; rm -rf /", '\u001b[2J', 'x'.repeat(5000)),
);

/** Replaces or removes one part of a JSON value, or cuts it short; sometimes gives arbitrary text instead. */
export function damaged(value: unknown): fc.Arbitrary<string> {
  const parts = countParts(value);
  const text = JSON.stringify(value);
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ part: fc.nat(parts - 1), change }).map((how) => mutate(value, how)) },
    { weight: 1, arbitrary: fc.nat(text.length).map((end) => text.slice(0, end)) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 60 }) },
    { weight: 1, arbitrary: fc.json() },
  );
}

const REMOVED = Symbol('removed');
const change: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(REMOVED),
  fc.jsonValue(),
  junk,
  fc.constantFrom(null, -0, 1e300, [], {}),
  fc.constantFrom('\ud800', 'a\r\nb: c', '24:61', '99/99/9999', '2026-02-31', '9'.repeat(400)),
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
