import { expect, test } from 'vitest';
import { isSameSecret } from '../../src/sandbox/same-secret.ts';

test.each<[one: string, other: string, same: boolean]>([
  ['secret', 'secret', true],
  ['secret', 'secreT', false],
  ['secret', 'secrets', false],
  ['', '', true],
  ['', 'a', false],
])('%j and %j are the same secret: %s', (one, other, same) => {
  expect(isSameSecret(one, other)).toBe(same);
});
