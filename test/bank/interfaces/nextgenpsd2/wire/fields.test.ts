import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  amount,
  cleanWords,
  day,
  headerId,
  id,
  instant,
  listOf,
  optionalFlag,
  optionalMessage,
  optionalStatusOf,
  optionalWords,
  statusOf,
  text,
  words,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/fields.ts';

// What a bank's field means, whatever form it has. A field that must be there has an error instead.

const STATUSES = ['finalised', 'received', 'ACSC'];
const FIELDS = {
  text,
  words,
  id,
  headerId,
  amount,
  day,
  instant,
  optionalFlag,
  optionalWords,
  optionalMessage,
  status: statusOf(STATUSES),
  optionalStatus: optionalStatusOf(STATUSES),
  list: listOf(z.object({ a: z.number() })),
};

/** @returns what the field means, or why it is refused */
function read(field: keyof typeof FIELDS, value: unknown): unknown {
  const result = z.safeParse(FIELDS[field], value);
  return result.success ? result.data : `refused: ${result.error.issues[0]?.message}`;
}

const NO_TEXT = 'refused: expected a text';
const NO_ID = 'refused: expected an id';
const NO_DECIMAL = 'refused: expected a decimal number';
const NO_CURRENCY = 'refused: expected a currency';
const long = (count: number) => 'a'.repeat(count);

it.each<[keyof typeof FIELDS, unknown, unknown]>([
  ['text', ' a ', ' a '],
  ['text', '', NO_TEXT],
  ['text', null, NO_TEXT],
  ['text', undefined, NO_TEXT],
  ['text', {}, NO_TEXT],
  ['words', ' a\u0007b ', 'a b'],
  ['words', `a\ud800b`, 'a b'],
  ['words', long(1001), long(1000)],
  ['words', '', NO_TEXT],
  ['id', ' a/b?é ', ' a/b?é '],
  ['id', long(512), long(512)],
  ['id', long(513), NO_ID],
  ['id', 'a\nb', NO_ID],
  ['id', 'a\ud800', NO_ID],
  ['id', '', NO_TEXT],
  ['headerId', ' a!~ ', 'a!~'],
  ['headerId', long(512), long(512)],
  ['headerId', long(513), NO_ID],
  ['headerId', 'a b', NO_ID],
  ['headerId', 'é', NO_ID],
  ['headerId', ' ', NO_ID],
  ['amount', { amount: ' 12.30 ', currency: ' eur ' }, { amount: '12.30', currency: 'EUR' }],
  ['amount', { amount: '-1', currency: 'USD' }, { amount: '-1', currency: 'USD' }],
  ['amount', { amount: 'x', currency: 'EUR' }, NO_DECIMAL],
  ['amount', { amount: '1', currency: 'EURO' }, NO_CURRENCY],
  ['amount', { amount: '1', currency: 'EU' }, NO_CURRENCY],
  ['amount', { amount: '1', currency: '€' }, NO_CURRENCY],
  ['amount', { amount: '', currency: 'EUR' }, NO_TEXT],
  ['day', '2026-11-30', '2026-11-30'],
  ['day', null, null],
  ['day', undefined, null],
  ['day', '', null],
  ['day', 'soon', 'refused: expected a date'],
  ['day', '2026-02-32', 'refused: expected a date'],
  ['instant', '2026-11-30T10:00:00Z', '2026-11-30T10:00:00Z'],
  ['instant', '2026-11-30T10:00:00', null],
  ['instant', undefined, null],
  ['optionalFlag', true, true],
  ['optionalFlag', ' TRUE ', true],
  ['optionalFlag', false, false],
  ['optionalFlag', 'False', false],
  ['optionalFlag', 'truely', null],
  ['optionalFlag', 1, null],
  ['optionalFlag', undefined, null],
  ['optionalWords', ' a\tb ', 'a b'],
  ['optionalWords', ' ', null],
  ['optionalWords', null, null],
  ['optionalWords', undefined, null],
  ['optionalWords', {}, null],
  ['optionalMessage', 'Card 4111111111111111', expect.not.stringContaining('4111111111111111')],
  ['optionalMessage', ' Hello ', 'Hello'],
  ['optionalMessage', '', null],
  ['status', 'finalised', 'finalised'],
  ['status', ' Finalised ', 'finalised'],
  ['status', 'FINALIZED', 'finalised'],
  ['status', 'acsc', 'ACSC'],
  ['status', 'finalisedX', 'finalisedX'],
  ['status', 'other', 'other'],
  ['status', '4111111111111111', expect.not.stringContaining('4111111111111111')],
  ['status', '', NO_TEXT],
  ['optionalStatus', 'Received', 'received'],
  ['optionalStatus', undefined, null],
  ['optionalStatus', ' ', null],
  ['list', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 2 }]],
  ['list', { a: 1 }, [{ a: 1 }]],
  ['list', [], []],
  ['list', null, []],
])('%s %j means %j', (field, value, meaning) => {
  expect(read(field, value)).toEqual(meaning);
});

it.each(['a', 1, undefined])('%j is no list', (value) => {
  expect(read('list', value)).toMatch(/^refused: /);
});

it('words have a limit of their own where one is named', () => {
  expect(cleanWords('abc', 3)).toBe('abc');
  expect(cleanWords('abcd', 3)).toBe('abc');
  expect(cleanWords('ab\u00e9\u0000', 3)).toBe('ab\u00e9');
});
