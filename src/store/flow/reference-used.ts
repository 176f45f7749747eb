import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';

/** A transfer with a reference, or the damage that hides its outcome. */
export type ReferencedTransfer = { flow: string; transfer: Transfer } | { flow: string; damage: Psd2Error };

/** The error for a transfer whose reference belongs to another transfer that was paid or may have been. It names that one. */
export function referenceIsUsed(reference: string, by: ReferencedTransfer | { flow: string }): Psd2Error {
  const { flow } = by;
  const was = `The reference ${JSON.stringify(reference)} was used by transfer ${flow}`;
  if ('damage' in by) {
    const { message, hint } = by.damage;
    return new Psd2Error('duplicate_reference', `${was}, whose outcome cannot be read: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
    });
  }
  const see = { hint: 'See it with:', next: [['transfer', 'show', flow]], flow };
  if (!('transfer' in by)) return new Psd2Error('duplicate_reference', was, see);
  const { state, transactionId } = by.transfer;
  return new Psd2Error('duplicate_reference', `${was}, which is ${state}`, { ...see, transactionId });
}
