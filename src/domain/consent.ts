import type * as z from 'zod/mini';
import { begunBy, type PersonsAuthorisation, saidOf, startedBy, withoutRefused } from './authorisations.ts';
import { addDays, bankDay, earlier, endOfDay, type IsoDate } from './calendar.ts';
import { answeredIn, type SentCredential, sentBy } from './embedded.ts';
import type { consentEvent } from './events.ts';
import { type AnyFlow, beginning, begun, type CertificateName, resolutionOf } from './flow.ts';

/** The states of a consent, as `psd2` shows them. */
export const CONSENT_STATES = [
  'created',
  /** The bank has the request, but has not asked the customer yet. */
  'requested',
  'authorizing',
  /** `confirm` was sent. Its outcome is not known yet. */
  'confirming',
  'confirmed',
  'failed',
  'rejected',
  'expired',
  'cancelled',
  /** By the customer, at the bank. */
  'revoked',
  'unknown',
] as const;
export type ConsentState = (typeof CONSENT_STATES)[number];

/** A category, and the products that the customer is asked for. */
export type ConsentCategoryRequest = Extract<ConsentEvent, { type: 'created' }>['categories'][number];

export interface Consent extends AnyFlow<ConsentState> {
  kind: 'consent';
  customerId: string;
  /** `outcome` is null until the bank answered the request. */
  categories: (ConsentCategoryRequest & { outcome: boolean | null })[];
  resourceId: string | null;
  /** The customer's browser came back from SCA. */
  returned: boolean;
  /** `TPP-Request-ID` of the last `confirm` that was announced. */
  confirmRequestId: string | null;
  /** What it allows, at a bank where the customer's SCA alone grants it. Null at a bank where psd2 confirms. */
  terms: Partial<ConsentTerms> | null;
  /** What it covers, in the interface's own words: what the bank has granted, before that what was asked for. Null: not known. */
  access: Readonly<Record<string, unknown>> | null;
  /** The bank's own word for its status; null until the bank has said one. */
  bankStatus: string | null;
  /** What the bank says to psd2 and to the customer beside its answers, each sentence once. */
  messages: readonly string[];
  /** When psd2 learnt that the customer has granted it, at such a bank. ISO 8601 with zone; null before. */
  grantedAt: string | null;
  /** Earlier consents of the customer stay valid beside it. */
  besideOthers: boolean;
  /** What ties the return of the customer's browser to this flow, if the bank wants to know it with the request. */
  returnState: string | null;
  /** Where the customer authorises it, as the bank's last links said. */
  links: NonNullable<Extract<ConsentEvent, { type: 'sca-started' }>['links']> | null;
  /** The authorisations that the bank may have begun, in the order in which psd2 learnt of them. */
  authorisations: readonly PersonsAuthorisation[];
  /** What psd2 has sent of the customers, with which they authorise it, in order. */
  credentials: readonly SentCredential[];
  /** The certificate with which it was begun. Null: it is not known. */
  certificate: CertificateName | null;
  /** The bank has taken a request to delete it. */
  isDeletionTaken: boolean;
}

/** What a consent allows, at a bank where the operator can choose. */
export type ConsentTerms = NonNullable<Extract<ConsentEvent, { type: 'requested' }>['terms']>;

/** What a consent covers. Each interface translates it. */
export type Covered = ConsentTerms['access'];

/** What a consent for confirmations of funds covers. No reading uses it. */
export type CoveredFunds = Extract<Covered, { type: 'funds' }>;

/** What happened to a consent. */
export type ConsentEvent = z.infer<typeof consentEvent>;

/**
 * Returns the consent after `event`. Pure: a consent on disk is the fold of its events with this function.
 *
 * @param at when it happened, ISO 8601 with zone
 */
export function applyConsentEvent(consent: Consent | undefined, event: ConsentEvent, at: string): Consent {
  if (event.type === 'created')
    return {
      ...beginning(consent, event, at),
      kind: 'consent',
      customerId: event.customerId,
      categories: event.categories.map((category) => ({ ...category, outcome: null })),
      resourceId: null,
      returned: false,
      confirmRequestId: null,
      terms: event.terms ?? null,
      access: null,
      bankStatus: null,
      messages: [],
      grantedAt: null,
      besideOthers: false,
      returnState: event.returnState ?? null,
      links: null,
      authorisations: [],
      credentials: [],
      certificate: null,
      isDeletionTaken: false,
    };
  const before = begun(consent, event);
  const newMessages = 'messages' in event ? (event.messages ?? []) : [];
  const messages = [...new Set([...before.messages, ...newMessages])];
  return { ...before, ...changes(before, event, at), messages, updatedAt: at };
}

function changes(
  consent: Consent,
  event: Exclude<ConsentEvent, { type: 'created' }>,
  at: string,
): Partial<Consent> {
  switch (event.type) {
    case 'approach-sent':
      return {};
    case 'credential-sent':
    case 'credential-not-begun':
    case 'credential-answered':
      return credentialed(consent, event, at);
    case 'request-sent':
      return { reached: true };
    case 'request-not-begun':
      return { reached: false };
    case 'sca-returned':
      return { returned: true };
    case 'delete-taken':
      return { isDeletionTaken: true, ...(mayEnd(consent) && { bankStatus: event.bankStatus }) };
    case 'requested':
      return afterRequest(consent, event);
    case 'request-refused':
    case 'all-refused':
      return { state: 'failed' };
    case 'confirm-refused':
      return { state: 'failed', refusedUnconfirmed: true };
    case 'links-left':
      return { links: event.links };
    case 'sca-started':
      return afterStart(consent, event, at);
    case 'granted':
      return afterGrant(consent, event, at);
    case 'noted':
      return afterWord(consent, event);
    case 'ended':
      return { ...afterWord(consent, event), state: event.state };
    case 'authorization':
      return afterDecision(event);
    case 'confirm-sent':
      return { state: 'confirming', confirmRequestId: event.requestId };
    case 'confirm-not-begun':
      return { state: 'authorizing' };
    case 'confirm-turned-away':
      return { state: 'authorizing', refusedUnconfirmed: true };
    case 'confirmed':
      return { state: 'confirmed', refusedUnconfirmed: false };
    case 'confirm-unanswered':
      return { state: 'unknown' };
    case 'cancelled':
      return { state: 'cancelled', refusedUnconfirmed: false };
    case 'resolved':
      return {
        state: event.outcome === 'executed' ? 'confirmed' : 'failed',
        resolution: resolutionOf(event, at),
        refusedUnconfirmed: false,
      };
  }
}

/** What the customer gives psd2 is about to leave, or was answered. */
function credentialed(
  consent: Consent,
  event: Extract<ConsentEvent, { type: `credential-${string}` }>,
  at: string,
): Partial<Consent> {
  const { credentials, authorisations, links } = consent;
  switch (event.type) {
    case 'credential-sent': {
      const { psuId, begins } = event;
      return {
        state: 'authorizing',
        credentials: [...credentials, sentBy(event)],
        authorisations: begins
          ? begunBy(authorisations, psuId, at)
          : startedBy(authorisations, links?.id, psuId, at),
      };
    }
    case 'credential-not-begun':
      return { credentials: credentials.slice(0, -1), authorisations: withoutRefused(authorisations) };
    case 'credential-answered': {
      const { scaStatus, links: next = links } = event;
      const begun = startedBy(authorisations, next?.id, credentials.at(-1)?.psuId ?? undefined, at);
      return {
        // The bank may have said before what became of the consent.
        ...(nextConsentStep(consent) !== 'done' && { state: 'authorizing' }),
        credentials: answeredIn(credentials),
        links: next,
        authorisations: scaStatus === null ? begun : saidOf(begun, next?.id, scaStatus),
      };
    }
  }
}

/** Whether it has not ended yet. The end of one that has keeps its word. */
function mayEnd(consent: Consent): boolean {
  return consent.state === 'confirmed' || nextConsentStep(consent) !== 'done';
}

/** The customer, or another person, was sent to the bank. */
function afterStart(
  { authorisations }: Consent,
  { links, psuId }: Extract<ConsentEvent, { type: 'sca-started' }>,
  at: string,
): Partial<Consent> {
  return {
    state: 'authorizing',
    ...(links && { links, authorisations: startedBy(authorisations, links.id, psuId, at) }),
  };
}

/** The bank has another word for it. */
function afterWord(
  { authorisations, links }: Consent,
  { bankStatus, scaStatus }: { bankStatus: string | null; scaStatus?: string },
): Partial<Consent> {
  return {
    bankStatus,
    ...(scaStatus !== undefined && { authorisations: saidOf(authorisations, links?.id, scaStatus) }),
  };
}

function afterDecision({ status }: Extract<ConsentEvent, { type: 'authorization' }>): Partial<Consent> {
  if (status === 'NOT_AUTHORIZED') return { state: 'rejected', refusedUnconfirmed: false };
  return status === 'EXPIRED' ? { state: 'expired', refusedUnconfirmed: false } : {};
}

/** The bank has noted the request. */
function afterRequest(
  consent: Consent,
  event: Extract<ConsentEvent, { type: 'requested' }>,
): Partial<Consent> {
  return {
    state: 'requested',
    resourceId: event.resourceId,
    ...(event.terms && { terms: event.terms }),
    access: event.access ?? null,
    bankStatus: event.bankStatus ?? null,
    besideOthers: event.besideOthers ?? false,
    links: event.links ?? null,
    certificate: event.certificate ?? null,
    categories: consent.categories.map((category) => ({
      ...category,
      outcome: event.outcomes.find(({ name }) => name === category.name)?.outcome ?? false,
    })),
  };
}

/** The customer has granted it. */
function afterGrant(
  consent: Consent,
  event: Extract<ConsentEvent, { type: 'granted' }>,
  at: string,
): Partial<Consent> {
  return {
    state: 'confirmed',
    grantedAt: consent.grantedAt ?? at,
    bankStatus: event.bankStatus,
    access: event.access ?? consent.access,
    terms: {
      ...consent.terms,
      ...(event.validUntil !== null && { validUntil: event.validUntil }),
      ...(event.frequencyPerDay !== null && { frequencyPerDay: event.frequencyPerDay }),
      ...(event.recurring !== null && { recurring: event.recurring }),
    },
  };
}

/** Whether it is for confirmations of funds: no reading uses it. */
export function isForFunds({ terms }: Pick<Consent, 'terms'>): boolean {
  return terms?.access?.type === 'funds';
}

export type ConsentStep = 'request' | 'authorize' | 'confirm' | 'ask-outcome' | 'done';

/** The next step for a consent's state. A resumed consent continues with this step. */
export function nextConsentStep(consent: Consent): ConsentStep {
  switch (consent.state) {
    case 'created':
      return 'request';
    case 'requested':
    case 'authorizing':
      return consent.returned ? 'confirm' : 'authorize';
    case 'confirming':
    case 'unknown':
      return 'ask-outcome';
    case 'confirmed':
    case 'failed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
    case 'revoked':
      return 'done';
  }
}

/** After this many days a bank may ask for SCA again (RTS on SCA, article 10a, as amended by Regulation (EU) 2022/2360). */
export const DAYS_OF_CONSENT = 180;
const DAY_MS = 24 * 3_600_000;

/**
 * The end of a confirmed consent's 180 days.
 *
 * @returns the end in ISO 8601 with zone, the last day at the bank, and the days left including it, or 0 after the end. Null if the
 *   consent is not confirmed, or has no end
 */
export function consentEnd(
  { state, createdAt, updatedAt, resolution, terms, grantedAt }: Consent,
  now: Date,
): { expiresAt: string; lastDay: IsoDate; daysLeft: number } | null {
  if (state !== 'confirmed') return null;
  const access = terms?.access;
  // Consents for confirmations of funds have no last day. The card has one.
  const lastDay = access?.type === 'funds' ? access.cardExpiryDate : terms?.validUntil;
  const lasts = (day: IsoDate) => ({ ...endAt(Date.parse(endOfDay(day)), now), lastDay: day });
  if (access?.type === 'funds') return lastDay === undefined ? null : lasts(lastDay);
  // A confirmed consent does not change. If a person confirmed the outcome, the real time is unknown: assume the earliest.
  const since = grantedAt ?? (resolution ? createdAt : updatedAt);
  if (terms) {
    const until = untilSca({ ...terms, validUntil: lastDay ?? null, grantedAt: since });
    return until && lasts(until);
  }
  const end = Date.parse(since) + DAYS_OF_CONSENT * DAY_MS;
  return { ...endAt(end, now), lastDay: bankDay(new Date(end)) };
}

/**
 * The last day of a consent for readings: SCA must be made again after that time, however long the bank calls it valid.
 *
 * @param validUntil the bank's last day. Null: it named none
 * @returns null for a consent for one reading without a last day
 */
export function untilSca({
  validUntil,
  grantedAt,
  recurring = true,
}: {
  validUntil: IsoDate | null;
  grantedAt: string;
  recurring?: boolean;
}): IsoDate | null {
  if (!recurring) return validUntil;
  const until = addDays(bankDay(new Date(grantedAt)), DAYS_OF_CONSENT);
  return validUntil === null ? until : earlier(validUntil, until);
}

function endAt(end: number, now: Date): { expiresAt: string; daysLeft: number } {
  return {
    expiresAt: new Date(end).toISOString(),
    daysLeft: Math.max(0, Math.ceil((end - now.getTime()) / DAY_MS)),
  };
}
