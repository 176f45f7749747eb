import type { Customer } from './customers/seed-customers.ts';
import type { StatePart } from './state-part.ts';

/** Things that the bank keeps under their ids, oldest first. */
export class Shelf<T extends { readonly id: string }> implements StatePart {
  memory = { things: new Map<string, T>() };
  readonly #customersOf: (thing: T) => readonly (string | undefined)[];

  /** @param customersOf the ids of the customers whom a thing is about */
  constructor(customersOf: (thing: T) => readonly (string | undefined)[]) {
    this.#customersOf = customersOf;
  }

  keep<K extends T>(thing: K): K {
    this.memory.things.set(thing.id, thing);
    return thing;
  }

  find(id: string): T | undefined {
    return this.memory.things.get(id);
  }

  list(): T[] {
    return [...this.memory.things.values()];
  }

  /** Removes all that is about a customer. */
  forgetCustomer({ customerId }: Customer): void {
    for (const [id, thing] of this.memory.things)
      if (this.#customersOf(thing).includes(customerId)) this.memory.things.delete(id);
  }
}
