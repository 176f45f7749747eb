import { randomUUID } from 'node:crypto';
import type { DoorPayment, PaymentInitiation } from './payment.ts';

/** The payments of the second door. */
export class DoorPayments {
  readonly #now: () => Date;
  readonly #payments = new Map<string, DoorPayment>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @param requestId `X-Request-ID` of the initiation */
  add(initiation: PaymentInitiation, requestId: string, lateMs: number): DoorPayment {
    const payment: DoorPayment = {
      ...initiation,
      id: randomUUID(),
      createdAt: this.#now(),
      requestId,
      lateMs,
      authorisedAt: undefined,
      cancelled: false,
      executions: [],
    };
    this.#payments.set(payment.id, payment);
    return payment;
  }

  find(id: string): DoorPayment | undefined {
    return this.#payments.get(id);
  }

  /** All payments, oldest first. */
  list(): DoorPayment[] {
    return [...this.#payments.values()];
  }
}
