import { describe, expect, test } from 'vitest';
import { type Json, order } from '../tpp.ts';
import { CARD, CURRENT, giveConsent, newDoor, refusalOf, type TestDoor, useDoor } from './door-client.ts';

const PRESENT = { 'psu-ip-address': '192.0.2.1' };
const ALL = 'bookingStatus=both&dateFrom=2026-08-22';
const LIST = `/v1/accounts/${CURRENT}/transactions`;

const door = await useDoor();
const consent = await giveConsent(door);

/** Reads with the customer present, so that nothing is counted. */
function read(path: string, at: TestDoor = door, consentId = consent) {
  return at.client.get(path, consentId, PRESENT);
}

function rowsOf(list: Json | undefined): Json[] {
  return Array.isArray(list) ? list : [];
}

describe('accounts', () => {
  test('the list has the accounts with links, and balances if asked for', async () => {
    const { json } = await read('/v1/accounts?withBalance=true');
    expect(rowsOf(json.accounts)).toHaveLength(2);
    expect(json.accounts?.[0]).toEqual({
      resourceId: CURRENT,
      iban: expect.stringMatching(/^IT\d{2}[A-Z]/),
      currency: 'EUR',
      cashAccountType: 'CACC',
      name: 'CONTO CORRENTE',
      displayName: 'Conto di casa',
      product: 'AZIM',
      status: 'enabled',
      usage: 'PRIV',
      balances: expect.any(Array),
      _links: {
        balances: { href: `/nextgenpsd2/v1/accounts/${CURRENT}/balances` },
        transactions: { href: `/nextgenpsd2/v1/accounts/${CURRENT}/transactions` },
      },
    });
    expect((await read('/v1/accounts')).json.accounts?.[0]).not.toHaveProperty('balances');
    const details = await read(`/v1/accounts/${CURRENT}`);
    expect(details.json.account).toEqual((await read('/v1/accounts')).json.accounts?.[0]);
  });

  test('the owner is named if the consent says so', async () => {
    const at = await newDoor();
    const id = await giveConsent(at, { access: { allPsd2: 'allAccountsWithOwnerName' } });
    expect((await read('/v1/accounts', at, id)).json.accounts?.[0]?.ownerName).toBe('Anna Esposito');
  });

  test('both doors have the same balance, under the names that the bank file has first', async () => {
    const accounts = { balances: { booked: ['openingBooked'], available: ['expected'] } };
    const at = await newDoor({ accounts });
    const id = await giveConsent(at);
    const { json } = await read(`/v1/accounts/${CURRENT}/balances`, at, id);
    const [available, booked] = rowsOf(json.balances);
    expect([available?.balanceType, booked?.balanceType]).toEqual(['expected', 'openingBooked']);
    const console = await fetch(`${at.sandbox.customerSiteUrl}/console/accounts?user=anna`);
    const shown: Json = JSON.parse(await console.text());
    const product = shown[0]?.products?.[0];
    expect(available?.balanceAmount).toEqual({ currency: 'EUR', amount: product?.available });
    expect(booked?.balanceAmount).toEqual({ currency: 'EUR', amount: product?.booked });
  });

  test('cards have a masked number, a limit, balances and transactions of their own', async () => {
    const { json } = await read(`/v1/card-accounts/${CARD}`);
    expect(json.cardAccount).toMatchObject({
      maskedPan: '525412xxxxxx3017',
      creditLimit: { currency: 'EUR', amount: '2500.00' },
    });
    const { balances } = (await read(`/v1/card-accounts/${CARD}/balances`)).json;
    expect(balances?.[0]?.creditLimitIncluded).toBe(true);
    const list = await read(`/v1/card-accounts/${CARD}/transactions?${ALL}`);
    expect(list.json.cardTransactions?.booked?.[0]).toMatchObject({
      maskedPAN: '525412xxxxxx3017',
      invoiced: true,
    });
    expect(refusalOf(await read('/v1/card-accounts?withBalance=true'))).toContain(' PARAMETER_NOT_SUPPORTED');
  });

  test('an account that the consent does not show is RESOURCE_UNKNOWN, a card under accounts too', async () => {
    for (const path of ['/v1/accounts/0020739150', `/v1/accounts/${CARD}`, `/v1/card-accounts/${CURRENT}`]) {
      expect(refusalOf(await read(path))).toBe('404 RESOURCE_UNKNOWN');
    }
  });

  test('a bank without withBalance refuses it', async () => {
    const at = await newDoor({ accounts: { withBalance: false } });
    const id = await giveConsent(at);
    for (const path of ['/v1/accounts', `/v1/accounts/${CURRENT}`]) {
      const reply = await read(`${path}?withBalance=true`, at, id);
      expect(refusalOf(reply)).toBe('400 PARAMETER_NOT_SUPPORTED withBalance');
    }
  });
});

describe('transactions', () => {
  test('a booked transaction has an id, with which its details can be read', async () => {
    const { json } = await read(`${LIST}?${ALL}`);
    const newest = json.transactions?.booked?.[0];
    expect(newest).toMatchObject({
      transactionId: expect.stringMatching(/^T\d{9}$/),
      entryReference: expect.stringMatching(/^\d{9}$/),
      bookingDate: expect.stringMatching(/^2026-11-1\d$/),
      transactionAmount: { currency: 'EUR', amount: expect.stringMatching(/^-?\d+\.\d\d$/) },
      remittanceInformationUnstructured: expect.any(String),
    });
    const details = await read(`${LIST}/${newest?.transactionId}`);
    expect(details.json).toEqual({ transactionsDetails: newest });
    expect(refusalOf(await read(`${LIST}/T999999999`))).toBe('404 RESOURCE_UNKNOWN');
    expect(json.transactions?.pending?.[0]).not.toHaveProperty('transactionId');
  });

  test('bookingStatus chooses the lists', async () => {
    const lists = async (status: string) => {
      const { json } = await read(`${LIST}?bookingStatus=${status}&dateFrom=2026-11-01`);
      return Object.keys(Object(json.transactions)).sort();
    };
    expect(await lists('both')).toEqual(['_links', 'booked', 'pending']);
    expect(await lists('booked')).toEqual(['_links', 'booked']);
    expect(await lists('pending')).toEqual(['_links', 'pending']);
  });

  test.each([
    ['dateFrom=2026-11-01', 'FORMAT_ERROR', 'bookingStatus'],
    ['bookingStatus=some&dateFrom=2026-11-01', 'FORMAT_ERROR', 'bookingStatus'],
    ['bookingStatus=information', 'PARAMETER_NOT_SUPPORTED', 'bookingStatus'],
    ['bookingStatus=booked', 'FORMAT_ERROR', 'dateFrom'],
    ['bookingStatus=booked&dateFrom=01/11/2026', 'FORMAT_ERROR', 'dateFrom'],
    ['bookingStatus=booked&dateFrom=2026-02-30', 'FORMAT_ERROR', 'dateFrom'],
    ['bookingStatus=booked&dateFrom=2026-08-21', 'PERIOD_INVALID', 'dateFrom'],
    ['bookingStatus=booked&dateFrom=2026-11-02&dateTo=2026-11-01', 'PERIOD_INVALID', 'dateFrom'],
    ['bookingStatus=booked&dateFrom=2026-11-01&deltaList=true', 'PARAMETER_NOT_SUPPORTED', 'deltaList'],
    ['bookingStatus=booked&entryReferenceFrom=000000001', 'PARAMETER_NOT_SUPPORTED', 'entryReferenceFrom'],
    ['bookingStatus=booked&dateFrom=2026-11-01&pageIndex=1', 'PARAMETER_NOT_SUPPORTED', 'pageIndex'],
    ['bookingStatus=booked&dateFrom=2026-11-01&continuation=x', 'FORMAT_ERROR', 'continuation'],
    ['bookingStatus=booked&bookingStatus=both', 'FORMAT_ERROR', 'bookingStatus'],
  ])('%s is refused with %s', async (query, code, path) => {
    expect(refusalOf(await read(`${LIST}?${query}`))).toBe(`400 ${code} ${path}`);
  });

  test('accounts.bookingStatuses and accounts.historyDays are the bounds of the bank', async () => {
    const at = await newDoor({ accounts: { bookingStatuses: ['booked'], historyDays: 30 } });
    const id = await giveConsent(at);
    const ask = async (query: string) => (await read(`${LIST}?${query}`, at, id)).json.tppMessages?.[0]?.code;
    expect(await ask('bookingStatus=booked&dateFrom=2026-10-21')).toBeUndefined();
    expect(await ask('bookingStatus=booked&dateFrom=2026-10-20')).toBe('PERIOD_INVALID');
    expect(await ask('bookingStatus=both&dateFrom=2026-10-21')).toBe('PARAMETER_NOT_SUPPORTED');
  });

  test('entryReferenceFrom gives what was booked after an entry', async () => {
    const at = await newDoor({ accounts: { delta: 'entryReferenceFrom' } });
    const id = await giveConsent(at);
    const rows = async (query: string) =>
      rowsOf((await read(`${LIST}?bookingStatus=booked&${query}`, at, id)).json.transactions?.booked);
    const [newest, , third] = await rows('dateFrom=2026-08-22');
    const after = await rows(`entryReferenceFrom=${third?.entryReference}`);
    expect(after).toMatchObject([{ entryReference: newest?.entryReference }, {}]);
    expect(await rows(`entryReferenceFrom=${newest?.entryReference}`)).toEqual([]);
    const path = `${LIST}?bookingStatus=booked&entryReferenceFrom=${newest?.entryReference}`;
    const moved = await at.client.get(path, id, { ...PRESENT, 'x-sandbox-fault': 'booking=2' });
    expect(rowsOf(moved.json.transactions?.booked)).toHaveLength(2);
  });
});

describe('paging', () => {
  /** Everything of the period, in one page. */
  async function whole(): Promise<unknown[]> {
    const at = await newDoor({ accounts: { paging: 'page-index' } });
    const id = await giveConsent(at);
    const { json } = await read(`${LIST}?${ALL}&pageIndex=0&itemsPerPage=1000`, at, id);
    return rowsOf(json.transactions?.booked).map((row) => row.transactionId);
  }

  test('link: _links.next leads through the list, each row once', async () => {
    const seen: unknown[] = [];
    let next: string | undefined = `${LIST}?${ALL}`;
    while (next !== undefined) {
      const { json } = await read(next);
      const rows = rowsOf(json.transactions?.booked);
      expect(rows.length).toBeLessThanOrEqual(10);
      seen.push(...rows.map((row) => row.transactionId));
      const link = json.transactions?._links?.next?.href;
      next = link === undefined ? undefined : String(link);
    }
    expect(seen.length).toBeGreaterThan(20);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(await whole());
  });

  test('page-index: pageIndex counts from 0, and there is no link', async () => {
    const all = await whole();
    const at = await newDoor({ accounts: { paging: 'page-index' } });
    const id = await giveConsent(at);
    const page = async (index: number) => {
      const { json } = await read(`${LIST}?${ALL}&pageIndex=${index}&itemsPerPage=7`, at, id);
      expect(json.transactions?._links).not.toHaveProperty('next');
      return rowsOf(json.transactions?.booked).map((row) => row.transactionId);
    };
    expect(await page(0)).toEqual(all.slice(0, 7));
    expect(await page(1)).toEqual(all.slice(7, 14));
    expect(await page(100)).toEqual([]);
  });

  test('totalPagesHeader: a header says how many pages there are, a parameter asks for one', async () => {
    const all = await whole();
    const at = await newDoor({
      accounts: { paging: { totalPagesHeader: 'cpaas-total-pages', pageParameter: 'offset' } },
    });
    const id = await giveConsent(at);
    const first = await read(`${LIST}?${ALL}`, at, id);
    const pages = Number(first.headers['cpaas-total-pages']);
    expect(pages).toBe(Math.ceil(all.length / 10));
    const last = await read(`${LIST}?${ALL}&offset=${pages}`, at, id);
    expect(rowsOf(last.json.transactions?.booked).map((row) => row.transactionId)).toEqual(
      all.slice((pages - 1) * 10),
    );
    expect(refusalOf(await read(`${LIST}?${ALL}&offset=0`, at, id))).toBe('400 FORMAT_ERROR offset');
  });
});

test("the day's readings without the customer: each account and kind of reading has its own, pages do not count, and tomorrow they start again", async () => {
  const at = await newDoor();
  const id = await giveConsent(at, { frequencyPerDay: 2 });
  const alone = (path: string) => at.client.get(path, id);
  const balances = `/v1/accounts/${CURRENT}/balances`;
  expect([(await alone(balances)).status, (await alone(balances)).status]).toEqual([200, 200]);
  expect(refusalOf(await alone(balances))).toBe('429 ACCESS_EXCEEDED Consent-ID');
  expect((await read(balances, at, id)).status).toBe(200);
  expect((await alone('/v1/accounts/0010482638/balances')).status).toBe(200);
  const { json } = await alone(`${LIST}?${ALL}`);
  const next = String(json.transactions?._links?.next?.href);
  for (let page = 0; page < 3; page += 1) expect((await alone(next)).status).toBe(200);
  expect((await alone(`${LIST}?${ALL}`)).status).toBe(200);
  expect((await alone(`${LIST}?${ALL}`)).status).toBe(429);
  at.clock.advance(12 * 60 * 60 * 1000);
  expect((await alone(balances)).status).toBe(200);
});

describe('faults', () => {
  test('a fault applies to an operation of the door by its operationId', async () => {
    const at = await newDoor();
    const id = await giveConsent(at);
    const add = (fault: string, on: string) => order(at.sandbox, 'POST', '/faults', { fault, on, times: 1 });
    await add('status=503', 'getBalances');
    await add('cut-after-effect', 'createConsent');
    expect((await read('/v1/accounts', at, id)).status).toBe(200);
    const failed = await read(`/v1/accounts/${CURRENT}/balances`, at, id);
    expect([refusalOf(failed), failed.headers['retry-after']]).toEqual(['503 SERVICE_UNAVAILABLE', '1']);
    expect((await read(`/v1/accounts/${CURRENT}/balances`, at, id)).status).toBe(200);
    await expect(giveConsent(at)).rejects.toThrow('socket hang up');
  });

  test.each<[string, number, string | undefined]>([
    ['status=401', 401, 'TOKEN_INVALID'],
    ['status=429', 429, 'ACCESS_EXCEEDED'],
    ['status=500', 500, 'INTERNAL_SERVER_ERROR'],
    ['firewall', 403, undefined],
    ['empty', 200, undefined],
    ['no-content', 204, undefined],
    ['nonsense', 400, 'FORMAT_ERROR'],
  ])('%s answers %i', async (fault, status, code) => {
    const reply = await door.client.get('/v1/accounts', consent, { ...PRESENT, 'x-sandbox-fault': fault });
    expect([reply.status, reply.json.tppMessages?.[0]?.code]).toEqual([status, code]);
  });

  test("carla's accounts have their faults here too", async () => {
    const at = await newDoor();
    const id = await giveConsent(at, {}, '3098127');
    const status = async (account: string) => (await read(`/v1/accounts/${account}/balances`, at, id)).status;
    expect(await status('0030981270')).toBe(200);
    expect(await status('0030981500')).toBe(500);
    expect(await status('0030981204')).toBe(204);
  });

  test('a reset forgets the consents', async () => {
    const at = await newDoor();
    const id = await giveConsent(at);
    await order(at.sandbox, 'POST', '/reset');
    expect(refusalOf(await read('/v1/accounts', at, id))).toBe('400 CONSENT_UNKNOWN Consent-ID');
  });
});
