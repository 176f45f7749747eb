import { describe, expect, it } from 'vitest';
import { parseDate } from '../../src/domain/calendar.ts';
import { isPlainlyFailed } from '../../src/domain/flow-states.ts';
import { isOutcomeOpen } from '../../src/domain/next-step.ts';
import { nextFurtherData } from '../../src/domain/operation.ts';
import {
  applyTransferEvent,
  isForLater,
  isMoneyTransfer,
  isOverdue,
  mayBeRejected,
  needsSettlement,
  type Transfer,
  type TransferEvent,
} from '../../src/domain/transfer.ts';
import { begunTransfer, nextTransferStep, transferOrder, VERIFIED } from './orders.ts';

const intent = { requestId: 'request-1', digest: null };
const verified: TransferEvent = { ...VERIFIED, bankName: 'BANCA ESEMPIO' };

/** Returns the transfer after these events, which come one second apart. */
function transferOf(events: TransferEvent[], order = transferOrder()): Transfer {
  const created: TransferEvent = {
    ...{ type: 'created', flow: 'tr-1', transactionId: 't1', commits: 'on execute', order },
  };
  return events.reduce(
    (transfer, event, second) => applyTransferEvent(transfer, event, `2026-11-21T10:00:0${second + 1}.000Z`),
    applyTransferEvent(undefined, created, '2026-11-21T10:00:00.000Z'),
  );
}

/** The shortest way to each state. */
const AUTHORIZED: TransferEvent[] = [
  verified,
  { type: 'accepted' },
  { type: 'sca-started' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
];
const EXECUTING: TransferEvent[] = [...AUTHORIZED, { type: 'execute-sent', ...intent }];
const EXECUTED: TransferEvent[] = [...EXECUTING, { type: 'executed', cro: '0012345678' }];

it('a transfer begins with its order, unknown to the bank', () => {
  const { order, ...begun } = transferOf([]);
  expect(order).toEqual(transferOrder());
  expect(begun).toMatchInlineSnapshot(`
    { accepted: false, authorisations: [], authorises: "by call", authorizationStatus: null, bulk: null,
      cancellation: null, cancellationCredentials: [], cancellationLinks: null, certificate: null,
      commits: "on execute", committedAt: null, createdAt: "2026-11-21T10:00:00.000Z", credentials: [],
      cro: null, debtor: null, executeRequestId: null, executionStatus: null,
      executionStatusDescription: null, feesAccepted: false, flow: "tr-1", furtherData: [],
      furtherStepOpen: false, furtherSteps: 0, givenLinks: [], initiatedAt: null, initiatedAtBank: null,
      initiation: null, isBegunAgain: false, isCancellationTaken: false, isDuplicate: false,
      isFinal: false, isPaidByLink: false, isRepeated: false, kind: "transfer", linkIsOut: false,
      linkUntil: null, links: null, mayExecuteWithoutUs: false, payeeCheck: null, reached: false,
      reasons: [], refusedUnconfirmed: false, resolution: null, returned: false, scaStatus: null,
      state: "created", transactionId: "t1", transactionStatus: null,
      updatedAt: "2026-11-21T10:00:00.000Z", verification: null }
  `);
});

it('a transfer cannot begin with another event', () => {
  expect(() => applyTransferEvent(undefined, { type: 'accepted' }, 'now')).toThrow(
    'A flow cannot begin with accepted',
  );
});

it('further steps use the given data in order', () => {
  const money = { amount: transferOrder().amount, currency: 'EUR' };
  const wanted: TransferEvent = { ...verified, totalAmount: money, nextStep: 'verify2' };
  const further: TransferEvent = { ...verified, type: 'further-verified', nextStep: 'verify3' };
  const given = transferOf([wanted, { type: 'further-data', data: ['{"a":1}', '{"b":2}'] }]);
  expect(nextFurtherData(transferOf([wanted]))).toBeUndefined();
  expect(nextFurtherData(given)).toBe('{"a":1}');
  const once = applyTransferEvent(given, further, 'later');
  expect(nextFurtherData(once)).toBe('{"b":2}');
  expect(nextFurtherData(applyTransferEvent(once, further, 'later'))).toBeUndefined();
});

describe('the next step', () => {
  it.each([
    ['an instant transfer for today', { instant: true, futureDated: false }, true],
    ['an instant transfer for later', { instant: true, futureDated: true }, false],
    ['an SCT', { instant: false, futureDated: false }, false],
    ['an SCT for later', { instant: false, futureDated: true }, false],
  ])('after its execution, %s waits for settlement only if it should', (_, kind, settles) => {
    const order = transferOrder(kind);
    expect(needsSettlement(order)).toBe(settles);
    expect(nextTransferStep(transferOf(EXECUTED, order))).toBe(settles ? 'await-settlement' : 'done');
  });
});

describe('a transfer that a person resolves', () => {
  const resolved = (outcome: 'executed' | 'not-executed'): TransferEvent => ({
    ...{ type: 'resolved', outcome, by: 'ada@pisp-1', note: 'Case 4711' },
  });
  const UNKNOWN: TransferEvent[] = [...EXECUTING, { type: 'execute-unanswered' }];
  const PENDING: TransferEvent[] = [
    ...EXECUTED,
    { type: 'settlement', status: 'PENDING', description: null },
  ];

  it.each([
    ['an SCT', 'executing', 'executed', EXECUTING, { instant: false }, 'executed', false],
    ['an SCT', 'unknown', 'not-executed', UNKNOWN, { instant: false }, 'failed', true],
    ['an instant transfer', 'unknown', 'executed', UNKNOWN, {}, 'settled', false],
    ['an instant transfer', 'pending', 'not-executed', PENDING, {}, 'failed', true],
    ['one for a later day', 'unknown', 'executed', UNKNOWN, { futureDated: true }, 'executed', false],
  ] as const)(
    '%s that was %s and is resolved as %s is done, and frees its reference only if it was not executed',
    (_, __, outcome, events, order, state, isFree) => {
      const at = '2026-11-24T09:00:00.000Z';
      const before = transferOf([...events], transferOrder(order));
      expect(isOutcomeOpen(before, needsSettlement(before.order))).toBe(true);
      const ended = applyTransferEvent(before, resolved(outcome), at);
      expect(ended).toMatchObject({
        state,
        resolution: { outcome, by: 'ada@pisp-1', at, note: 'Case 4711' },
        cro: before.cro,
      });
      expect(nextTransferStep(ended)).toBe('done');
      expect(isOutcomeOpen(ended, needsSettlement(ended.order))).toBe(false);
      expect(isPlainlyFailed(ended)).toBe(isFree);
    },
  );

  it('a transfer that the bank only refused to execute can be resolved, because a refusal is about one delivery only', () => {
    const refused = transferOf([...EXECUTING, { type: 'execute-refused', description: 'no' }]);
    expect(refused).toMatchObject({ state: 'failed', refusedUnconfirmed: true });
    expect(isPlainlyFailed(refused)).toBe(false);
    expect(isOutcomeOpen(refused, false)).toBe(true);
    const said = { type: 'resolved', outcome: 'not-executed', by: 'ada@pisp-1', note: null } as const;
    const ended = applyTransferEvent(refused, said, '2026-11-24T09:00:00.000Z');
    expect(isPlainlyFailed(ended)).toBe(true);
    expect(isOutcomeOpen(ended, false)).toBe(false);
  });

  it.each([
    ['created', []],
    ['verified', [verified]],
    ['authorized', AUTHORIZED],
    ['not begun', [...EXECUTING, { type: 'execute-not-begun' } as const]],
    ['settled', [...EXECUTED, { type: 'settlement', status: 'OK', description: null } as const]],
    ['failed', [...EXECUTED, { type: 'settlement', status: 'KO', description: null } as const]],
  ])('a transfer that is %s cannot be resolved', (_, events) => {
    expect(isOutcomeOpen(transferOf(events), true)).toBe(false);
  });
});

it.each([
  ['moneyTransfer', true],
  ['MONEYTRANSFER', true],
  ['standingOrder', false],
])('whether %s is a bank transfer: %s', (name, is) => {
  expect(isMoneyTransfer(name)).toBe(is);
});

// The events are of a Saturday.
describe('what the bank has accepted', () => {
  const accepted = (order: Partial<Transfer['order']> = {}, ...events: TransferEvent[]): Transfer => ({
    ...transferOf([...EXECUTING, { type: 'executed', cro: null }, ...events], transferOrder(order)),
    commits: 'by the customer',
  });
  const LATER = { executionDate: parseDate('--date', '2026-12-03'), futureDated: true };
  const STANDING = { standing: { frequency: 'Monthly', end: null, day: null } } as const;
  const FINAL: TransferEvent = { type: 'executed', cro: null, isFinal: true };

  it.each<[string, Transfer, day: string, is: 'awaited' | 'overdue' | 'neither']>([
    ['is awaited on the same day', accepted(), '2026-11-21', 'awaited'],
    ['is awaited on a Sunday', accepted(), '2026-11-22', 'awaited'],
    ['is overdue on the next bank day', accepted(), '2026-11-23', 'overdue'],
    ['is awaited before its day', accepted(LATER), '2026-12-03', 'awaited'],
    ['is overdue after its day', accepted(LATER), '2026-12-04', 'overdue'],
    ['is nothing, if it is a standing order', accepted(STANDING), '2027-12-01', 'neither'],
    ['is nothing, if it is final', accepted({}, FINAL), '2026-11-23', 'neither'],
    ['is nothing at a bank that has execute', transferOf(EXECUTED), '2026-11-23', 'neither'],
  ])('%s', (_what, transfer, day, is) => {
    const today = parseDate('--date', day);
    expect([isOverdue(transfer, today), mayBeRejected(transfer, today)]).toEqual([
      is === 'overdue',
      is === 'awaited',
    ]);
  });
});

describe('a standing order that the bank ends', () => {
  const STANDING = { standing: { frequency: 'Monthly', end: null, day: null } } as const;
  /** Its first day is a Monday. */
  const order = transferOrder({
    ...{ ...STANDING, instant: false, type: null, futureDated: true },
    executionDate: parseDate('--date', '2026-11-23'),
  });
  const { standing: _standing, ...once } = order;
  const REJECTED: TransferEvent = { type: 'settlement', status: 'KO', description: null };
  const CANCELLED: TransferEvent = { type: 'cancelled' };
  const by = (state: Transfer['state'], changes: Partial<Transfer> = {}): Transfer => ({
    ...begunTransfer({ commits: 'by the customer', updatedAt: '2026-11-22T10:00:00.000Z' }),
    ...{ order, state, ...changes },
  });
  const SUNDAY = '2026-11-22T22:59:59.000Z';
  const MONDAY = '2026-11-22T23:00:00.000Z';
  const TUESDAY = '2026-11-24T10:00:00.000Z';
  const FINALISED = { scaStatus: 'finalised' };

  it.each<[string, Transfer, at: string, isEnded: boolean]>([
    ['was executed, on the day before its first day', by('executed'), SUNDAY, false],
    ['was executed, on its first day', by('executed'), MONDAY, true],
    ['was executed, on the day after', by('executed'), TUESDAY, true],
    ['was ordered, on its first day', by('ordered'), MONDAY, true],
    ['was authorised, and not asked for since', by('authorized'), TUESDAY, true],
    ['was authorised on the same day', by('authorized', { updatedAt: TUESDAY }), TUESDAY, false],
    [
      'was authorised on the day before',
      by('authorized', { updatedAt: '2026-11-23T22:59:59.000Z' }),
      TUESDAY,
      true,
    ],
    ['is unknown, and nobody is known to have authorised it', by('unknown'), TUESDAY, false],
    ['is unknown, and its authorisation was finalised', by('unknown', FINALISED), TUESDAY, true],
    ['is unknown, and needed no authorisation', by('unknown', { scaStatus: 'exempted' }), TUESDAY, true],
    ['is unknown, and its authorisation went on', by('unknown', { scaStatus: 'started' }), TUESDAY, false],
    ['is authorised by one of several', by('authorizing', FINALISED), TUESDAY, true],
    ['nobody has authorised', by('authorizing'), TUESDAY, false],
    ['nobody has the link of', by('verified', FINALISED), TUESDAY, false],
    ['has ended before', by('ended'), TUESDAY, true],
    ['has ended before, by a clock that went wrong', by('ended'), SUNDAY, true],
    ['runs with execute', by('executed', { commits: 'on execute' }), TUESDAY, false],
    [
      'a person has resolved',
      by('executed', { resolution: { outcome: 'executed', by: 'ada', note: null, at: SUNDAY } }),
      TUESDAY,
      false,
    ],
    ['is no standing order', { ...by('executed'), order: once }, TUESDAY, false],
  ])('may have paid if it %s', (_what, before, at, isEnded) => {
    expect([REJECTED, CANCELLED].map((event) => applyTransferEvent(before, event, at).state)).toEqual(
      isEnded ? ['ended', 'ended'] : ['failed', 'cancelled'],
    );
  });

  it.each<[string, TransferEvent, Transfer['state']]>([
    ['refused its execution', { type: 'execute-refused', description: 'no' }, 'failed'],
    ['did not say what became of it', { type: 'execute-unanswered' }, 'unknown'],
    ['executed it', { type: 'executed', cro: null }, 'executed'],
  ])('has not ended if the bank %s', (_what, event, state) => {
    expect(applyTransferEvent(by('executed'), event, TUESDAY).state).toBe(state);
  });
});

it.each<[string, Partial<Transfer>, boolean, isLast: boolean]>([
  ['one for a later day', {}, true, true],
  ['one for today', {}, false, false],
  ['one for a later day that is not executed', { state: 'authorized' }, true, false],
  ['one for a later day that the customer commits', { commits: 'by the customer' }, true, false],
  [
    'one for a later day that a person resolved',
    { resolution: { outcome: 'executed', by: 'ada', note: null, at: '2026-11-22T10:00:00.000Z' } },
    true,
    false,
  ],
])('the answer to execute is the last word of the bank: %s', (_, changes, futureDated, isLast) => {
  expect(isForLater(begunTransfer({ state: 'executed', ...changes }, { futureDated }))).toBe(isLast);
});
