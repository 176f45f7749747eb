import { expect, it } from 'vitest';
import { rowsBeyondBalance } from '../../src/domain/replaced-rows.ts';
import { decimalOf } from './bookings.ts';

it.each<[what: string, gone: number[], difference: number, replaced: number[]]>([
  ['the row whose amount the balance lacks', [-1200], 1200, [-1200]],
  ['a row that was received', [5000], -5000, [5000]],
  ['one of several', [-1200, -700], 1200, [-1200]],
  ['several together', [-1200, -700, -50], 1900, [-1200, -700]],
  ['the fewest', [-1200, -700, -500], 1200, [-1200]],
  ['none, if other rows explain it too', [-1200, -1200], 1200, []],
  ['none, if nothing explains it', [-1200], 1199, []],
  ['none, if nothing is missing', [-1200, 1200], 0, []],
  ['rows beside those without an amount', [0, -1200], 1200, [-1200]],
  [
    'the sum of ten rows',
    Array.from({ length: 10 }, (_, at) => -(2 ** at)),
    1023,
    Array.from({ length: 10 }, (_, at) => -(2 ** at)),
  ],
  ['none, if two pairs explain it', [-100, -400, -200, -300], 500, []],
  ['a row, though a pair explains it too', [-500, -400, -100], 500, [-500]],
  ['money in and out together', [-1200, 200, -77], 1000, [-1200, 200]],
  ['none, if only rows without an amount are gone', [0, 0], 0, []],
  ['none, if no row is gone', [], 1200, []],
  [
    'the sum of ten rows, beside one without an amount',
    [0, ...Array.from({ length: 10 }, (_, at) => -(2 ** at))],
    1023,
    Array.from({ length: 10 }, (_, at) => -(2 ** at)),
  ],
  ['none of more rows', Array.from({ length: 11 }, (_, at) => -(2 ** at)), 1, []],
])('the balance agrees without %s', (_, gone, difference, replaced) => {
  const rows = gone.map((cents) => ({ amount: decimalOf(cents) }));
  expect(rowsBeyondBalance(rows, decimalOf(difference)).map(({ amount }) => amount)).toEqual(
    replaced.map(decimalOf),
  );
});
