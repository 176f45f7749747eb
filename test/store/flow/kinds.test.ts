import { describe, expect, it } from 'vitest';
import { KINDS, type KnownKind, kindOf } from '../../../src/store/flow/kinds.ts';
import type { EventOf, FlowOf, Kind } from '../../../src/store/ports/flows.ts';
import { begunOperation, begunTransfer, consentCategories, VERIFIED } from '../../domain/orders.ts';

const AT = '2026-11-22T12:00:00Z';
const INTENT = { requestId: 'q', digest: null };
const { transfer, operation, consent } = KINDS;
const begunConsent = consent.apply(
  undefined,
  consent.created('co-1', { transactionId: 't', customerId: '7', categories: consentCategories() }),
  AT,
);
const byTheCustomer = begunOperation({ commits: 'by the customer' });

/** What an event of a flow means, in words. */
function meaning<K extends Kind>(kind: KnownKind<K>, flow: FlowOf<K>, event: EventOf<K>): string {
  const words = {
    'moves money': kind.mayMoveMoney(event, flow),
    'cannot be undone': kind.isPointOfNoReturn(event, flow),
    'revokes that': kind.revokesAnnouncement(event, flow),
  };
  expect(Object.values(words).every((each) => typeof each === 'boolean')).toBe(true);
  return Object.entries(words)
    .flatMap(([word, isTrue]) => (isTrue ? [word] : []))
    .join(', ');
}

describe('an event of a flow', () => {
  const moves = 'moves money, cannot be undone';
  it.each<[string, EventOf<'operation'>, string, string]>([
    ['execute', { type: 'execute-sent', ...INTENT }, moves, ''],
    ['that execute did not begin', { type: 'execute-not-begun' }, 'revokes that', ''],
    ['the initiation', { type: 'verify-sent', ...INTENT }, '', moves],
    ['the call for the link', { type: 'approach-sent', ...INTENT }, '', moves],
    ['the link', { type: 'sca-started' }, '', moves],
    ['the acceptance', { type: 'accepted' }, '', ''],
    ['that the initiation did not begin', { type: 'verify-not-begun' }, '', 'revokes that'],
    ['the answer to the initiation', VERIFIED, '', 'revokes that'],
    ['another initiation', { type: 'initiate-again' }, '', 'revokes that'],
    ['a transfer that joins a bulk', { type: 'bulk-joined', bulk: 'tr-2' }, '', moves],
    ['one that leaves it', { type: 'bulk-left' }, '', 'revokes that'],
  ])('%s', (_what, event, onExecute, byCustomer) => {
    expect(meaning(operation, begunOperation(), event)).toBe(onExecute);
    expect(meaning(operation, byTheCustomer, event)).toBe(byCustomer);
    if (event.type !== 'created' && event.type !== 'further-data')
      expect(meaning(transfer, begunTransfer(), event)).toBe(onExecute);
  });

  it.each<[EventOf<'consent'>, string]>([
    [{ type: 'confirm-sent', ...INTENT }, 'cannot be undone'],
    [{ type: 'request-sent', ...INTENT }, ''],
    [{ type: 'confirm-not-begun' }, 'revokes that'],
    [{ type: 'request-not-begun' }, ''],
  ])('of a consent: $type', (event, expected) => {
    expect(meaning(consent, begunConsent, event)).toBe(expected);
  });
});

it('each kind says whose flow it is, and which resource it has', () => {
  const verified = operation.apply(begunOperation(), { type: 'verify-sent', ...INTENT }, AT);
  const requested = consent.apply(begunConsent, { type: 'requested', resourceId: 'c1', outcomes: [] }, AT);
  expect([transfer.customerIdOf(begunTransfer()), operation.customerIdOf(verified)]).toEqual([
    ...['1234567', '1234567'],
  ]);
  expect([consent.customerIdOf(begunConsent), consent.customerIdOf(requested)]).toEqual(['7', '7']);
  const flows = [verified, operation.apply(verified, VERIFIED, AT)];
  expect(flows.map(operation.resourceIdOf)).toEqual([null, 'r1']);
  expect([begunConsent, requested].map(consent.resourceIdOf)).toEqual([null, 'c1']);
});

it('an announcement that did not begin, or was not answered, has its event', () => {
  expect([
    operation.notBegun({ type: 'execute-sent', ...INTENT }),
    operation.notBegun({ type: 'verify-sent', ...INTENT }),
    operation.notBegun({ type: 'approach-sent', ...INTENT }),
    operation.notBegun({ type: 'sca-started' }),
    consent.notBegun({ type: 'confirm-sent', ...INTENT }),
  ]).toEqual([
    { type: 'execute-not-begun' },
    { type: 'verify-not-begun' },
    ...[null, null],
    { type: 'confirm-not-begun' },
  ]);
  expect([operation.unanswered, consent.unanswered]).toEqual([
    { type: 'execute-unanswered' },
    { type: 'confirm-unanswered' },
  ]);
});

it('a flow is at its end once it is cancelled, and an operation once it is executed: it has no settlement', () => {
  const executed = [
    { type: 'verify-sent', ...INTENT } as const,
    VERIFIED,
    { type: 'accepted' } as const,
    { type: 'sca-started' } as const,
    { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' } as const,
    { type: 'execute-sent', ...INTENT } as const,
    { type: 'executed', cro: null } as const,
  ].reduce((flow, event) => operation.apply(flow, event, AT), begunOperation());
  expect(executed.state).toBe('executed');
  const cancelled = consent.apply(begunConsent, consent.cancelled, AT);
  expect(cancelled.state).toBe('cancelled');
  const operations = [begunOperation(), operation.apply(begunOperation(), operation.cancelled, AT), executed];
  expect(operations.map(operation.isAtEnd)).toEqual([false, true, true]);
  expect([begunConsent, cancelled].map(consent.isAtEnd)).toEqual([false, true]);
});

it.each([
  ['tr-0mi7x7x8x00001', 'transfer'],
  ['op-0mi7x7x8x00001', 'operation'],
  ['co-0mi7x7x8x00001', 'consent'],
  ['0mi7x7x8x00001', undefined],
])('the id %s belongs to the kind %s', (flow, kind) => {
  expect(kindOf(flow)).toBe(kind);
});
