import { expect, test } from 'vitest';
import { defaultRules } from '../../src/sandbox/rules.ts';
import { DoorMemory } from '../../src/sandbox/state-part.ts';

test('a door remembers of each bank what it began there, and nothing of others', () => {
  const memory = new DoorMemory(({ customers }) => ({
    part: { memory: { customers }, forgetCustomer: () => {} },
  }));
  const [one, other] = [{}, {}];
  const begun = memory.begin(one, { ...defaultRules, customers: 7 });
  expect(memory.of({ parts: one })).toBe(begun);
  expect(begun.part.memory).toEqual({ customers: 7 });
  expect(() => memory.of({ parts: other })).toThrow(new TypeError('The bank has no such door'));
  expect(memory.begin(one, defaultRules)).not.toBe(begun);
});
