import type { StatePart } from '../state-part.ts';

/** The calls and flows whose magic value was applied. */
export class UsedMagic implements StatePart {
  memory = { used: new Set<string>() };

  /** @returns false if it was used before */
  use(key: string): boolean {
    if (this.memory.used.has(key)) return false;
    this.memory.used.add(key);
    return true;
  }

  /** Magic values belong to flows, and a forgotten customer has none left. */
  forgetCustomer(): void {}
}
