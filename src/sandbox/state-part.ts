import type { Customer } from './customers/seed-customers.ts';
import type { BankRules } from './rules.ts';

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

/** What a door remembers of each bank, in parts of the bank's state. */
export class DoorMemory<Parts extends Record<string, StatePart>> {
  readonly #make: (rules: BankRules) => Parts;
  readonly #begun = new WeakMap<object, Parts>();

  constructor(make: (rules: BankRules) => Parts) {
    this.#make = make;
  }

  /** Remembers nothing yet. @param parts of the bank */
  begin(parts: object, rules: BankRules): Parts {
    const begun = this.#make(rules);
    this.#begun.set(parts, begun);
    return begun;
  }

  of({ parts }: { parts: object }): Parts {
    const begun = this.#begun.get(parts);
    if (begun) return begun;
    throw new TypeError('The bank has no such door');
  }
}
