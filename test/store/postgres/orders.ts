import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Begin } from '../../../src/store/ports/flows.ts';

const DAY = parseDate('--date', '2026-11-22');

/** The beginning of a transfer with a reference. */
export const TRANSFER_BEGIN = (reference: string): Begin<'transfer'> => ({
  transactionId: crypto.randomUUID(),
  commits: 'on execute',
  order: {
    customerId: '42',
    from: parseProductId('0012345678'),
    to: parseSepaIban('DE89370400440532013000'),
    name: 'Ada Lovelace',
    amount: parsePaymentAmount('12.50'),
    currency: 'EUR',
    description: '',
    instant: false,
    type: null,
    executionDate: DAY,
    futureDated: false,
    urgent: false,
    reference,
  },
});
