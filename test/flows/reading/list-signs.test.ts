import { describe, expect, it } from 'vitest';
import type { Transaction, TransactionQuery } from '../../../src/bank/ports/bank.ts';
import {
  collectTransactions,
  streamTransactions,
  WholeReadings,
} from '../../../src/flows/reading/transaction-reading.ts';
import { ALL_TRANSACTIONS } from '../../bank/client.ts';
import { lettersOf, type Pages, scriptedBank } from '../../bank/scripted-bank.ts';

// Tests what psd2 concludes, while it streams a list, from each sign that the list has moved: totals, repeated rows, and the
// beginning of the list, which it then reads again.

const BOOKED: TransactionQuery = { ...ALL_TRANSACTIONS, status: 'booked' };

async function streamed(
  script: Parameters<typeof scriptedBank>[0],
  { query = BOOKED, mayAskAgain = true }: { query?: TransactionQuery; mayAskAgain?: boolean } = {},
) {
  const { bank, left } = scriptedBank(script);
  const told: string[] = [];
  const pages: string[] = [];
  let error: unknown;
  try {
    const ports = { tell: (text: string) => told.push(text), mayAskAgain };
    for await (const page of streamTransactions(bank.accounts, query, ports)) pages.push(lettersOf(page));
  } catch (thrown) {
    error = thrown;
  }
  return { rows: pages.join(''), pages, told, error, left: left() };
}

/** All pages were read, and none of them was in vain. */
const WHOLE = { error: undefined, left: 0 };
const ONE_BOOKED = ['1 transaction booked while psd2 read the list: not included.'];
const MOVED_OTHERWISE = {
  code: 'list_changed',
  message: 'The transactions of 0000012345 changed while psd2 read them. Rows may be missing',
  hint: 'Discard the output and run the command again.',
  transactionId: BOOKED.transactionId,
};

it.each([
  ['all totals are the same', 'ab:4 cd:4.'],
  ['only the first page has a total', 'ab:4 cd.'],
  ['only the last page has a total', 'ab cd:4.'],
  ['each total is that of its page', 'ab:2 c:1 d:1.'],
])('psd2 makes no extra call if %s', async (_, booked) => {
  expect(await streamed({ booked })).toMatchObject({ rows: 'abcd', told: [], ...WHOLE });
});

it.each([
  ['all totals grow', 'ab:4 bc:5', 'nab:5', 'd:5.'],
  ['there are no totals', 'ab bc', 'nab', 'd.'],
  ['the beginning comes in two pages', 'ab bc', 'na bc', 'd.'],
  ['only the beginning read again has a total', 'ab bc', 'nab:5', 'd.'],
  ['the beginning read again has no total', 'ab:4 bc', 'nab', 'd.'],
  ['the page that repeats a row has no total', 'ab:4 bc', 'nab:5', 'd.'],
  ['the totals are those of the pages', 'ab:2 bc:2', 'nab:3', 'd:1.'],
  ['something more is booked after the page', 'ab:4 bc:5', 'mnab:6', 'd:5.'],
])('psd2 leaves out the row that repeats if %s', async (_, pages, beginning, rest) => {
  expect(await streamed({ booked: `${pages} ${beginning} ${rest}` })).toMatchObject({
    rows: 'abcd',
    told: ONE_BOOKED,
    ...WHOLE,
  });
});

it.each([
  ['repeats it', 'c:1', 'c:3', 'c:3 a:3 c:3', 'c:3.', 'c', 2],
  ['has as many rows as the total has grown', 'cc:2', 'cc:4', 'cc:4 cc:4', '-:4.', 'cc', 2],
  ['has no row and no total', 'ab:2', '- ab:6', 'mnop:6 ab:6', '-:6.', 'ab', 4],
  ['has no row but the same total', 'ab:2', '-:2 ab:6', 'mnop:6 ab:6', '-:6.', 'ab', 4],
])(
  'if the first page has as many rows as its total and the next one %s, later totals say what is new',
  async (_, first, pages, beginning, rest, rows, booked) => {
    expect(await streamed({ booked: `${first} ${pages} ${beginning} ${rest}` })).toMatchObject({
      rows,
      told: [`${booked} transactions booked while psd2 read the list: not included.`],
      ...WHOLE,
    });
  },
);

it.each([
  ['has rows without a total', 'ab:2 bc nab:3 d.'],
  ['has fewer rows, and a smaller total', 'ab:2 bc:2 nab:3 d:1.'],
  ['has rows with the same total', 'ab:2 b:2 nab:2 cd:2.'],
])(
  'if the first page has as many rows as its total and the next one %s, totals say nothing',
  async (_, booked) => {
    expect(await streamed({ booked })).toMatchObject({ rows: 'abcd', told: ONE_BOOKED, ...WHOLE });
  },
);

it('psd2 leaves out the rows of two moves, and reads the beginning again once for each', async () => {
  const [move, beginning, second, secondBeginning, rest] = ['abc cde', 'nabc', 'ef', 'mnabc', 'g.'];
  const booked = [move, beginning, second, secondBeginning, rest].join(' ');
  expect(await streamed({ booked })).toMatchObject({
    rows: 'abcdefg',
    told: ['2 transactions booked while psd2 read the list: not included.'],
    ...WHOLE,
  });
});

it('repeated rows that psd2 knows of are not a new sign, on however many pages they come', async () => {
  const [pages, beginning, rest] = ['abcd:6 ab:10', 'mnop:10 abcd:10', 'cd:10 ef:10.'];
  expect(await streamed({ booked: `${pages} ${beginning} ${rest}` })).toMatchObject({
    rows: 'abcdef',
    told: ['4 transactions booked while psd2 read the list: not included.'],
    ...WHOLE,
  });
});

it.each([
  ['with totals', 'ab:4 bc:4 ab:4 -:4.'],
  ['without totals', 'ab bc ab -.'],
])('two equal rows at the end of a page stay two if the beginning has not moved (%s)', async (_, booked) => {
  expect(await streamed({ booked })).toMatchObject({ rows: 'abbc', told: [], ...WHOLE });
});

it.each([
  ['the total shrinks', 'ab:4 d:3', 'bcd:3'],
  ['the page does not repeat what the total says', 'ab:4 cd:5', 'nab:5'],
  ['something is booked among older rows', 'ab:4 bc:5', 'anb:5'],
  ['the beginning has other rows', 'ab bc', 'xyz.'],
  ['a list that ended shrinks and then grows', 'cc:2 -:1 c:5', 'cc:5 yz:5'],
  ['the total shrinks after the page', 'ab:4 ab:6', 'nab:5'],
  ['the page may have moved by one row or by two', 'xaa aab', 'nxaa'],
  ['the page shows another move than the beginning', 'ab bc', 'nnab'],
  ['a row that was in front is gone again', 'abc cd nabc de', 'abc'],
])('psd2 ends with an error and says nothing else if %s', async (_, pages, beginning) => {
  expect(await streamed({ booked: `${pages} ${beginning}` })).toMatchObject({
    told: [],
    error: MOVED_OTHERWISE,
    left: 0,
  });
});

it('psd2 looks for the beginning in at most 2000 rows and the page that goes beyond them', async () => {
  const letters = (from: number) =>
    Array.from({ length: 500 }, (_, place) => String.fromCodePoint(0x4e00 + from + place)).join('');
  const last = letters(499).slice(0, 1);
  const others = [1000, 2000, 3000, 4000, 5000].map(letters);
  const booked = [letters(0), `${last}x`, ...others, 'never.'].join(' ');
  expect(await streamed({ booked })).toMatchObject({ error: MOVED_OTHERWISE, left: 1 });
});

it('psd2 gives no empty page to the caller', async () => {
  expect((await streamed({ booked: '- ab - c.' })).pages).toEqual(['ab', 'c']);
});

it('psd2 also says what was booked if the caller stops early', async () => {
  const told: string[] = [];
  const ports = { tell: (text: string) => told.push(text), mayAskAgain: true };
  const pages = streamTransactions(scriptedBank({ booked: 'ab:4 bc:5 nab:5' }).bank.accounts, BOOKED, ports);
  await pages.next();
  await pages.next();
  await pages.return(undefined);
  expect(told).toEqual(ONE_BOOKED);
});

it('psd2 says how many pending transactions were added', async () => {
  const query: TransactionQuery = { ...ALL_TRANSACTIONS, status: 'pending' };
  expect(await streamed({ pending: 'ab:4 ab:6 nmab:6 cd:6.' }, { query })).toMatchObject({
    rows: 'abcd',
    told: ['2 pending transactions added while psd2 read the list: not included.'],
    error: undefined,
  });
});

it.each([
  ['ab:2.', 'c:1.', []],
  ['ab.', 'c.', []],
  ['ab:3.', 'c:1.', ['The bank announced 3 booked transactions but sent 2.']],
  ['ab:1.', 'c:1.', ['The bank announced 1 booked transaction but sent 2.']],
  ['ab:2.', 'c:4.', ['The bank announced 4 pending transactions but sent 1.']],
])('for the booked page %s and the pending page %s psd2 says %j', async (booked, pending, told) => {
  expect(await streamed({ booked, pending }, { query: ALL_TRANSACTIONS })).toMatchObject({
    rows: 'abc',
    told,
  });
});

it('psd2 says that rows are missing if only the last page has a total', async () => {
  expect((await streamed({ booked: 'ab cd:5.' })).told).toEqual([
    'The bank announced 5 booked transactions but sent 4.',
  ]);
});

const CHANGED =
  'The list changed while psd2 read it: the bank announced 4 transactions, then 5. Rows may be repeated or missing. Run the command again.';
it.each([
  ['the totals stay', 'ab:4 cd:4.', 'abcd', []],
  ['only the first page has a total', 'ab:4 cd.', 'abcd', []],
  ['only the last page has a total', 'ab cd:4.', 'abcd', []],
  ['the totals change', 'ab:4 bc d:5.', 'abbcd', [CHANGED]],
])(
  'if psd2 may make no extra call and %s, it gives all rows and each warning',
  async (_, booked, rows, told) => {
    expect(await streamed({ booked }, { mayAskAgain: false })).toMatchObject({ rows, told, ...WHOLE });
  },
);

// Tests when psd2 believes a whole reading of a list, and when it reads the list again.

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
