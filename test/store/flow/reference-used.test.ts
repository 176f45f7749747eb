import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { applyTransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { collectMoments } from '../../../src/store/flow/history.ts';
import { referenceIsUsed } from '../../../src/store/flow/refusals.ts';
import { transferOrder } from '../../domain/orders.ts';

const ORDER = { ...transferOrder(), reference: 'INV-1' };
const FLOW = 'tr-0mi7x7x8x00001';
const SEE = { hint: 'See it with:', next: [['transfer', 'show', FLOW]], flow: FLOW };

it('a reference that is used names its transfer, the state, and how to see it', () => {
  const begin = { flow: FLOW, transactionId: 't1', commits: 'on execute' as const, order: transferOrder() };
  const transfer = applyTransferEvent(undefined, { type: 'created', ...begin }, '2026-11-22T12:00:00Z');
  const again = { ...transferOrder(), reference: 'INV "1"' };
  expect(referenceIsUsed(again, { flow: FLOW, transfer })).toMatchObject({
    code: 'duplicate_reference',
    message: `The reference "INV \\"1\\"" was used by transfer ${FLOW}, which is created`,
    ...SEE,
    transactionId: transfer.transactionId,
    differs: [],
  });
  const other = { ...again, executionDate: parseDate('--date', '2027-01-04'), name: 'Bob', urgent: true };
  expect(
    referenceIsUsed({ ...other, amount: parsePaymentAmount('99') }, { flow: FLOW, transfer }),
  ).toMatchObject({
    message: `The reference "INV \\"1\\"" was used by transfer ${FLOW}, which is created. These are different: the amount, the payee's name, the execution date, urgent or not`,
    differs: ['amount', 'name', 'executionDate', 'urgent'],
  });
});

it.each([
  ['amount', 'the amount', { amount: parsePaymentAmount('99') }],
  ['currency', 'the currency', { currency: 'CHF' }],
  ['to', "the payee's IBAN", { to: parseSepaIban('DE89370400440532013000') }],
  ['name', "the payee's name", { name: 'Bob' }],
  ['from', 'the debited account', { from: parseProductId('0000054321') }],
  ['description', 'the description', { description: 'Invoice 8' }],
  ['instant', 'instant or not', { instant: false }],
  ['executionDate', 'the execution date', { executionDate: parseDate('--date', '2027-01-04') }],
  ['urgent', 'urgent or not', { urgent: true }],
  ['type', 'the type', { type: 'SCT' }],
])('a second order with the same reference and another %s says so: %s', (field, words, change) => {
  const begin = { flow: FLOW, transactionId: 't1', commits: 'on execute' as const, order: transferOrder() };
  const transfer = applyTransferEvent(undefined, { type: 'created', ...begin }, '2026-11-22T12:00:00Z');
  const error = referenceIsUsed({ ...ORDER, ...change }, { flow: FLOW, transfer });
  expect(error.message).toMatch(`which is created. These are different: ${words}`);
  expect(error.message.endsWith(words)).toBe(true);
  expect(error.differs).toEqual([field]);
});

it('a reference whose transfer nobody has read names it too', () => {
  expect(referenceIsUsed(ORDER, { flow: FLOW })).toMatchObject({
    code: 'duplicate_reference',
    message: `The reference "INV-1" was used by transfer ${FLOW}`,
    ...SEE,
  });
});

it.each(['Restore it.', undefined])('a transfer that cannot be read says why, with the hint %j', (hint) => {
  const damage = new Psd2Error('config', 'The journal is damaged', hint === undefined ? {} : { hint });
  const error = referenceIsUsed(ORDER, { flow: FLOW, damage });
  expect(error).toMatchObject({
    code: 'duplicate_reference',
    message: `The reference "INV-1" was used by transfer ${FLOW}, whose outcome cannot be read: The journal is damaged`,
  });
  expect(error.hint).toBe(hint);
  expect(error.differs).toBeUndefined();
});

it.each([
  [{ type: 'execute-sent' }, null],
  [{ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTORIZZATO' }, 'AUTORIZZATO'],
  [{ type: 'settlement', status: 'KO', description: 'Account closed' }, 'KO: Account closed'],
  [{ type: 'settlement', status: 'OK', description: null }, 'OK'],
  [{ type: 'resolved', outcome: 'executed', by: 'ada@desk', note: 'seen' }, 'executed, by ada@desk: seen'],
  [{ type: 'resolved', outcome: 'executed', note: null }, 'executed'],
])('the history of a flow shows %j as %j', (event, detail) => {
  const before = [{ at: '2026-11-22T12:00:00Z', type: 'created', detail: null }];
  const at = '2026-11-22T12:00:01Z';
  expect(collectMoments(before, event, at)).toEqual([...before, { at, type: event.type, detail }]);
  expect(collectMoments(undefined, event, at)).toEqual([{ at, type: event.type, detail }]);
});
