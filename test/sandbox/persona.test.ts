import { describe, expect, test } from 'vitest';
import { digestOf, type Json, list, type Reply, refusalOf, resourceOf, useTestBank } from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const SAVINGS = `${CUSTOMER}/products/0010482638`;
const CARD = `${CUSTOMER}/products/0000093017`;

const clean = await useTestBank();
const bank = await useTestBank({ persona: 'lived-in' });
const { accessToken: token } = await bank.tpp.login();

function get(path: string): Promise<Reply> {
  return bank.tpp.send({ path, token });
}

function verify(name: string): Promise<Reply> {
  return bank.tpp.verifyTransfer(token, { name });
}

describe('the envelope', () => {
  test('requestId is a bare number of 24 digits, or a string if it begins with 0', async () => {
    const forms = new Set<string>();
    for (let call = 0; call < 40 && forms.size < 2; call += 1) {
      const [, digits = ''] = /"requestId":("0\d{23}"|1\d{23})[,}]/.exec((await get(CURRENT)).text) ?? [];
      expect(digits).not.toBe('');
      forms.add(digits.startsWith('"') ? 'string' : 'number');
    }
    expect(forms).toEqual(new Set(['string', 'number']));
  });

  test('the links have a blank self, and curies on another host, without {rel}, or with only a path', async () => {
    const balance = (await get(`${CURRENT}/balance/retrieve`)).json._links;
    const curies = [{ href: `https://gateway.bank.invalid${CURRENT}/balance/`, name: 'balance' }];
    expect(balance).toEqual({ self: { href: ' ', method: 'GET' }, curies });
    const transactions = (await get(`${CURRENT}/transactions/retrieve`)).json._links;
    expect(transactions?.curies).toEqual([{ href: `${CURRENT}/transactions/{rel}`, name: 'transactions' }]);
  });

  test('a success has no flushMessages and no empty messages', async () => {
    expect((await get(CURRENT)).json.result).toEqual({ outcome: 'SUCCESS', requestId: expect.anything() });
  });

  test('an error has no detail, and has a plain string among its messages', async () => {
    const reply = await get(`${CUSTOMER}/products/0010482621`);
    expect(refusalOf(reply)).toBe('412 PRODUCT_UNKNOWN');
    expect(reply.json.result?.messages).toEqual([
      { code: 'PRODUCT_UNKNOWN', message: expect.any(String), type: 'ERROR' },
      'Operazione non riuscita',
    ]);
  });
});

test('the address of the login page is longer than a kilobyte, and still leads there', async () => {
  const { headers } = await bank.tpp.send({ path: bank.tpp.authorizePath() });
  const location = new URL(String(headers.location));
  expect(location.href.length).toBeGreaterThan(1200);
  expect(bank.sandbox.customers.loginRequest(location.searchParams.get('request') ?? '')).toBeDefined();
});

test('the token answer is padded with blank lines, signed with them, and has lifetimes as strings', async () => {
  const credentials = bank.tpp.registration.applications.clientCredentials;
  const reply = await bank.tpp.tokenCall({ grant_type: 'client_credentials' }, credentials);
  expect(reply.text).toMatch(/^\n\n\r\n\{.*\}\n\n$/);
  expect(reply.headers.digest).toBe(digestOf(reply.text));
  expect(reply.json.data).toEqual({ access_token: expect.any(String), expires_in: '3500', scope: 'oob' });
});

test('an account without a name has no name field', async () => {
  const { data } = (await get(`${CUSTOMER}/accounts`)).json;
  expect(list(data?.accounts).map((account) => Object.hasOwn(account, 'name'))).toEqual([true, true, false]);
});

test("the balance has an ISO date, and a card's balance has no available credit", async () => {
  expect((await get(`${CARD}/balance/retrieve`)).json.data).toEqual({
    accountBalance: { amount: expect.stringMatching(/^-\d+\.\d{3}$/), currency: 'EUR' },
    availableBalance: expect.any(Object),
    accountAvailability: expect.any(Object),
    date: '2026-11-20',
    hour: '12:00',
  });
});

describe('transactions', () => {
  test('transactions have string cursors that end with 0 and null, and relative, unencoded export links', async () => {
    const path = `${CURRENT}/transactions/retrieve?dateFrom=01%2F10%2F2026&dateTo=31%2F10%2F2026`;
    const { json } = await get(path);
    expect(json.data).toMatchObject({ nextAccounting: '11', nextNotAccounting: null });
    expect(json._embedded?.['transactions:generatePdf']).toEqual({
      href: 'retrieve?text=&dateFrom=01/10/2026&dateTo=31/10/2026&exportType=pdf',
      method: 'GET',
    });
    expect(list(json.data?.transactionsAccounting)[0]).not.toHaveProperty('isFeeCharge');
    const last = await get(`${path}&nextAccounting=1000`);
    expect(last.json.data).toMatchObject({ nextAccounting: 0, nextNotAccounting: null });
  });

  test('the savings account pages by _links.next with ISO dates, and each row comes exactly once', async () => {
    const { accessToken } = await clean.tpp.login();
    const rows: Json[] = [];
    const expected: Json[] = [];
    let cursor: unknown = 1;
    while (cursor !== undefined) {
      const path = `${SAVINGS}/transactions/retrieve?nextAccounting=${cursor}`;
      const { data } = (await clean.tpp.send({ path, token: accessToken })).json;
      expected.push(...list(data?.transactionsAccounting));
      cursor = data?.nextAccounting;
    }
    let href: string | undefined = 'retrieve';
    while (href !== undefined) {
      const { json } = await get(`${SAVINGS}/transactions/${href}`);
      expect(json.data).not.toHaveProperty('nextAccounting');
      rows.push(...list(json.data?.transactionsAccounting));
      expect(list(json.data?.transactionsNotAccounting)).toEqual([]);
      href = json._links?.next === undefined ? undefined : String(json._links.next.href);
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(rows.map((row) => row.amountTransaction)).toEqual(expected.map((row) => row.amountTransaction));
    expect(rows[0]?.dateAccountingCurrency).toMatch(/^\d{4}-\d\d-\d\dT00:00:00$/);
  });

  test('the bank answers 401 for transactions that need SCA', async () => {
    const reply = await get(`${CURRENT}/transactions/retrieve?dateFrom=01%2F01%2F2026`);
    expect(refusalOf(reply)).toBe('401 PSD2_SCA_REQUIRED');
    expect(reply.json.resources?.resourceId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

test('a consent request names a call on another host, and its approach nests a second result', async () => {
  const reply = await bank.tpp.requestConsent(token);
  expect(reply.json._embedded?.security?.href).toMatch(/^https:\/\/gateway\.bank\.invalid\//);
  expect(reply.json._links?.curies).toEqual([
    { href: `https://gateway.bank.invalid/platform${CUSTOMER}/consent/{rel}`, name: 'consent' },
  ]);
  const id = resourceOf(reply);
  const { json } = await bank.tpp.startSca(token, id);
  const scaRedirectURL = `${bank.sandbox.customerSiteUrl}/sca-authorize/?resourceId=${id}`;
  const nested = { _links: {}, _embedded: {}, data: { scaRedirectURL, chosenScaApproach: 'REDIRECT' } };
  expect(json).toEqual({
    result: {
      ...{ outcome: 'SUCCESS', requestId: expect.anything() },
      result: expect.objectContaining({ outcome: 'SUCCESS', ...nested }),
    },
    resources: { resourceId: id },
  });
});

test('authentication of a transfer has another name, and the answer lacks optional fields', async () => {
  const verified = await verify('Mario Rossi');
  const id = resourceOf(verified);
  expect(Object.keys(verified.json.data ?? {})).toEqual([
    ...['totalAmount', 'commissions', 'moneyTransferOffline', 'holdersEnabled', 'additionalChecks'],
  ]);
  await bank.tpp.authorise(token, id);
  expect((await get(`/private/operations/${id}/status`)).json.data).toEqual({
    creationTimestamp: '2026-11-20T12:00:00',
    authenticationState: 'AUTHORIZED',
    executionStatus: 'PENDING',
  });
  const executed = await bank.tpp.execute(token, id);
  expect(executed.json.result?.messages).toEqual(['The bank accepted the transfer']);
  expect(executed.json.data).toEqual({ cro: expect.any(String) });
  expect(executed.json._embedded?.polling?.href).toMatch(/^https:\/\/gateway\.bank\.invalid\/private\//);
  expect((await get(`${CURRENT}/moneyTransfer/${id}/execution/status`)).json.data).toEqual({
    executionStatus: 'PENDING',
    executionStatusDescription: null,
  });
});

test('warnings are still objects', async () => {
  expect((await verify('VERIFY WARNING')).json.result?.messages).toEqual([
    expect.objectContaining({ code: 'BENEFICIARY_NEW', type: 'WARNING' }),
  ]);
});

test('documents and pages do not change', async () => {
  const pdf = await get(`${CURRENT}/transactions/retrieve?exportType=pdf`);
  expect(pdf.bytes.subarray(0, 5).toString()).toBe('%PDF-');
  expect((await verify('VERIFY 403')).headers['content-type']).toBe('text/html');
  expect((await verify('VERIFY 204')).status).toBe(204);
});
