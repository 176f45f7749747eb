import { describe, expect, it } from 'vitest';
import {
  entryState,
  isOver,
  resourceStatus,
  settlementOf,
} from '../../../../src/bank/interfaces/nextgenpsd2/payment-status.ts';

// What each transaction status of the standard means, for a payment of today, one for a later day, a standing order, and a bulk.

const STANDING = { frequency: 'Monthly', end: null, day: null } as const;
const KINDS = {
  today: { futureDated: false },
  later: { futureDated: true },
  standing: { futureDated: false, standing: STANDING },
  bulk: { futureDated: false, isBulk: true },
  'later bulk': { futureDated: true, isBulk: true },
} as const;

type Became = 'ordered' | 'executed' | 'cancelled' | 'failed' | null;

const NOTHING: Became[] = [null, null, null, null, null];
const CHECKED: Became[] = [null, 'ordered', 'ordered', null, 'ordered'];
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

describe('the status of a payment', () => {
  it.each(STATUSES)('%j', (statuses, authorization, awaitsSca, became) => {
    for (const status of statuses)
      for (const [at, kind] of Object.values(KINDS).entries())
        expect(resourceStatus(status, kind)).toEqual({
          authorizationStatus: status,
          executionStatus: null,
          authorization: { type: 'authorization', status: authorization, bankStatus: status },
          became: became[at],
          ...(awaitsSca && { awaitsSca: true }),
        });
  });

  it.each([
    ['today', 'PENDING', null],
    ['later', 'PENDING', null],
    ['standing', 'PENDING', null],
    ['bulk', 'AUTHORIZED', 'executed'],
    ['later bulk', 'AUTHORIZED', 'executed'],
  ] as const)('PART, of a payment of the kind %s', (kind, status, became) => {
    expect(resourceStatus('PART', KINDS[kind])).toEqual({
      authorizationStatus: 'PART',
      executionStatus: null,
      authorization: { type: 'authorization', status, bankStatus: 'PART' },
      became,
    });
  });

  it('leaves nothing to authorise once the bank has accepted, rejected or cancelled it', () => {
    const open = ['RCVD', 'PDNG', 'PATC', 'ACTC', 'ACCP', 'ACFC', 'SOMETHING', ''];
    const over = ['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP', 'PART', 'RJCT', 'CANC'];
    expect([...open, ...over].filter(isOver)).toEqual(over);
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
    expect(entryState(status ?? '')).toEqual({ transactionStatus: status, means });
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
    expect(settlementOf(status, final, isBulk)).toEqual(settled);
    if (!isBulk) expect(settlementOf(status, final)).toEqual(settled);
  });
});
