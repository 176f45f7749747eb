import { Refusal } from '../answers/refusal.ts';
import type { StatePart } from '../state-part.ts';
import { DATE_WINDOW_MS } from './headers.ts';

/**
 * The used `TPP-Request-ID`s. A request can be replayed only while its `Date` is accepted, at most two windows. Older
 * ids are removed.
 */
export class SeenRequestIds implements StatePart {
  memory = { seenAt: new Map<string, Date>() };

  /** @throws Refusal `REQUEST_ID_REUSED` */
  add(requestId: string, now: Date): void {
    this.#forgetOld(now);
    const before = this.memory.seenAt.get(requestId);
    if (before)
      throw new Refusal(
        'REQUEST_ID_REUSED',
        'TPP-Request-ID was already used',
        `Each request needs a new UUID. ${requestId} was received at ${before.toISOString()}.`,
      );
    this.memory.seenAt.set(requestId, now);
  }

  /** Request ids are the application's. */
  forgetCustomer(): void {}

  #forgetOld(now: Date): void {
    for (const [requestId, seenAt] of this.memory.seenAt) {
      if (now.getTime() - seenAt.getTime() <= 2 * DATE_WINDOW_MS) return; // A Map keeps the insertion order.
      this.memory.seenAt.delete(requestId);
    }
  }
}
