import { expect, it } from 'vitest';
import { cb } from '../../../../src/bank/interfaces/cb/interface.ts';
import { DEFAULT_CAPABILITIES } from '../../../../src/bank/open.ts';
import type { Capability } from '../../../../src/bank/ports/bank.ts';

const ALL: Capability[] = [
  ...(['payments', 'operations', 'terms', 'receipts', 'documents'] as const),
  ...(['products', 'data of the customer', 'consent confirmation'] as const),
];

it('a bank of this interface has these capabilities, and help knows them without the interface', () => {
  expect([...cb.has].sort()).toEqual(ALL.toSorted());
  expect(DEFAULT_CAPABILITIES).toEqual(cb.has);
});
