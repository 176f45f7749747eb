import { normalDecimal } from '../../domain/decimal.ts';
import { comparableReference } from '../../domain/order/sepa-text.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import type { OrderFilter } from '../ports/flows.ts';

/** Whether the order of a transfer is what a list asks for. */
export function hasOrder(
  order: Pick<TransferOrder, 'name' | 'to' | 'amount' | 'reference'>,
  { payee, amount, reference }: OrderFilter,
): boolean {
  return (
    (payee === undefined ||
      comparableReference(order.name).includes(comparableReference(payee)) ||
      order.to.toLowerCase().includes(compactOf(payee))) &&
    (amount === undefined || normalDecimal(order.amount) === normalDecimal(amount)) &&
    (reference === undefined ||
      (order.reference !== null && comparableReference(order.reference) === comparableReference(reference)))
  );
}

/** An IBAN is compared without its blanks. */
export function compactOf(payee: string): string {
  return payee.replace(/\s/g, '').toLowerCase();
}

/**
 * Whether a journal may have such an order, by its text alone: parsing all journals would take much longer.
 *
 * @param journal its lines
 */
export function mayHaveOrder(journal: string, { payee, amount, reference }: OrderFilter): boolean {
  const text = comparableReference(journal);
  const has = (part: string) => text.includes(JSON.stringify(comparableReference(part)).slice(1, -1));
  return (
    (payee === undefined || has(payee) || text.includes(compactOf(payee))) &&
    (amount === undefined || journal.includes(`"amount":"${normalDecimal(amount)}`)) &&
    (reference === undefined || has(reference))
  );
}
