import { Refusal } from '../answers/refusal.ts';
import { DATE_WINDOW_MS } from './headers.ts';

/**
 * The used `TPP-Request-ID`s. A request can be replayed only while its `Date` is accepted, at most two windows. Older
 * ids are removed.
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
        'TPP-Request-ID was already used',
        `Each request needs a new UUID. ${requestId} was received at ${before.toISOString()}.`,
      );
    }
    this.#seenAt.set(requestId, now);
  }

  #forgetOld(now: Date): void {
    for (const [requestId, seenAt] of this.#seenAt) {
      if (now.getTime() - seenAt.getTime() <= 2 * DATE_WINDOW_MS) return; // A Map keeps the insertion order.
      this.#seenAt.delete(requestId);
    }
  }
}
