import { Refusal } from '../answers/refusal.ts';
import { bankDay, bankTimestamp } from '../ledger/bank-time.ts';
import type { BankRules } from '../rules.ts';
import type { StatePart } from '../state-part.ts';

const WINDOW_MS = 60_000;
const DAY_SECONDS = 24 * 60 * 60;

/** Counts the calls of each application, and refuses calls over the limits. A refused call does not count. */
export class CallLimits implements StatePart {
  memory = { recent: new Map<string, Date[]>(), day: '', callsOfDay: 0 };
  readonly #rules: BankRules;

  constructor(rules: BankRules) {
    this.#rules = rules;
  }

  /**
   * Counts a call against the rate.
   *
   * @param keyId the calling application
   * @throws Refusal `TOO_MANY_CALLS`, with the seconds until the next call is allowed
   */
  countCall(keyId: string): void {
    const { callsPerMinute: limit } = this.#rules;
    if (limit === undefined) return;
    const now = this.#rules.now();
    const recent = (this.memory.recent.get(keyId) ?? []).filter(
      (at) => now.getTime() - at.getTime() < WINDOW_MS,
    );
    if (recent.length >= limit) {
      const freeAt = (recent.at(-limit)?.getTime() ?? now.getTime()) + WINDOW_MS;
      throw tooMany(`${limit} calls within 60 seconds`, Math.ceil((freeAt - now.getTime()) / 1000));
    }
    this.memory.recent.set(keyId, [...recent, now]);
  }

  /**
   * Counts a call with client credentials against the daily limit. The day ends at midnight in the bank's time.
   *
   * @throws Refusal `TOO_MANY_CALLS`, with the seconds until midnight
   */
  countClientCredentialsCall(): void {
    const { clientCredentialsCallsPerDay: limit } = this.#rules;
    if (limit === undefined) return;
    const now = this.#rules.now();
    if (this.memory.day !== bankDay(now)) {
      this.memory.day = bankDay(now);
      this.memory.callsOfDay = 0;
    }
    if (this.memory.callsOfDay >= limit)
      throw tooMany(`${limit} calls a day with client credentials`, DAY_SECONDS - secondOfDay(now));
    this.memory.callsOfDay += 1;
  }

  /** Limits count the calls of applications. */
  forgetCustomer(): void {}
}

function secondOfDay(now: Date): number {
  const [hours = 0, minutes = 0, seconds = 0] = bankTimestamp(now).slice(11).split(':').map(Number);
  return (hours * 60 + minutes) * 60 + seconds;
}

function tooMany(limit: string, retryAfterSeconds: number): Refusal {
  return new Refusal(
    'TOO_MANY_CALLS',
    'The application made too many calls',
    `Allowed: ${limit}. Try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
