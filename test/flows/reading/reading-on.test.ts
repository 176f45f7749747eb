import { describe, expect, it } from 'vitest';
import type { Accounts, Transaction, TransactionPage } from '../../../src/bank/ports/bank.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { fetchAfter, newestOf, oldestFirst } from '../../../src/flows/reading/reading-on.ts';
import { answeringBank } from '../../bank/answering-bank.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { dayOf } from '../../domain/bookings.ts';
import { ago } from '../sync-bank.ts';

// What comes after the newest row of the last sync, at a bank that gives it.

const row = (days: number | null, description: string, more: Partial<Transaction> = {}): Transaction =>
  transactionOf({
    ...{ status: 'booked', description, bookingDate: days === null ? null : dayOf(ago(days)) },
    ...{ entryReference: description, ...more },
  });
const pending = (description: string) => row(null, description, { status: 'pending' });
const textsOf = (rows: readonly Pick<Transaction, 'description'>[]) =>
  rows.map(({ description }) => description).join(' ');

it.each<[string, Transaction[], string]>([
  ['nothing', [], ''],
  ['one', [row(1, 'a')], 'a'],
  ['newest first', [row(1, 'c'), row(2, 'b'), row(3, 'a')], 'a b c'],
  ['oldest first', [row(3, 'a'), row(2, 'b'), row(1, 'c')], 'a b c'],
  ['two of a day, which keep the bank’s order', [row(1, 'c'), row(1, 'b'), row(2, 'a')], 'a b c'],
  ['one without a day, which comes first', [row(1, 'b'), row(null, 'a', { valueDate: null })], 'a b'],
])('rows are put oldest first: %s', (_, rows, order) => {
  expect(textsOf(oldestFirst(rows))).toBe(order);
});

it.each<[string, (string | null)[], string | undefined]>([
  ['no row', [], undefined],
  ['a row without one', [null], undefined],
  ['an empty one', [''], undefined],
  ['two', ['a', 'b'], 'b'],
  ['one before rows without one', ['a', 'b', null, ''], 'b'],
])('psd2 reads on from the newest reference: %s', (_, references, newest) => {
  expect(newestOf(references.map((entryReference) => ({ entryReference })))).toBe(newest);
});

describe('the rows after one', () => {
  const QUERY = { customerId: 'ada', productId: 'A1', transactionId: 't1', currency: 'EUR' };
  /** A bank that gives these pages. An error is thrown after them. */
  const giving = (pages: Transaction[][], error?: Error, readsOn = true): Accounts => ({
    ...answeringBank(() => ({ data: {} })).accounts,
    ...(readsOn && { readsOn: true }),
    async *pages() {
      for (const [place, rows] of pages.entries()) {
        const hasMore = place < pages.length - 1 || error !== undefined;
        const page: TransactionPage = {
          booked: { rows: rows.filter(({ status }) => status === 'booked'), total: null, hasMore },
          pending: { rows: rows.filter(({ status }) => status === 'pending'), total: null, hasMore },
        };
        yield page;
      }
      if (error) throw error;
    },
  });
  const readAfter = (accounts: Accounts, maxRows = 3) =>
    fetchAfter(accounts, { ...QUERY, of: { productId: 'A1', currency: 'EUR' } }, 'z', {
      knownFrom: ago(10),
      maxRows,
    });
  const refused = (code: Psd2Error['code']) => new Psd2Error(code, 'No');

  it.each<[string, Accounts, string | undefined]>([
    ['are there', giving([[row(1, 'b'), row(2, 'a')]]), 'a b'],
    ['are none', giving([[]]), ''],
    ['come with the one itself', giving([[row(1, 'a'), row(2, 'z')]]), 'a'],
    ['come with pending ones', giving([[row(1, 'a'), pending('p')]]), 'a | p'],
    ['come on two pages', giving([[row(1, 'b')], [row(2, 'a')]]), 'a b'],
    ['are as many as the memory has room for', giving([[row(1, 'c'), row(2, 'b'), row(3, 'a')]]), 'a b c'],
    ['are too many', giving([[row(1, 'd'), row(2, 'c'), row(3, 'b'), row(4, 'a')]]), undefined],
    ['have one of the first day that psd2 knows', giving([[row(10, 'a')]]), 'a'],
    ['have one of the day before', giving([[row(11, 'a')]]), undefined],
    ['have one without a day', giving([[row(null, 'a', { valueDate: null })]]), undefined],
    ['have one without an id', giving([[row(1, 'a', { entryReference: null })]]), undefined],
    [
      'have one with the other id',
      giving([[row(1, 'a', { entryReference: null, transactionId: 'x' })]]),
      'a',
    ],
    ['have one whose first id is empty', giving([[row(1, 'a', { transactionId: '' })]]), 'a'],
    [
      'have one whose other id is empty',
      giving([[row(1, 'a', { transactionId: 'x', entryReference: '' })]]),
      'a',
    ],
    [
      'have one whose ids are empty',
      giving([[row(1, 'a', { transactionId: '', entryReference: '' })]]),
      undefined,
    ],
    [
      'are not given: the bank does not know the one any more',
      giving([], refused('bank_refused')),
      undefined,
    ],
    ['are given by no such bank', giving([[row(1, 'a')]], undefined, false), undefined],
  ])('%s', async (_, accounts, found) => {
    const read = await readAfter(accounts);
    const texts = read && [read.booked, read.pending].map(textsOf);
    expect(texts?.filter((text, place) => place === 0 || text !== '').join(' | ')).toBe(found);
    for (const each of read?.booked ?? []) expect(each).not.toHaveProperty('index');
  });

  it.each(['not_logged_in', 'bank_failing', 'forbidden'] as const)(
    'are not known if the bank says %s: no other reading helps',
    async (code) => {
      const error = refused(code);
      await expect(readAfter(giving([[]], error))).rejects.toBe(error);
    },
  );
});
