import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';

/** A transfer with a reference, or the damage that hides its outcome. */
export type ReferencedTransfer = { flow: string; transfer: Transfer } | { flow: string; damage: Psd2Error };

/** The fields of an order that make it another payment, in the order of the message, with the words for them. */
const FIELDS: readonly [field: keyof TransferOrder, words: string][] = [
  ['amount', 'the amount'],
  ['currency', 'the currency'],
  ['to', "the payee's IBAN"],
  ['name', "the payee's name"],
  ['from', 'the debited account'],
  ['description', 'the description'],
  ['instant', 'instant or not'],
  ['executionDate', 'the execution date'],
  ['urgent', 'urgent or not'],
  ['type', 'the type'],
];

/**
 * The error for a transfer whose reference belongs to another transfer that was paid or may have been. It names that one,
 * and what is different in this one.
 */
export function referenceIsUsed(order: TransferOrder, by: ReferencedTransfer | { flow: string }): Psd2Error {
  const { flow } = by;
  const was = `The reference ${JSON.stringify(order.reference)} was used by transfer ${flow}`;
  if ('damage' in by) {
    const { message, hint } = by.damage;
    return new Psd2Error('duplicate_reference', `${was}, whose outcome cannot be read: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
    });
  }
  const see = { hint: 'See it with:', next: [['transfer', 'show', flow]], flow };
  if (!('transfer' in by)) return new Psd2Error('duplicate_reference', was, see);
  const { state, transactionId, order: earlier } = by.transfer;
  const different = FIELDS.filter(([field]) => order[field] !== earlier[field]);
  const words = different.map(([, each]) => each).join(', ');
  return new Psd2Error(
    'duplicate_reference',
    `${was}, which is ${state}${words && `. These are different: ${words}`}`,
    { ...see, transactionId, differs: different.map(([field]) => field) },
  );
}
