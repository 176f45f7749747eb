import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transaction, TransactionQuery } from '../../../../src/bank/ports/bank.ts';
import { withIds } from '../../../../src/domain/booked-ids.ts';
import { addDays, bankDay } from '../../../../src/domain/calendar.ts';
import type { Psd2Error } from '../../../../src/errors.ts';
import { collectTransactions } from '../../../../src/flows/reading/transaction-reading.ts';
import {
  CONSENT_ID,
  json,
  type NextGenOptions,
  refusal,
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

describe('which transactions the bank is asked for', () => {
  const asked = async (path: string, query: Partial<TransactionQuery>, options?: NextGenOptions) => {
    bank.expect('GET', `/v1/accounts/a1/transactions?${path}`, page([row('new')]));
    expect(ids((await read(query, options)).booked)).toEqual(['new']);
  };
  const from = addDays(DAY, -10);
  const to = addDays(DAY, -5);

  it('a range, as far back as the bank has them', async () => {
    await asked(`bookingStatus=both&dateFrom=${from}&dateTo=${to}`, { from, to });
    await asked(`bookingStatus=both&dateFrom=${EARLIEST}`, { from: addDays(DAY, -400) });
    const file = { accounts: { historyDays: 30 } };
    await asked(`bookingStatus=both&dateFrom=${addDays(DAY, -30)}`, {}, { file });
    expect(open({ file }).bank.accounts.earliestDay?.()).toBe(addDays(DAY, -30));
  });

  it('a range before the bank’s history is empty, without a call', async () => {
    expect(await read({ from: addDays(DAY, -400), to: addDays(DAY, -300) })).toEqual({
      booked: [],
      pending: [],
      more: [false],
    });
  });

  it.each([
    [['booked', 'pending', 'both'], undefined, ['both']],
    [['booked', 'pending'], undefined, ['booked', 'pending']],
    [['booked'], undefined, ['booked']],
    [['booked', 'both'], 'pending', ['both']],
    [['booked', 'both'], 'booked', ['booked']],
    [['booked', 'pending'], 'pending', ['pending']],
    [['booked'], 'pending', []],
  ] as const)('a bank with %j, asked for %s', async (bookingStatuses, status, calls) => {
    for (const bookingStatus of calls)
      bank.expect(
        'GET',
        `/v1/accounts/a1/transactions?bookingStatus=${bookingStatus}&dateFrom=${EARLIEST}`,
        page([row('b')], undefined, [row('p')]),
      );
    const file = { accounts: { bookingStatuses: [...bookingStatuses] } };
    const { booked, pending } = await read({ status }, { file });
    const wanted = (list: 'booked' | 'pending') =>
      (status === undefined || status === list) && calls.some((call) => call === list || call === 'both');
    expect([ids(booked), ids(pending)]).toEqual([
      wanted('booked') ? ['b'] : [],
      wanted('pending') ? ['p'] : [],
    ]);
  });

  it('what is new since an entry, if the bank knows that', async () => {
    await asked(
      'bookingStatus=both&entryReferenceFrom=e%2F1',
      { after: 'e/1', from },
      { file: { accounts: { delta: 'entryReferenceFrom' } } },
    );
    await asked(`bookingStatus=both&dateFrom=${from}`, { after: 'e/1', from });
  });
});

describe('a row', () => {
  const readRow = async (more: object) => {
    bank.expect('GET', FIRST, page([row('t1', more)]));
    return (await read()).booked[0];
  };

  it('has today’s fields and its own', async () => {
    expect(
      await readRow({
        entryReference: 'e1',
        endToEndId: 'INV-1',
        valueDate: '2026-11-02',
        transactionAmount: { amount: '-12345678901234567.890', currency: 'EUR' },
        creditorName: 'John Miles',
        creditorAccount: { iban: 'DE67100100101306118605' },
        debtorName: 'The customer',
        remittanceInformationUnstructured: 'Invoice 1',
        bankTransactionCode: 'PMNT-RDDT-ESDD',
        proprietaryBankTransactionCode: '117',
      }),
    ).toEqual({
      index: '1',
      status: 'booked',
      bookingDate: '2026-11-01',
      valueDate: '2026-11-02',
      amount: '-12345678901234567.890',
      currency: 'EUR',
      description: 'John Miles',
      details: 'Invoice 1',
      code: '117',
      transferReference: 'INV-1',
      feeCharge: null,
      transactionId: 't1',
      entryReference: 'e1',
      endToEndId: 'INV-1',
      counterpartyName: 'John Miles',
      counterpartyIban: 'DE67100100101306118605',
      remittance: 'Invoice 1',
      bankTransactionCode: 'PMNT-RDDT-ESDD',
    });
  });

  it('of money that came in names the debtor', async () => {
    const row = await readRow({
      transactionAmount: { amount: '5', currency: 'EUR' },
      creditorName: 'The customer',
      debtorName: 'Paul',
    });
    expect(row).toMatchObject({ counterpartyName: 'Paul', counterpartyIban: null });
  });

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

  it('of a card has other names for its fields', async () => {
    const path = `transactions?bookingStatus=both&dateFrom=${EARLIEST}`;
    bank.expect('GET', `/v1/accounts/a1/${path}`, refusal(404, 'RESOURCE_UNKNOWN'));
    const booked = [
      {
        cardTransactionId: 'k1',
        transactionAmount: { amount: '1', currency: 'EUR' },
        transactionDetails: 'A shop',
        transactionDate: '2026-11-03',
      },
    ];
    const next = '/v1/card-accounts/a1/more';
    bank.expect(
      'GET',
      `/v1/card-accounts/a1/${path}`,
      json({ cardTransactions: { booked, _links: { next: { href: next } } } }),
    );
    bank.expect('GET', next, json({ cardTransactions: { booked: [], _links: {} } }));
    expect((await read()).booked).toMatchObject([
      { transactionId: 'k1', remittance: 'A shop', valueDate: '2026-11-03', bookingDate: null },
    ]);
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

  it('empty pages without an end are an error', async () => {
    for (let number = 0; number <= 100; number += 1)
      bank.expect('GET', number === 0 ? FIRST : `/v1/p${number}`, page([], `/v1/p${number + 1}`));
    await expect(read()).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

describe('a list that moves', () => {
  const PAGES = [
    [FIRST, '/v1/p1'],
    ['/v1/p1', undefined],
  ] as const;
  const script = (...rows: string[][]) => {
    for (const [at, ids] of rows.entries()) {
      const [path = '', next] = PAGES[at % 2] ?? [];
      bank.expect(
        'GET',
        path,
        page(
          ids.map((id) =>
            row(id, {
              bookingDate: `2026-11-${id}`,
              transactionAmount: { amount: `-${id}`, currency: 'EUR' },
            }),
          ),
          next,
        ),
      );
    }
  };

  it('is read again until a reading shows no sign of a change', async () => {
    // A transaction is booked between the two pages, so the second begins with the last row of the first.
    script(['22', '21'], ['21', '20'], ['23', '22'], ['21', '20']);
    expect(ids(await collectTransactions(open().bank.accounts, QUERY))).toEqual(['23', '22', '21', '20']);
  });

  it('gives its rows the same ids in every range', async () => {
    script(['22', '21'], ['20']);
    const whole = withIds(
      { productId: 'a1', currency: 'EUR' },
      await collectTransactions(open().bank.accounts, QUERY),
    );
    script(['21'], ['20']);
    const later = withIds(
      { productId: 'a1', currency: 'EUR' },
      await collectTransactions(open().bank.accounts, QUERY),
    );
    expect(later.map(({ id }) => id)).toEqual(whole.slice(1).map(({ id }) => id));
  });
});

describe('pages by numbers', () => {
  const numbered = (index: number) => `${FIRST}&pageIndex=${index}&itemsPerPage=100`;
  const file = { accounts: { paging: 'page-index' as const } };

  it('until a page is shorter than the first, or empty', async () => {
    bank.expect('GET', numbered(0), page([row('1'), row('2')]));
    bank.expect('GET', numbered(1), page([row('3'), row('4')]));
    bank.expect('GET', numbered(2), page([row('5')]));
    expect(ids((await read({}, { file })).booked)).toEqual(['1', '2', '3', '4', '5']);
    bank.expect('GET', numbered(0), page([row('1')]));
    bank.expect('GET', numbered(1), page([]));
    expect(ids((await read({}, { file })).booked)).toEqual(['1']);
    bank.expect('GET', numbered(0), page([]));
    expect((await read({}, { file })).booked).toEqual([]);
  });

  it('a bank that gives the same pages for every number does not advance', async () => {
    for (const [index, id] of ['1', '2', '1', '2', '1'].entries())
      bank.expect('GET', numbered(index), page([row(id)]));
    await expect(read({}, { file })).rejects.toMatchObject({ code: 'bank_answer' });
  });

  it('a page that a moving list repeats is no error', async () => {
    for (const [index, ids] of [['1', '2'], ['1', '2'], ['3']].entries())
      bank.expect('GET', numbered(index), page(ids.map((id) => row(id))));
    expect(ids((await read({}, { file })).booked)).toEqual(['1', '2', '1', '2', '3']);
  });

  it('a link comes before a number, and a bank with links has no further page without one', async () => {
    bank.expect('GET', numbered(0), page([row('1')], '/v1/next'));
    bank.expect('GET', '/v1/next', page([row('2')]));
    expect(ids((await read({}, { file })).booked)).toEqual(['1', '2']);
  });
});

describe('pages by a header', () => {
  const file = { accounts: { paging: { totalPagesHeader: 'Total-Pages', pageParameter: 'page' } } };
  const counted = (id: string, total: string | undefined) =>
    json({ transactions: { booked: [row(id)] } }, 200, total === undefined ? {} : { 'total-pages': total });

  it('as many as it says', async () => {
    bank.expect('GET', FIRST, counted('1', '3'));
    bank.expect('GET', `${FIRST}&page=2`, counted('2', '3'));
    bank.expect('GET', `${FIRST}&page=3`, counted('3', '3'));
    expect(ids((await read({}, { file })).booked)).toEqual(['1', '2', '3']);
  });

  it('without the header nobody knows how many, unless there is no row', async () => {
    bank.expect('GET', FIRST, counted('1', undefined));
    await expect(read({}, { file })).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('Total-Pages'),
    });
    bank.expect('GET', FIRST, json({ transactions: { booked: [] } }));
    expect((await read({}, { file })).booked).toEqual([]);
  });

  it.each([2, 3])(
    'a bank that gives the same page for each of %i numbers does not advance',
    async (total) => {
      bank.expect('GET', FIRST, counted('1', `${total}`));
      for (let page = 2; page <= total; page += 1)
        bank.expect('GET', `${FIRST}&page=${page}`, counted('1', `${total}`));
      await expect(read({}, { file })).rejects.toMatchObject({ code: 'bank_answer' });
    },
  );

  it.each(['Total-Pages', 'X-Total-Pages', 'totalPages'])(
    'are not taken for all of a bank that links to them: %s tells that there are more',
    async (name) => {
      const counting = (total: string) =>
        json({ transactions: { booked: [row('1')] } }, 200, { [name]: total });
      bank.expect('GET', FIRST, counting('2'));
      await expect(read()).rejects.toMatchObject({
        code: 'bank_answer',
        hint: expect.stringContaining('accounts.paging'),
      });
      bank.expect('GET', FIRST, counting('1'));
      expect(ids((await read()).booked)).toEqual(['1']);
    },
  );

  it('the last linked page may count all pages', async () => {
    const counting = (body: object) => json(body, 200, { 'X-Total-Pages': '2' });
    const first = { transactions: { booked: [row('1')], _links: { next: { href: '?page=2' } } } };
    bank.expect('GET', FIRST, counting(first));
    bank.expect(
      'GET',
      '/v1/accounts/a1/transactions?page=2',
      counting({ transactions: { booked: [row('2')] } }),
    );
    expect(ids((await read()).booked)).toEqual(['1', '2']);
  });

  it.each(['many', '-1', '1e9', '99999999999'])('%s is no number of pages', async (total) => {
    bank.expect('GET', FIRST, counted('1', total));
    await expect(read({}, { file })).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

describe('answers that say nothing', () => {
  const failure = (answer: Parameters<typeof bank.expect>[2]) => {
    bank.expect('GET', FIRST, answer);
    return read().then(
      () => Promise.reject(new TypeError('It was read')),
      (error: Psd2Error) => error,
    );
  };

  it('are no account without transactions', async () => {
    expect(await failure(json({}))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('has none'),
    });
    expect(await failure(json({ transactions: { _links: {} } }))).toMatchObject({ code: 'bank_answer' });
  });
});
