import { randomUUID } from 'node:crypto';
import type { DoorPayment } from '../payments/payment.ts';

/** A signing basket: payments that the customer authorises together. */
export interface DoorBasket {
  readonly id: string;
  readonly createdAt: Date;
  readonly payments: readonly DoorPayment[];
  /** By the TPP, before the customer authorised it. */
  deleted: boolean;
  authorised: boolean;
}

/** The signing baskets of the second door. */
export class DoorBaskets {
  readonly #now: () => Date;
  readonly #baskets = new Map<string, DoorBasket>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  add(payments: readonly DoorPayment[]): DoorBasket {
    const basket = { id: randomUUID(), createdAt: this.#now(), payments, deleted: false, authorised: false };
    this.#baskets.set(basket.id, basket);
    return basket;
  }

  find(id: string): DoorBasket | undefined {
    return this.#baskets.get(id);
  }

  /** The basket that a payment is in. A deleted one has no payments any more. */
  withPayment(paymentId: string): DoorBasket | undefined {
    return [...this.#baskets.values()].find(
      ({ payments, deleted }) => !deleted && payments.some(({ id }) => id === paymentId),
    );
  }
}
