import { expect, it } from 'vitest';
import type { BankCall } from '../../src/bank/call/call.ts';
import { type FreePage, followPages } from '../../src/bank/call/pages.ts';
import { Psd2Error } from '../../src/errors.ts';

// When the pages of a list end, whatever the interface.

const FIRST: BankCall = {
  ...{ method: 'GET', path: '/1', transactionId: 't' },
  facts: { reads: null, needsConsent: false, login: false },
};
const at = (path: string, origin?: string): BankCall => ({ ...FIRST, path, ...(origin && { origin }) });

/** The pages by their numbers, and why the list ends. */
async function followed(page: (number: number) => Partial<FreePage>) {
  const pages: number[] = [];
  try {
    const read = async (call: BankCall, number: number): Promise<FreePage> => ({
      answer: { body: Buffer.alloc(0), json: `${number} ${call.path}`, refusal: null },
      content: String(number),
      next: null,
      ...page(number),
    });
    for await (const { json } of followPages(FIRST, read)) pages.push(Number.parseInt(String(json), 10));
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { pages, error };
  }
  return { pages, error: null };
}

const refused = new Psd2Error('bank_refused', 'No');
const OTHER = 'https://other.example';
it.each<[string, (number: number) => Partial<FreePage>, number[]]>([
  ['one page', () => ({}), [1]],
  ['two', (number) => ({ next: number === 1 ? at('/2') : null }), [1, 2]],
  ['two at one path of two hosts', (number) => ({ next: number === 1 ? at('/1', OTHER) : null }), [1, 2]],
  [
    'a refusal, whatever follows it',
    () => ({ answer: { body: Buffer.alloc(0), json: '1', refusal: refused }, next: at('/2') }),
    [1],
  ],
])('%s are a list', async (_, page, pages) => {
  expect(await followed(page)).toEqual({ pages, error: null });
});

const CIRCLE = 'leads back to a page that psd2 has read';
it.each<[string, (number: number) => Partial<FreePage>, number[], string]>([
  ['back to itself', () => ({ next: at('/1') }), [1], CIRCLE],
  ['back to the first', (number) => ({ next: at(number === 1 ? '/2' : '/1') }), [1, 2], CIRCLE],
  [
    'back to the first of the other host',
    (number) => ({ next: at('/1', number === 1 ? OTHER : undefined) }),
    [1, 2],
    CIRCLE,
  ],
  ['to the same content', () => ({ content: 'x', next: at('/2') }), [1], 'has the same page twice'],
  [
    'to the content of the page before the last',
    (number) => ({ content: String(number % 2), next: at(`/${number + 1}`) }),
    [1, 2],
    'has the same page twice',
  ],
])('a list that goes %s ends', async (_, page, pages, why) => {
  const { error, ...read } = await followed(page);
  expect(read.pages).toEqual(pages);
  expect(error).toMatchObject({
    ...{ code: 'bank_answer', message: `The bank's list ${why}, so psd2 stops reading` },
    hint: 'psd2 has printed the pages before. If the bank can narrow the list, do so with a query in the path.',
    transactionId: 't',
  });
});

it.each([
  [10_000, null],
  [10_001, "The bank's list has more than 10000 pages, so psd2 stops reading"],
])('of %i pages, at most 10 000 are read', async (count, message) => {
  const { pages, error } = await followed((number) => ({
    next: number < count ? at(`/${number + 1}`) : null,
  }));
  expect([pages.length, error?.message ?? null]).toEqual([10_000, message]);
});
