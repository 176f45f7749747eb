import { expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import type { BankReason } from '../../../src/errors.ts';
import { readLine } from '../../../src/flows/batch/known-lines.ts';
import type { Flows } from '../../../src/store/ports/flows.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { AT_THE_BANK, createdTransfer, FLOW } from '../stored-transfers.ts';
import { fold } from './groups.ts';

// What a report says of a line, after what became of its transfer.

const AT = '2026-11-24T10:00:00Z';
const reasons: BankReason[] = [{ level: 'payment', code: 'AC04', proprietary: null, text: 'Closed' }];
const SENT: TransferEvent = { type: 'verify-sent', requestId: 'q', digest: null };
const REFUSED: TransferEvent = { type: 'execute-refused', description: 'No', reasons };
const UNANSWERED: TransferEvent = { type: 'execute-unanswered', description: 'No', reasons };
const FAILED: TransferEvent = { type: 'settlement', status: 'KO', description: 'No', reasons };
const EXECUTED: TransferEvent = { type: 'executed', cro: null, isFinal: true };
const LATE = '9999-12-31T00:00:00.000Z';
const HERE: TransferEvent[] = [SENT, AT_THE_BANK];

it.each<[string, TransferEvent[] | null, told: object]>([
  ['has not begun', null, { state: 'waiting', flow: null, bankReasons: [] }],
  [
    'ended before anything was sent',
    [{ type: 'cancelled' }],
    { state: 'waiting', flow: null, bankReasons: [] },
  ],
  ['is paid', [...HERE, EXECUTED], { state: 'executed', bankReasons: [], paidAt: AT }],
  [
    'is paid, although the bank had refused it',
    [SENT, REFUSED, EXECUTED],
    { state: 'executed', bankReasons: [], paidAt: AT },
  ],
  [
    'is paid, although nobody knew of it',
    [SENT, UNANSWERED, EXECUTED],
    { state: 'executed', bankReasons: [], paidAt: AT },
  ],
  [
    'is accepted, although nobody knew of it',
    [SENT, UNANSWERED, { type: 'ordered' }],
    { state: 'ordered', bankReasons: [] },
  ],
  ['is rejected', [...HERE, FAILED], { state: 'failed', bankReasons: reasons }],
  ['is refused by one answer', [SENT, REFUSED], { state: 'failed', bankReasons: reasons, isUncertain: true }],
  ['is unknown', [SENT, UNANSWERED], { state: 'unknown', bankReasons: reasons }],
  [
    'is not authorised',
    [
      ...HERE,
      { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RJCT', description: 'No', reasons },
    ],
    { state: 'rejected', bankReasons: reasons },
  ],
  [
    'is cancelled',
    [...HERE, { type: 'cancelled', description: 'No', reasons }],
    { state: 'cancelled', bankReasons: reasons },
  ],
  [
    'is cancelled, and a customer has its link',
    [...HERE, { type: 'cancelled', description: 'No', reasons, linkUntil: LATE }],
    { state: 'cancelled', bankReasons: reasons, isUncertain: true },
  ],
])('a line that %s', async (_, events, told) => {
  const batch = newBatch(
    'b1',
    {
      ...{ type: 'added', sha256: 'x', count: 1, ordered: '' },
      ...batchAdded({ by: 'Ada', user: 'ada', machine: 'pisp-1' }),
    },
    AT,
  );
  if (events) batch.flows.set(1, FLOW);
  const find = async () => fold(undefined, [createdTransfer(), ...(events ?? [])]);
  const flows: Flows = Object.create({ find });
  const { state, flow, bankReasons, paidAt, isUncertain } = (await readLine(flows, batch, batchLine())).row;
  expect({ state, flow, bankReasons, paidAt, isUncertain }).toEqual({
    ...{ flow: FLOW, paidAt: null, isUncertain: false },
    ...told,
  });
});
