import { expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseCustomerId, parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { TransferOrder } from '../../../src/domain/transfer.ts';
import { refuseOtherOrder } from '../../../src/flows/batch/lines.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { thrownBy } from '../../support/thrown.ts';

const to = parseSepaIban('DE89370400440532013000');
const amount = parsePaymentAmount('1.00');
const from = parseProductId('0010482620');
const customerId = parseCustomerId('1048262');
const day = parseDate('--date', '2026-12-01');

const batch = newBatch(
  'a'.repeat(64),
  {
    ...{ type: 'added', sha256: 'a'.repeat(64), count: 1, ordered: '' },
    ...batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' }),
  },
  '2026-11-25T07:00:00.000Z',
);
const line = batchLine({
  ...{ customer: customerId, from, name: 'Ada', iban: to, amount, reference: 'INV-7', executionDate: day },
});
const order: TransferOrder = {
  ...{ from, to, name: 'Ada', amount, currency: 'EUR', description: 'Invoice 7', instant: false, type: null },
  ...{ executionDate: day, futureDated: true, urgent: false, reference: 'INV-7', customerId },
};

it('psd2 goes on with the transfer that the line orders', () => {
  expect(() => refuseOtherOrder(batch, line, order)).not.toThrow();
  const open = { ...line, customer: null, from: null, executionDate: null };
  expect(() => refuseOtherOrder(batch, open, order)).not.toThrow();
});

it.each<Partial<TransferOrder>>([
  { to: parseSepaIban('IT60X0542811101000000123456') },
  { amount: parsePaymentAmount('9.00') },
  { name: 'Bea' },
  { description: 'Invoice 8' },
  { reference: 'INV-8' },
  { executionDate: parseDate('--date', '2026-12-02') },
  { from: parseProductId('0010482638') },
  { customerId: parseCustomerId('2073915') },
  { currency: 'USD' },
  { instant: true },
  { urgent: true },
])('psd2 does not go on with a transfer that somebody has written into the store: %o', (other) => {
  expect(thrownBy(() => refuseOtherOrder(batch, line, { ...order, ...other }))).toMatchObject({
    code: 'config',
  });
});

it('psd2 goes on with a transfer that debits the IBAN of the line, and with no other one', () => {
  const fromIban = parseSepaIban('DE02100100109307118603');
  const byIban = { ...line, from: null, fromIban };
  expect(() => refuseOtherOrder(batch, byIban, { ...order, fromIban })).not.toThrow();
  for (const other of [order, { ...order, fromIban: to }])
    expect(thrownBy(() => refuseOtherOrder(batch, byIban, other))).toMatchObject({
      message: 'The transfer of payment 1 is not what the batch orders',
    });
});
