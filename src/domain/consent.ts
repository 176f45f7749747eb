import type { ProductId } from './identifiers.ts';
import type { Authorization } from './operation.ts';
import { type Resolution, type ResolvedEvent, resolutionOf } from './resolution.ts';

/** The API categories that a customer can consent to (interface specification, "Consent request"). */
export const CONSENT_CATEGORIES = ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS'] as const;
export type ConsentCategory = (typeof CONSENT_CATEGORIES)[number];

/** The states of a consent, as `psd2` shows them. */
export type ConsentState =
  | 'created'
  /** The bank has the request, but has not asked the customer yet. */
  | 'requested'
  | 'authorizing'
  /** `confirm` was sent. Its outcome is not known yet. */
  | 'confirming'
  | 'confirmed'
  | 'failed'
  | 'rejected'
  | 'expired'
  | 'cancelled'
  | 'unknown';

export interface ConsentCategoryRequest {
  name: ConsentCategory;
  products: ProductId[];
}

export interface Consent {
  kind: 'consent';
  flow: string;
  /** `TPP-Transaction-ID` of every call of this flow. */
  transactionId: string;
  state: ConsentState;
  customerId: string;
  /** `outcome` is null until the bank answered the request. */
  categories: (ConsentCategoryRequest & { outcome: boolean | null })[];
  resourceId: string | null;
  /** A request has reached the bank, or may have. */
  reached: boolean;
  /** The customer's browser came back from SCA. */
  returned: boolean;
  /** `TPP-Request-ID` of the last `confirm` that was announced. */
  confirmRequestId: string | null;
  /** As `Progress.refusalAlone` of the flow states: the bank refused `confirm`, and its status does not show the outcome. */
  refusalAlone: boolean;
  /** The outcome that a person gave, because the bank did not. */
  resolution: Resolution | null;
  createdAt: string;
  updatedAt: string;
}

/** What happened to a consent. The `…-sent` events are intents: they are on disk before their request leaves. */
export type ConsentEvent =
  | {
      type: 'created';
      flow: string;
      transactionId: string;
      customerId: string;
      categories: ConsentCategoryRequest[];
    }
  | { type: 'request-sent' | 'approach-sent' | 'confirm-sent'; requestId: string; digest: string | null }
  | { type: 'requested'; resourceId: string; outcomes: { name: string; outcome: boolean }[] }
  /** The request never left, or the bank refused it without processing it (401, 420). */
  | { type: 'request-not-begun' }
  | { type: 'request-refused' }
  /** The bank would grant none of the categories. */
  | { type: 'all-refused' }
  | { type: 'sca-started' }
  | { type: 'sca-returned' }
  | Authorization
  /** No byte of the request left. `confirm` may be sent again. psd2 0.2 also wrote this after some refusals. */
  | { type: 'confirm-not-begun' }
  /**
   * The bank says that it refused the request unread (401, 420, 429), or that it came too early. A gateway may have delivered
   * it twice, so psd2 asks for the status before it sends `confirm` again.
   */
  | { type: 'confirm-turned-away' }
  | { type: 'confirmed' }
  | { type: 'confirm-refused' }
  | { type: 'confirm-unanswered' }
  /** The operator cancelled it, or no request ever reached the bank. */
  | { type: 'cancelled' }
  | ResolvedEvent;

/**
 * Returns the consent after `event`. Pure: a consent on disk is the fold of its events with this function.
 *
 * @param at when it happened, ISO 8601 with zone
 */
export function applyConsentEvent(consent: Consent | undefined, event: ConsentEvent, at: string): Consent {
  if (event.type === 'created') {
    if (consent) throw new TypeError('A consent begins once');
    return {
      kind: 'consent',
      flow: event.flow,
      transactionId: event.transactionId,
      state: 'created',
      customerId: event.customerId,
      categories: event.categories.map((category) => ({ ...category, outcome: null })),
      resourceId: null,
      reached: false,
      returned: false,
      confirmRequestId: null,
      refusalAlone: false,
      resolution: null,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!consent) throw new TypeError(`A consent cannot begin with ${event.type}`);
  return { ...consent, ...changes(consent, event, at), updatedAt: at };
}

function changes(
  consent: Consent,
  event: Exclude<ConsentEvent, { type: 'created' }>,
  at: string,
): Partial<Consent> {
  switch (event.type) {
    case 'approach-sent':
      return {};
    case 'request-sent':
      return { reached: true };
    case 'request-not-begun':
      return { reached: false };
    case 'sca-returned':
      return { returned: true };
    case 'requested':
      return {
        state: 'requested',
        resourceId: event.resourceId,
        categories: consent.categories.map((category) => ({
          ...category,
          outcome: event.outcomes.find(({ name }) => name === category.name)?.outcome ?? false,
        })),
      };
    case 'request-refused':
    case 'all-refused':
      return { state: 'failed' };
    case 'confirm-refused':
      return { state: 'failed', refusalAlone: true };
    case 'sca-started':
      return { state: 'authorizing' };
    case 'authorization':
      switch (event.status) {
        case 'NOT_AUTHORIZED':
          return { state: 'rejected', refusalAlone: false };
        case 'EXPIRED':
          return { state: 'expired', refusalAlone: false };
        default:
          return {};
      }
    case 'confirm-sent':
      return { state: 'confirming', confirmRequestId: event.requestId };
    case 'confirm-not-begun':
      return { state: 'authorizing' };
    case 'confirm-turned-away':
      return { state: 'authorizing', refusalAlone: true };
    case 'confirmed':
      return { state: 'confirmed', refusalAlone: false };
    case 'confirm-unanswered':
      return { state: 'unknown' };
    case 'cancelled':
      return { state: 'cancelled' };
    case 'resolved':
      return {
        state: event.outcome === 'executed' ? 'confirmed' : 'failed',
        resolution: resolutionOf(event, at),
        refusalAlone: false,
      };
  }
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
      return 'done';
  }
}

/** After this many days a bank may ask for SCA again (RTS on SCA, article 10a, as amended by Regulation (EU) 2022/2360). */
export const DAYS_OF_CONSENT = 180;
const DAY_MS = 24 * 3_600_000;

/**
 * The end of a confirmed consent's 180 days.
 *
 * @returns the end in ISO 8601 with zone, and the days left including the last one, or 0 after the end. Null if the consent
 *   is not confirmed
 */
export function consentEnd(
  { state, createdAt, updatedAt, resolution }: Consent,
  now: Date,
): { expiresAt: string; daysLeft: number } | null {
  if (state !== 'confirmed') return null;
  // A confirmed consent does not change. If a person confirmed the outcome, the real time is unknown: assume the earliest.
  const end = new Date(resolution ? createdAt : updatedAt).getTime() + DAYS_OF_CONSENT * DAY_MS;
  return {
    expiresAt: new Date(end).toISOString(),
    daysLeft: Math.max(0, Math.ceil((end - now.getTime()) / DAY_MS)),
  };
}
