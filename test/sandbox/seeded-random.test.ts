import { expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-random.ts';

// The accounts of a sandbox come from these numbers, so they are the same in every version.
test.each([
  ['', [61, 49, 77, 41, 81, 5, 91, 19, 87, 55], 'TTTFFF', 'cacbca'],
  ['a', [62, 30, 36, 59, 89, 64, 45, 69, 88, 60], 'FFFFTF', 'bcbabc'],
  ['anna', [87, 30, 41, 51, 69, 39, 32, 92, 27, 99], 'TTFFTT', 'bcaacc'],
  ['è', [17, 97, 9, 74, 31, 0, 3, 83, 24, 77], 'TTFTFT', 'bcbbac'],
])('the seed %j always gives the same numbers', (seed, numbers, chances, picks) => {
  const random = seededRandom(seed);
  expect(Array.from({ length: 12 }, () => random.between(0, 99)).slice(0, 10)).toEqual(numbers);
  const chance = () => (random.chance(0.5) ? 'T' : 'F');
  expect(Array.from({ length: 6 }, chance).join('')).toBe(chances);
  expect(Array.from({ length: 6 }, () => random.pick(['a', 'b', 'c'])).join('')).toBe(picks);
});

test('a range has both of its ends, and nothing beside them', () => {
  const random = seededRandom('range');
  const numbers = Array.from({ length: 500 }, () => random.between(3, 7));
  expect([...new Set(numbers)].toSorted()).toEqual([3, 4, 5, 6, 7]);
  expect(random.between(5, 5)).toBe(5);
  expect(random.pick(['only'])).toBe('only');
});

test.each([
  [0, 0],
  [1, 500],
])('a probability of %d is %d times of 500', (share, times) => {
  const random = seededRandom('share');
  expect(Array.from({ length: 500 }, () => random.chance(share)).filter(Boolean)).toHaveLength(times);
});
