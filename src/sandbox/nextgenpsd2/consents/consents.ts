import { randomUUID } from 'node:crypto';
import type { Customer } from '../../customers/seed-customers.ts';
import { bankDay } from '../../ledger/bank-time.ts';
import { Shelf } from '../../shelf.ts';
import type { StatePart } from '../../state-part.ts';
import type { DoorRules } from '../door-rules.ts';
import { DoorRefusal } from '../refusal.ts';
import {
  type ConsentKind,
  type ConsentStatus,
  chosenAccess,
  type DoorConsent,
  grantsFor,
  kindOfConsent,
} from './consent.ts';
import type { ConsentOrder } from './consent-request.ts';

/** The consents of the second door. */
export class DoorConsents extends Shelf<DoorConsent> {
  readonly #now: () => Date;
  readonly #keepsFormer: boolean;

  constructor({ now, variations }: { now: () => Date } & Pick<DoorRules, 'variations'>) {
    super(({ customerId }) => [customerId]);
    this.#now = now;
    this.#keepsFormer = variations.includes('multiple-consents');
  }

  /** @param id default: a new one */
  add(order: ConsentOrder, id: string = randomUUID()): DoorConsent {
    const createdAt = this.#now();
    return this.keep<DoorConsent>({
      ...order,
      id,
      createdAt,
      status: 'received',
      customerId: undefined,
      grants: new Map(),
      lastAction: bankDay(createdAt),
    });
  }

  /** The state now: a valid consent expires after its last day. */
  statusOf({ status, validUntil }: DoorConsent): ConsentStatus {
    return status === 'valid' && bankDay(this.#now()) > validUntil ? 'expired' : status;
  }

  /**
   * The customer gives a consent. A new recurring one ends the customer's former recurring one, unless the bank keeps several.
   *
   * @param chosen the product ids that the customer chose, if the bank offers the accounts
   * @returns false if the consent is about accounts that the customer does not have
   */
  give(consent: DoorConsent, customer: Customer, chosen: readonly string[] | undefined): boolean {
    const grants = grantsFor(consent, customer, chosen);
    if (!grants) return false;
    if (consent.type !== 'funds' && consent.recurring && !this.#keepsFormer)
      this.#endFormer(customer.customerId);
    consent.status = 'valid';
    consent.givenAt = this.#now();
    consent.customerId = customer.customerId;
    consent.grants = grants;
    if (consent.type === 'bank-offered') {
      const products = customer.products.filter(({ productId }) => grants.has(productId));
      consent.access = chosenAccess(consent.access, products);
    }
    const today = bankDay(this.#now());
    if (!consent.recurring) consent.validUntil = today;
    consent.lastAction = today;
    return true;
  }

  /** Ends a consent that was given or asked for. An ended one stays as it is. */
  end(consent: DoorConsent, status: 'rejected' | 'revokedByPsu' | 'terminatedByTpp'): void {
    if (!['received', 'valid'].includes(this.statusOf(consent))) return;
    consent.status = status;
    consent.lastAction = bankDay(this.#now());
  }

  /**
   * The consent that a reading names, or a confirmation of funds.
   *
   * @throws DoorRefusal `CONSENT_UNKNOWN`, `CONSENT_EXPIRED`, `CONSENT_INVALID`
   */
  requireValid(id: string, kind: ConsentKind = 'consent'): DoorConsent {
    const consent = this.find(id);
    if (!consent || kindOfConsent(consent) !== kind)
      throw new DoorRefusal('CONSENT_UNKNOWN', 'The bank does not know this consent', '', {
        path: 'Consent-ID',
        status: 400,
      });
    const status = this.statusOf(consent);
    if (status === 'valid') return consent;
    throw new DoorRefusal(
      status === 'expired' ? 'CONSENT_EXPIRED' : 'CONSENT_INVALID',
      `The consent is ${status}`,
      '',
      { path: 'Consent-ID' },
    );
  }

  #endFormer(customerId: string): void {
    for (const former of this.list()) {
      const isFormer = former.customerId === customerId && former.recurring && former.type !== 'funds';
      if (!isFormer || this.statusOf(former) !== 'valid') continue;
      former.status = 'expired';
      former.lastAction = bankDay(this.#now());
    }
  }
}

/**
 * Counts the readings of a day that the customer did not ask for: those without `PSU-IP-Address`. Each consent has
 * `frequencyPerDay` of them for each account and kind of reading (RTS (EU) 2018/389, article 36). The further pages of a list
 * are the same reading.
 */
export class ReadingsOfDay implements StatePart {
  memory = { counts: new Map<string, number>(), day: '' };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /**
   * @param reading the operation
   * @param accountId `''` for a list of accounts
   * @throws DoorRefusal `ACCESS_EXCEEDED`
   */
  count({ id, frequencyPerDay }: DoorConsent, reading: string, accountId: string): void {
    const day = bankDay(this.#now());
    if (this.memory.day !== day) this.memory.counts.clear();
    this.memory.day = day;
    const key = [id, reading, accountId].join(' ');
    const before = this.memory.counts.get(key) ?? 0;
    if (before >= frequencyPerDay)
      throw new DoorRefusal(
        'ACCESS_EXCEEDED',
        "The day's readings without the customer are used up",
        `Allowed: ${frequencyPerDay} a day for each account. They start again tomorrow.`,
        { path: 'Consent-ID' },
      );
    this.memory.counts.set(key, before + 1);
  }

  /** Readings belong to a consent, and a forgotten customer has none left. */
  forgetCustomer(): void {}
}
