import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../src/bank/customers.ts';
import { isDecimal } from '../../src/domain/decimal.ts';
import { withIds } from '../../src/flows/booked-ids.ts';

const PRODUCT = '0010482620';

function row(changes: { amount?: string; description?: string; index?: string } = {}): Transaction {
  const amount = changes.amount ?? '-12.500';
  if (!isDecimal(amount)) throw new TypeError(amount);
  return {
    index: 'A1',
    status: 'booked',
    bookingDate: null,
    valueDate: null,
    currency: 'EUR',
    description: 'PAGAMENTO POS',
    details: '',
    code: '43',
    transferReference: null,
    feeCharge: false,
    ...changes,
    amount,
  };
}

const idsOf = (rows: Transaction[], product = PRODUCT) => withIds(product, rows).map(({ id }) => id);

describe('the id of a booked transaction', () => {
  it('is the same whatever its place in a query and however the bank writes its amount', () => {
    const [id] = idsOf([row()]);
    expect(idsOf([row({ index: 'A7' })])).toEqual([id]);
    expect(idsOf([row({ amount: '-12.5' })])).toEqual([id]);
    expect(idsOf([row({ amount: '-12.50' })])).toEqual([id]);
  });

  it('differs with the product, the amount, and the text', () => {
    const ids = [
      ...idsOf([row()]),
      ...idsOf([row()], '0010482638'),
      ...idsOf([row({ amount: '12.500' })]),
      ...idsOf([row({ amount: '-125.00' })]),
      ...idsOf([row({ description: 'PAGAMENTO' })]),
    ];
    expect(new Set(ids).size).toBe(5);
  });

  it('tells several alike of one day apart, by their number', () => {
    const [first = ''] = idsOf([row()]);
    expect(idsOf([row(), row({ index: 'A2' }), row({ index: 'A3' })])).toEqual([
      first,
      `${first}-2`,
      `${first}-3`,
    ]);
  });

  it('leaves out the place in the query, which is another one each time', () => {
    expect(withIds(PRODUCT, [row()])[0]).not.toHaveProperty('index');
  });
});
