import { standingOf } from './flow-states.ts';
import { NO_END, reservedUntil } from './given-links.ts';
import type { Operation, OrderTarget } from './operation.ts';

/** What the sentences are about. */
type Kept = Operation<OrderTarget & { reference?: string | null; executionDate?: string }>;

/**
 * Why an ended payment may have had an effect, or can still have one, so that its reference stays reserved. Null: it cannot.
 *
 * @param name what it is in messages
 */
export function whyKept(operation: Kept, name: string): string | null {
  if (standingOf(operation) !== 'kept') return null;
  const { linkUntil, order, state } = operation;
  const [may, what] = waysOn(isOnPhones(operation));
  if (state === 'cancelled' && linkUntil === NO_END)
    return `${may} the ${name}, which may work, although the bank has cancelled it. The bank does not say what time it is${reservation(order, ` until the bank says that ${what} is over, or you do`)}`;
  if (state === 'cancelled' && linkUntil !== null)
    return `${may} the ${name}, which may work until ${shownTime(linkUntil)}, although the bank has cancelled it${reservation(order, ` until ${shownTime(reservedUntil(linkUntil).toISOString())}`)}`;
  const id = operation.initiation?.endToEndId;
  const booked = id ? ` Their bookings have the end-to-end id ${id}` : " The account's bookings show them";
  return `The ${name} ended after its first day, ${order.executionDate}, so payments up to now may have been made.${booked}${reservation(order, '')}`;
}

/** The same of several transfers that the bank has cancelled. Null: nobody has a link of one. */
export function whyManyKept(
  transfers: readonly Pick<Kept, 'linkUntil' | 'state' | 'givenLinks'>[],
): string | null {
  const cancelled = transfers.filter(({ state, linkUntil }) => state === 'cancelled' && linkUntil !== null);
  const ends = cancelled.flatMap(({ linkUntil }) => linkUntil ?? []).sort();
  const last = ends.at(-1);
  if (last === undefined) return null;
  const isEndless = last === NO_END;
  const [payments, them, references] =
    ends.length === 1
      ? ['payment', 'it', 'Its reference stays']
      : ['payments', 'them', 'Their references stay'];
  const [may, what] = waysOn(cancelled.every(isOnPhones));
  return `${may} ${ends.length} ${payments}, which may work${isEndless ? '' : ` until ${shownTime(last)}`}, although the bank has cancelled ${them}. ${references} reserved until ${isEndless ? `the bank says that ${what} is over, or you do` : shownTime(reservedUntil(last).toISOString())}`;
}

/** How somebody can still authorise what the bank has cancelled: the beginning of a sentence, and its name. */
function waysOn(areOnPhones: boolean): [may: string, what: string] {
  return areOnPhones
    ? ["The bank has asked a customer's phone to authorise", 'the request']
    : ['A customer has a link to authorise', 'the link'];
}

/** Whether nobody has a link: the bank itself has asked whoever can authorise it. */
function isOnPhones({ givenLinks }: Pick<Kept, 'givenLinks'>): boolean {
  const isAsked = ({ links }: Kept['givenLinks'][number]) =>
    links?.approach === 'decoupled' && links.redirect === undefined && links.oauth === undefined;
  return givenLinks.length > 0 && givenLinks.every(isAsked);
}

function reservation({ reference }: Kept['order'], until: string): string {
  return reference ? `. The reference ${JSON.stringify(reference)} stays reserved${until}` : '';
}

/** The minute after a time, in UTC: as a machine anywhere reads it. */
export function shownTime(time: string): string {
  const minute = new Date(Math.ceil(Date.parse(time) / 60_000) * 60_000).toISOString();
  return `${minute.slice(0, 10)} ${minute.slice(11, 16)} UTC`;
}
