import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { sharesOf } from '../../../src/flows/batch/run.ts';
import { batchLine } from '../../domain/batch/lines.ts';

// Which lines of a batch go to the bank together.

const lines = [
  batchLine({ line: 1 }),
  batchLine({ line: 2, instant: true }),
  batchLine({ line: 3 }),
  batchLine({ line: 4, executionDate: parseDate('date', '2026-12-01') }),
  batchLine({ line: 5, customer: '1048262' }),
  batchLine({ line: 6 }),
];
const numbers = (most: number | null, mayJoin = (_: unknown) => true) =>
  sharesOf(lines, mayJoin, most).map((share) => share.map(({ line }) => line));

it('lines of one customer, account, day and product go together', () => {
  expect(numbers(null)).toEqual([[1, 3, 6], [2], [4], [5]]);
});

it('no more go together than the bank takes at once', () => {
  expect(numbers(2)).toEqual([[1, 3], [2], [4], [5], [6]]);
});

it('a line that may not join goes alone', () => {
  expect(
    sharesOf(lines, ({ line }) => line !== 3, null).map((share) => share.map(({ line }) => line)),
  ).toEqual([...[[1, 6], [2], [3], [4], [5]]]);
});
