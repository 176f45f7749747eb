import { expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { endSettledGroups } from '../../../src/flows/batch/end-groups.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { begun } from '../../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { fakeWorld } from '../doubles.ts';
import { flowsIn, readLines } from '../transfers.ts';

// Bulk payments and baskets whose outcome nobody knows end with the last of their transfers.

const temporary = temporaryFolder();

const SENT: StepEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
const UNANSWERED: StepEvent = { type: 'execute-unanswered' };
const EXECUTED: StepEvent = { type: 'executed', cro: null };
const FAILED: StepEvent = { type: 'settlement', status: 'KO', description: null };
const SETTLED: StepEvent = { type: 'settlement', status: 'OK', description: null };

interface Line {
  events: StepEvent[];
  instant?: boolean;
  /** Whether it goes with the joint payment. */
  isOwn?: boolean;
}

/** @returns the events that were recorded of the joint payment afterwards */
async function ended(lines: (Line | null)[], joint: StepEvent[] = [SENT, UNANSWERED]) {
  const folder = newConfigFolder(temporary);
  const flows = flowsIn(folder, fakeWorld());
  const { customerId, from } = transferOrder();
  const operation = await begun(flows, 'operation', {
    ...{ transactionId: 't1', commits: 'by the customer' },
    order: { customerId, from, operation: 'bulk-payments', data: '{}' },
  });
  for (const event of joint) await operation.record(event);
  const { flow } = operation.current;
  const batch = newBatch(
    'b1',
    {
      ...{ type: 'added', sha256: 'x', count: lines.length, ordered: '' },
      ...batchAdded({ by: 'Ada', user: 'ada', machine: 'pisp-1' }),
    },
    '2026-11-24T10:00:00Z',
  );
  batch.bulks.set(flow, [...lines.keys()]);
  for (const [index, line] of lines.entries()) {
    if (!line) continue;
    const order = transferOrder({ instant: line.instant ?? false, type: null });
    const transfer = await begun(flows, 'transfer', {
      ...{ transactionId: `t${index}`, commits: 'by the customer', order },
    });
    const all: TransferEvent[] = [
      ...((line.isOwn ?? true) ? [{ type: 'bulk-joined', bulk: flow } as const] : []),
      ...line.events,
    ];
    for (const event of all) await transfer.record(event);
    batch.flows.set(index, transfer.current.flow);
  }
  const before = readLines(folder, flow).length;
  for (const _ of ['once', 'again'])
    await endSettledGroups({ batches: { find: async () => batch }, flows }, 'b1', 'ada@pisp-1');
  return readLines(folder, flow)
    .slice(before)
    .map((each): unknown => JSON.parse(each).event);
}

const resolved = (outcome: 'executed' | 'not-executed') => [
  { type: 'resolved', outcome, by: 'ada@pisp-1', note: 'Each of its payments has ended.' },
];
const paid = { events: [EXECUTED] };
const failed = { events: [FAILED] };
const open = { events: [UNANSWERED] };

it.each<[string, (Line | null)[], 'executed' | 'not-executed' | null]>([
  ['are paid', [paid, paid], 'executed'],
  ['are paid in part', [failed, paid], 'executed'],
  ['are not paid', [failed, failed], 'not-executed'],
  ['are settled', [{ events: [EXECUTED, SETTLED], instant: true }], 'executed'],
  ['are not settled yet', [paid, { events: [EXECUTED], instant: true }], null],
  ['are paid, but one that nobody knows of', [paid, open], null],
  ['are paid, but one that may run', [paid, { events: [] }], null],
  ['are not known', [null], null],
  ['go elsewhere', [{ ...paid, isOwn: false }], null],
  ['are not paid, beside one that goes elsewhere', [failed, { ...paid, isOwn: false }, null], 'not-executed'],
  ['are paid, beside an open one that goes elsewhere', [paid, { ...open, isOwn: false }], 'executed'],
])('whose payments %s', async (_what, lines, outcome) => {
  expect(await ended(lines)).toEqual(outcome === null ? [] : resolved(outcome));
});

it.each<[string, StepEvent[]]>([
  ['has not been sent', []],
  ['is executed', [SENT, { ...VERIFIED, nextStep: 'authorisation' }, EXECUTED]],
  ['has failed', [SENT, FAILED]],
])('one that %s stays as it is', async (_what, joint) => {
  expect(await ended([paid, failed], joint)).toEqual([]);
});
