import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transaction, TransactionQuery } from '../../../../src/bank/ports/bank.ts';
import { addDays, bankDay } from '../../../../src/domain/calendar.ts';
import {
  CONSENT_ID,
  json,
  type NextGenOptions,
  TRANSACTION_ID,
  useNextGen,
  useNextGenBank,
} from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const DAY = bankDay(new Date());
const EARLIEST = addDays(DAY, -90);
const FIRST = `/v1/accounts/a1/transactions?bookingStatus=both&dateFrom=${EARLIEST}`;
const QUERY: TransactionQuery = {
  customerId: 'shop',
  productId: 'a1',
  from: undefined,
  to: undefined,
  status: undefined,
  transactionId: TRANSACTION_ID,
};

const row = (transactionId: string, more: object = {}) => ({
  transactionId,
  transactionAmount: { amount: '-1.00', currency: 'EUR' },
  bookingDate: '2026-11-01',
  ...more,
});
const page = (booked: object[], next?: string, pending?: object[]) =>
  json({
    transactions: {
      booked,
      ...(pending && { pending }),
      _links: { ...(next !== undefined && { next: { href: next } }) },
    },
  });

interface Read {
  booked: Transaction[];
  pending: Transaction[];
  more: (boolean | undefined)[];
}

async function read(query: Partial<TransactionQuery> = {}, options: NextGenOptions = {}): Promise<Read> {
  const result: Read = { booked: [], pending: [], more: [] };
  for await (const { booked, pending } of open(options).bank.accounts.pages({ ...QUERY, ...query })) {
    result.booked.push(...(booked?.rows ?? []));
    result.pending.push(...(pending?.rows ?? []));
    result.more.push((booked ?? pending)?.hasMore);
  }
  return result;
}

const ids = (rows: readonly Transaction[]) => rows.map(({ transactionId }) => transactionId);

describe('a row', () => {
  const readRow = async (more: object) => {
    bank.expect('GET', FIRST, page([row('t1', more)]));
    return (await read()).booked[0];
  };

  it.each<[string, object, string, string | null]>([
    ['by its IBAN', { iban: 'de23 1000 0000 1234 5678 90' }, '5', null],
    ['by its number', { bban: '100000001234567890' }, '5', null],
    ['by its number, of what was paid', { bban: '1000 0000 1234 5678 90' }, '-5', null],
    ['by another number', { bban: '100000001234567891' }, '5', 'The customer'],
  ])('never names the account itself as the other side: %s', async (_, account, amount, name) => {
    const side = amount.startsWith('-') ? 'debtor' : 'creditor';
    const own = 'DE23100000001234567890';
    const named = { [`${side}Name`]: 'The customer', [`${side}Account`]: account };
    const asked = `/v1/accounts/${own}/transactions?bookingStatus=both&dateFrom=${EARLIEST}`;
    bank.expect(
      'GET',
      asked,
      page([row('t1', { transactionAmount: { amount, currency: 'EUR' }, ...named })]),
    );
    const { booked } = await read({ productId: own });
    expect(booked).toMatchObject([{ counterpartyName: name, counterpartyIban: null }]);
  });

  it.each([
    ['text', { remittanceInformationUnstructured: 'a' }, 'a'],
    ['an array', { remittanceInformationUnstructuredArray: ['a', 'b'] }, 'a b'],
    ['a structured text', { remittanceInformationStructured: 'RF1' }, 'RF1'],
    ['an object', { remittanceInformationStructured: { reference: 'RF2', referenceType: 'SCOR' } }, 'RF2'],
    [
      'objects',
      { remittanceInformationStructuredArray: [{ reference: 'RF3' }, { reference: 'RF4' }] },
      'RF3 RF4',
    ],
    ['an object where a text belongs', { remittanceInformationUnstructured: { reference: 'RF5' } }, 'RF5'],
    ['nothing', {}, null],
    ['something else', { remittanceInformationUnstructured: { other: 1 } }, null],
    ['control characters', { remittanceInformationUnstructured: 'a\u0000b' }, 'a b'],
  ])('has its remittance from %s', async (_name, more, remittance) => {
    expect(await readRow(more)).toMatchObject({ remittance });
  });

  it('with odd parts keeps the rest, but an amount must be one', async () => {
    expect(await readRow({ creditorAccount: 'x', creditorName: 7, endToEndId: 'NOTPROVIDED' })).toMatchObject(
      {
        counterpartyName: '7',
        counterpartyIban: null,
        transferReference: null,
      },
    );
    bank.expect('GET', FIRST, page([row('t1', { transactionAmount: { amount: 'many', currency: 'EUR' } })]));
    await expect(read()).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('amount'),
    });
  });
});

describe('pages by links', () => {
  it.each([
    ['relative to the host', '/v1/x?cursor=a%2Fb&q=%20', '/v1/x?cursor=a%2Fb&q=%20'],
    ['relative to the base URL', 'v1/x?c=1', '/v1/x?c=1'],
    ['a query', '?page=2', '/v1/accounts/a1/transactions?page=2'],
    ['absolute', 'BASE/v1/x?c=\'|"', '/v1/x?c=\'|"'],
  ])('a link that is %s is followed as it is, with the consent', async (_name, href, path) => {
    bank.expect('GET', FIRST, page([row('1')], href.replace('BASE', bank.baseUrl)));
    bank.expect('GET', path, page([row('2')]));
    const { booked, more } = await read();
    expect([ids(booked), more]).toEqual([
      ['1', '2'],
      [true, false],
    ]);
    expect(bank.last.headers['consent-id']).toBe(CONSENT_ID);
  });

  it('a base URL with a path', async () => {
    const baseUrl = `${bank.baseUrl}/psd2`;
    for (const href of ['/psd2/v1/x', '/v1/x', `${baseUrl}/v1/x`]) {
      bank.expect('GET', `/psd2${FIRST}`, page([row('1')], href));
      bank.expect('GET', '/psd2/v1/x', page([row('2')]));
      expect(ids((await read({}, { baseUrl })).booked)).toEqual(['1', '2']);
    }
    bank.expect('GET', `/psd2${FIRST}`, page([row('1')], '/elsewhere/x'));
    bank.expect('GET', '/psd2/elsewhere/x', page([row('2')]));
    expect(ids((await read({}, { baseUrl })).booked)).toEqual(['1', '2']);
  });

  it.each([
    'https://evil.example/v1/x',
    '//evil.example/x',
    'http://127.0.0.1:1/x',
    'BASE@evil.example/x',
    'ftp://x',
    'https://',
    'javascript:1',
    '/a b',
    `/${'x'.repeat(9000)}`,
  ])('the link %s is not followed', async (href) => {
    bank.expect('GET', FIRST, page([row('1')], href.replace('BASE', bank.baseUrl)));
    await expect(read()).rejects.toMatchObject({ code: 'bank_answer', transactionId: TRANSACTION_ID });
  });

  it('whatever the pages, all rows are read once, in the bank’s order', async () => {
    const pages = fc.array(fc.record({ booked: fc.nat({ max: 3 }), pending: fc.nat({ max: 2 }) }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(pages, async (sizes) => {
        const all: { booked: string[]; pending: string[] } = { booked: [], pending: [] };
        sizes.forEach(({ booked, pending }, number) => {
          const rowsOf = (list: 'booked' | 'pending', count: number) =>
            Array.from({ length: count }, (_, at) => {
              const id = `${list}-${number}-${at}`;
              all[list].push(id);
              return row(id);
            });
          const next = number + 1 < sizes.length ? `/v1/p${number + 1}` : undefined;
          bank.expect(
            'GET',
            number === 0 ? FIRST : `/v1/p${number}`,
            page(rowsOf('booked', booked), next, rowsOf('pending', pending)),
          );
        });
        const { booked, pending } = await read();
        expect([ids(booked), ids(pending)]).toEqual([all.booked, all.pending]);
      }),
      { numRuns: 30 },
    );
  });

  it('a link back to any page ends with an error', async () => {
    const loop = fc.nat({ max: 5 }).chain((last) => fc.tuple(fc.constant(last), fc.nat({ max: last })));
    await fc.assert(
      fc.asyncProperty(loop, async ([last, back]) => {
        const path = (number: number) => (number === 0 ? FIRST : `/v1/p${number}`);
        for (let number = 0; number <= last; number += 1)
          bank.expect(
            'GET',
            path(number),
            page([row(`${number}`)], path(number === last ? back : number + 1)),
          );
        await expect(read()).rejects.toMatchObject({
          code: 'bank_answer',
          message: expect.stringContaining('do not advance'),
        });
      }),
      { numRuns: 20 },
    );
  });
});

describe('pages by numbers', () => {
  const numbered = (index: number) => `${FIRST}&pageIndex=${index}&itemsPerPage=100`;
  const file = { accounts: { paging: 'page-index' as const } };

  it('a bank that gives the same pages for every number does not advance', async () => {
    for (const [index, id] of ['1', '2', '1', '2', '1'].entries())
      bank.expect('GET', numbered(index), page([row(id)]));
    await expect(read({}, { file })).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

it('the last linked page may count all pages', async () => {
  const counting = (body: object) => json(body, 200, { 'X-Total-Pages': '2' });
  const first = { transactions: { booked: [row('1')], _links: { next: { href: '?page=2' } } } };
  const last = { transactions: { booked: [row('2')] } };
  bank.expect('GET', FIRST, counting(first));
  bank.expect('GET', '/v1/accounts/a1/transactions?page=2', counting(last));
  expect(ids((await read()).booked)).toEqual(['1', '2']);
});
