// What a transfer is refused for before anything is sent that moves money (command contract, "One set of rules").

import Big from 'big.js';
import { isPlainlyFailed } from '../../domain/flow-states.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { ReferencedTransfer } from '../../store/files/flow-lookup.ts';
import type { FlowJournal, OpenTransfer } from '../../store/files/journal.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';

/** @throws Psd2Error `confirmation_needed` when nothing and nobody can say who the payee of an instant transfer is */
export function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs the payee to be verified, and there is no terminal to ask at',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. Nothing was sent.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` when the profile does not let so much be sent at once */
export function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    { hint: 'Nothing was sent. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.' },
  );
}

/**
 * Refuses a reference that another transfer has which was paid, or may be. One whose journal is damaged may be.
 *
 * @throws Psd2Error `duplicate_reference` naming the flow that has it, `config` when a journal can't tell its reference
 */
export function refuseKnownReference(journal: FlowJournal, reference: string | null): void {
  if (reference === null) return;
  for (const earlier of journal.transfersWithReference(reference)) {
    if ('transfer' in earlier && isPlainlyFailed(earlier.transfer)) continue;
    throw referenceIsUsed(reference, earlier);
  }
}

/**
 * Takes the reference of a transfer that was begun, for good. A process that was stopped since it looked for the
 * reference finds here that another was quicker, and cancels its own transfer.
 *
 * @throws Psd2Error `duplicate_reference` naming the flow that has it
 */
export function takeReference(journal: FlowJournal, open: OpenTransfer): void {
  const { flow, order } = open.current;
  const { reference } = order;
  if (reference === null) return;
  const holder = journal.takeReference(reference, flow);
  if (holder === flow) return;
  open.record({ type: 'cancelled' });
  const found = journal.transfersWithReference(reference).find((each) => each.flow === holder);
  throw referenceIsUsed(reference, found ?? { flow: holder });
}

function referenceIsUsed(reference: string, by: ReferencedTransfer | { flow: string }): Psd2Error {
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
