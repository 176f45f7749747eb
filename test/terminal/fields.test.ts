import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod/mini';
import {
  always,
  anything,
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

describe('the kinds of fields', () => {
  const RIGHT = { right: true };
  it.each<[kind: string, field: Field<unknown>, look: object]>([
    ['a text', text(), {}],
    ['a day', day(), {}],
    ['a time', time(), { kind: 'time' }],
    ['a decimal number', decimal(), {}],
    ['money', money(), RIGHT],
    ['a whole number', whole(), RIGHT],
    ['a measured number', number(), RIGHT],
    ['true or false', flag(), {}],
    ['a word', oneOf(['a', 'b']), {}],
    ['a list', list(whole()), {}],
  ])('%s looks the same if it may be null or absent, and keeps its look under a title', (_, field, look) => {
    for (const each of [field, orNull(field), optional(field), orNull(optional(field))]) {
      const { columns, lines } = object({ value: each.as('V', { whole: true, heading: 'H' }) });
      expect(columns).toEqual([{ ...look, whole: true, heading: 'H', title: 'H', value: expect.anything() }]);
      expect(lines).toEqual([{ ...look, whole: true, heading: 'H', title: 'V', value: expect.anything() }]);
      expect(object({ value: each }).lines).toEqual([]);
    }
  });

  it('what a field says of its look is kept by what is said later', () => {
    const field = time().as('At', { whole: true }).as('When', { dispensable: 1 });
    expect(object({ field }).columns[0]).toMatchObject({
      ...{ kind: 'time', whole: true, dispensable: 1, title: 'WHEN' },
    });
    expect(object({ field: whole().inPipe({ ifAny: true }) }).columns[0]).toMatchObject({
      ...{ right: true, ifAny: true, title: '' },
    });
  });

  const WRITTEN = text().written((value, time) => time(value));
  it.each<[string, Field<unknown>, value: unknown, written: unknown]>([
    ['null or not', orNull(WRITTEN), 'a', 'at a'],
    ['absent or not', optional(WRITTEN), 'a', 'at a'],
    ['in a list', list(WRITTEN), ['a', 'b'], 'at a at b'],
    ['null in a list', list(orNull(WRITTEN)), [null, 'a'], ' at a'],
    ['no items', list(WRITTEN), [], ''],
    ['an empty text', text(), '', ''],
    ['an amount that may be null', orNull(money()), { amount: '1', currency: 'JPY' }, '1 JPY'],
    ['no amount', orNull(money()), null, null],
    [
      'amounts',
      list(money()),
      [
        { amount: '1', currency: 'EUR' },
        { amount: '2', currency: 'EUR' },
      ],
      '1.00 EUR 2.00 EUR',
    ],
  ])('people read what is %s as its kind says', (_, field, value, written) => {
    expect(cells(object({ value: field.as('V') }).lines, { value })).toEqual([['V', written]]);
  });

  it.each<[string, Field<unknown>, right: unknown[], wrong: unknown[]]>([
    ['a text', text(), ['', 'a'], [1, null, undefined]],
    [
      'a time',
      time(),
      ['2026-11-27T08:00:00Z', '2026-11-27T08:00:00.123+01:00'],
      ['2026-11-27', '2026-11-27T08:00:00', ''],
    ],
    [
      'a day',
      day(),
      ['2026-11-27', '2024-02-29'],
      ['2026-02-29', '2026-11-31', '27/11/2026', '2026-11-27T08:00:00Z', ''],
    ],
    ['a decimal number', decimal(), ['0', '-1.50', '+7', '0.0001'], ['1.', '.5', '1,5', '1e3', ' 1', '', 1]],
    [
      'money',
      money(),
      [{ amount: '1.50', currency: 'EUR' }],
      [{ amount: '1.50' }, { amount: 'x', currency: 'EUR' }, null],
    ],
    ['a whole number', whole(), [0, -3], [1.5, '1', null]],
    ['a measured number', number(), [0, 1.5], ['1', null, Number.NaN]],
    ['true or false', flag(), [true, false], ['true', 0, null]],
    ['a word', oneOf(['a', 'b']), ['a', 'b'], ['c', '']],
    ['what is always the same', always('a'), ['a'], ['b', null]],
    ['anything', anything(), [null, 1, undefined, {}], []],
    ['a list', list(whole()), [[], [1]], [[1.5], 1, null]],
    ['values by names', record(whole()), [{}, { a: 1 }], [{ a: 'x' }, null]],
    ['what may be null', orNull(whole()), [null, 1], [undefined, 'x']],
    ['what may be absent', optional(whole()), [undefined, 1], [null, 'x']],
  ])('of %s it is known what it is', (_, field, right, wrong) => {
    expect(right.filter((value) => !field.is(value))).toEqual([]);
    expect(wrong.filter((value) => field.is(value))).toEqual([]);
  });

  const MEANING = 'what it means';
  it.each<[string, Field<unknown>]>([
    ['a text', text(MEANING)],
    ['a time', time(MEANING)],
    ['a day', day(MEANING)],
    ['a decimal number', decimal(MEANING)],
    ['money', money(MEANING)],
    ['a whole number', whole(MEANING)],
    ['a measured number', number(MEANING)],
    ['true or false', flag(MEANING)],
    ['a word', oneOf(['a'], MEANING)],
    ['what is always the same', always(1, MEANING)],
    ['anything', anything(MEANING)],
    ['another schema', described(() => z.string(), MEANING)],
    ['a list', list(text(), MEANING)],
    ['values by names', record(text(), MEANING)],
    ['an object', object({ a: text() }, MEANING)],
    ['what has a title', text(MEANING).as('T')],
    ['what is written otherwise', text(MEANING).written(String)],
    ['what is shown otherwise', text(MEANING).shown(() => '')],
    ['what is taken from elsewhere', text(MEANING).from(() => '')],
  ])('the schema of %s says what it means', (_, field) => {
    expect(z.toJSONSchema(field.parts.schema())).toMatchObject({ description: MEANING });
  });
});

describe('the order of a record and of a list', () => {
  const plain = object({ a: text().as('A'), b: text().as('B'), c: text().as('C') });
  const titles = (columns: { title: string }[]) => columns.map(({ title }) => title).join('');
  it.each([
    ['nothing is said', plain, 'ABC', 'ABC'],
    ['the record is said', plain.inRecord('c a'), 'CA', 'ABC'],
    ['the list is said', plain.inList('b a'), 'ABC', 'BA'],
    ['the record and then the list', plain.inRecord('c a').inList('b a'), 'CA', 'BA'],
    ['the list and then the record', plain.inList('b a').inRecord('c a'), 'CA', 'BA'],
    ['both are said again', plain.inList('b').inRecord('c').inRecord('b c').inList('c a'), 'BC', 'CA'],
  ])('if %s, one does not change the other', (_, form, lines, columns) => {
    expect([titles(form.lines), titles(form.columns)]).toEqual([lines, columns]);
    expect(form.names).toEqual(['a', 'b', 'c']);
    const value = { a: '1', b: '2', c: '3' };
    expect(form.data(value)).toEqual(value);
  });

  it('lines of its own are those of the record alone', () => {
    const own = plain
      .inRecord('b')
      .inList('a')
      .withLines((all) => [...all, ...all]);
    expect([titles(own.lines), titles(own.columns), own.names]).toEqual(['BB', 'A', ['a', 'b', 'c']]);
    expect(own.data({ a: '1', b: '2', c: '3' })).toEqual({ a: '1', b: '2', c: '3' });
  });
});
