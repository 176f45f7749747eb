import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { PAYEE_RESULTS, type PayeeCheck, type PayeeResult } from '../../../src/domain/order/payee-check.ts';
import { checkPayees, describeCounts } from '../../../src/flows/batch/payees.ts';
import { batchLine } from '../../domain/batch/lines.ts';

// The payee checks of a file: how many run at once, and what their results mean.

const saying = (result: PayeeResult): PayeeCheck => ({ result, name: 'Other', problem: null });

/** Checks of which each ends when the test says so. */
function byHand() {
  const asked: number[] = [];
  const ends = new Map<number, { with: (check: PayeeCheck) => void; badly: (error: Error) => void }>();
  const checks = checkPayees(({ line }) => {
    asked.push(line);
    return new Promise((resolve, reject) => void ends.set(line, { with: resolve, badly: reject }));
  });
  let added = 0;
  const end = (line: number) => {
    const its = ends.get(line);
    if (!its) throw new TypeError(`Nobody asks about ${line}`);
    return its;
  };
  /** Adds lines one after the other. @returns how many were added by now */
  const add = async (count: number) => {
    for (let line = 1; line <= count; line += 1) {
      await checks.add(batchLine({ line }));
      added = line;
    }
  };
  return { checks, asked, end, add, added: () => added };
}

it('at most eight payee checks run at once, and the next one begins when any of them has ended', async () => {
  const { asked, checks, end, add, added } = byHand();
  const all = add(10);
  await setImmediate();
  expect([asked.length, added()]).toEqual([8, 8]);
  end(5).with(saying('match'));
  await setImmediate();
  expect([asked.at(-1), added()]).toEqual([9, 9]);
  end(9).with(saying('close'));
  await all;
  for (const line of [1, 2, 3, 4, 6, 7, 8, 10]) end(line).with(saying('match'));
  const { counts, results, problems } = await checks.end();
  expect(counts).toEqual({ match: 9, close: 1, none: 0, unavailable: 0 });
  expect(results.map(({ line }) => line)).toEqual([5, 9, 1, 2, 3, 4, 6, 7, 8, 10]);
  expect(problems.map(({ line }) => line)).toEqual([9]);
});

it.each([
  ['the end', 2],
  ['the line that waits for it', 9],
])('a payee check that fails is told by %s', async (_, lines) => {
  const { checks, end, add } = byHand();
  const all = add(lines);
  await setImmediate();
  const fault = new TypeError('a fault of psd2');
  end(2).badly(fault);
  if (lines > 8) return expect(all).rejects.toBe(fault);
  await all;
  const ended = expect(checks.end()).rejects.toBe(fault);
  end(1).with(saying('match'));
  return ended;
});

it.each<[PayeeResult, isVerified: boolean, 'error' | 'warning' | null, string?]>([
  ['match', false, null],
  ['match', true, null],
  ['close', false, 'warning', 'close match'],
  ['close', true, null],
  ['none', false, 'error', 'no match'],
  ['none', true, 'error', 'no match'],
  ['unavailable', false, 'warning', 'not possible'],
  ['unavailable', true, null],
])('a payee check that says %s of a payee (verified by a person: %s) is: %s', async (...row) => {
  const [result, payeeVerified, severity, words] = row;
  const line: BatchLine = batchLine({ line: 7, place: 'line 8', name: 'Ada', payeeVerified });
  const checks = checkPayees(async () => saying(result));
  await checks.add(line);
  const { counts, problems, results } = await checks.end();
  const message = `The payee check of Ada says: ${words}, the account is held by Other`;
  expect(problems).toEqual(severity === null ? [] : [{ severity, line: 7, place: 'line 8', message }]);
  expect(results).toEqual([{ line: 7, ...saying(result) }]);
  expect(PAYEE_RESULTS.map((each) => counts[each])).toEqual(
    PAYEE_RESULTS.map((each) => (each === result ? 1 : 0)),
  );
});

it('the results are counted in words, also those that nobody has', () => {
  expect(describeCounts({ unavailable: 4, none: 3, close: 0, match: 1 })).toBe(
    '1 match, 0 close, 3 none, 4 unavailable',
  );
});
