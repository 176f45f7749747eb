import { expect, test } from 'vitest';
import { type Json, list, type Reply, resourceOf, useTestBank } from '../tpp.ts';

// The links of each answer, the ids in them, and the headers of an answer.

const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const TRANSFER = `${CURRENT}/moneyTransfer`;
const STANDING = `${CURRENT}/standingOrder`;

const bank = await useTestBank();
const { tpp } = bank;
const { accessToken: token } = await tpp.login();

const get = (path: string) => tpp.send({ path, token });
const put = (path: string, body: object | string = '{}') => tpp.send({ method: 'PUT', path, token, body });
const verifyStanding = () => {
  const data = {
    ...{ amount: { currency: 'EUR', amount: '1.00' }, frequency: 'WEEKLY', firstExecutionDate: '23/11/2026' },
    ...{ ibanBeneficiary: 'IT60X0542811101000000123456', beneficiaryName: 'Ada', description: '' },
  };
  return tpp.send({ method: 'POST', path: `${STANDING}/verify`, token, body: { data } });
};
const executed = async (name?: string) => {
  const id = resourceOf(await tpp.verifyTransfer(token, { ...(name !== undefined && { name }) }));
  await tpp.authorise(token, id);
  return tpp.execute(token, id);
};

type Links = [self: string, next: string | undefined, base: string, name: string];

/** The links in a line each: `GET retrieve`. The id of the resource is `{id}`. */
function linksOf(reply: Reply): Links {
  const { self, next, curies } = reply.json._links ?? {};
  const id = reply.json.resources?.resourceId;
  const text = (link: Json | undefined) =>
    `${link?.method} ${link?.href}`.replace(id === undefined ? '{id}' : String(id), '{id}');
  const [curie, ...others] = list(curies);
  expect(others).toEqual([]);
  const base = String(curie?.href).replace(bank.sandbox.baseUrl, '');
  return [text(self), next && text(next), base, String(curie?.name)];
}

test.each<[call: string, make: () => Promise<Reply>, links: Links]>([
  ['a customer', () => get(CUSTOMER), ['GET 1048262', undefined, '/private/customers/{rel}', 'customers']],
  [
    'accounts',
    () => get(`${CUSTOMER}/accounts`),
    ['GET accounts', undefined, `${CUSTOMER}/{rel}`, 'accounts'],
  ],
  [
    'products',
    () => get(`${CUSTOMER}/products`),
    ['GET products', undefined, `${CUSTOMER}/{rel}`, 'products'],
  ],
  ['a product', () => get(CURRENT), ['GET 0010482620', undefined, `${CUSTOMER}/products/{rel}`, 'products']],
  [
    'a balance',
    () => get(`${CURRENT}/balance/retrieve`),
    ['GET retrieve', undefined, `${CURRENT}/balance/{rel}`, 'balance'],
  ],
  [
    'transactions',
    () => get(`${CURRENT}/transactions/retrieve`),
    ['GET retrieve', undefined, `${CURRENT}/transactions/{rel}`, 'transactions'],
  ],
  [
    'prepare of a transfer',
    () => get(`${TRANSFER}/prepare`),
    ['GET prepare', 'POST verify', `${TRANSFER}/{rel}`, 'moneyTransfer'],
  ],
  [
    'verify of a transfer',
    () => tpp.verifyTransfer(token),
    ['POST verify', 'PUT {id}/execute', `${TRANSFER}/{rel}`, 'moneyTransfer'],
  ],
  [
    'verify of a transfer with a second step',
    () => tpp.verifyTransfer(token, { name: 'VERIFY SECOND STEP' }),
    ['POST verify', 'PUT {id}/verify2', `${TRANSFER}/{rel}`, 'moneyTransfer'],
  ],
  [
    'the second step of a transfer',
    async () => {
      const id = resourceOf(await tpp.verifyTransfer(token, { name: 'VERIFY SECOND STEP' }));
      return put(`${TRANSFER}/${id}/verify2`, { data: { payeeAccepted: true } });
    },
    ['PUT {id}/verify2', 'PUT {id}/execute', `${TRANSFER}/{rel}`, 'moneyTransfer'],
  ],
  [
    'execute of a transfer',
    () => executed(),
    ['PUT {id}/execute', undefined, `${TRANSFER}/{rel}`, 'moneyTransfer'],
  ],
  [
    'prepare of a standing order',
    () => get(`${STANDING}/prepare`),
    ['GET prepare', 'POST verify', `${STANDING}/{rel}`, 'standingOrder'],
  ],
  [
    'verify of a standing order',
    verifyStanding,
    ['POST verify', 'PUT {id}/verify2', `${STANDING}/{rel}`, 'standingOrder'],
  ],
  [
    'a consent',
    () => tpp.requestConsent(token),
    ['POST request', 'PUT request/{id}/confirm', `${CUSTOMER}/consent/{rel}`, 'consent'],
  ],
  [
    'the confirmation of a consent',
    async () => {
      const id = resourceOf(await tpp.requestConsent(token));
      await tpp.authorise(token, id);
      return tpp.confirmConsent(token, id);
    },
    ['PUT request/{id}/confirm', undefined, `${CUSTOMER}/consent/{rel}`, 'consent'],
  ],
])('the links of %s', async (_, make, links) => {
  const reply = await make();
  expect(reply.status).toBe(200);
  expect(linksOf(reply)).toEqual(links);
});

test.each<[operation: string, make: () => Promise<Reply>, polls: boolean]>([
  ['moneyTransfer', () => executed(), true],
  [
    'standingOrder',
    async () => {
      const id = resourceOf(await verifyStanding());
      await put(`${STANDING}/${id}/verify2`, { data: { numberOfExecutions: 2 } });
      await tpp.authorise(token, id);
      return put(`${STANDING}/${id}/execute`);
    },
    false,
  ],
])(
  'what was executed as %s embeds the addresses of its calls, and they answer',
  async (kind, make, polls) => {
    const reply = await make();
    const id = resourceOf(reply);
    const at = (path: string) => ({ href: `${bank.sandbox.baseUrl}${CURRENT}/${path}`, method: 'GET' });
    expect(reply.json._embedded).toEqual({
      ...(polls && { polling: at(`${kind}/${id}/execution/status`) }),
      printer: at(`common/printer/${id}/retrieve`),
    });
    for (const link of Object.values(reply.json._embedded ?? {})) {
      const path = String(link.href).slice(bank.sandbox.baseUrl.length);
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
  },
);

test.each<[query: string, from: string, to: string]>([
  ['', '', ''],
  ['?dateFrom=01%2F11%2F2026', '01%2F11%2F2026', ''],
  ['?dateTo=30%2F11%2F2026', '', '30%2F11%2F2026'],
  ['?dateFrom=01%2F11%2F2026&dateTo=30%2F11%2F2026', '01%2F11%2F2026', '30%2F11%2F2026'],
])('the exports of transactions%s are of the same days, and answer', async (query, from, to) => {
  const { json } = await get(`${CURRENT}/transactions/retrieve${query}`);
  const link = (type: string) => ({
    href: `${bank.sandbox.baseUrl}${CURRENT}/transactions/retrieve?text=&dateFrom=${from}&dateTo=${to}&exportType=${type}`,
    method: 'GET',
  });
  expect(json._embedded).toEqual({
    ...{ 'transactions:generatePdf': link('pdf'), 'transactions:generateXls': link('xls') },
  });
});

test.each<[type: string, is: string]>([
  ['pdf', 'application/pdf'],
  ['xls', 'application/vnd.ms-excel'],
])('the export as %s has the name of its account', async (type, is) => {
  const { status, headers } = await get(`${CURRENT}/transactions/retrieve?exportType=${type}`);
  expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
    ...[200, is, `attachment; filename="transactions-0010482620.${type}"`],
  ]);
});

const MISSING = 'The bank does not support this exportType';
test.each<[query: string, message: string, detail: string]>([
  ['exportType=csv', MISSING, 'Expected: pdf or xls. Received: csv.'],
  ['exportType=', MISSING, 'Expected: pdf or xls. Received: .'],
  ...['text', 'period', 'transactionsType', 'description', 'fromAmount', 'toAmount', 'page'].map(
    (name): [string, string, string] => [
      `${name}=1`,
      `The sandbox does not support the parameter ${name}`,
      `Expected: dateFrom, dateTo, nextAccounting, nextNotAccounting, exportType. Received: ${name}.`,
    ],
  ),
  [
    'page=',
    'The sandbox does not support the parameter page',
    'Expected: dateFrom, dateTo, nextAccounting, nextNotAccounting, exportType. Received: page.',
  ],
  ['dateFrom=1', 'dateFrom is not a date', 'Expected: DD/MM/YYYY. Received: "1".'],
  ['dateTo=', 'dateTo is not a date', 'Expected: DD/MM/YYYY. Received: "".'],
  [
    'dateFrom=02%2F11%2F2026&dateTo=01%2F11%2F2026',
    ...(['dateFrom is after dateTo', 'Expected: at most 01/11/2026. Received: 02/11/2026.'] as const),
  ],
  ...['0', '-1', '1.5', 'A1', '', '01', '1000000000'].flatMap((cursor) =>
    ['nextAccounting', 'nextNotAccounting'].map((name): [string, string, string] => [
      `${name}=${cursor}`,
      `${name} is not a cursor of the bank`,
      `Expected: a whole number from 1. Received: "${cursor}".`,
    ]),
  ),
])('transactions with ?%s are refused', async (query, message, detail) => {
  const { status, json } = await get(`${CURRENT}/transactions/retrieve?${query}`);
  expect([status, json.result?.messages?.[0]]).toEqual([
    417,
    { code: 'FIELD_INVALID', message, type: 'ERROR', detail },
  ]);
});

test.each([
  'text=&period=&transactionsType=&description=&fromAmount=&toAmount=',
  'dateFrom=01%2F11%2F2026&dateTo=01%2F11%2F2026',
  'nextAccounting=999999999&nextNotAccounting=999999999',
])('transactions with ?%s are answered', async (query) => {
  expect((await get(`${CURRENT}/transactions/retrieve?${query}`)).status).toBe(200);
});

const oldest = '22/08/2026';
test.each<[from: string, refused: boolean]>([
  [oldest, false],
  ['21/08/2026', true],
])('transactions from %s need SCA: %s', async (from, refused) => {
  const own = (await tpp.login()).accessToken;
  const path = `${CURRENT}/transactions/retrieve?dateFrom=${encodeURIComponent(from)}`;
  const reply = await tpp.send({ path, token: own });
  const resourceId = reply.json.resources?.resourceId;
  expect([reply.status, resourceId !== undefined]).toEqual([refused ? 403 : 200, refused]);
  if (!refused) return;
  expect(reply.json.result?.messages?.[0]).toEqual({
    ...{ code: 'PSD2_SCA_REQUIRED', type: 'ERROR' },
    message: 'The customer must authenticate before transactions older than 90 days are shown',
    detail: `Expected: dateFrom ${oldest} or later, or SCA. Received: ${from}.`,
  });
  await tpp.authorise(own, String(resourceId));
  expect((await tpp.send({ path, token: own })).status).toBe(200);
  // It is for this login alone, and a token without a customer gets nothing to authorise.
  expect((await get(path)).status).toBe(403);
  const alone = await tpp.send({ path, ...(await tpp.clientCredentials()) });
  expect([alone.status, alone.json.resources]).toEqual([403, undefined]);
});
