import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { whyKept } from '../../../src/domain/kept.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { Psd2Error } from '../../../src/errors.ts';
import {
  journalIsMissing,
  journalIsOlder,
  overtaken,
  referenceIsUsed,
  resourceIsUsed,
} from '../../../src/store/flow/refusals.ts';
import { begunTransfer, transferOrder } from '../../domain/orders.ts';

const ORDER = { ...transferOrder(), reference: 'INV-1' };
const FLOW = 'tr-0mi7x7x8x00001';
const TRANSFER = begunTransfer({ flow: FLOW });
const SEE = { hint: 'See it with:', next: [['transfer', 'show', FLOW]], flow: FLOW };

it('a reference that is used names its transfer, the state, and how to see it', () => {
  const again = { ...transferOrder(), reference: 'INV "1"' };
  expect(referenceIsUsed(again, { flow: FLOW, transfer: TRANSFER })).toMatchObject({
    code: 'duplicate_reference',
    message: `The reference "INV \\"1\\"" was used by transfer ${FLOW}, which is created`,
    ...SEE,
    transactionId: TRANSFER.transactionId,
    differs: [],
  });
  const other = { ...again, executionDate: parseDate('--date', '2027-01-04'), name: 'Bob', urgent: true };
  expect(
    referenceIsUsed({ ...other, amount: parsePaymentAmount('99') }, { flow: FLOW, transfer: TRANSFER }),
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
  const error = referenceIsUsed({ ...ORDER, ...change }, { flow: FLOW, transfer: TRANSFER });
  expect(error.message).toMatch(`which is created. These are different: ${words}`);
  expect(error.message.endsWith(words)).toBe(true);
  expect(error.differs).toEqual([field]);
});

it('a reference of an ended transfer that may have had an effect says why it stays reserved', () => {
  const transfer = begunTransfer({ flow: FLOW, state: 'cancelled', linkUntil: '2026-11-22T12:00:00Z' });
  const why = whyKept(transfer, 'transfer');
  expect(why).toMatch(/^A customer has a link to authorise the transfer,/);
  expect(referenceIsUsed({ ...ORDER, name: 'Bob', urgent: true }, { flow: FLOW, transfer })).toMatchObject({
    code: 'duplicate_reference',
    message: `The reference "INV-1" was used by transfer ${FLOW}, which is cancelled. ${why}`,
    ...SEE,
    transactionId: TRANSFER.transactionId,
    differs: ['name', 'urgent'],
  });
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
  expect(error.context).toStrictEqual(hint === undefined ? {} : { hint });
});

it('a missing journal keeps the reference, and the error names both and the flow', () => {
  expect(journalIsMissing('INV "1"', 'tr-1', '/flows/tr-1.ndjson')).toMatchObject({
    code: 'config',
    message: 'The journal /flows/tr-1.ndjson is missing, and its transfer has the reference "INV \\"1\\""',
    hint: 'That transfer may have been paid, so its reference stays reserved. Restore the journal from a backup, or use another --reference.',
    flow: 'tr-1',
  });
});

it.each([
  ['tr-1', 'op-2', 'transfer', 'operation'],
  ['op-1', 'co-2', 'operation', 'consent'],
  ['co-1', 'tr-2', 'consent', 'transfer'],
  ['x-1', 'y-2', 'transfer', 'transfer'],
])(
  'a flow %s that another psd2 has continued, an older journal of it, and a resource that belongs to %s, are shown as of a %s and a %s',
  (flow, owner, kind, other) => {
    expect(journalIsOlder(flow, '/flows/x.ndjson')).toMatchObject({
      code: 'config',
      message: `The journal /flows/x.ndjson is older than what psd2 knows about ${flow}`,
      hint: 'The flow may have been executed since, so psd2 sends nothing for it. Restore the newest journal from a backup. See the flow as it was:',
      next: [[kind, 'show', flow]],
      flow,
    });
    expect(overtaken(flow)).toMatchObject({
      code: 'overtaken',
      message: `Another psd2 has continued ${flow} in the meantime`,
      hint: 'This one stops working on it. See its current state:',
      next: [[kind, 'show', flow]],
      flow,
    });
    expect(resourceIsUsed(flow, 'r1', owner)).toMatchObject({
      code: 'bank_answer',
      message: `The bank gave ${flow} the resource r1, which belongs to ${owner}`,
      hint: 'psd2 does not use it, so nothing of this flow was authorised or executed. Ask the bank for another resource, or see the other flow:',
      next: [
        [kind, 'resume', flow],
        [other, 'show', owner],
      ],
      flow,
    });
  },
);
