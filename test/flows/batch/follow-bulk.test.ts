import { describe, expect, it } from 'vitest';
import { standingOf } from '../../../src/domain/flow-states.ts';
import type { Transfer, TransferEvent } from '../../../src/domain/transfer.ts';
import { BULK_PAYMENT, followBulk, isPartial } from '../../../src/flows/batch/follow-bulk.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { transferOrder } from '../../domain/orders.ts';
import { createdTransfer } from '../stored-transfers.ts';
import { fold, GROUP, groupOf } from './groups.ts';

// What becomes of a transfer that is one of a bulk payment.

const bulk = (state: Partial<GenericOperation>) => groupOf('bulk-payments', state);
const joined = (...events: TransferEvent[]) => joinedAs({ instant: false }, ...events);

function joinedAs({ instant }: { instant: boolean }, ...events: TransferEvent[]): Transfer {
  const { initiation: _, ...created } = createdTransfer();
  const ordered = { ...created, order: transferOrder({ instant, reference: 'INV-1' }) };
  return fold(undefined, [ordered, { type: 'bulk-joined', bulk: GROUP }, ...events]);
}

it('a transfer that has joined a bulk payment may run, so its reference stays taken', () => {
  expect(standingOf(joined())).toBe('sent');
});

const REJECTED = { means: 'refused', transactionStatus: 'RJCT' } as const;
const PAID = { means: 'paid', transactionStatus: 'ACSC' } as const;
const OPEN = { means: 'open', transactionStatus: 'PDNG' } as const;
const DUPLICATE = { means: 'duplicate', transactionStatus: 'RJCT' } as const;
const PARTLY = { state: 'executed', transactionStatus: 'PART' } as const;
const FAILED = { state: 'failed', executionStatus: 'KO' } as const;
const LOCKED = [{ level: 'message' as const, code: null, proprietary: null, text: 'Locked' }];
it.each([
  ['executed', { state: 'executed', transactionStatus: 'ACSP' }, undefined, 'executed'],
  ['executed in part, and the bank says that this one is', PARTLY, PAID, 'executed'],
  ['executed in part, and the bank says that this one is not', PARTLY, REJECTED, 'failed'],
  ['executed in part, and the bank calls this one a duplicate', PARTLY, DUPLICATE, 'unknown'],
  ['executed in part, and nobody says of this one', PARTLY, undefined, 'unknown'],
  ['unknown', { state: 'unknown', mayExecuteWithoutUs: true }, undefined, 'unknown'],
  ['created, and its answer is lost', { state: 'created', mayExecuteWithoutUs: true }, undefined, 'unknown'],
  ['with the customer', { state: 'authorizing', mayExecuteWithoutUs: true }, undefined, 'authorizing'],
  ['rejected', { state: 'rejected' }, undefined, 'rejected'],
  ['expired', { state: 'expired' }, undefined, 'expired'],
  ['refused by the bank', { state: 'failed' }, undefined, 'failed'],
  ['failed at the bank', FAILED, undefined, 'failed'],
  ['failed at the bank, which calls this one paid', FAILED, PAID, 'unknown'],
  ['failed at the bank, which calls this one a duplicate', FAILED, DUPLICATE, 'unknown'],
  ['failed at the bank, which calls this one open', FAILED, OPEN, 'unknown'],
  ['failed at the bank, which calls this one rejected', FAILED, REJECTED, 'failed'],
  ['cancelled at the bank', { state: 'cancelled' }, undefined, 'cancelled'],
  ['cancelled before it reached the bank', { state: 'cancelled', reached: false }, undefined, 'cancelled'],
] as const)('a transfer whose bulk payment is %s is as it should be', (_what, state, entry, expected) => {
  const transfer = joined();
  const after = fold(transfer, followBulk(transfer, bulk(state), entry));
  expect(after.state).toBe(expected);
  // A second look adds nothing.
  expect(followBulk(after, bulk(state), entry)).toEqual([]);
});

it('after a refusal alone the references stay taken, until the bank or a person says what became of it', () => {
  const transfer = joined();
  const refused = bulk({ state: 'failed', refusedUnconfirmed: true, executionStatusDescription: 'no' });
  const after = fold(transfer, followBulk(transfer, refused, undefined));
  expect([after.state, standingOf(after)]).toEqual(['failed', 'sent']);
  expect(followBulk(after, refused, undefined)).toEqual([]);
  const paid = fold(after, followBulk(after, bulk({ state: 'executed' }), undefined));
  expect([paid.state, standingOf(paid)]).toEqual(['executed', 'done']);
});

it('only a bulk payment that never reached the bank frees its transfers for another one', () => {
  const transfer = joined();
  const left = fold(transfer, followBulk(transfer, bulk({ state: 'cancelled', reached: false }), undefined));
  expect([left.state, left.reached, left.bulk]).toEqual(['cancelled', false, null]);
  const ended = fold(transfer, followBulk(transfer, bulk({ state: 'cancelled' }), undefined));
  expect([ended.state, ended.reached]).toEqual(['cancelled', true]);
});

it.each([
  ['in part', PARTLY, REJECTED],
  ['as a whole', FAILED, undefined],
  ['as a whole, and this one', FAILED, REJECTED],
] as const)(
  'a transfer that the bank has called a duplicate stays one, rejected %s',
  (_what, state, entry) => {
    const transfer = joined();
    const reasons = [{ level: 'payment' as const, code: 'AM05', proprietary: null, text: null }];
    const after = fold(transfer, followBulk(transfer, bulk(PARTLY), { ...DUPLICATE, reasons }));
    expect([after.isDuplicate, after.executionStatusDescription]).toEqual([true, 'AM05']);
    expect(followBulk(after, bulk(state), entry)).toEqual([]);
  },
);

it('a transfer that keeps its reference, because a customer has the link of all, loses it when that link is over', () => {
  const until = '2026-12-01T10:00:00.000Z';
  const cancelled = bulk({ state: 'cancelled', linkUntil: until });
  const kept = fold(joined(), followBulk(joined(), cancelled, undefined));
  expect([standingOf(kept), kept.linkUntil]).toEqual(['kept', until]);
  expect(followBulk(kept, cancelled, undefined)).toEqual([]);
  expect(followBulk(kept, bulk({ state: 'cancelled', linkUntil: null }), undefined)).toEqual([
    { type: 'link-over' },
  ]);
  // It may have been paid by the link all the same.
  expect(fold(kept, followBulk(kept, bulk({ state: 'executed' }), undefined)).state).toBe('executed');
});

it('what became of another bulk payment says nothing', () => {
  const executed = bulk({ state: 'executed' });
  expect(followBulk(joined(), { ...executed, flow: 'op-2' }, undefined)).toEqual([]);
  expect(followBulk(joined(), executed, undefined)).not.toEqual([]);
});

describe('exactly this is recorded of a transfer', () => {
  const bank = { transactionStatus: 'ACSC', scaStatus: 'finalised' };
  const executed = { type: 'executed', cro: null, bank } as const;
  const final = { ...executed, isFinal: true } as const;
  const settled = { type: 'settlement', status: 'OK', description: null, bank } as const;
  const unanswered = { type: 'execute-unanswered' } as const;
  const ko = (description: string) => ({ ...settled, status: 'KO', description }) as const;
  const partly = { ...bank, transactionStatus: 'PART' };
  const started: TransferEvent = { type: 'sca-started' };
  const decided = (status: 'NOT_AUTHORIZED' | 'EXPIRED', bankStatus: string) =>
    ({ type: 'authorization', status, bankStatus, bank }) as const;
  const refused = (call: 'execute' | 'verify', description: string) =>
    ({ type: `${call}-refused`, description }) as const;
  const REFUSED = { state: 'failed', refusedUnconfirmed: true } as const;

  it.each<[Partial<GenericOperation>, TransferEvent[], TransferEvent[]]>([
    [{ state: 'executed' }, [executed], [executed]],
    [{ state: 'executed', isFinal: true }, [final], [final]],
    [{ state: 'ordered' }, ...both({ type: 'ordered', bank })],
    [{ state: 'settled' }, [final], [final, settled]],
    [{ state: 'cancelled' }, ...both({ type: 'cancelled', bank })],
    [{ state: 'cancelled', reached: false }, ...both({ type: 'bulk-left' }, { type: 'cancelled' })],
    [{ state: 'rejected', authorizationStatus: 'NO' }, ...both(decided('NOT_AUTHORIZED', 'NO'))],
    [{ state: 'rejected' }, ...both(decided('NOT_AUTHORIZED', 'NOT_AUTHORIZED'))],
    [{ state: 'expired', authorizationStatus: 'LATE' }, ...both(decided('EXPIRED', 'LATE'))],
    [{ state: 'expired' }, ...both(decided('EXPIRED', 'EXPIRED'))],
    [{ ...FAILED, executionStatusDescription: 'No funds' }, ...both(ko('No funds'))],
    [FAILED, ...both(ko('ACSC'))],
    [{ ...REFUSED, executionStatusDescription: 'Wrong' }, ...both(refused('execute', 'Wrong'))],
    [REFUSED, ...both(refused('execute', 'The bank refused it'))],
    [{ state: 'failed', executionStatusDescription: 'Wrong' }, ...both(refused('verify', 'Wrong'))],
    [{ state: 'failed' }, ...both({ type: 'verify-refused' })],
    [{ state: 'authorizing' }, ...both(started)],
    [{ state: 'authorized' }, ...both(unanswered)],
    [{ state: 'executing' }, ...both(unanswered)],
    [{ state: 'unknown' }, ...both(unanswered)],
    [
      { state: 'unknown', reasons: LOCKED },
      ...both({ ...unanswered, description: 'Locked', reasons: LOCKED }),
    ],
    [
      { state: 'unknown', executionStatusDescription: 'Away' },
      ...both({ ...unanswered, description: 'Away' }),
    ],
    [{ state: 'created', mayExecuteWithoutUs: true }, ...both(unanswered)],
    [{ state: 'verified', mayExecuteWithoutUs: true }, ...both(started)],
    [{ state: 'created' }, ...both()],
    [{ state: 'verified' }, ...both()],
  ])('whose bulk payment has %o; if it is instant, %o', (state, normal, instant) => {
    const now = bulk({ ...bank, ...state });
    expect(followBulk(joined(), now, undefined)).toStrictEqual(normal);
    expect(followBulk(joinedAs({ instant: true }), now, undefined)).toStrictEqual(instant);
  });
  function both(...events: TransferEvent[]): [TransferEvent[], TransferEvent[]] {
    return [events, events];
  }

  it.each(['executed', 'settled'] as const)('whose bulk payment is %s in part', (state) => {
    const now = bulk({ ...partly, state });
    const transfer = joinedAs({ instant: true });
    expect(followBulk(joined(), now, PAID)).toStrictEqual([executed]);
    expect(followBulk(transfer, now, PAID)).toStrictEqual([executed, settled]);
    const words = { transactionStatus: 'RJCT', scaStatus: 'finalised' };
    expect(followBulk(transfer, now, REJECTED)).toStrictEqual([{ ...ko('RJCT'), bank: words }]);
    expect(followBulk(transfer, now, undefined)).toStrictEqual([unanswered]);
  });

  it.each<[string, boolean, Partial<GenericOperation>, TransferEvent[]]>([
    ['instant, and the bulk payment has not settled', true, { state: 'executed' }, []],
    ['instant, and the bulk payment has settled', true, { state: 'settled' }, [final, settled]],
    ['instant, and the bulk payment has failed', true, FAILED, [ko('ACSC')]],
    ['not instant, and the bulk payment is so too', false, { state: 'executed' }, []],
    ['not instant, and the bulk payment is final', false, { state: 'executed', isFinal: true }, [final]],
    ['not instant, and the bulk payment has failed', false, FAILED, [ko('ACSC')]],
  ])('that is executed and %s', (_what, instant, state, events) => {
    const transfer = joinedAs({ instant }, { type: 'executed', cro: null });
    expect(followBulk(transfer, bulk({ ...bank, ...state }), undefined)).toStrictEqual(events);
  });

  it.each([
    ['of all', undefined, ['file']],
    ['of this one, then of all', REJECTED, ['payment', 'file']],
  ])('whose bulk payment has failed: the reasons %s, and none of another one', (_, entry, levels) => {
    const reason = (level: 'payment' | 'file', code: string) => ({
      level,
      code,
      proprietary: null,
      text: null,
    });
    const now = bulk({ ...FAILED, reasons: [reason('payment', 'AC04'), reason('file', 'AM04')] });
    const own = entry && { ...entry, reasons: [reason('payment', 'AC01')] };
    const [event] = followBulk(joined(), now, own);
    expect(event).toMatchObject({
      reasons: levels.map((level) => (level === 'file' ? { level, code: 'AM04' } : { level, code: 'AC01' })),
    });
  });

  it('that is executed for good: nothing', () => {
    const ko = bulk({ state: 'failed', executionStatus: 'KO' });
    const paid = { type: 'executed', cro: null } as const;
    expect(followBulk(joined({ ...paid, isFinal: true }), ko, undefined)).toEqual([]);
    expect(followBulk(joined(paid), ko, undefined)).toMatchObject([{ type: 'settlement', status: 'KO' }]);
  });

  it('that has ended: nothing', () => {
    const ended = joined({ type: 'settlement', status: 'KO', description: null });
    for (const state of ['executed', 'cancelled', 'unknown'] as const)
      expect(followBulk(ended, bulk({ state }), undefined)).toEqual([]);
  });
});

it.each([
  ['executed', 'PART', true],
  ['settled', 'PART', true],
  ['executed', 'ACSC', false],
  ['settled', null, false],
  ['failed', 'PART', false],
  ['unknown', 'PART', false],
] as const)('a bulk payment that is %s and %s is partial: %s', (state, transactionStatus, expected) => {
  expect(isPartial(bulk({ state, transactionStatus }))).toBe(expected);
});

it('the operation of a bulk payment has the name of the service', () => {
  expect(BULK_PAYMENT).toBe('bulk-payments');
});

it.each<[string, string | null, Partial<Transfer['order']>, Partial<Transfer>, boolean]>([
  ['of a bulk payment whose account the bank has named', 'DE02', { from: null }, {}, true],
  ['of one whose account nobody has named', null, { from: null }, {}, false],
  ['whose order names the account', 'DE02', {}, {}, false],
  ['whose account is known', 'DE02', { from: null }, { debtor: 'DE03' }, false],
  ['that goes with another bulk payment', 'DE02', { from: null }, { bulk: 'op-2' }, false],
])('a transfer %s gets its account from it: %s', (_what, debtor, order, changes, isNamed) => {
  const transfer = { ...joined(), ...changes };
  const now = bulk({ state: 'executed', debtor });
  const events = followBulk({ ...transfer, order: { ...transfer.order, ...order } }, now, undefined);
  const named = events.filter(({ type }) => type === 'debtor-named');
  expect(named).toEqual(isNamed ? [{ type: 'debtor-named', account: debtor }] : []);
});
