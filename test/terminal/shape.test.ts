import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { columnsOf } from '../../src/terminal/output/shape.ts';

const money = () => z.object({ amount: z.string(), currency: z.string() });

it.each([
  ['an object', () => z.object({ b: z.string(), a: z.number() }), ['b', 'a']],
  ['a list', () => z.array(z.object({ b: z.string() })), ['b']],
  [
    'nested objects, by their path',
    () => z.object({ id: z.string(), balance: z.object({ booked: money() }) }),
    ['id', 'balance.booked.amount', 'balance.booked.currency'],
  ],
  [
    'what may be null or missing',
    () => z.nullable(z.object({ one: z.nullable(money()), other: z.optional(z.string()) })),
    ['one.amount', 'one.currency', 'other'],
  ],
  ['a list in a row, as one column', () => z.object({ list: z.array(money()) }), ['list']],
])('the columns of %s are known', (_, shape, columns) => {
  expect(columnsOf(shape)).toEqual(columns);
});

it.each([
  ['text', () => z.string()],
  ['a list of texts', () => z.array(z.string())],
  ['fields with any name', () => z.record(z.string(), z.string())],
  ['a field with fields of any name', () => z.object({ a: z.string(), b: z.record(z.string(), z.string()) })],
])('%s has no known columns', (_, shape) => {
  expect(columnsOf(shape)).toBeUndefined();
});
