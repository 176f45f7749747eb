import type { Customer } from './customers/seed-customers.ts';

/**
 * A part of what the bank remembers. `bank.parts` lists all of them: they are reset together, a customer is forgotten in all of
 * them, and `sandbox start --state` keeps all of them.
 */
export interface StatePart {
  /**
   * Everything that the part remembers, as data that `structuredClone` copies: no functions, no classes of our own. It is
   * replaced when the bank starts with a kept state, so nothing may hold on to it.
   */
  memory: object;
  /** Forgets what is about this customer. A part without customers does nothing. */
  forgetCustomer(customer: Customer): void;
}
