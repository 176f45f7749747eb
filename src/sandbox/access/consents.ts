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
export class Consents {
  readonly #now: () => Date;
  readonly #consents = new Map<string, Consent>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  give(consent: Pick<Consent, 'customerId' | 'category' | 'productId'>): void {
    const givenAt = this.#now();
    this.#consents.set(keyOf(consent), { ...consent, givenAt, endsAt: endOfConsent(givenAt) });
  }

  /** Whether this consent is in force. */
  has(consent: Pick<Consent, 'customerId' | 'category' | 'productId'>): boolean {
    const known = this.#consents.get(keyOf(consent));
    return known !== undefined && this.#holds(known);
  }

  /** The consents in force, in the order in which they were first given. */
  inForce(): Consent[] {
    return [...this.#consents.values()].filter((consent) => this.#holds(consent));
  }

  #holds({ endsAt }: Consent): boolean {
    return this.#now() < endsAt;
  }
}

function keyOf({ customerId, category, productId }: Pick<Consent, 'customerId' | 'category' | 'productId'>) {
  return [customerId, category, productId].join(' ');
}
