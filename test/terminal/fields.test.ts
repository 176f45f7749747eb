import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod/mini';
import {
  day,
  decimal,
  described,
  type Field,
  flag,
  list,
  money,
  number,
  object,
  objectOf,
  oneOf,
  optional,
  orNull,
  record,
  seen,
  text,
  time,
  type ValueOf,
  type View,
  whole,
  writeMoney,
} from '../../src/terminal/output/fields.ts';

describe('the columns of CSV', () => {
  const NESTED = ['id', 'balance.booked.amount', 'balance.booked.currency'];
  const OPEN = ['one.amount', 'one.currency', 'other'];
  it.each<[string, Pick<View<never>, 'names'>, string[]]>([
    ['an object', object({ b: text(), a: number() }), ['b', 'a']],
    ['nested objects, by their path', object({ id: text(), balance: object({ booked: money() }) }), NESTED],
    ['what may be null or missing', object({ one: orNull(money()), other: optional(text()) }), OPEN],
    ['a list in a row, as one column', object({ list: list(money()) }), ['list']],
    ['what people alone see', object({ a: text(), b: seen('B', (_: unknown) => '') }), ['a']],
  ])('of %s are known', (_, form, columns) => {
    expect(form.names).toEqual(columns);
  });

  it('are not known of fields of any name', () => {
    expect(object({ a: text(), b: record(text()) }).names).toBeUndefined();
  });
});

/** An order as the program has it, and what is printed of it. */
interface Order {
  id: string;
  payee: { name: string; iban: string | null };
  amount: string;
  urgent: boolean;
}
const order = objectOf<Order>()(() => ({
  id: text('its id').as('Order', { heading: 'ID', whole: true }),
  payee: text('name of the payee')
    .from(({ payee }: Order) => payee.name)
    .as('To'),
  iban: optional(text('IBAN')).from(({ payee }: Order) => payee.iban ?? undefined),
  amount: decimal('exact')
    .as('Amount', { right: true })
    .shown(({ amount }: Order) => `${amount} EUR`),
  both: seen('Both', ({ id, payee }: Order) => `${id} ${payee.name}`),
  urgent: flag('true if it hurries').as('Urgent'),
})).inList('id amount payee');
const one: Order = { id: 'o1', payee: { name: 'Ada', iban: null }, amount: '1.50', urgent: false };
const writeTime = (text: string) => `at ${text}`;
const cells = <T>(columns: { title: string; value: (of: T, time: typeof writeTime) => unknown }[], of: T) =>
  columns.map(({ title, value }) => [title, value(of, writeTime)]);

describe('a field is said once', () => {
  it('a program gets the values, each from where it is taken, and none of what is absent', () => {
    expect(order.data(one)).toEqual({ id: 'o1', payee: 'Ada', amount: '1.50', urgent: false });
    expect(order.data({ ...one, payee: { name: 'Ada', iban: 'DE1' } })).toMatchObject({ iban: 'DE1' });
    expect(order.names).toEqual(['id', 'payee', 'iban', 'amount', 'urgent']);
    expectTypeOf<ValueOf<typeof order>>().toEqualTypeOf<{
      id: string;
      payee: string;
      amount: string;
      urgent: boolean;
      iban?: string | undefined;
    }>();
  });

  it('what is read has the form or not', () => {
    expect(order.is(order.data(one))).toBe(true);
    expect(order.is({})).toBe(false);
    expect(order.read(order.data(one))).toEqual(order.data(one));
    expect(() => order.read({})).toThrow(/"id"/);
  });

  it('data of its own shape is printed as it is', () => {
    const row = { a: 'x', b: 1 };
    expect(object({ a: text() }).data(row)).toEqual(row);
  });

  it('a record has its fields in their order, a list those that it names under their headings', () => {
    expect(cells(order.lines, one)).toEqual([
      ['Order', 'o1'],
      ['To', 'Ada'],
      ['Amount', '1.50 EUR'],
      ['Both', 'o1 Ada'],
      ['Urgent', 'no'],
    ]);
    expect(cells(order.columns, one)).toEqual([
      ['ID', 'o1'],
      ['AMOUNT', '1.50 EUR'],
      ['TO', 'Ada'],
    ]);
    expect(order.columns.map(({ whole, right }) => ({ whole, right }))).toEqual([
      { whole: true, right: undefined },
      { whole: undefined, right: true },
      { whole: undefined, right: undefined },
    ]);
    expect(order.inRecord('urgent id').lines.map(({ title }) => title)).toEqual(['Urgent', 'Order']);
    // @ts-expect-error a name that is no field
    expect(order.inList('id when').columns).toHaveLength(1);
  });

  it.each<[string, Field<unknown>, unknown, unknown]>([
    ['a text', text(), 'a', 'a'],
    ['a time', time(), '2026-11-27T08:00:00Z', '2026-11-27T08:00:00Z'],
    ['a day', day(), '2026-11-27', '2026-11-27'],
    ['a number', whole(), 3, '3'],
    ['true', flag(), true, 'yes'],
    ['false', flag(), false, 'no'],
    ['a word', oneOf(['a', 'b']), 'b', 'b'],
    ['an amount', money(), { amount: '12.5000', currency: 'EUR' }, '12.50 EUR'],
    ['an amount with a plus', money(), { amount: '+7', currency: 'EUR' }, '7.00 EUR'],
    ['an amount without a currency', money(), { amount: '-0.123', currency: '' }, '-0.123'],
    ['a list', list(whole()), [1, 2], '1 2'],
    ['null', orNull(whole()), null, null],
    ['a number that may be null', orNull(whole()), 0, '0'],
    ['nothing', optional(flag()), undefined, null],
    ['what the type of another schema says', described(() => z.string()), 'a', 'a'],
    ['another text', text().written((value, time) => time(value)), 'a', 'at a'],
  ])('people read %s', (_, field, value, written) => {
    expect(cells(object({ value: field.as('V') }).lines, { value })).toEqual([['V', written]]);
  });
  it('no amount is nothing', () => {
    expect(writeMoney(null)).toBeNull();
  });
});
