import { randomUUID } from 'node:crypto';
import { Shelf } from '../../shelf.ts';
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
export class DoorBaskets extends Shelf<DoorBasket> {
  readonly #now: () => Date;

  constructor(now: () => Date) {
    super(({ payments }) => payments.flatMap(({ debtor }) => debtor?.customer.customerId ?? []));
    this.#now = now;
  }

  add(payments: readonly DoorPayment[]): DoorBasket {
    const about = { id: randomUUID(), createdAt: this.#now() };
    return this.keep({ ...about, payments, deleted: false, authorised: false });
  }

  /** The basket that a payment is in. A deleted one has no payments any more. */
  withPayment(paymentId: string): DoorBasket | undefined {
    return this.list().find(
      ({ payments, deleted }) => !deleted && payments.some(({ id }) => id === paymentId),
    );
  }
}
