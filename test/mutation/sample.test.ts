import fc from 'fast-check';
import { expect, it } from 'vitest';
import { estimateOf, sampleOf } from './sample.js';

const ids = Array.from({ length: 40 }, (_, index) => String(index + 90));

it('a sample has so many mutants, the same ones with the same seed, in whatever order they come', () => {
  const some = sampleOf(ids, { most: 8, seed: '1' });
  expect(some.size).toBe(8);
  expect(ids).toEqual(expect.arrayContaining([...some]));
  expect(sampleOf(ids.toReversed(), { most: 8, seed: '1' })).toEqual(some);
  expect(sampleOf(ids, { most: 8, seed: '2' })).not.toEqual(some);
});

it('a source with fewer mutants is tried whole', () => {
  expect(sampleOf(ids, { most: 99, seed: '1' })).toEqual(new Set(ids));
});

it('what was measured whole has its score exactly', () => {
  const whole = [
    { mutants: 10, noticed: 5 },
    { mutants: 30, noticed: 30 },
  ];
  expect(estimateOf(whole)).toEqual({ score: 87.5, within: 0 });
  expect(estimateOf([])).toEqual({ score: 100, within: 0 });
});

it('a sample counts for all mutants of its source', () => {
  const { score } = estimateOf([
    { mutants: 10, noticed: 5, of: 90 },
    { mutants: 10, noticed: 10 },
  ]);
  expect(score).toBeCloseTo(55);
});

it('of a hundred estimates of a known score at most a few miss it by more than they say', () => {
  const mutants = Array.from({ length: 200 }, (_, index) => ({
    id: String(index),
    isNoticed: index % 5 !== 0,
  }));
  const missed = Array.from({ length: 100 }, (_, seed) => {
    const some = sampleOf(
      mutants.map(({ id }) => id),
      { most: 20, seed: String(seed) },
    );
    const noticed = mutants.filter(({ id, isNoticed }) => some.has(id) && isNoticed).length;
    const { score, within } = estimateOf([{ mutants: 20, noticed, of: 200 }]);
    return Math.abs(score - 80) > within;
  }).filter((isMissed) => isMissed);
  expect(missed.length).toBeLessThanOrEqual(8);
});

it('a larger sample says it more exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), (mutants) => {
      const within = (count: number) => estimateOf([{ mutants: count, noticed: count / 2, of: 999 }]).within;
      expect(within(2 * mutants)).toBeLessThan(within(mutants));
    }),
  );
});
