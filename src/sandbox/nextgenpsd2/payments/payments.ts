import { randomUUID } from 'node:crypto';
import type { Customer } from '../../customers/seed-customers.ts';
import type { StatePart } from '../../state-part.ts';
import type { DoorPayment, PaymentInitiation } from './payment.ts';

/** The payments of the second door. */
export class DoorPayments implements StatePart {
  memory = { payments: new Map<string, DoorPayment>() };
  readonly #now: () => Date;

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
    this.memory.payments.set(payment.id, payment);
    return payment;
  }

  find(id: string): DoorPayment | undefined {
    return this.memory.payments.get(id);
  }

  /** All payments, oldest first. */
  list(): DoorPayment[] {
    return [...this.memory.payments.values()];
  }

  /** Removes the payments of a customer's accounts. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [id, { debtor }] of this.memory.payments)
      if (debtor.customer.customerId === customerId) this.memory.payments.delete(id);
  }
}
