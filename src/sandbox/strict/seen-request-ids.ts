import { Refusal } from '../answers/refusal.ts';
import { DATE_WINDOW_MS } from './headers.ts';

/**
 * The `TPP-Request-ID`s that were used. A request can be replayed for as long as its `Date` is accepted, which is
 * two windows at most; older ids are forgotten.
 */
export class SeenRequestIds {
  readonly #seenAt = new Map<string, Date>();

  /** @throws Refusal `REQUEST_ID_REUSED` */
  add(requestId: string, now: Date): void {
    this.#forgetOld(now);
    const before = this.#seenAt.get(requestId);
    if (before) {
      throw new Refusal(
        'REQUEST_ID_REUSED',
        'TPP-Request-ID was used before',
        `Each request carries a new UUID. ${requestId} came at ${before.toISOString()}.`,
      );
    }
    this.#seenAt.set(requestId, now);
  }

  #forgetOld(now: Date): void {
    for (const [requestId, seenAt] of this.#seenAt) {
      if (now.getTime() - seenAt.getTime() <= 2 * DATE_WINDOW_MS) return; // a Map keeps the order of insertion
      this.#seenAt.delete(requestId);
    }
  }
}
