import type { Bank, DoorState } from './bank.ts';
import { cbSeed } from './cb/seed.ts';
import { doorMemory } from './nextgenpsd2/door-state.ts';
import { runDuePayments } from './nextgenpsd2/payments/run-payments.ts';
import { doorSeed } from './nextgenpsd2/seed.ts';
import type { Door } from './server/pipeline.ts';

/** What the bank knows of a door. */
export interface DoorEntry extends DoorState {
  /** Loads its calls. */
  open(bank: Bank): Promise<Door>;
  /** Does what is due by the bank's clock, before the bank looks at anything. */
  runDue?(bank: Bank): void;
}

/** The doors of the bank, by their names. A request is for the last of them that takes it: the first takes every path. */
export const DOORS = new Map<string, DoorEntry>([
  ['cb', { open: async (bank) => (await import('./cb/door.ts')).cbDoor(bank), seed: cbSeed }],
  [
    'nextgenpsd2',
    {
      open: async (bank) => (await import('./nextgenpsd2/door.ts')).nextgenpsd2Door(bank),
      memory: doorMemory,
      seed: doorSeed,
      runDue: runDuePayments,
    },
  ],
]);

/** Does what is due at every door. */
export function runDue(bank: Bank): void {
  for (const door of DOORS.values()) door.runDue?.(bank);
}
