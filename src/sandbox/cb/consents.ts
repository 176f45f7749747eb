import type { Customer } from '../customers/seed-customers.ts';
import type { StatePart } from '../state-part.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a consent is valid. After that the bank asks the customer again (RTS (EU) 2022/2360). */
const CONSENT_DAYS = 180;

/** A consent that a customer gave and the TPP confirmed, for one category and one product. */
export interface Consent {
  customerId: string;
  category: string;
  productId: string;
  givenAt: Date;
  endsAt: Date;
}

/** The end of a consent given at `at`. */
export function endOfConsent(at: Date): Date {
  return new Date(at.getTime() + CONSENT_DAYS * DAY_MS);
}

/** The consents of all customers, one for each category and product. A new consent replaces the old one. */
export class Consents implements StatePart {
  memory = { consents: new Map<string, Consent>() };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @param givenAt default: now */
  give(
    { customerId, category, productId }: Pick<Consent, 'customerId' | 'category' | 'productId'>,
    givenAt = this.#now(),
  ): void {
    const consent = { customerId, category, productId, givenAt, endsAt: endOfConsent(givenAt) };
    this.memory.consents.set(consentKey(consent), consent);
  }

  /** Whether this consent is in force. */
  has(consent: Pick<Consent, 'customerId' | 'category' | 'productId'>): boolean {
    const stored = this.memory.consents.get(consentKey(consent));
    return stored !== undefined && this.#holds(stored);
  }

  /** The consents in force, in the order in which they were first given. */
  inForce(): Consent[] {
    return [...this.memory.consents.values()].filter((consent) => this.#holds(consent));
  }

  /** The customer withdraws all consents. @returns how many were in force */
  revokeAll(customerId: string): number {
    const ended = this.inForce().filter((consent) => consent.customerId === customerId);
    for (const consent of ended) this.memory.consents.delete(consentKey(consent));
    return ended.length;
  }

  /** Ends all consents of a customer. */
  forgetCustomer({ customerId }: Pick<Customer, 'customerId'>): void {
    for (const [key, consent] of this.memory.consents)
      if (consent.customerId === customerId) this.memory.consents.delete(key);
  }

  #holds({ endsAt }: Consent): boolean {
    return this.#now() < endsAt;
  }
}

function consentKey({
  customerId,
  category,
  productId,
}: Pick<Consent, 'customerId' | 'category' | 'productId'>) {
  return [customerId, category, productId].join(' ');
}
