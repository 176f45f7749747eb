import { expect, it } from 'vitest';
import { addReadLines, type DayOfAccount, writeReadLine } from '../../../src/store/files/access.ts';

/** What lines say of each account. */
function after(...lines: string[]): Record<string, DayOfAccount> {
  const accounts = new Map<string, DayOfAccount>();
  addReadLines(accounts, lines);
  return Object.fromEntries(accounts);
}
const A = '42 0010482620';
const lineOf = (line: Parameters<typeof writeReadLine>[1]) => writeReadLine(A, line).replace(/\n$/, '');
const TAKEN = lineOf({ kind: 'taken' });
const BACK = lineOf({ kind: 'back' });
const OK = lineOf({ kind: 'succeeded' });
const FAILED = lineOf({ kind: 'failed', failures: 2, pausedUntil: 615 });

it('each line ends, and says what happened', () => {
  expect(writeReadLine('42 *', { kind: 'taken' })).toBe('42 *\n');
  expect(writeReadLine('42 *', { kind: 'back' })).toBe('42 * back\n');
  expect(writeReadLine('42 *', { kind: 'succeeded' })).toBe('42 * ok\n');
  expect(writeReadLine('42 *', { kind: 'failed', failures: 1, pausedUntil: 1439 })).toBe(
    '42 * failed 1 1439\n',
  );
});

it.each([
  ['reads are counted', [TAKEN, TAKEN], { reads: 2, failures: 0, pausedUntil: 0 }],
  [
    'a read that was given back does not count',
    [TAKEN, TAKEN, BACK],
    { reads: 1, failures: 0, pausedUntil: 0 },
  ],
  [
    'no more reads are given back than were taken',
    [BACK, BACK, TAKEN],
    { reads: 1, failures: 0, pausedUntil: 0 },
  ],
  [
    'a failed read is given back, and begins a pause',
    [TAKEN, FAILED],
    { reads: 0, failures: 2, pausedUntil: 615 },
  ],
  [
    'a read that was given back ends no pause',
    [FAILED, TAKEN, BACK],
    { reads: 0, failures: 2, pausedUntil: 615 },
  ],
  [
    'a read with data ends the pause, and counts',
    [FAILED, TAKEN, OK],
    { reads: 1, failures: 0, pausedUntil: 0 },
  ],
])('%s', (_what, lines, expected) => {
  expect(after(...lines)).toEqual({ [A]: expected });
});

it('accounts are counted separately, and what was known before is kept', () => {
  const accounts = new Map([[A, { reads: 3, failures: 1, pausedUntil: 60 }]]);
  addReadLines(accounts, ['42 *', TAKEN]);
  expect(Object.fromEntries(accounts)).toEqual({
    [A]: { reads: 4, failures: 1, pausedUntil: 60 },
    '42 *': { reads: 1, failures: 0, pausedUntil: 0 },
  });
});

it.each([
  '',
  '42',
  ` ${A}`,
  `${A} `,
  `${A} x`,
  `${A} back again`,
  `x ${A} back`,
  `${A} failed`,
  `${A} failed 1`,
  `${A} failed x 1`,
  `${A} failed 1 x`,
  `${A} failed 1234567890 1`,
  `${A} failed 1 1234567890`,
])('a line that psd2 did not write does not count: %j', (line) => {
  expect(after(line)).toEqual({});
});
