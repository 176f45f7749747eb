import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';

/** A transfer with a reference, or why what became of it can't be told. */
export type ReferencedTransfer = { flow: string; transfer: Transfer } | { flow: string; damage: Psd2Error };

/** The error of a transfer whose reference another one has, which was paid or may be: it names that one. */
export function referenceIsUsed(reference: string, by: ReferencedTransfer | { flow: string }): Psd2Error {
  const { flow } = by;
  const was = `The reference ${JSON.stringify(reference)} was used by transfer ${flow}`;
  if ('damage' in by) {
    const { message, hint } = by.damage;
    return new Psd2Error('duplicate_reference', `${was}, and what became of it can't be told: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
    });
  }
  const see = { hint: 'See it with:', next: [['transfer', 'show', flow]], flow };
  if (!('transfer' in by)) return new Psd2Error('duplicate_reference', was, see);
  const { state, transactionId } = by.transfer;
  return new Psd2Error('duplicate_reference', `${was}, which is ${state}`, { ...see, transactionId });
}
