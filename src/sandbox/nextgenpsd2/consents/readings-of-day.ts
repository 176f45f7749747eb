import { bankDay } from '../../ledger/bank-time.ts';
import { DoorRefusal } from '../refusal.ts';
import type { DoorConsent } from './consent.ts';

/**
 * Counts the readings of a day that the customer did not ask for: those without `PSU-IP-Address`. Each consent has
 * `frequencyPerDay` of them for each account and kind of reading (RTS (EU) 2018/389, article 36). The further pages of a list
 * are the same reading.
 */
export class ReadingsOfDay {
  readonly #now: () => Date;
  readonly #counts = new Map<string, number>();
  #day = '';

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
    if (this.#day !== day) this.#counts.clear();
    this.#day = day;
    const key = [id, reading, accountId].join(' ');
    const before = this.#counts.get(key) ?? 0;
    if (before >= frequencyPerDay) {
      throw new DoorRefusal(
        'ACCESS_EXCEEDED',
        "The day's readings without the customer are used up",
        `Allowed: ${frequencyPerDay} a day for each account. They start again tomorrow.`,
        { path: 'Consent-ID' },
      );
    }
    this.#counts.set(key, before + 1);
  }
}
