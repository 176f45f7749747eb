import { describe, expect, it } from 'vitest';
import { asksForOutcome, isOutcomeOpen, nextOperationStep } from '../../src/domain/next-step.ts';
import { type GenericOrder, OPERATION_STATES, type Operation } from '../../src/domain/operation.ts';
import { begunOperation, transferOrder, VERIFIED } from './orders.ts';

// What comes next, in every state.

const CREATED = begunOperation();
const { type: _, ...verification } = VERIFIED;
const money = { amount: transferOrder().amount, currency: 'EUR' };
type Changes = Partial<Operation<GenericOrder>>;
const PSD2S: Changes = { verification };
const CUSTOMERS: Changes = { verification, commits: 'by the customer', authorises: 'by links' };

const MAY_RUN_AT_SCA: Changes = { state: 'authorizing', mayExecuteWithoutUs: true };
const MAY_HAVE_RUN: Changes = { state: 'created', mayExecuteWithoutUs: true };
const WITH_FEES: Changes = {
  ...{ state: 'verified', accepted: true },
  verification: { ...verification, commissions: money },
};

const UNREAD_FEES: Changes = {
  ...{ state: 'verified', accepted: true },
  verification: { ...verification, unreadFees: '1 point' },
};

describe('at a bank that has execute', () => {
  it.each([
    ['created', 'verify', 'verify'],
    ['verified', 'accept', 'accept'],
    ['authorizing', 'await-authorization', 'await-authorization'],
    ['authorized', 'execute', 'execute'],
    ['executing', 'ask-outcome', 'ask-outcome'],
    ['ordered', 'done', 'done'],
    ['executed', 'done', 'await-settlement'],
    ['settled', 'done', 'done'],
    ['failed', 'done', 'done'],
    ['rejected', 'done', 'done'],
    ['expired', 'done', 'done'],
    ['cancelled', 'done', 'done'],
    ['ended', 'done', 'done'],
    ['unknown', 'ask-outcome', 'ask-outcome'],
  ] as const)('after %s comes %s, and %s if it settles', (state, step, settling) => {
    const operation = { ...CREATED, ...PSD2S, state };
    expect([nextOperationStep(operation, false), nextOperationStep(operation, true)]).toEqual([
      step,
      settling,
    ]);
  });
});

it.each<[string, Changes, string]>([
  ['the operator has not confirmed it', { state: 'created' }, 'accept'],
  ['the operator has confirmed it', { state: 'created', accepted: true }, 'verify'],
  ['psd2 calls for the authorisation', { state: 'created', authorises: 'by call' }, 'verify'],
  ['it may have run', MAY_HAVE_RUN, 'ask-outcome'],
  ['it may have run, and is confirmed', { ...MAY_HAVE_RUN, accepted: true }, 'ask-outcome'],
  ['the bank has it', { state: 'verified', accepted: true }, 'authorize'],
  ['the bank has it, and it is not confirmed', { state: 'verified' }, 'accept'],
  ['the bank takes fees', WITH_FEES, 'accept-fees'],
  ['the bank takes fees, and the operator takes them', { ...WITH_FEES, feesAccepted: true }, 'authorize'],
  ['its initiation was sent', { state: 'executing', mayExecuteWithoutUs: true }, 'ask-outcome'],
  ['the customer has the link', MAY_RUN_AT_SCA, 'await-authorization'],
  ['the customer has authorised it', { state: 'authorized', accepted: true }, 'ask-outcome'],
  [
    'the customer authorises it by a call, and it takes fees',
    { ...WITH_FEES, authorises: 'by call' },
    'accept-fees',
  ],
  ['it takes fees that nobody can read', UNREAD_FEES, 'accept-fees'],
  [
    'it asks for more data first',
    { ...WITH_FEES, verification: { ...verification, nextStep: 'verify2' } },
    'verify-further',
  ],
  ['nobody knows', { state: 'unknown', mayExecuteWithoutUs: true }, 'ask-outcome'],
  ['it has ended', { state: 'ended', mayExecuteWithoutUs: true }, 'done'],
])('at a bank where the customer commits, if %s', (_what, changes, step) => {
  expect(nextOperationStep({ ...CREATED, ...CUSTOMERS, ...changes }, false)).toBe(step);
});

it('fees that the operator has seen with the order need no second confirmation', () => {
  const unconfirmed = { ...CREATED, ...WITH_FEES, accepted: false };
  expect(nextOperationStep(unconfirmed, false)).toBe('accept');
  expect(nextOperationStep({ ...unconfirmed, accepted: true }, false)).toBe('authorize');
});

it('without the answer of the bank the operator is asked first', () => {
  expect(nextOperationStep({ ...CREATED, state: 'verified' }, false)).toBe('accept');
  const accepted: Changes = { state: 'verified', accepted: true, verification: null };
  expect(nextOperationStep({ ...CREATED, ...CUSTOMERS, ...accepted }, false)).toBe('authorize');
});

describe('the outcome', () => {
  const open = (changes: Changes, settles = false) => {
    const operation = { ...CREATED, ...PSD2S, ...changes };
    return [asksForOutcome(operation, settles), isOutcomeOpen(operation, settles)];
  };

  it.each(OPERATION_STATES.map((state) => [state]))(
    'of one that is %s and refused alone is asked for',
    (state) => {
      expect(open({ state, refusedUnconfirmed: true })).toEqual([true, true]);
    },
  );

  it.each<[string, Changes, boolean, boolean[]]>([
    ['is verified', { state: 'verified' }, true, [false, false]],
    ['is verified and may run', { state: 'verified', mayExecuteWithoutUs: true }, true, [false, true]],
    [
      'has failed, although it might have run',
      { state: 'failed', mayExecuteWithoutUs: true },
      false,
      [false, false],
    ],
    ['waits for the customer', { ...CUSTOMERS, ...MAY_RUN_AT_SCA }, true, [false, true]],
    ['is executed', { state: 'executed' }, false, [false, false]],
    ['is executed and settles', { state: 'executed' }, true, [true, true]],
    ['is executing', { state: 'executing' }, false, [true, true]],
  ])('of one that %s: %o', (_what, changes, settles, expected) => {
    expect(open(changes, settles)).toEqual(expected);
  });
});
