import {
  type Initiation,
  type OrderedPayment,
  type PaymentGroup,
  writePain001,
} from '../../../src/batch-file/pain001/write.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';

/** Returns a payment. `changes` replace its fields. */
export function orderedPayment(changes: Partial<OrderedPayment> = {}): OrderedPayment {
  return {
    ...{ instructionId: null, endToEndId: 'E-1', name: 'Ada Lovelace' },
    ...{ currency: 'EUR', description: 'Invoice 7' },
    iban: parseSepaIban('DE89370400440532013000'),
    amount: parsePaymentAmount('12.50'),
    address: null,
    ...changes,
  };
}

/** Writes a document with two groups: two transfers, and an instant one that is urgent. `changes` replace fields of the first. */
export function writeExample(
  format: Initiation['format'],
  payments: OrderedPayment[] = [
    orderedPayment(),
    orderedPayment({ endToEndId: 'E-2', instructionId: 'I-2' }),
  ],
  changes: Partial<PaymentGroup> = {},
): AsyncGenerator<string> {
  const debtor = { name: 'Acme', iban: parseSepaIban('IT60X0542811101000000123456') };
  const executionDate = parseDate('--date', '2026-12-01');
  return writePain001({
    ...{ format, messageId: 'M-1', createdAt: '2026-11-20T10:00:00+01:00', initiator: "Acme's (IT) + Co." },
    groups: [
      {
        ...{ paymentInformationId: 'P-1', debtor, executionDate, instant: false, urgent: false },
        ...{ count: 2, sum: parsePaymentAmount('25.00'), payments },
        ...changes,
      },
      {
        ...{ paymentInformationId: 'P-2', debtor, executionDate, instant: true, urgent: true },
        ...{ count: 1, sum: parsePaymentAmount('1.00') },
        payments: [
          orderedPayment({
            ...{ endToEndId: 'E-3', amount: parsePaymentAmount('1'), description: '', name: "A'B (C) + D" },
          }),
        ],
      },
    ],
  });
}
