import { describe, expect, it } from 'vitest';
import type { Transaction, TransactionQuery } from '../../../src/bank/ports/bank.ts';
import { collectTransactions, WholeReadings } from '../../../src/flows/reading/transaction-reading.ts';
import { ALL_TRANSACTIONS } from '../../bank/client.ts';
import { lettersOf, type Pages, scriptedBank } from '../../bank/scripted-bank.ts';

// Tests when psd2 believes a whole reading of a list, and when it reads the list again.

const BOOKED: TransactionQuery = { ...ALL_TRANSACTIONS, status: 'booked' };

async function collected(booked: Pages, isEnough?: (rows: readonly Transaction[]) => boolean) {
  const { bank, left } = scriptedBank({ booked });
  const rows = lettersOf(await collectTransactions(bank.accounts, BOOKED, isEnough));
  return { rows, left: left() };
}

it.each([
  ['the rows are as many as the total', 'ab:3 c:3.', 'abc'],
  ['the bank gives no totals', 'ab c.', 'abc'],
  ['only the first page has a total', 'ab:3 c.', 'abc'],
  ['only the last page has a total', 'ab c:3.', 'abc'],
  ['all pages are empty', '- -.', ''],
  ['the last page is empty', 'ab:2 -:2.', 'ab'],
])('psd2 reads a list once if %s', async (_, pages, rows) => {
  expect(await collected(pages)).toEqual({ rows, left: 0 });
});

it.each([
  ['the total counts something else', 'ab:5 c:5.', 'abc'],
  ['a page begins as the page before ended', 'ab:4 bc:4.', 'abbc'],
  ['rows come after an empty page', '- ab.', 'ab'],
  ['rows come after an empty page in between', 'a - b.', 'ab'],
])('psd2 reads a list twice and then believes it if both times %s', async (_, pages, rows) => {
  expect(await collected(`${pages} ${pages}`)).toEqual({ rows, left: 0 });
});

it('psd2 stops at the page whose total differs, even if a page between has no total', async () => {
  const [first, second] = ['ab:5 cd de:6', 'nabcde:6.'];
  expect(await collected(`${first} ${second}`)).toEqual({ rows: 'nabcde', left: 0 });
});

it('if the totals change in the same way in two readings, psd2 reads on and ignores them', async () => {
  const [first, second] = ['ab:5 cd:7', 'ab:5 cd:7 e:5 f:9.'];
  expect(await collected(`${first} ${second}`)).toEqual({ rows: 'abcdef', left: 0 });
});

it('a doubt about one of the two lists is enough to read both again', async () => {
  const { bank, left } = scriptedBank({ booked: 'ab:2. ab:2.', pending: 'c:4. c:4.' });
  expect(lettersOf(await collectTransactions(bank.accounts, ALL_TRANSACTIONS))).toBe('abc');
  expect(left()).toBe(0);
});

it('psd2 gives up after three readings that differ', async () => {
  const { bank, left } = scriptedBank({ booked: 'ab:3. abc:4. abcd:5.' });
  await expect(collectTransactions(bank.accounts, BOOKED)).rejects.toMatchObject({
    code: 'list_changed',
    message: 'The transactions of 0000012345 changed during each of 3 readings',
    hint: 'Run the command again.',
    transactionId: BOOKED.transactionId,
  });
  expect(left()).toBe(0);
});

describe('a reading that ends early', () => {
  const isEnough = (rows: readonly Transaction[]) => rows.length >= 3;

  it('a reading that ends early does not need a complete list', async () => {
    expect(await collected('abc:30', isEnough)).toEqual({ rows: 'abc', left: 0 });
  });

  it('a reading that ends early is done again if it is in doubt', async () => {
    const [first, second] = ['ab:30 bc:30', 'nab:30'];
    expect(await collected(`${first} ${second}`, isEnough)).toEqual({ rows: 'nab', left: 0 });
  });

  it('a reading says after each page how many rows there are, and how many are on the page', async () => {
    const counts: [number, number][] = [];
    await new WholeReadings(scriptedBank({ booked: 'abc - d.' }).bank.accounts, BOOKED).next(
      (rows, pageRows) => {
        counts.push([rows.length, pageRows]);
        return false;
      },
    );
    expect(counts).toEqual([
      [3, 3],
      [3, 0],
      [4, 1],
    ]);
  });
});
