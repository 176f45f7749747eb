import type { Capability } from '../../ports/bank.ts';

/** What a bank of this interface has. Help needs it without the rest of the interface. */
export const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'payments',
  'products',
  'data of the customer',
  'operations',
  'terms',
  'receipts',
  'documents',
  'consent confirmation',
]);
