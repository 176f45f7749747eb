import type * as z from 'zod/mini';
import type { initiation, stepEvent, verification } from './events.ts';

type Links = NonNullable<z.infer<typeof verification>['links']>;

/** A link to authorise a payment that a customer has, or may have: a phone can ask them, too. */
export interface GivenLink {
  /** Null: the bank has not said which, or its answer was lost. */
  links: Links | null;
  /** Until when it may work, by the bank's clock, if psd2 knows more than its age. */
  until?: string;
}

/** Whether the customer logs in at the bank's OAuth server. */
export function isLogin({ redirect, oauth }: Links): boolean {
  return redirect === undefined && oauth !== undefined;
}

/** What these links follow from. */
interface Linked {
  givenLinks: readonly GivenLink[];
  initiation: z.infer<typeof initiation> | null;
  bulk: string | null;
  links: Links | null;
}

/** The links that customers may have after `event`. A transfer of a bulk payment or a signing basket has none of its own. */
export function linksAfter(
  { givenLinks, initiation: initiated, bulk, links }: Linked,
  event: z.infer<typeof stepEvent>,
): readonly GivenLink[] {
  switch (event.type) {
    case 'initiate-again':
      return [];
    case 'verified':
      // The bank asks the customer's phone at once.
      return event.links?.approach === 'decoupled' ? [{ links: event.links }] : [];
    case 'approach-sent':
      // Its answer can be lost. Where the customer needs no link, the bank may ask them all the same.
      return initiated && !initiated.needsLink ? [...givenLinks, { links: null }] : givenLinks;
    case 'credential-sent':
      if (event.ofCancellation || bulk !== null || !initiated) return givenLinks;
      return event.begins ? [...givenLinks, { links: null }] : withLink(givenLinks, { links });
    case 'credential-answered':
      return event.links && !event.ofCancellation && bulk === null && initiated
        ? withLink(givenLinks, { links: event.links })
        : givenLinks;
    case 'sca-started':
      return bulk === null && initiated ? withLink(givenLinks, { links: event.links ?? links }) : givenLinks;
    case 'basket-deleted': {
      const { linkUntil: until } = event;
      return until === undefined ? givenLinks : [...givenLinks, { links: null, until }];
    }
    default:
      return givenLinks;
  }
}

function withLink(earlier: readonly GivenLink[], link: GivenLink): readonly GivenLink[] {
  const { links } = link;
  if (links?.isDone) return earlier;
  if (links && earlier.some((each) => each.links && areSameLinks(each.links, links))) return earlier;
  // It is the answer to what was sent last.
  const before = earlier.at(-1)?.links === null ? earlier.slice(0, -1) : earlier;
  return [...before, link];
}

function areSameLinks(one: Links, other: Links): boolean {
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  return one.redirect === other.redirect && one.oauth === other.oauth && one.approach === other.approach;
}

/** The end of a link of a bank that does not say what time it is: only its word for the authorisation, or a person's, ends such a link. */
export const NO_END = '9999-12-31T00:00:00.000Z';

/** The clocks of a bank's computers, and the second that a page needs, differ by so much at most. */
const MARGIN_MS = 60_000;

/** When the link works no more for sure, by the bank's clock: the reference is reserved until then. */
export function reservedUntil(linkUntil: string): Date {
  return new Date(Date.parse(linkUntil) + MARGIN_MS);
}
