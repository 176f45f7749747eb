import type { Bank } from '../../bank/ports/bank.ts';
import type { Sca, ScaLinks } from '../../bank/ports/customer.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { type GivenLink, NO_END, reservedUntil } from '../../domain/given-links.ts';
import type { StepEvent } from '../../domain/operation.ts';
import type { ScaProgress } from '../../domain/payment-answers.ts';
import type { Psd2Error } from '../../errors.ts';
import { isNotKnown } from '../not-known.ts';
import { recordFound } from '../once.ts';
import type { OpenPayment, Payment } from '../ports.ts';
import { isInterruption, outcomeUnknown } from '../refusals.ts';

// Some banks cancel a payment, say so for ever, and execute it all the same once the customer follows the link that they have had: the
// page looks at the age of the link alone.

type Cancelled = Extract<StepEvent, { type: 'cancelled' }>;

/**
 * What follows from the bank's word that it has cancelled a payment: whether a customer has a link that may still work, as the bank says
 * of its authorisations. Asks about each.
 *
 * @param seen how far the authorisation is that psd2 began last, if the bank has just said it; and when the bank has just said something,
 *   by its own clock
 * @returns `cancelled`, with the end of the last such link; or that nobody knows, because the customer has authorised it since
 */
export async function withLinkOut(
  sca: Sca,
  operation: Payment,
  cancelled: Cancelled,
  { progress: seen, saidAt }: { progress: ScaProgress | null; saidAt: string | undefined },
): Promise<StepEvent> {
  // With the link of a payment that the bank had accepted, the customer has authorised it.
  const unsaid = operation.state === 'authorized' || standingOf(operation) === 'done' ? 'over' : 'open';
  let until: string | null = null;
  for (const link of operation.givenLinks) {
    if (isKnownOver(operation, link)) continue;
    const isLast = seen !== null && isSameAuthorisation(link.links, operation.links);
    const { means, at } = isLast ? told(seen) : await askAbout(sca, operation, link.links, unsaid);
    if (means === 'done' && wasOpen(operation)) {
      const { transactionStatus = null } = cancelled.bank ?? {};
      const bank = { transactionStatus, scaStatus: 'finalised' };
      return { type: 'execute-unanswered', isPaidByLink: true, description: PAID_BY_LINK, bank };
    }
    if (means === 'open') until = laterOf(until, endOfLink(sca, link, at ?? saidAt));
  }
  return until === null ? cancelled : { ...cancelled, linkUntil: until };
}

/** Why nobody knows what became of such a payment. */
export const PAID_BY_LINK = 'The bank has cancelled it, and says that the customer has authorised it since';

/** When the customer's link of a cancellation ends, if it is not final. Null: it is, or nobody has one. */
export async function cancellationLinkUntil(
  sca: Sca,
  operation: Payment,
  links: ScaLinks | null,
): Promise<string | null> {
  if (!links || links.isDone) return null;
  // What the bank has cancelled, somebody has authorised, as far as it says.
  const { means, at } = await askAbout(sca, operation, links, 'over');
  return means === 'open' ? endOfLink(sca, { links }, at) : null;
}

/** The later one of two times, ISO 8601. */
export function laterOf(one: string | null, other: string): string {
  return one !== null && Date.parse(one) > Date.parse(other) ? one : other;
}

/** For a bank that does not say how long a link is good. */
const USUAL_MINUTES = 10;

/**
 * Until when a link may work, by the bank's clock alone: that of this machine may be wrong. If the bank has not said when it made the link,
 * it made it before it said anything of it now.
 *
 * @param saidAt when that was, by the bank's clock. Undefined: it does not say what time it is, so that nothing but its word ends the link
 */
function endOfLink(
  { timing }: Sca,
  { links, until }: Pick<GivenLink, 'links' | 'until'>,
  saidAt: string | undefined,
): string {
  if (until !== undefined) return until;
  const made = links?.madeAt ?? saidAt;
  if (made === undefined) return NO_END;
  const minutes = timing?.authorisationMinutes ?? USUAL_MINUTES;
  return new Date(Date.parse(made) + minutes * 60_000).toISOString();
}

/** `over`: the customer can no longer use it. */
type Means = 'open' | 'done' | 'over';

function meaningOf({ means, scaStatus }: ScaProgress): Means {
  if (means === 'done') return 'done';
  return means === 'failed' || scaStatus === 'expired' ? 'over' : 'open';
}

/** What the bank says of a link, and when, by its own clock. */
interface Told {
  means: Means;
  at?: string | undefined;
}

function told(progress: ScaProgress): Told {
  return { means: meaningOf(progress), at: progress.saidAt };
}

/** @param unsaid what a link is if the bank does not say it */
async function askAbout(sca: Sca, operation: Payment, links: ScaLinks | null, unsaid: Means): Promise<Told> {
  const { verification, transactionId } = operation;
  if (!links || !sca.progress || !verification) return { means: unsaid };
  try {
    const progress = await sca.progress(verification.resourceId, links, transactionId, 'an end');
    return progress ? told(progress) : { means: unsaid };
  } catch (error) {
    if (isInterruption(error)) throw error;
    return { means: isOurCancellation(operation) && isNotKnown(error) ? 'over' : unsaid };
  }
}

function isSameAuthorisation(one: ScaLinks | null, other: ScaLinks | null): boolean {
  return one !== null && other !== null && one.id !== undefined && one.id === other.id;
}

/** Whether psd2 has asked the bank to cancel it, and the bank has not refused. */
function isOurCancellation({ isCancellationTaken, cancellation }: Payment): boolean {
  return isCancellationTaken || cancellation !== null;
}

/** Whether a link that the journal does not call over was open when psd2 asked the bank to cancel the payment. */
function wasOpen(operation: Payment): boolean {
  if (operation.linkUntil === null && !isOurCancellation(operation)) return false;
  return operation.state !== 'authorized' && standingOf(operation) !== 'done';
}

/** Whether the bank has said before that the authorisation is over. */
function isKnownOver({ authorisations }: Payment, { links }: GivenLink): boolean {
  const ofLink = authorisations.find(({ id }) => id !== null && id === links?.id);
  return ['finalised', 'exempted', 'failed'].includes(ofLink?.scaStatus ?? '');
}

/**
 * Asks the bank before psd2 asks it to cancel a payment whether the customer has authorised it, and records that: what was finalised before
 * contradicts no cancellation.
 */
export async function recordSigned(open: OpenPayment, sca: Sca): Promise<void> {
  const { state, links, verification, transactionId, authorizationStatus } = open.current;
  if (state !== 'authorizing' || !links || !verification || !sca.progress) return;
  const progress = await sca
    .progress(verification.resourceId, links, transactionId)
    .catch((error: unknown) => {
      if (isInterruption(error)) throw error;
      return null;
    });
  if (progress?.means !== 'done') return;
  const bank = { transactionStatus: null, scaStatus: progress.scaStatus };
  const bankStatus = authorizationStatus ?? progress.scaStatus;
  await recordFound(open, { type: 'authorization', status: 'PENDING', bankStatus, bank });
}

/**
 * Records that the link of a cancelled payment works no more, if its time is over by the bank's clock, with a margin: its reference is free
 * then. If the bank does not say what time it is, the link counts as working.
 */
export async function endLinkInTime(open: OpenPayment, bank: Pick<Bank, 'clock'>): Promise<void> {
  const { linkUntil, state } = open.current;
  if (state !== 'cancelled' || linkUntil === null) return;
  const time = await bank.clock?.().catch((error: unknown) => {
    if (isInterruption(error)) throw error;
    return null;
  });
  if (time && time >= reservedUntil(linkUntil)) await recordFound(open, { type: 'link-over' });
}

/** The error for a payment that the customer has authorised after the bank had cancelled it. */
export function paidByLink(operation: Payment): Psd2Error {
  return outcomeUnknown(
    operation,
    `The bank has cancelled the ${operation.kind}, and says that the customer has authorised it since, so it may be executed`,
  );
}
