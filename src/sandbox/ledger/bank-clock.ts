import type { StatePart } from '../state-part.ts';

/** The bank's time: the real one, and as far ahead of it as it was set. It never goes back. */
export class BankClock implements StatePart {
  memory = { aheadMs: 0 };
  readonly #wallNow: () => Date;

  /** @param wallNow the real time */
  constructor(wallNow: () => Date) {
    this.#wallNow = wallNow;
  }

  now(): Date {
    return new Date(this.#wallNow().getTime() + this.memory.aheadMs);
  }

  /** How far the bank is ahead of the real time, in whole seconds. */
  get aheadSeconds(): number {
    return Math.round(this.memory.aheadMs / 1000);
  }

  /** @returns false if the time is earlier than the bank's. Then nothing changes. */
  moveTo(time: Date): boolean {
    const further = time.getTime() - this.now().getTime();
    if (further < 0) return false;
    this.memory.aheadMs += further;
    return true;
  }

  /** Time is the same for all customers. */
  forgetCustomer(): void {}
}
