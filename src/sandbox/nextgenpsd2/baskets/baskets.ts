import { randomUUID } from 'node:crypto';
import type { Customer } from '../../customers/seed-customers.ts';
import type { StatePart } from '../../state-part.ts';
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
export class DoorBaskets implements StatePart {
  memory = { baskets: new Map<string, DoorBasket>() };
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  add(payments: readonly DoorPayment[]): DoorBasket {
    const basket = { id: randomUUID(), createdAt: this.#now(), payments, deleted: false, authorised: false };
    this.memory.baskets.set(basket.id, basket);
    return basket;
  }

  find(id: string): DoorBasket | undefined {
    return this.memory.baskets.get(id);
  }

  /** The basket that a payment is in. A deleted one has no payments any more. */
  withPayment(paymentId: string): DoorBasket | undefined {
    return [...this.memory.baskets.values()].find(
      ({ payments, deleted }) => !deleted && payments.some(({ id }) => id === paymentId),
    );
  }

  /** Removes the baskets with a payment of the customer. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [id, { payments }] of this.memory.baskets)
      if (payments.some(({ debtor }) => debtor.customer.customerId === customerId))
        this.memory.baskets.delete(id);
  }
}
