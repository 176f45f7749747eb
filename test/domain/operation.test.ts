import { expect, it } from 'vitest';
import { parseProductId } from '../../src/domain/identifiers.ts';
import { isOutcomeOpen, nextOperationStep } from '../../src/domain/next-step.ts';
import {
  applyOperationEvent,
  type GenericOrder,
  isPending,
  OPERATION_STATES,
  type Operation,
  type OperationEvent,
  type StepEvent,
} from '../../src/domain/operation.ts';
import { transferOrder, VERIFIED } from './orders.ts';

const order: GenericOrder = {
  customerId: '1234567',
  from: parseProductId('0000012345'),
  operation: 'standingOrder',
  data: '{}',
};
const created: OperationEvent<GenericOrder> = {
  ...{ type: 'created', flow: 'op-1', transactionId: 't1', commits: 'on execute', order },
};
const intent = { requestId: 'q1', digest: null };
const money = { amount: transferOrder().amount, currency: 'EUR' };
const verification = {
  ...{ resourceId: 'r1', totalAmount: money, commissions: null },
  ...{ bankName: 'BANCA ESEMPIO', nextStep: 'verify2' },
};
const AT = '2026-11-21T10:00:00.000Z';
const LATER = '2026-11-21T10:00:01.000Z';

const apply = (operation: Operation<GenericOrder> | undefined, event: OperationEvent<GenericOrder>) =>
  applyOperationEvent('operation', operation, event, operation === undefined ? AT : LATER);

/** An operation that already has many values. */
const before: Operation<GenericOrder> = {
  ...apply(undefined, created),
  reached: true,
  furtherData: ['{"a":1}'],
  furtherSteps: 1,
  verification,
  authorizationStatus: 'STARTED',
  executionStatus: 'WAITING',
  executionStatusDescription: 'as before',
  cro: '0',
};

const OTHER = { ...verification, resourceId: 'r2' };
const MATCH = { result: 'match', name: 'ADA L.', problem: null } as const;
const AUTHORISED: StepEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' };
const SENT: StepEvent = { type: 'execute-sent', ...intent };
const SETTLED: StepEvent = { type: 'settlement', status: 'PENDING', description: null };
const PAID = { outcome: 'executed', by: 'ada@pisp-1', note: null } as const;
const UNPAID = { outcome: 'not-executed', by: 'ada@pisp-1', note: 'Case 1' } as const;
const NO = { description: 'no' };
const REFUSED: StepEvent = { type: 'execute-refused', ...NO };
const RUN = { state: 'executed', cro: '1' } as const;
const VERIFIED_OTHER: StepEvent = { type: 'verified', ...OTHER };
const failed = (executionStatusDescription: string | null) => ({
  ...{ state: 'failed' as const, executionStatusDescription },
});
const resolved = (state: 'executed' | 'failed', said: typeof PAID | typeof UNPAID) => ({
  ...{ state, resolution: { ...said, at: LATER } },
});

it.each<[StepEvent, Partial<Operation<GenericOrder>>]>([
  [{ type: 'verify-sent', ...intent }, { reached: true }],
  [{ type: 'verify-not-begun' }, { reached: false }],
  [VERIFIED_OTHER, { state: 'verified', verification: OTHER }],
  [{ type: 'further-verify-sent', ...intent }, { furtherStepOpen: true }],
  [{ type: 'further-data', data: ['{"b":2}'] }, { furtherData: ['{"b":2}'] }],
  [{ type: 'verify-refused', ...NO }, failed('no')],
  [{ type: 'verify-refused' }, failed(null)],
  [{ type: 'payee-checked', ...MATCH, source: 'payer' }, { payeeCheck: MATCH }],
  [{ type: 'accepted' }, { accepted: true }],
  [{ type: 'cancelled' }, { state: 'cancelled' }],
  [{ type: 'approach-sent', ...intent }, {}],
  [{ type: 'sca-started' }, { state: 'authorizing' }],
  [{ type: 'sca-returned' }, { returned: true }],
  [{ type: 'sca-again' }, { state: 'verified' }],
  [AUTHORISED, { state: 'authorized', authorizationStatus: 'AUTHORIZED' }],
  [SENT, { state: 'executing', executeRequestId: 'q1', committedAt: LATER }],
  [{ type: 'execute-not-begun' }, { state: 'authorized' }],
  [{ type: 'execute-turned-away' }, { state: 'authorized', refusedUnconfirmed: true }],
  [{ type: 'executed', cro: '1' }, RUN],
  [REFUSED, { ...failed('no'), refusedUnconfirmed: true }],
  [{ type: 'execute-unanswered' }, { state: 'unknown' }],
  [SETTLED, { state: 'executed', executionStatus: 'PENDING', executionStatusDescription: null }],
  [{ type: 'resolved', ...PAID }, resolved('executed', PAID)],
  [{ type: 'resolved', ...UNPAID }, resolved('failed', UNPAID)],
])('%j changes exactly these fields of an operation', (event, changes) => {
  expect(apply(before, event)).toEqual({ ...before, ...changes, updatedAt: LATER });
});

it('a payment that the customer commits could begin to run once the bank said that they had authorised it', () => {
  const customers: Operation<GenericOrder> = { ...before, commits: 'by the customer' };
  expect(apply(customers, AUTHORISED).committedAt).toBe(LATER);
  expect(apply(customers, { ...AUTHORISED, status: 'PENDING' }).committedAt).toBeNull();
});

it('verifying again resets an operation but keeps the data of its further steps', () => {
  const accepted = { ...before, state: 'verified', accepted: true } as const;
  const open = apply(accepted, { type: 'further-verify-sent', ...intent });
  expect(apply(open, { type: 'verify-again' })).toEqual({
    ...{ ...before, furtherSteps: 0, verification: null, updatedAt: LATER },
  });
});

it('a further step counts, and its values replace those of the first', () => {
  const { type: _, ...silent } = VERIFIED;
  const said = { ...silent, resourceId: 'r2', commissions: money, bankName: 'ALTRA' };
  const open = { ...before, furtherStepOpen: true };
  expect(apply(open, { type: 'further-verified', ...said })).toEqual({
    ...before,
    furtherSteps: 2,
    verification: { ...said, totalAmount: money },
    updatedAt: LATER,
  });
  const nothingKnown = { ...before, verification: null };
  expect(apply(nothingKnown, { type: 'further-verified', ...silent }).verification).toEqual(silent);
  expect(apply(open, { type: 'further-verified', ...silent }).verification).toEqual({
    ...verification,
    nextStep: 'execute',
  });
});

it('a flow begins only once', () => {
  expect(() => apply(before, created)).toThrow('A flow begins once');
});

it('a flow begins with the given data for its further steps', () => {
  expect(apply(undefined, { ...created, furtherData: ['{}'] }).furtherData).toEqual(['{}']);
});

it.each([
  ['verify2', 'verify-further'],
  ['verify12', 'verify-further'],
  ['verify', 'accept'],
  ['reverify2', 'accept'],
  ['verify2b', 'accept'],
])('after a link to %s the next step is %s', (nextStep, step) => {
  const verified = { ...before, state: 'verified', verification: { ...verification, nextStep } } as const;
  expect(nextOperationStep(verified, false)).toBe(step);
});

it.each(OPERATION_STATES.map((state) => [state, ['executing', 'unknown', 'executed'].includes(state)]))(
  'in the state %s money may have moved without anyone knowing: %s',
  (state, isOpen) => {
    expect(isOutcomeOpen({ ...before, state }, true)).toBe(isOpen);
  },
);

it.each([
  [{ type: 'authorization', status: 'PENDING' }, true],
  [{ type: 'authorization', status: 'AUTHORIZED' }, false],
  [{ type: 'settlement', status: 'PENDING' }, false],
])('after %j the customer must still decide: %s', (event, pending) => {
  expect(isPending(event)).toBe(pending);
});

it.each<[StepEvent, boolean]>([
  [AUTHORISED, true],
  [{ type: 'authorization', status: 'EXPIRED', bankStatus: 'EXPIRED' }, true],
  [{ type: 'authorization', status: 'PENDING', bankStatus: 'STARTED' }, true],
  [{ type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'NOT_AUTHORIZED' }, false],
  [SENT, true],
  [{ type: 'execute-not-begun' }, true],
  [{ type: 'execute-unanswered' }, true],
  [{ type: 'ordered' }, false],
  [{ type: 'cancelled' }, false],
  [{ type: 'executed', cro: null }, false],
  [{ type: 'settlement', status: 'KO', description: null }, false],
  [{ type: 'resolved', outcome: 'executed', by: 'ada', note: null }, false],
  [{ type: 'resolved', outcome: 'not-executed', by: 'ada', note: null }, false],
])('after an execute that the bank turned away and then %j, only a refusal speaks: %s', (event, isAlone) => {
  const turnedAway = apply(before, { type: 'execute-turned-away' });
  expect(apply(turnedAway, event).refusedUnconfirmed).toBe(isAlone);
});

it('an outcome that is not known keeps the refusal that does not decide it', () => {
  const unknown = apply(before, { type: 'execute-unanswered', description: 'No, says the bank' });
  expect(unknown).toMatchObject({ state: 'unknown', executionStatusDescription: 'No, says the bank' });
});
