import { whyKept } from '../../domain/kept.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { kindOf } from './kinds.ts';

/** The error for a worker that continues a flow after another worker has taken it over. */
export function overtaken(flow: string): Psd2Error {
  return new Psd2Error('overtaken', `Another psd2 has continued ${flow} in the meantime`, {
    hint: 'This one stops working on it. See its current state:',
    next: [[kindOf(flow) ?? 'transfer', 'show', flow]],
    flow,
  });
}

/**
 * The error for a bank that gave a flow the resource of another flow. Whoever executed it would execute the other flow once
 * more, and report that as its own payment.
 *
 * @param flow the flow that got the answer. Nothing of the answer is recorded, so resume asks the bank for another resource
 * @param owner the flow that has the resource, or had it
 */
export function resourceIsUsed(flow: string, resourceId: string, owner: string): Psd2Error {
  return new Psd2Error(
    'bank_answer',
    `The bank gave ${flow} the resource ${resourceId}, which belongs to ${owner}`,
    {
      hint: 'psd2 does not use it, so nothing of this flow was authorised or executed. Ask the bank for another resource, or see the other flow:',
      next: [
        [kindOf(flow) ?? 'transfer', 'resume', flow],
        [kindOf(owner) ?? 'transfer', 'show', owner],
      ],
      flow,
    },
  );
}

/** The error for a reference whose transfer has no journal any more. The transfer may have been paid. */
export function journalIsMissing(reference: string, flow: string, journal: string): Psd2Error {
  return new Psd2Error(
    'config',
    `The journal ${journal} is missing, and its transfer has the reference ${JSON.stringify(reference)}`,
    {
      hint: 'That transfer may have been paid, so its reference stays reserved. Restore the journal from a backup, or use another --reference.',
      flow,
    },
  );
}

/**
 * The error for a flow whose journal lacks events that once were in it, as after the restore of an old backup.
 *
 * @param journal its file, or where its events are
 */
export function journalIsOlder(flow: string, journal: string): Psd2Error {
  return new Psd2Error('config', `The journal ${journal} is older than what psd2 knows about ${flow}`, {
    hint: 'The flow may have been executed since, so psd2 sends nothing for it. Restore the newest journal from a backup. See the flow as it was:',
    next: [[kindOf(flow) ?? 'transfer', 'show', flow]],
    flow,
  });
}

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
  const reason = whyKept(by.transfer, 'transfer');
  if (reason !== null)
    return new Psd2Error('duplicate_reference', `${was}, which is ${state}. ${reason}`, {
      ...see,
      transactionId,
      differs: different.map(([field]) => field),
    });
  return new Psd2Error(
    'duplicate_reference',
    `${was}, which is ${state}${words && `. These are different: ${words}`}`,
    { ...see, transactionId, differs: different.map(([field]) => field) },
  );
}
