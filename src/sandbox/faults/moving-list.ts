import type { Product } from '../customers/seed-customers.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Fault } from './fault.ts';
import { find } from './spoil.ts';

/** Applies the faults that change an account just before its transactions are read. */
export function moveList(ledger: Ledger, product: Product, faults: readonly Fault[], now: Date): void {
  const booking = find(faults, 'booking');
  if (booking) ledger.bookUnasked(product, booking.value, now);
  const settling = find(faults, 'settling');
  if (settling) ledger.settle(product, settling.value, now);
}
