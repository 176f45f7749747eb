import { expect, it } from 'vitest';
import type { LineOutcome } from '../../../src/flows/batch/known-lines.ts';
import { type UnknownLine, unknownLines } from '../../../src/flows/batch/resolve.ts';
import type { Flows, GenericOperation } from '../../../src/store/ports/flows.ts';
import { begunTransfer } from '../../domain/orders.ts';
import { GROUP, groupOf } from './groups.ts';

// Which lines of a batch a person may end.

/** @param group the bulk payment of the line. Undefined: it goes alone */
async function mayEnd(outcome: LineOutcome, group?: Partial<GenericOperation>, isBegun = true) {
  const find = async () => groupOf('bulk-payments', group ?? {});
  const flows: Pick<Flows, 'find'> = Object.create({ find });
  const transfer = isBegun ? begunTransfer({ bulk: group ? GROUP : null }) : undefined;
  const line: UnknownLine = Object.create({});
  const known = { batch: line.row, lines: [], outcomes: [Object.assign(line, { outcome, transfer })] };
  return (await unknownLines(flows, Object.assign(Object.create({}), known))).length === 1;
}

it.each<[LineOutcome, boolean]>([
  ['paid', false],
  ['kept', false],
  ['accepted', false],
  ['ordered', false],
  ['not paid', false],
  ['refused', true],
  ['unknown', true],
  ['awaited', false],
  ['unfinished', false],
])('a line that is %s: %s', async (outcome, expected) => {
  expect(await mayEnd(outcome)).toBe(expected);
  expect(await mayEnd(outcome, undefined, false)).toBe(false);
});

it.each<[string, Partial<GenericOperation>, boolean]>([
  ['that was not sent', { state: 'created' }, false],
  ['that the bank has', { state: 'verified' }, false],
  ['that waits for its customer', { state: 'authorizing' }, false],
  ['that waits, and may run all the same', { state: 'authorizing', mayExecuteWithoutUs: true }, false],
  ['that the bank has, and somebody can authorise', { state: 'verified', mayExecuteWithoutUs: true }, false],
  ['whose answer was lost', { state: 'created', mayExecuteWithoutUs: true }, true],
  ['that nobody knows of', { state: 'unknown' }, true],
  ['that is executed', { state: 'executed' }, true],
  ['that has failed', { state: 'failed' }, true],
])('an unknown line of a bulk payment %s: %s', async (_, group, expected) => {
  expect(await mayEnd('unknown', group)).toBe(expected);
});
