import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { pagesOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/transactions.ts';
import type { Transaction, TransactionPage } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { failureOf, refused, type Scripted, said, scriptedCalls, TRANSACTION_ID } from '../scripted.ts';

// Which lists a bank has: booked rows, pending ones, or both at once. What it refuses is told from any other refusal.

type Status = Transaction['status'];
const row = (id: string, more: object = {}) => ({
  ...{ transactionId: id, transactionAmount: { amount: '-1.00', currency: 'EUR' }, ...more },
});
const booked = (...ids: string[]) => said({ transactions: { booked: ids.map((id) => row(id)) } });
const pending = (...ids: string[]) => said({ transactions: { pending: ids.map((id) => row(id)) } });

interface Reading {
  status?: Status;
  accounts?: BankFile['accounts'];
  /** The lists of the bank that psd2 has learnt before. */
  learnt?: (Status | 'both')[];
}

async function read(answers: Scripted[], { status, accounts, learnt }: Reading = {}) {
  const noted: unknown[] = [];
  const consents: ConsentSource = {
    async for(what) {
      expect(what).toEqual({ account: 'a1', of: 'transactions' });
      return { consentId: 'c1', reads: ['transactions'] };
    },
    listsOf: () => learnt?.filter((each) => each !== 'both'),
    tookLists: async (_consentId, lists) => void noted.push(lists),
  };
  const { calls, sent } = scriptedCalls(answers, { accounts: { cards: 'never', ...accounts } }, consents);
  const query = { customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status };
  const pages: TransactionPage[] = [];
  for await (const page of pagesOf(calls, { ...query, transactionId: TRANSACTION_ID })) pages.push(page);
  const idsOf = (list: Status) =>
    pages.flatMap((page) => (page[list]?.rows ?? []).map(({ transactionId }) => transactionId));
  const asked = sent.map(({ path }) => new URLSearchParams(path.split('?')[1]).get('bookingStatus'));
  return { asked, noted, pages, booked: idsOf('booked'), pending: idsOf('pending') };
}

const words = (text: string, status: number, code = 'OTHER') => refused(code, status, text);
const BOTH = 'The value both is not supported';
const EACH = [booked('b1'), pending('p1')];

describe('a bank that refuses to give both lists at once', () => {
  it.each([
    ...[400, 404, 405, 422, 501].map((status): [string, Scripted] => [`${status}`, words(BOTH, status)]),
    ...['bookingStatus', 'BOOKINGSTATUS', 'booking status', 'booking_status', 'booking-status'].map(
      (name): [string, Scripted] => [name, words(`Wrong ${name}.`, 400)],
    ),
    ['BOTH in capitals', words('BOTH: unknown', 400)],
    [
      'the path of a message',
      said({ tppMessages: [{ category: 'ERROR', code: 'X', path: 'bookingStatus' }] }, 400),
    ],
  ])('is asked for each, after %s', async (_, refusal) => {
    const { asked, noted, ...rows } = await read([refusal, ...EACH]);
    expect([asked, noted]).toEqual([['both', 'booked', 'pending'], [['booked', 'pending']]]);
    expect(rows).toMatchObject({ booked: ['b1'], pending: ['p1'] });
  });

  it.each([
    ...[401, 403, 409, 429, 500, 503].map((status): [string, Scripted] => [`${status}`, words(BOTH, status)]),
    ['other words', words('Not bothered', 400)],
    ['words with a letter between', words('bookingXstatus', 400)],
    ['words about booked ones', words('booked is unknown', 400)],
    ['words about pending ones', words('pending is unknown', 400)],
    ['405 alone', { status: 405 }],
    ['501 alone', { status: 501 }],
    ['404 alone', { status: 404 }],
    ['an unknown service', words('No', 403, 'SERVICE_INVALID')],
    ['a parameter', words('No', 400, 'PARAMETER_NOT_SUPPORTED')],
    ['204, as if there were nothing', { status: 204 }],
  ])('is none that refuses for another reason: %s', async (_, refusal) => {
    expect(await failureOf(read([refusal, ...EACH]))).toMatchObject({ httpStatus: refusal.status });
  });
});

describe('a bank that has no pending rows', () => {
  const TWICE: Reading = { accounts: { bookingStatuses: ['booked', 'pending'] } };
  it.each<[string, Scripted]>([
    ['405', { status: 405 }],
    ['501', { status: 501 }],
    ['404, since it knows the account', { status: 404 }],
    ['403 for an unknown service', words('No', 403, 'SERVICE_INVALID')],
    ['400 for a parameter', words('No', 400, 'PARAMETER_NOT_SUPPORTED')],
    ['400 with the word', words('pending: unknown value', 400)],
    ['422 with the word', words('PENDING', 422)],
  ])('says so with %s, and that is noted', async (_, refusal) => {
    expect(await read([booked('b1'), refusal], TWICE)).toMatchObject({
      ...{ asked: ['booked', 'pending'], noted: [['booked']], booked: ['b1'], pending: [] },
    });
  });

  it.each<[string, Scripted]>([
    ['400 alone', { status: 400 }],
    ['403 alone', { status: 403 }],
    ['400 for another reason', words('No', 400, 'FORMAT_ERROR')],
    ['400 for a service', words('No', 400, 'SERVICE_INVALID')],
    ['403 for a consent', words('No', 403, 'CONSENT_UNKNOWN')],
    ['a parameter with 403', words('No', 403, 'PARAMETER_NOT_SUPPORTED')],
    ['422 with another word', words('both', 422)],
    ['503 with the word', words('pending', 503)],
  ])('does not say so with %s', async (_, refusal) => {
    expect(await failureOf(read([booked('b1'), refusal], TWICE))).toMatchObject({
      httpStatus: refusal.status,
    });
  });

  it('and none at the moment are two things: 204 is not noted', async () => {
    const none = { rows: [], total: null, hasMore: false };
    const { pages, noted } = await read([booked('b1'), { status: 204 }], TWICE);
    expect([pages.at(-1), noted]).toEqual([{ pending: none }, []]);
  });

  it('may have no booked ones to give: that is an error, and nothing is noted', async () => {
    expect(await failureOf(read([{ status: 405 }], TWICE))).toMatchObject({ httpStatus: 405 });
    expect(await failureOf(read([{ status: 204 }], TWICE))).toMatchObject({ httpStatus: 204 });
  });
});

it.each<[string, Reading, Scripted[], (string | null)[], unknown[]]>([
  [
    'pending ones, of which it has a list',
    { status: 'pending', learnt: ['booked', 'pending'] },
    [pending('p1')],
    ['pending'],
    [],
  ],
  ['pending ones, of which it has none', { status: 'pending', learnt: ['booked'] }, [], [], [['booked']]],
  ['booked ones', { status: 'booked', learnt: ['booked'] }, [booked('b1')], ['booked'], []],
  ['all', { learnt: ['booked'] }, [booked('b1')], ['booked'], []],
  ['all, of two lists', { learnt: ['booked', 'pending'] }, EACH, ['booked', 'pending'], []],
  [
    'pending ones, by a bank file that has none',
    { status: 'pending', accounts: { bookingStatuses: ['booked'] } },
    [],
    [],
    [],
  ],
])('a bank whose lists are known is asked for %s', async (_, reading, answers, asked, noted) => {
  expect(await read(answers, reading)).toMatchObject({ asked, noted });
});

it.each<[Status, object]>([
  ['booked', { booked: ['b1'], pending: [] }],
  ['pending', { booked: [], pending: ['p1'] }],
])('of a bank that gives both alone, who asks for %s ones gets no others', async (status, expected) => {
  const both = said({ transactions: { booked: [row('b1')], pending: [row('p1')] } });
  const found = await read([both], { status, accounts: { bookingStatuses: ['both'] } });
  expect(found).toMatchObject({ asked: ['both'], ...expected });
});

it('a list of pending rows alone is an answer about both', async () => {
  expect(await read([pending('p1')])).toMatchObject({ asked: ['both'], booked: [], pending: ['p1'] });
});

it.each<[string, Status | undefined, object, number | undefined]>([
  ['none', undefined, { booked: [row('1', { bookingDate: '2026-11-20' })] }, undefined],
  [
    'one of two',
    undefined,
    { booked: [row('1', { bookingDate: 'x', valueDate: '2026-11-20' }), row('2')] },
    1,
  ],
  [
    'two',
    undefined,
    { booked: ['1', '2'].map((id) => row(id, { bookingDate: 'x', valueDate: '2026-11-20' })) },
    2,
  ],
  [
    'another field',
    undefined,
    { booked: [row('1', { mandateId: {}, bookingDate: '2026-11-20' })] },
    undefined,
  ],
  [
    'a pending one',
    undefined,
    { booked: [], pending: [row('1', { bookingDate: 'x', valueDate: '2026-11-20' })] },
    undefined,
  ],
  [
    'a booked one of which nobody asks',
    'pending',
    { booked: [row('1', { bookingDate: 'x', valueDate: '2026-11-20' })] },
    undefined,
  ],
])('a page says how many booked rows have a day that nobody can read: %s', async (_, status, lists, days) => {
  const reading = { ...(status && { status }), accounts: { bookingStatuses: ['both' as const] } };
  const [page] = (await read([said({ transactions: lists })], reading)).pages;
  expect({ unreadDays: undefined, ...page }).toMatchObject({ unreadDays: days });
  expect('unreadDays' in (page ?? {})).toBe(days !== undefined);
});
