import { bankDay } from '../../ledger/bank-time.ts';
import type { StatePart } from '../../state-part.ts';
import { DoorRefusal } from '../refusal.ts';
import type { DoorConsent } from './consent.ts';

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
