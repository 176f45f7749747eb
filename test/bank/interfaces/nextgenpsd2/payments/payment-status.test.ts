import { describe, expect, it } from 'vitest';
import {
  entryState,
  isPastAuthorisation,
  resourceStatus,
  settlementOf,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/payment-status.ts';

// What each transaction status of the standard means, for an instant payment, one of today, an instant one for a later day, and bulks.

const FINAL = ['ACSC', 'ACCC'];
const KINDS = {
  instant: { instant: true, futureDated: false },
  today: { instant: false, futureDated: false },
  later: { instant: true, futureDated: true },
  bulk: { instant: false, futureDated: false, isBulk: true },
  'instant bulk': { instant: true, futureDated: false, isBulk: true },
} as const;

type Became = 'ordered' | 'executed' | 'cancelled' | 'failed' | null;

const NOTHING: Became[] = [null, null, null, null, null];
const CHECKED: Became[] = [null, 'ordered', 'ordered', 'ordered', null];
const all = (became: Became): Became[] => [became, became, became, became, became];

/** Statuses: whether they are authorised, whether they await SCA, and what has become of each kind, in the order of KINDS. */
const STATUSES: [string[], 'AUTHORIZED' | 'PENDING', boolean, Became[]][] = [
  [['RCVD', 'PDNG', 'PATC'], 'PENDING', true, NOTHING],
  [['ACTC', 'ACCP', 'ACFC'], 'AUTHORIZED', false, CHECKED],
  [['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP'], 'AUTHORIZED', false, all('executed')],
  [['CANC'], 'PENDING', false, all('cancelled')],
  [['RJCT'], 'PENDING', false, all('failed')],
  [['SOMETHING', ''], 'PENDING', false, NOTHING],
];

/** With these the bank keeps a payment, also if an authorisation of it has failed (docs/nextgenpsd2.md, "What stays open"). */
const STANDING = ['PATC', 'ACTC', 'ACCP', 'ACFC', 'ACWC', 'ACWP', 'ACSP'];

describe('the status of a payment', () => {
  it.each(STATUSES)('%j', (statuses, authorization, awaitsSca, became) => {
    for (const status of statuses)
      for (const [at, kind] of Object.values(KINDS).entries())
        expect(resourceStatus({ status }, kind, FINAL)).toEqual({
          authorizationStatus: status,
          executionStatus: null,
          authorization: { type: 'authorization', status: authorization, bankStatus: status },
          became: became[at],
          ...(awaitsSca && { awaitsSca: true }),
          ...(awaitsSca && (status === 'PATC' ? { isPartly: true } : { isUnauthorised: true })),
          ...(FINAL.includes(status) && { isFinal: true }),
          ...(STANDING.includes(status) && { isStanding: true }),
        });
  });

  it.each([
    ['instant', 'PENDING', null],
    ['today', 'PENDING', null],
    ['later', 'PENDING', null],
    ['bulk', 'AUTHORIZED', 'executed'],
    ['instant bulk', 'AUTHORIZED', 'executed'],
  ] as const)('PART, of a payment of the kind %s', (kind, status, became) => {
    expect(resourceStatus({ status: 'PART' }, KINDS[kind], FINAL)).toEqual({
      authorizationStatus: 'PART',
      executionStatus: null,
      authorization: { type: 'authorization', status, bankStatus: 'PART' },
      became,
      ...(became && { isFinal: true }),
    });
  });

  it('leaves nothing to authorise once the bank has accepted, rejected or cancelled it', () => {
    const open = ['RCVD', 'PDNG', 'PATC', 'ACTC', 'ACCP', 'ACFC', 'SOMETHING', ''];
    const over = ['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP', 'PART', 'RJCT', 'CANC'];
    expect([...open, ...over].filter(isPastAuthorisation)).toEqual(over);
  });
});

describe('the status of a transfer in a bulk payment', () => {
  it.each([
    ...['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP'].map((status) => [status, 'paid']),
    ...['RJCT', 'CANC'].map((status) => [status, 'refused']),
    ...['RCVD', 'PDNG', 'PATC', 'ACTC', 'ACCP', 'ACFC', 'PART', 'SOMETHING'].map((status) => [
      ...[status, 'open'],
    ]),
  ])('%s means %s', (status, means) => {
    expect(entryState({ status: status ?? '' }, FINAL)).toEqual({
      ...{ transactionStatus: status, means },
      ...(FINAL.includes(status ?? '') && { isFinal: true }),
    });
  });
});

describe('a rejection because of another payment like it', () => {
  const reasons = [{ level: 'payment' as const, code: 'AM05', proprietary: null, text: null }];
  it.each(['RJCT', 'CANC', 'ACSC'])('only RJCT is one: %s', (status) => {
    const is = status === 'RJCT';
    expect([
      resourceStatus({ status, reasons }, { instant: false, futureDated: false }, FINAL).became ===
        'duplicate',
      entryState({ status, reasons }, FINAL).means === 'duplicate',
      settlementOf({ status, reasons }, FINAL).isDuplicate ?? false,
    ]).toEqual([is, is, is]);
  });
});

describe('the settlement of an instant transfer', () => {
  it.each([
    ['ACSC', ['ACSC', 'ACCC'], false, 'OK'],
    ['ACSP', ['ACSC', 'ACCC'], false, 'PENDING'],
    ['ACSP', ['ACSP'], false, 'OK'],
    ['RJCT', ['ACSC'], false, 'KO'],
    ['CANC', ['ACSC'], false, 'KO'],
    ['RJCT', ['ACSC'], true, 'KO'],
    ['RCVD', ['ACSC'], false, 'PENDING'],
    ['PART', ['ACSC'], false, 'PENDING'],
    ['PART', ['ACSC'], true, 'OK'],
    ['RCVD', ['ACSC'], true, 'PENDING'],
  ] as const)('%s, where %j settle (bulk: %s), is %s', (status, final, isBulk, means) => {
    const settled = { executionStatus: status, executionStatusDescription: null, status: means };
    expect(settlementOf({ status }, final, isBulk)).toEqual(settled);
    if (!isBulk) expect(settlementOf({ status }, final)).toEqual(settled);
    const messages = ['Call the branch'];
    expect(settlementOf({ status, messages }, final, isBulk)).toEqual({ ...settled, messages });
  });
});

describe('what the bank says beside a status', () => {
  const reasons = [{ level: 'payment' as const, code: 'AC04', proprietary: null, text: 'Closed' }];
  const messages = ['Call the branch'];
  const cost = { totalAmount: null, commissions: null, unreadFees: '1 point' };
  const saidAt = '2026-11-24T10:00:00Z';
  const ALL = [...STATUSES.flatMap(([statuses]) => statuses), 'PART'];

  it.each(ALL.map((status) => [status, ['RJCT', 'CANC'].includes(status)] as const))(
    '%j is kept, and why it is so if it has ended: %s',
    (status, hasEnded) => {
      const kind = KINDS.today;
      const plain = resourceStatus({ status }, kind, FINAL);
      const said = { status, messages, cost, saidAt, reasons };
      const more = { messages, cost, saidAt, ...(hasEnded && { reasons }) };
      expect(resourceStatus(said, kind, FINAL)).toEqual({ ...plain, ...more });
      const nothing = { status, messages: [], reasons: [], cost: null };
      expect(resourceStatus(nothing, kind, FINAL)).toStrictEqual(plain);

      const settled = settlementOf({ status }, FINAL);
      const why = hasEnded ? { executionStatusDescription: 'AC04: Closed', reasons } : {};
      expect(settlementOf({ status, reasons }, FINAL)).toEqual({ ...settled, ...why });
      expect(settlementOf({ status, reasons: [], messages: [] }, FINAL)).toStrictEqual(settled);

      const entry = entryState({ status }, FINAL);
      expect(entryState({ status, reasons }, FINAL)).toEqual({ ...entry, reasons });
      expect(entryState({ status, reasons: [] }, FINAL)).toStrictEqual(entry);
    },
  );

  it.each(STANDING)('%s does not stand where it is final', (status) => {
    const { isStanding, isFinal } = resourceStatus({ status }, KINDS.today, [status]);
    expect([isStanding, isFinal]).toEqual([undefined, true]);
  });
});
