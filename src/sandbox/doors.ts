import type { Bank } from './bank.ts';
import { cbDoor } from './cb/door.ts';
import { nextgenpsd2Door } from './nextgenpsd2/door.ts';
import { runDuePayments } from './nextgenpsd2/payments/run-payments.ts';
import type { Door } from './server/pipeline.ts';

/** What the bank knows of a door. */
export interface DoorEntry {
  open(bank: Bank): Door;
  /** Does what is due by the bank's clock, before the bank looks at anything. */
  runDue?(bank: Bank): void;
}

/** The doors of the bank, by their names. A request is for the last of them that takes it: the first takes every path. */
export const DOORS = new Map<string, DoorEntry>([
  ['cb', { open: cbDoor }],
  ['nextgenpsd2', { open: nextgenpsd2Door, runDue: runDuePayments }],
]);

/** Does what is due at every door. */
export function runDue(bank: Bank): void {
  for (const door of DOORS.values()) door.runDue?.(bank);
}
