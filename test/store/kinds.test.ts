import { describe, expect, it } from 'vitest';
import { KINDS, kindOf } from '../../src/store/flow/kinds.ts';
import { consentCategories, transferOrder, VERIFIED } from '../domain/orders.ts';

const AT = '2026-11-22T12:00:00Z';
const intent = { requestId: 'q', digest: null };

describe('an operation', () => {
  const { operation } = KINDS;
  const order = { ...transferOrder(), operation: 'standingOrder', data: '{}' };
  const begun = operation.apply(
    undefined,
    operation.created('op-1', { transactionId: 't', order: order }),
    AT,
  );

  it('is at its end once it is cancelled, and not before', () => {
    expect(operation.isAtEnd(begun)).toBe(false);
    expect(operation.isAtEnd(operation.apply(begun, operation.cancelled, AT))).toBe(true);
  });

  it('is at its end once it is executed, because it has no settlement', () => {
    const executed = [
      { type: 'verify-sent', ...intent } as const,
      VERIFIED,
      { type: 'accepted' } as const,
      { type: 'sca-started' } as const,
      { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' } as const,
      { type: 'execute-sent', ...intent } as const,
      { type: 'executed', cro: null } as const,
    ].reduce((flow, event) => operation.apply(flow, event, AT), begun);
    expect(executed.state).toBe('executed');
    expect(operation.isAtEnd(executed)).toBe(true);
  });

  it('moves money with execute alone', () => {
    expect(operation.isExecution({ type: 'execute-sent', ...intent })).toBe(true);
    expect(operation.isExecution(VERIFIED)).toBe(false);
  });
});

describe('a consent', () => {
  const { consent } = KINDS;
  const begun = consent.apply(
    undefined,
    consent.created('co-1', { transactionId: 't', customerId: '7', categories: consentCategories() }),
    AT,
  );

  it('is at its end once it is cancelled, and not before', () => {
    expect(consent.isAtEnd(begun)).toBe(false);
    const ended = consent.apply(begun, consent.cancelled, AT);
    expect(ended.state).toBe('cancelled');
    expect(consent.isAtEnd(ended)).toBe(true);
  });

  it('moves no money', () => {
    expect(consent.isExecution({ type: 'confirm-sent', ...intent })).toBe(false);
  });
});

describe('the call that cannot be undone', () => {
  const { transfer, operation, consent } = KINDS;

  it.each([
    ['transfer', transfer],
    ['operation', operation],
  ] as const)('of a %s is execute', (_, kind) => {
    expect(kind.isLastCall({ type: 'execute-sent', ...intent })).toBe(true);
    expect(kind.isLastCall({ type: 'verify-sent', ...intent })).toBe(false);
    expect(kind.isNotBegun({ type: 'execute-not-begun' })).toBe(true);
    expect(kind.isNotBegun({ type: 'verify-not-begun' })).toBe(false);
    expect([kind.notBegun, kind.unanswered]).toEqual([
      { type: 'execute-not-begun' },
      { type: 'execute-unanswered' },
    ]);
  });

  it('of a consent is confirm', () => {
    expect(consent.isLastCall({ type: 'confirm-sent', ...intent })).toBe(true);
    expect(consent.isLastCall({ type: 'request-sent', ...intent })).toBe(false);
    expect(consent.isNotBegun({ type: 'confirm-not-begun' })).toBe(true);
    expect(consent.isNotBegun({ type: 'request-not-begun' })).toBe(false);
    expect([consent.notBegun, consent.unanswered]).toEqual([
      { type: 'confirm-not-begun' },
      { type: 'confirm-unanswered' },
    ]);
  });
});

it.each([
  ['tr-0mi7x7x8x00001', 'transfer'],
  ['op-0mi7x7x8x00001', 'operation'],
  ['co-0mi7x7x8x00001', 'consent'],
  ['0mi7x7x8x00001', undefined],
])('the id %s belongs to the kind %s', (flow, kind) => {
  expect(kindOf(flow)).toBe(kind);
});
