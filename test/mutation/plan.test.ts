import { expect, it } from 'vitest';
import { inOrder, merged, mustHaveScore, partOf, standingOf } from './plan.js';

const now: Record<string, string> = { a: '1', b: '2' };
const contentOf = (file: string) => now[file] ?? '';

it.each([
  ['a', 'as it is'],
  ['b', 'stale'],
  ['c', 'never'],
])('the source %s was measured %s', (file, standing) => {
  expect(standingOf(file, { a: { content: '1' }, b: { content: '1' } }, contentOf)).toBe(standing);
});

it.each([
  ['what has changed is measured before what never was', false, [2, 0, 3, 1]],
  ['a sample begins with what was never measured', true, [0, 3, 2, 1]],
])('%s', (_, isSample, order) => {
  const sources = (['never', 'as it is', 'stale', 'never'] as const).map((standing, index) => ({
    standing,
    index,
  }));
  expect(inOrder(sources, isSample).map(({ index }) => index)).toEqual(order);
});

it.each([1, 2, 3, 7])('%i parts have each source once, and are about as large', (count) => {
  const sources = Array.from({ length: 40 }, (_, index) => ({
    file: `f${index}`,
    size: ((index * 7) % 11) + 1,
  }));
  const parts = Array.from({ length: count }, (_, index) => partOf(sources, `${index + 1}/${count}`) ?? []);
  expect(parts.flatMap((part) => part.map(({ file }) => file)).sort()).toEqual(
    sources.map(({ file }) => file).sort(),
  );
  const sizes = parts.map((part) => part.reduce((sum, { size }) => sum + size, 0));
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(11);
});

it.each(['', '0/4', '5/4', '1', '1/0', '1/4/2', 'a/b', '-1/4', ' 1/4', '1.5/4'])('%j is no part', (text) => {
  expect(partOf([{ file: 'f', size: 1 }], text)).toBeUndefined();
});

it('a room with a source that was never measured needs no score yet, and one with a changed source does', () => {
  expect(mustHaveScore(['as it is', 'never'])).toBe(false);
  expect(mustHaveScore(['as it is', 'stale'])).toBe(true);
});

it('of two results of a source the one of its present content counts, and gone sources are dropped', () => {
  const own = { a: { content: '0', of: 'own' }, b: { content: '2', of: 'own' } };
  const other = {
    a: { content: '1', of: 'other' },
    b: { content: '9', of: 'other' },
    c: { content: '3', of: 'other' },
    gone: { content: '4', of: 'other' },
  };
  const contents: Record<string, string> = { a: '1', b: '2', c: '8' };
  const all = merged(own, other, (file) => contents[file]);
  expect(Object.entries(all).map(([file, { of }]) => `${file} ${of}`)).toEqual([
    'a other',
    'b own',
    'c other',
  ]);
});
