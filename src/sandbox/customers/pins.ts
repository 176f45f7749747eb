import type { StatePart } from '../state-part.ts';
import { pinOf } from './sca-methods.ts';
import type { Customer } from './seed-customers.ts';

/** How many wrong PINs in a row block a customer's PIN. */
const MOST_WRONG = 3;

/** The wrong PINs of each customer since the last right one. */
export class Pins implements StatePart {
  memory = { wrong: new Map<string, number>() };

  isBlocked({ customerId }: Customer): boolean {
    return (this.memory.wrong.get(customerId) ?? 0) >= MOST_WRONG;
  }

  /** Takes a PIN. @returns whether it is right, and not blocked */
  take(customer: Customer, pin: string): boolean {
    if (this.isBlocked(customer)) return false;
    const { customerId } = customer;
    const isRight = pin === pinOf(customer);
    if (isRight) this.memory.wrong.delete(customerId);
    else this.memory.wrong.set(customerId, (this.memory.wrong.get(customerId) ?? 0) + 1);
    return isRight;
  }

  /** Another PIN came with the post: it is the same one. */
  forgetCustomer({ customerId }: Customer): void {
    this.memory.wrong.delete(customerId);
  }
}
