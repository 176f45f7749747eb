import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/bank/ports/bank.ts';
import { KnownRows } from '../../../src/flows/reading/moving-list.ts';
import { amountOf, dayOf } from '../../domain/bookings.ts';

const row = (transactionId: string | null, description = 'a'): Transaction => ({
  ...{ index: '1', status: 'booked', bookingDate: dayOf('2026-11-20'), valueDate: null },
  ...{ amount: amountOf('1.00'), currency: 'EUR', description, details: '', code: null },
  ...{ transferReference: null, feeCharge: null, transactionId, entryReference: null },
});
const idsOf = (rows: Transaction[]) => rows.map(({ transactionId }) => transactionId);

it('a row whose id and content came on an earlier page is dropped', () => {
  const known = new KnownRows(10);
  expect(idsOf(known.fresh([row('1'), row('2')]))).toEqual(['1', '2']);
  expect(idsOf(known.fresh([row('2'), row('3'), row('1')]))).toEqual(['3']);
});

it('an id that two rows of a page have names no row, so equal rows are two, also on later pages', () => {
  const known = new KnownRows(10);
  expect(known.fresh([row('1'), row('1')])).toHaveLength(2);
  expect(known.fresh([row('1'), row('1', 'b')])).toHaveLength(2);
});

it('the same id with other content is another row', () => {
  const known = new KnownRows(10);
  expect(known.fresh([row('1'), row('1', 'b')])).toHaveLength(2);
});

it.each([null, 'NOTPROVIDED'])('without an id (%s), equal rows are two', (id) => {
  expect(new KnownRows(10).fresh([row(id), row(id)])).toHaveLength(2);
});

it('only so many rows are remembered', () => {
  const known = new KnownRows(2);
  known.fresh([row('1'), row('2'), row('3')]);
  expect(idsOf(known.fresh([row('1'), row('3')]))).toEqual(['1']);
});
