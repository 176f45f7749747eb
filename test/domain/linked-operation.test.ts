import { describe, expect, it } from 'vitest';
import {
  applyOperationEvent,
  type Cost,
  type GenericOrder,
  hasFees,
  type Operation,
  type OperationEvent,
  type StepEvent,
} from '../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../src/domain/order/payment-amount.ts';
import { transferOrder, VERIFIED } from './orders.ts';

// The states of a payment at a bank where the customer commits: exactly what each event changes.

const CREATED_AT = '2026-11-24T10:00:00Z';
const AT = '2026-11-24T11:00:00Z';
const LATER = '2026-11-24T12:00:00Z';

type BankLinks = NonNullable<Operation<GenericOrder>['links']>;
type Initiation = NonNullable<Operation<GenericOrder>['initiation']>;
const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'E', body: '{}' },
  ...{ returnAddress: 'http://127.0.0.1/', returnState: 's', repeatMinutes: null, needsLink: true },
  executesWithoutSca: 'never',
};
const { customerId, from } = transferOrder();
const order: GenericOrder = { customerId, from, operation: 'bulk-payments', data: '{}' };
const created = (changes: Partial<Initiation> = {}): OperationEvent<GenericOrder> => ({
  ...{ type: 'created', flow: 'op-1', transactionId: 't1', commits: 'by the customer', order },
  initiation: { ...INITIATION, ...changes },
});
const sent = (requestId: string): StepEvent => ({ type: 'verify-sent', requestId, digest: null });
const approach: StepEvent = { type: 'approach-sent', requestId: 'a1', digest: null };
const REDIRECT = { approach: 'redirect', redirect: 'https://bank.example/sca' } as const;
const LOGIN = { approach: 'redirect', oauth: 'https://oauth.bank.example' } as const;
const joined: StepEvent = { type: 'bulk-joined', bulk: 'op-9' };

const apply = (now: Operation<GenericOrder> | undefined, event: OperationEvent<GenericOrder>, at = AT) =>
  applyOperationEvent('operation', now, event, at);
const after = (first: OperationEvent<GenericOrder>, ...events: StepEvent[]) =>
  events.reduce<Operation<GenericOrder>>(
    (now, event) => apply(now, event),
    apply(undefined, first, CREATED_AT),
  );
const having = (...events: StepEvent[]) => after(created(), ...events);

const BEGUN = { id: null, psuId: null, scaStatus: null, at: LATER };
const EARLIER = { ...BEGUN, at: AT };
const { type: _, ...verification } = VERIFIED;
const NOTHING_SENT = { mayExecuteWithoutUs: false, executeRequestId: null, initiatedAt: null } as const;
const POSSIBLE = created({ executesWithoutSca: 'possible' });

const SENT = having(sent('q1'));
const TWICE = having(sent('q1'), sent('q1'));
const TAKEN = having(sent('q1'), VERIFIED);
const UNKNOWN = having(sent('q1'), { type: 'execute-unanswered' });
const GIVEN = having(sent('q1'), VERIFIED, { type: 'sca-started' });
const LINKED = having(sent('q1'), { ...VERIFIED, links: REDIRECT });
const RETURNED = having(sent('q1'), { ...VERIFIED, links: REDIRECT }, { type: 'sca-returned' });
const FOR_A: StepEvent = { ...VERIFIED, links: { ...REDIRECT, id: 'a' } };
const OF_B = { ...LOGIN, id: 'b' };
const given = (links: BankLinks) => ({ linkIsOut: true, givenLinks: [{ links }] });
const linked = (links: BankLinks) => ({ type: 'sca-started' as const, links });
const linkOfB = (psuId: string): StepEvent => ({ ...linked({ ...REDIRECT, id: 'b' }), psuId });
const STARTABLE: StepEvent = { ...VERIFIED, links: { approach: null, start: '/start' } };
const BEGUN_FOR_BEN = having(sent('q1'), STARTABLE, linkOfB('ben'));
const MAY_RUN = after(POSSIBLE, sent('q1'));
const IN_BASKET = having(sent('q1'), VERIFIED, joined, { type: 'sca-started' });
const A_EARLIER = { ...EARLIER, id: 'a' };
const NOT_BEGUN: StepEvent = { type: 'verify-not-begun' };
const LEFT: StepEvent = { type: 'bulk-left' };
const CANCEL: StepEvent = { type: 'cancel-sent', requestId: 'c', digest: null };
const AUTHORISED: StepEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' };
const NOT_AUTHORISED: StepEvent = { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RJCT' };
const PENDING: StepEvent = { type: 'authorization', status: 'PENDING', bankStatus: 'PATC' };
const AUTHORISING = { state: 'authorizing', mayExecuteWithoutUs: true } as const;
const NEW_TURN = { ...AUTHORISING, returned: false } as const;
const RUNS_ALONE = { mayExecuteWithoutUs: true };
const NEVER_LEFT = { ...NOTHING_SENT, state: 'created', reached: false } as const;
const HAS_IT = { ...NOTHING_SENT, state: 'verified', verification } as const;
const EXECUTING = { state: 'executing', reached: true, mayExecuteWithoutUs: true } as const;
const FIRST_TRY = { executeRequestId: 'q1', initiatedAt: LATER, isRepeated: false };
const AGAIN = { ...NOTHING_SENT, state: 'created', isRepeated: false, isBegunAgain: true } as const;
const LINKED_FEES: StepEvent = {
  ...{ ...VERIFIED, links: REDIRECT, messages: ['Fees'] },
  bank: { transactionStatus: 'RCVD', scaStatus: null },
};
const HAS_FEES = {
  ...{ ...HAS_IT, isRepeated: false, links: REDIRECT, authorisations: [BEGUN] },
  ...{ verification: { ...verification, messages: ['Fees'] }, transactionStatus: 'RCVD' },
};
const SPOKEN: StepEvent = {
  ...AUTHORISED,
  bank: { transactionStatus: 'ACTC', scaStatus: null, messages: ['Call your branch'] },
};
const SAID_SPOKEN = {
  committedAt: LATER,
  ...{ authorizationStatus: 'ACTC', transactionStatus: 'ACTC' },
  verification: { ...verification, messages: ['Call your branch'] },
};
const OF_ANNA = having(sent('q1'), FOR_A);
const ASKED = having(sent('q1'), FOR_A, approach);
const MAY_RUN_IN_BASKET = after(POSSIBLE, sent('q1'), VERIFIED, joined);
const ONE_BEGUN = { authorisations: [BEGUN] };
const TWO_BEGUN = [EARLIER, BEGUN];
const FOR_BEN: StepEvent = { type: 'sca-started', links: OF_B, psuId: 'ben' };
const BENS = {
  ...{ ...AUTHORISING, links: OF_B },
  authorisations: [A_EARLIER, { ...BEGUN, id: 'b', psuId: 'ben' }],
};
const STILL_BENS = { authorisations: [{ ...EARLIER, id: 'b', psuId: 'ben' }] };
const DONE: StepEvent = { ...PENDING, bank: { transactionStatus: 'PATC', scaStatus: 'finalised' } };
const A_IS_DONE = {
  ...({ state: 'authorizing', authorizationStatus: 'PATC' } as const),
  ...{ transactionStatus: 'PATC', scaStatus: 'finalised' },
  authorisations: [{ ...A_EARLIER, scaStatus: 'finalised' }, EARLIER],
};
const WHY = { description: 'Too late' };
const REJECTED_WHY = {
  ...{ state: 'rejected' as const, authorizationStatus: 'RJCT' },
  executionStatusDescription: 'Too late',
};
const REFUSES_TO_BEGIN: StepEvent = { type: 'approach-refused' };
const UNSAID = { type: 'execute-unanswered' } as const;
const IS_DUPLICATE = { state: 'unknown', isDuplicate: true } as const;
const IS_PAID_BY_LINK = { state: 'unknown', isPaidByLink: true } as const;
const SENT_TWICE_OVER = having(sent('q1'), { ...UNSAID, isDuplicate: true, isPaidByLink: true });
const RUN_AFTER_ALL = { state: 'executed', isDuplicate: false, isPaidByLink: false } as const;
const { verification: _told, ...SAID_WITHOUT } = SAID_SPOKEN;
const TELLS: StepEvent = { type: 'cancel-told', messages: ['Wait a day'] };
const TOLD = { ...verification, messages: ['Wait a day'] };
const FIRST_OF_CANCEL: StepEvent = { type: 'cancel-sca-started', id: 'b', psuId: 'ben', links: OF_B };
const CANCELLING = having(sent('q1'), VERIFIED, { type: 'sca-started' }, FIRST_OF_CANCEL);
const OTHER_OF_CANCEL: StepEvent = { type: 'cancel-sca-started', id: 'c', psuId: 'cleo' };
const OF_CANCEL = { ...BEGUN, id: 'b', psuId: 'ben' };
const BENS_CANCEL = { cancellation: [OF_CANCEL], cancellationLinks: OF_B };
const TWO_CANCEL = {
  cancellation: [
    { ...OF_CANCEL, at: AT },
    { ...BEGUN, id: 'c', psuId: 'cleo' },
  ],
  cancellationLinks: null,
};
const CANCEL_FAILED = { cancellation: [{ ...OF_CANCEL, at: AT, scaStatus: 'failed' }] };
const JOINED = { reached: true, mayExecuteWithoutUs: true, bulk: 'op-9' };
const ALONE = { mayExecuteWithoutUs: false, bulk: null };

it.each<[string, Operation<GenericOrder>, StepEvent, Partial<Operation<GenericOrder>>]>([
  ['the initiation is announced', having(), sent('q1'), { ...EXECUTING, ...FIRST_TRY }],
  ['it is announced again: its time goes on', SENT, sent('q1'), { isRepeated: true }],
  ['another is announced: its time begins', SENT, sent('q2'), { executeRequestId: 'q2', initiatedAt: LATER }],
  ['it never left', SENT, NOT_BEGUN, NEVER_LEFT],
  ['its repetition never left: the first attempt may have', TWICE, NOT_BEGUN, {}],
  ['it never left, though psd2 did not know it', UNKNOWN, NOT_BEGUN, NEVER_LEFT],
  ['nothing says what became of it', SENT, { type: 'execute-unanswered' }, { state: 'unknown' }],
  ['the operator confirms it', TAKEN, { type: 'accepted' }, { accepted: true }],
  ['the customer gets the link again', GIVEN, { type: 'sca-again' }, {}],
  [
    'the customer has authorised it',
    GIVEN,
    AUTHORISED,
    { state: 'authorized', authorizationStatus: 'ACTC', committedAt: LATER },
  ],
  ['the customer has not', GIVEN, NOT_AUTHORISED, { state: 'rejected', authorizationStatus: 'RJCT' }],
  ['the customer has not, and the bank says why', GIVEN, { ...NOT_AUTHORISED, ...WHY }, REJECTED_WHY],
  ['it is executed', GIVEN, { type: 'executed', cro: null }, { state: 'executed' }],
  ['psd2 begins again', TWICE, { type: 'initiate-again' }, AGAIN],
  ['the bank has it, and nobody has the link', TWICE, LINKED_FEES, HAS_FEES],
  ['the bank has it, without links', SENT, VERIFIED, HAS_IT],
  ['the bank says something beside its status', GIVEN, SPOKEN, { ...SAID_SPOKEN, state: 'authorized' }],
  ['the bank has it, and may run it without SCA', MAY_RUN, VERIFIED, { ...HAS_IT, ...RUNS_ALONE }],
  ['the operator takes the fees', TAKEN, { type: 'fees-accepted' }, { feesAccepted: true }],
  ['an authorisation is begun', LINKED, approach, { ...RUNS_ALONE, authorisations: TWO_BEGUN }],
  [
    'the customer gets the link',
    TAKEN,
    linked(REDIRECT),
    { ...AUTHORISING, links: REDIRECT, ...ONE_BEGUN, ...given(REDIRECT), linkIsOut: true },
  ],
  [
    'the customer gets another link',
    RETURNED,
    linked(LOGIN),
    { ...NEW_TURN, links: LOGIN, ...given(LOGIN), linkIsOut: true },
  ],
  [
    'another person is named, and the bank has begun one for them',
    OF_ANNA,
    FOR_BEN,
    { ...BENS, ...given(OF_B), linkIsOut: true },
  ],
  ['the links of another person are taken again, for Anna', BEGUN_FOR_BEN, linkOfB('anna'), STILL_BENS],
  ['the bank says how far the authorisation is that psd2 asks for', ASKED, DONE, A_IS_DONE],
  [
    'the customer gets the same link',
    RETURNED,
    { type: 'sca-started' },
    { ...NEW_TURN, ...given(REDIRECT), linkIsOut: false },
  ],
  ['the browser comes back', TAKEN, { type: 'sca-returned' }, { returned: true }],
  ['the code is announced', TAKEN, { type: 'code-sent', requestId: 'c', digest: null }, {}],
  ['its cancellation is announced: it may still run', GIVEN, CANCEL, {}],
  ['it joins a bulk payment', having(), joined, JOINED],
  ['it leaves the bulk payment', having(joined), LEFT, { reached: false, ...ALONE }],
  ['it leaves the basket', IN_BASKET, LEFT, { state: 'verified', ...ALONE }],
  ['it leaves the basket, and may run without SCA', MAY_RUN_IN_BASKET, LEFT, { bulk: null }],
  [
    'the bank refuses to begin another authorisation',
    ASKED,
    REFUSES_TO_BEGIN,
    { authorisations: [A_EARLIER] },
  ],
  ['the bank refuses to begin one that has begun', OF_ANNA, REFUSES_TO_BEGIN, {}],
  ['the bank says that it is a duplicate', SENT, { ...UNSAID, isDuplicate: true }, IS_DUPLICATE],
  ['the customer has paid it with the link', SENT, { ...UNSAID, isPaidByLink: true }, IS_PAID_BY_LINK],
  ['nothing says what became of it any more', SENT_TWICE_OVER, UNSAID, {}],
  [
    'it is executed, whatever it was taken for',
    SENT_TWICE_OVER,
    { type: 'executed', cro: null },
    RUN_AFTER_ALL,
  ],
  ['an answer has other links', OF_ANNA, { type: 'links-left', links: OF_B }, { links: OF_B }],
  ['its basket is deleted', IN_BASKET, { type: 'basket-deleted' }, { state: 'verified', bulk: null }],
  [
    'the bank says something, and psd2 has nothing of it',
    SENT,
    SPOKEN,
    { ...SAID_WITHOUT, state: 'authorized' },
  ],
  ['its cancellation is taken', GIVEN, { type: 'cancel-taken' }, { isCancellationTaken: true }],
  ['the bank says something to its cancellation', GIVEN, TELLS, { verification: TOLD }],
  ['the bank says that once more', having(sent('q1'), VERIFIED, TELLS), TELLS, {}],
  ['the bank says something to its cancellation, and psd2 has nothing of it', SENT, TELLS, {}],
  ['its cancellation begins', GIVEN, { type: 'cancel-begun' }, { cancellation: [] }],
  ['its cancellation begins again', CANCELLING, { type: 'cancel-begun' }, {}],
  ['the customer gets the link of its cancellation', GIVEN, FIRST_OF_CANCEL, BENS_CANCEL],
  ['another person does', CANCELLING, OTHER_OF_CANCEL, TWO_CANCEL],
  [
    'the bank says how far that is',
    CANCELLING,
    { type: 'cancel-noted', id: 'b', scaStatus: 'failed' },
    CANCEL_FAILED,
  ],
])('%s: exactly this changes', (_what, before, event, changes) => {
  expect(apply(before, event, LATER)).toStrictEqual({ ...before, ...changes, updatedAt: LATER });
});

it.each<[string, BankLinks, unknown[]]>([
  ['the customer logs in', LOGIN, [BEGUN]],
  ['it gives a login and a link', { ...LOGIN, ...REDIRECT }, [BEGUN]],
  ['it has begun no authorisation', { approach: null, start: '/start' }, []],
])('the bank has it, and %s: exactly this changes', (_what, links, authorisations) => {
  const before = having(sent('q1'));
  expect(apply(before, { ...VERIFIED, links }, LATER)).toStrictEqual({
    ...{ ...before, ...NOTHING_SENT, state: 'verified', verification, links, authorisations },
    updatedAt: LATER,
  });
});

describe('the bank’s own words', () => {
  const bank = { transactionStatus: 'RCVD', scaStatus: 'received' };
  const before = having(sent('q1'), { ...VERIFIED, bank });
  it.each([
    ['ACTC', 'finalised', 'ACTC', 'finalised'],
    ['ACTC', null, 'ACTC', 'received'],
    [null, 'failed', 'RCVD', 'failed'],
  ])('%s and %s are kept beside those of before', (transactionStatus, scaStatus, ...expected) => {
    const now = apply(before, { ...PENDING, bank: { transactionStatus, scaStatus } });
    expect([now.transactionStatus, now.scaStatus]).toEqual(expected);
  });

  it('none leaves those of before', () => {
    expect(apply(before, PENDING)).toMatchObject({ transactionStatus: 'RCVD', scaStatus: 'received' });
  });
});

it('at a bank that has execute, none of this makes it run', () => {
  const first = { ...created(), commits: 'on execute' } as const;
  const all = after(first, sent('q1'), { ...VERIFIED, links: REDIRECT }, approach, { type: 'sca-started' });
  const { mayExecuteWithoutUs, executeRequestId, initiatedAt, authorisations } = all;
  expect({ mayExecuteWithoutUs, executeRequestId, initiatedAt, authorisations }).toEqual({
    ...{ ...NOTHING_SENT, authorisations: [EARLIER, EARLIER] },
  });
});

it('an initiation that the journal did not keep lets nothing run without SCA', () => {
  const { initiation: _initiation, ...without } = { initiation: null, ...created() };
  expect(after(without, sent('q1'), VERIFIED).mayExecuteWithoutUs).toBe(false);
});

const EXECUTED: StepEvent = { type: 'executed', cro: null, isFinal: true };
const SETTLED: StepEvent = { type: 'settlement', status: 'OK', description: null };
it.each<[string, StepEvent[], StepEvent, string]>([
  ['settled: an answer says executed', [EXECUTED, SETTLED], { type: 'executed', cro: null }, 'settled'],
  ['settled: an answer says pending', [SETTLED], { ...SETTLED, status: 'PENDING' }, 'settled'],
  ['executed: an answer says ordered', [EXECUTED], { type: 'ordered' }, 'executed'],
  ['ordered: an answer says authorised', [{ type: 'ordered' }], AUTHORISED, 'ordered'],
  ['ordered: the bank executes it', [{ type: 'ordered' }], EXECUTED, 'executed'],
  ['executed: the bank rejects it', [EXECUTED], { ...SETTLED, status: 'KO' }, 'failed'],
])('a state never goes back: it is %s', (_what, before, event, state) => {
  const now = having(sent('q1'), VERIFIED, { type: 'sca-started' }, ...before, event);
  expect([now.state, now.isFinal]).toEqual([state, before.includes(EXECUTED) || event === EXECUTED]);
});

const NO_LINK = created({ needsLink: false });
const DECOUPLED: BankLinks = { approach: 'decoupled', id: 'a' };
it.each<[string, OperationEvent<GenericOrder>, StepEvent[], unknown[]]>([
  ['nobody has one before the customer is sent', created(), [{ ...VERIFIED, links: REDIRECT }], []],
  [
    'a link that is given twice is one',
    created(),
    [VERIFIED, linked(OF_B), linked({ ...LOGIN, id: 'b' })],
    [OF_B],
  ],
  ['another person has another one', created(), [VERIFIED, linked(REDIRECT), linked(OF_B)], [REDIRECT, OF_B]],
  ['the phone is asked with the initiation', created(), [{ ...VERIFIED, links: DECOUPLED }], [DECOUPLED]],
  ['a lost answer may have asked the phone', NO_LINK, [VERIFIED, approach], [null]],
  ['its answer came', NO_LINK, [VERIFIED, approach, linked(DECOUPLED)], [DECOUPLED]],
  ['where a link is needed, a lost answer gave none', created(), [VERIFIED, approach], []],
  ['who has nothing to do has none', created(), [VERIFIED, linked({ approach: null, isDone: true })], []],
  ['in a bulk payment it is that of all', created(), [joined, linked(REDIRECT)], []],
  ['psd2 begins again', created(), [VERIFIED, linked(REDIRECT), { type: 'initiate-again' }], []],
  [
    'that of a deleted basket',
    created(),
    [VERIFIED, joined, { type: 'basket-deleted', linkUntil: LATER }],
    [null],
  ],
  ['a deleted basket without one', created(), [VERIFIED, joined, { type: 'basket-deleted' }], []],
])('the links that customers have: %s', (_what, first, events, links) => {
  expect(after(first, sent('q1'), ...events).givenLinks.map((one) => one.links)).toEqual(links);
});

describe('what it costs', () => {
  const money = (text: string, currency = 'EUR') => ({ amount: parsePaymentAmount(text), currency });
  const NONE: Cost = { totalAmount: null, commissions: null };
  const FEE: Cost = { ...NONE, commissions: money('1.20') };
  const MORE: Cost = { ...NONE, commissions: money('1.30') };
  const ABROAD: Cost = { ...NONE, commissions: money('1.20', 'USD') };
  const UNREAD: Cost = { ...NONE, unreadFees: '1 point' };
  const TOTAL: Cost = { ...NONE, totalAmount: money('13.70') };

  it.each<[string, earlier: Cost, told: Cost, after: Cost, stays: boolean]>([
    ['nothing, as before', NONE, NONE, NONE, true],
    ['nothing, after fees', FEE, NONE, FEE, true],
    ['nothing, after fees that nobody can read', UNREAD, NONE, UNREAD, true],
    ['fees for the first time', NONE, FEE, FEE, false],
    ['the same fees', FEE, FEE, FEE, true],
    ['other fees', FEE, MORE, MORE, false],
    ['fees of another currency', FEE, ABROAD, ABROAD, false],
    ['fees that it had not readable before', UNREAD, FEE, FEE, false],
    ['fees that nobody can read, for the first time', NONE, UNREAD, UNREAD, false],
    ['fees that nobody can read, after others', FEE, UNREAD, { ...FEE, unreadFees: '1 point' }, false],
    ['the same fees that nobody can read', UNREAD, UNREAD, UNREAD, true],
    [
      'other fees that nobody can read',
      UNREAD,
      { ...NONE, unreadFees: 'a list' },
      { ...NONE, unreadFees: 'a list' },
      false,
    ],
    ['a total, after fees', FEE, TOTAL, { ...TOTAL, commissions: money('1.20') }, true],
    ['fees, after a total', TOTAL, FEE, { ...TOTAL, commissions: money('1.20') }, false],
  ])('the bank tells %s', (_what, earlier, told, after, stays) => {
    const before = having(sent('q1'), { ...VERIFIED, ...earlier }, { type: 'fees-accepted' });
    const bank = { transactionStatus: null, scaStatus: null, cost: told };
    for (const event of [
      { type: 'cost-told', ...told },
      { ...PENDING, bank },
    ] as const) {
      const now = apply(before, event);
      expect(now.verification).toStrictEqual({ ...verification, ...after });
      expect(now.feesAccepted).toBe(stays);
      // Nobody accepts them because they are the same.
      expect(apply({ ...before, feesAccepted: false }, event).feesAccepted).toBe(false);
    }
    expect(hasFees(before.verification)).toBe(earlier !== NONE && earlier !== TOTAL);
  });

  it('counts only of a payment that the bank has', () => {
    expect(apply(SENT, { type: 'cost-told', ...FEE })).toStrictEqual(SENT);
    expect(hasFees(null)).toBe(false);
  });
});
