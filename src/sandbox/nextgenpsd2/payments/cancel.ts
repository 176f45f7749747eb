import type { Bank } from '../../bank.ts';
import { doorOf } from '../door-state.ts';
import { isOver, type ScaSubject } from '../sca/authorisations.ts';
import { type DoorPayment, subjectOf } from './payment.ts';

/** Cancels a payment, and ends its authorisations with it: no customer can follow a link any more, unless a fault leaves them working. */
export function cancelNow(bank: Bank, payment: DoorPayment): void {
  payment.cancelled = true;
  if (payment.linksStay) return;
  for (const kind of ['payment', 'cancellation'] as const) endAuthorisations(bank, subjectOf(payment, kind));
}

/** Ends the authorisations of what is there no more. */
export function endAuthorisations(bank: Bank, subject: ScaSubject): void {
  for (const authorisation of doorOf(bank).authorisations.of(subject))
    if (!isOver(authorisation.status)) authorisation.status = 'failed';
}

/** Whether a customer can still authorise a payment that was cancelled. */
export function isOutliving({ cancelled, linksStay, authorisedAt }: DoorPayment): boolean {
  return cancelled && linksStay && authorisedAt === undefined;
}
