import type { Bank } from '../../bank/ports/bank.ts';
import type { Sca, ScaLinks, ScaProgress } from '../../bank/ports/customer.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { type GivenLink, reservedUntil } from '../../domain/given-links.ts';
import type { StepEvent } from '../../domain/operation.ts';
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
 * @param seen how far the authorisation is that psd2 began last, if the bank has just said it
 * @returns `cancelled`, with the end of the last such link; or that nobody knows, because the customer has authorised it since
 */
export async function withLinkOut(
  sca: Sca,
  operation: Payment,
  cancelled: Cancelled,
  seen: ScaProgress | null,
): Promise<StepEvent> {
  // With the link of a payment that the bank had accepted, the customer has authorised it.
  const unsaid = operation.state === 'authorized' || standingOf(operation) === 'done' ? 'over' : 'open';
  let until: string | null = null;
  for (const given of operation.givenLinks) {
    if (isKnownOver(operation, given)) continue;
    const isLast = seen !== null && isSameAuthorisation(given.links, operation.links);
    const means = isLast ? meaningOf(seen) : await askAbout(sca, operation, given.links, unsaid);
    if (means === 'done' && wasOpen(operation)) {
      const { transactionStatus = null } = cancelled.bank ?? {};
      const bank = { transactionStatus, scaStatus: 'finalised' };
      return { type: 'execute-unanswered', isPaidByLink: true, description: PAID_BY_LINK, bank };
    }
    if (means === 'open') until = laterOf(until, endOf(sca, given));
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
  now: Date,
): Promise<string | null> {
  if (!links || links.isDone) return null;
  // What the bank has cancelled, somebody has authorised, as far as it says.
  const means = await askAbout(sca, operation, links, 'over');
  return means === 'open' ? endOf(sca, { links, at: now.toISOString() }) : null;
}

/** The later one of two times, ISO 8601. */
export function laterOf(one: string | null, other: string): string {
  return one !== null && Date.parse(one) > Date.parse(other) ? one : other;
}

/** For a bank that does not say how long a link is good. */
const USUAL_MINUTES = 10;

/** Until when a link may work, by the bank's clock, if the bank has said when it made it. */
function endOf({ timing }: Sca, { links, at, until }: GivenLink): string {
  if (until !== undefined) return until;
  const minutes = timing?.authorisationMinutes ?? USUAL_MINUTES;
  return new Date(Date.parse(links?.madeAt ?? at) + minutes * 60_000).toISOString();
}

/** `over`: the customer can no longer use it. */
type Means = 'open' | 'done' | 'over';

function meaningOf({ means, scaStatus }: ScaProgress): Means {
  if (means === 'done') return 'done';
  return means === 'failed' || scaStatus === 'expired' ? 'over' : 'open';
}

/** @param unsaid what a link is if the bank does not say it */
async function askAbout(sca: Sca, operation: Payment, links: ScaLinks | null, unsaid: Means): Promise<Means> {
  const { verification, transactionId } = operation;
  if (!links || !sca.progress || !verification) return unsaid;
  try {
    const progress = await sca.progress(verification.resourceId, links, transactionId, 'an end');
    return progress ? meaningOf(progress) : unsaid;
  } catch (error) {
    if (isInterruption(error)) throw error;
    return isOurCancellation(operation) && isNotKnown(error) ? 'over' : unsaid;
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
  const known = authorisations.find(({ id }) => id !== null && id === links?.id)?.scaStatus ?? '';
  return ['finalised', 'exempted', 'failed'].includes(known);
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
