import { describe, expect, it } from 'vitest';
import { KINDS, kindOf } from '../../../src/store/flow/kinds.ts';
import { consentCategories, transferOrder, VERIFIED } from '../../domain/orders.ts';

const AT = '2026-11-22T12:00:00Z';
const intent = { requestId: 'q', digest: null };

describe('an operation', () => {
  const { operation } = KINDS;
  const order = { ...transferOrder(), operation: 'standingOrder', data: '{}' };
  const begun = operation.apply(
    undefined,
    operation.created('op-1', { transactionId: 't', commits: 'on execute', order: order }),
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
    expect(operation.mayMoveMoney({ type: 'execute-sent', ...intent }, begun)).toBe(true);
    expect(operation.mayMoveMoney(VERIFIED, begun)).toBe(false);
  });

  it('moves money with the initiation and with the link, if the customer commits', () => {
    const customers = { ...begun, commits: 'by the customer' } as const;
    const announced = [
      { type: 'verify-sent', ...intent } as const,
      { type: 'approach-sent', ...intent } as const,
      { type: 'sca-started' } as const,
    ];
    for (const event of announced) {
      expect(operation.mayMoveMoney(event, customers)).toBe(true);
      expect(operation.isPointOfNoReturn(event, customers)).toBe(true);
      expect(operation.mayMoveMoney(event, begun) || operation.isPointOfNoReturn(event, begun)).toBe(false);
    }
    expect(operation.isPointOfNoReturn({ type: 'accepted' }, customers)).toBe(false);
    expect(operation.revokesAnnouncement({ type: 'verify-not-begun' }, customers)).toBe(true);
    expect(operation.revokesAnnouncement(VERIFIED, customers)).toBe(true);
    expect(operation.revokesAnnouncement({ type: 'initiate-again' }, customers)).toBe(true);
    expect(operation.revokesAnnouncement(VERIFIED, begun)).toBe(false);
    expect(announced.map(operation.notBegun)).toEqual([{ type: 'verify-not-begun' }, null, null]);
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
    expect(consent.mayMoveMoney({ type: 'confirm-sent', ...intent }, begun)).toBe(false);
  });
});

describe('the call that cannot be undone', () => {
  const { transfer, operation, consent } = KINDS;
  const order = transferOrder();
  const generic = { ...order, operation: 'standingOrder', data: '{}' };

  it('of a transfer is execute', () => {
    const begun = transfer.apply(
      undefined,
      transfer.created('tr-1', { transactionId: 't', commits: 'on execute', order }),
      AT,
    );
    expect(transfer.isPointOfNoReturn({ type: 'execute-sent', ...intent }, begun)).toBe(true);
    expect(transfer.isPointOfNoReturn({ type: 'verify-sent', ...intent }, begun)).toBe(false);
    expect(transfer.revokesAnnouncement({ type: 'execute-not-begun' }, begun)).toBe(true);
    expect(transfer.revokesAnnouncement({ type: 'verify-not-begun' }, begun)).toBe(false);
  });

  it('of an operation is execute', () => {
    const created = operation.created('op-1', { transactionId: 't', commits: 'on execute', order: generic });
    const begun = operation.apply(undefined, created, AT);
    expect(operation.isPointOfNoReturn({ type: 'execute-sent', ...intent }, begun)).toBe(true);
    expect(operation.isPointOfNoReturn({ type: 'verify-sent', ...intent }, begun)).toBe(false);
    expect([operation.notBegun({ type: 'execute-sent', ...intent }), operation.unanswered]).toEqual([
      { type: 'execute-not-begun' },
      { type: 'execute-unanswered' },
    ]);
  });

  it('of a consent is confirm', () => {
    const begin = { transactionId: 't', customerId: '7', categories: consentCategories() };
    const begun = consent.apply(undefined, consent.created('co-1', begin), AT);
    expect(consent.isPointOfNoReturn({ type: 'confirm-sent', ...intent }, begun)).toBe(true);
    expect(consent.isPointOfNoReturn({ type: 'request-sent', ...intent }, begun)).toBe(false);
    expect(consent.revokesAnnouncement({ type: 'confirm-not-begun' }, begun)).toBe(true);
    expect(consent.revokesAnnouncement({ type: 'request-not-begun' }, begun)).toBe(false);
    expect([consent.notBegun({ type: 'confirm-sent', ...intent }), consent.unanswered]).toEqual([
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
