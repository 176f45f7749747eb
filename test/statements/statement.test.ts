import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withIds } from '../../src/statements/statement.ts';
import { booking, bookings } from '../domain/bookings.ts';
import { statementOf } from './statements.ts';

describe('the id of a booking', () => {
  it('is the same in every export that has its day, and of no other booking', () => {
    fc.assert(
      fc.property(bookings, (rows) => {
        const whole = withIds(statementOf(rows));
        const ids = whole.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const { id } of whole) expect(id).toMatch(/^[0-9a-f]{32}$/);
        const [from, to] = ['2026-01-20', '2026-02-10'];
        const part = withIds(statementOf(rows, [from, to]));
        expect(part).toEqual(whole.filter(({ day }) => from <= day && day <= to));
      }),
    );
  });

  it('is not changed by zeros, blanks, or what comes later', () => {
    const [first] = withIds(statementOf([booking('2026-01-05', '-1.50', 'BAR ROMA')]));
    const again = withIds(
      statementOf([booking('2026-01-06', '2.00'), booking('2026-01-05', '-1.500', ' BAR  ROMA ')]),
    );
    expect(again[0]?.id).toBe(first?.id);
  });

  it('tells two that are alike apart', () => {
    const twice = withIds(statementOf([booking('2026-01-05', '1.00'), booking('2026-01-05', '1.00')]));
    const once = withIds(statementOf([booking('2026-01-05', '1.00')]));
    expect(twice[0]?.id).toBe(once[0]?.id);
    expect(twice[1]?.id).not.toBe(once[0]?.id);
  });

  it.each([{ transferReference: '0138' }, { details: 'BAR' }, { description: 'POS' }, { valueDate: null }])(
    'stays with a booking that has %j, in whichever order the bank has those of a day',
    (own) => {
      const plain = booking('2026-01-05', '1.00');
      const other = { ...plain, ...own };
      const [first, second] = withIds(statementOf([plain, other]));
      expect(withIds(statementOf([other, plain]))).toEqual([second, first]);
    },
  );

  it('is of one product', () => {
    const rows = [booking('2026-01-05', '1.00')];
    const [here] = withIds(statementOf(rows));
    const [there] = withIds(statementOf(rows, undefined, { productId: '0010482638' }));
    expect(there?.id).not.toBe(here?.id);
  });
});
