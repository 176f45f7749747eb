import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { detailOf, type Reply, refusalOf, resourceOf, useTestBank } from '../tpp.ts';

// What the bank says with each refusal: the developer of a client reads these sentences.

const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const SAVINGS = `${CUSTOMER}/products/0010482638`;
const CARD = `${CUSTOMER}/products/0000093017`;
const TRANSFER = `${CURRENT}/moneyTransfer`;
const STANDING = `${CURRENT}/standingOrder`;
const ID = '5a0c1f8e-3b7d-4d52-9a63-7d1f0c2b9e44';

const bank = await useTestBank();
const { tpp } = bank;
const { accessToken: token, refreshToken } = await tpp.login();
const credentials = await tpp.clientCredentials();
const { authorizationCode, clientCredentials } = tpp.registration.applications;

const get = (path: string) => tpp.send({ path, token });
const put = (path: string, body: object | string = '{}') => tpp.send({ method: 'PUT', path, token, body });
const verified = async (name = 'Ada', instant = true) =>
  resourceOf(await tpp.verifyTransfer(token, { name, instant }));
const standing = async () => {
  const data = {
    ...{ amount: { currency: 'EUR', amount: '1.00' }, frequency: 'WEEKLY', firstExecutionDate: '23/11/2026' },
    ...{ ibanBeneficiary: 'IT60X0542811101000000123456', beneficiaryName: 'Ada', description: '' },
  };
  return resourceOf(await tpp.send({ method: 'POST', path: `${STANDING}/verify`, token, body: { data } }));
};
const executed = async (name?: string, instant?: boolean) => {
  const id = await verified(name, instant);
  await tpp.authorise(token, id);
  await tpp.execute(token, id);
  return id;
};

type Row = [what: string, call: () => Promise<Reply>, refusal: string, message: string, detail?: string];

async function check([, call, refusal, message, detail = '']: Row): Promise<void> {
  const reply = await call();
  const said = reply.json.result?.messages?.[0]?.message;
  expect([refusalOf(reply), said, detailOf(reply)]).toEqual([refusal, message, detail]);
}

const bearer = 'Expected: Authorization: Bearer <access token>.';
const sevenDigits = 'Expected: 7 digits.';
const tenCharacters = 'Expected: 10 letters and digits.';

test.each<Row>([
  [
    'no token',
    () => tpp.send({ path: CURRENT }),
    ...([
      '401 TOKEN_MISSING',
      'The request has no access token',
      `${bearer} Received: no Authorization.`,
    ] as const),
  ],
  [
    'another form of token',
    () => tpp.send({ path: CURRENT, headers: { Authorization: 'Basic abc' } }),
    ...([
      '401 TOKEN_MISSING',
      'The request has no access token',
      `${bearer} Received: another form.`,
    ] as const),
  ],
  [
    'two words after Bearer',
    () => tpp.send({ path: CURRENT, headers: { Authorization: 'Bearer a b' } }),
    ...([
      '401 TOKEN_MISSING',
      'The request has no access token',
      `${bearer} Received: another form.`,
    ] as const),
  ],
  [
    'an unknown token',
    () => tpp.send({ path: CURRENT, token: randomUUID() }),
    ...(['401 TOKEN_INVALID', 'The access token is not valid'] as const),
  ],
  [
    'an unknown endpoint, without its query',
    () => get('/private/elsewhere?a=b'),
    ...(['404 ENDPOINT_UNKNOWN', 'The bank has no endpoint GET /private/elsewhere'] as const),
  ],
  [
    'another method',
    () => put(`${CUSTOMER}/accounts`),
    ...(['404 ENDPOINT_UNKNOWN', `The bank has no endpoint PUT ${CUSTOMER}/accounts`] as const),
  ],
  [
    'the customer of an application',
    () => tpp.send({ path: '/private/customers/customerid-info', ...credentials }),
    ...([
      '403 NOT_ALLOWED',
      `The application ${clientCredentials.applicationName} has no customer of its own`,
    ] as const),
  ],
  [
    'a customer id of six digits',
    () => get('/private/customers/104826/accounts'),
    ...([
      '417 FIELD_INVALID',
      'The customerId of the path is not valid',
      `${sevenDigits} Received: 104826.`,
    ] as const),
  ],
  [
    'a customer id of eight digits',
    () => get('/private/customers/10482620/accounts'),
    ...([
      '417 FIELD_INVALID',
      'The customerId of the path is not valid',
      `${sevenDigits} Received: 10482620.`,
    ] as const),
  ],
  [
    'another customer',
    () => get('/private/customers/2073915/accounts'),
    '403 NOT_ALLOWED',
    "The access token is another customer's",
    'Expected: customerId 1048262. Received: 2073915.',
  ],
  [
    'an unknown customer',
    () => tpp.send({ path: '/private/customers/7777777/accounts', ...credentials }),
    ...(['412 CUSTOMER_UNKNOWN', 'The bank has no customer 7777777'] as const),
  ],
  [
    'a product id of nine digits',
    () => get(`${CUSTOMER}/products/001048262`),
    ...([
      '417 FIELD_INVALID',
      'The productId is not valid',
      `${tenCharacters} Received: "001048262".`,
    ] as const),
  ],
  [
    'a product id of eleven digits',
    () => get(`${CUSTOMER}/products/00104826200`),
    ...([
      '417 FIELD_INVALID',
      'The productId is not valid',
      `${tenCharacters} Received: "00104826200".`,
    ] as const),
  ],
  [
    'an unknown product',
    () => get(`${CUSTOMER}/products/0020739150`),
    ...(['412 PRODUCT_UNKNOWN', 'The customer 1048262 has no product 0020739150'] as const),
  ],
  [
    'a payment from a card',
    () => get(`${CARD}/moneyTransfer/prepare`),
    ...(['412 PRODUCT_NOT_ENABLED', '0000093017 is a card. Only accounts can pay'] as const),
  ],
  [
    'an id of a resource that is no UUID',
    () => get('/private/operations/latest/status'),
    '417 FIELD_INVALID',
    'The resourceId of the path is not valid',
    'Expected: a UUID. Received: latest.',
  ],
  [
    'an unknown resource',
    () => get(`/private/operations/${ID}/status`),
    ...(['412 RESOURCE_UNKNOWN', `There is no resource ${ID} for this call`] as const),
  ],
])('the first door says why it refuses %s', async (...row) => check(row));

test.each<Row>([
  [
    'a second step that the flow does not have',
    async () => put(`${TRANSFER}/${await verified()}/verify2`, { data: { payeeAccepted: true } }),
    ...([
      '400 STEP_MISSING',
      'verify2 is not the next step of this operation',
      'Expected: execute.',
    ] as const),
  ],
  [
    'SCA before the second step',
    async () => tpp.startSca(token, await standing()),
    '400 STEP_MISSING',
    'The operation needs its step verify2 first',
    'Expected: PUT {resourceId}/verify2, as _links.next says.',
  ],
  [
    'SCA that is over',
    async () => {
      const id = await verified();
      await tpp.authorise(token, id);
      return tpp.startSca(token, id);
    },
    ...(['400 SCA_FINISHED', 'SCA of this resource has ended: it is AUTHORIZED'] as const),
  ],
  [
    'execute before SCA',
    async () => tpp.execute(token, await verified()),
    '400 NOT_AUTHORIZED',
    'The customer has not authorised this operation',
    'Expected: authorizationStatus AUTHORIZED. It is PENDING.',
  ],
  [
    'execute for the second time',
    async () => tpp.execute(token, await executed()),
    ...(['400 ALREADY_EXECUTED', 'The operation was already executed'] as const),
  ],
  [
    'execute of a magic name',
    async () => tpp.execute(token, await executed('EXECUTE REFUSED')),
    '400 EXECUTION_REFUSED',
    'The bank does not execute this operation',
    "The payee's name causes this. Nothing was paid.",
  ],
  [
    'more than the account has',
    () => tpp.verifyTransfer(token, { amount: '999999999.99' }),
    '417 FUNDS_INSUFFICIENT',
    'The available balance does not cover the transfer',
    expect.stringMatching(/^Available: \d+\.\d\d EUR\. Needed, with commissions: 1000000000\.49 EUR\.$/),
  ],
  [
    'the status of what is not executed',
    async () => get(`${TRANSFER}/${await verified()}/execution/status`),
    ...(['400 NOT_EXECUTED', 'The transfer is not executed yet'] as const),
  ],
  [
    'the status of what is not instant',
    async () => get(`${TRANSFER}/${await executed('Ada', false)}/execution/status`),
    ...(['400 NOT_INSTANT', 'Only an instant transfer has an execution status'] as const),
  ],
  [
    'the document of what is not executed',
    async () => get(`${CURRENT}/common/printer/${await verified()}/retrieve`),
    ...(['400 NOT_EXECUTED', 'The operation was not executed, so it has no document'] as const),
  ],
  [
    'the document of a standing order that is not executed',
    async () => get(`${CURRENT}/common/printer/${await standing()}/retrieve`),
    ...(['400 NOT_EXECUTED', 'The operation was not executed, so it has no document'] as const),
  ],
  [
    'the document of what the payee bank refused',
    async () => get(`${CURRENT}/common/printer/${await executed('INSTANT KO')}/retrieve`),
    ...(['400 NOT_EXECUTED', 'The operation was not executed, so it has no document'] as const),
  ],
])('an operation says why it refuses %s', async (...row) => check(row));

// Each of these names a resource that the customer has, for a call that it is not for.
test.each<[what: string, path: (id: string) => string, make: () => Promise<string>]>([
  ['a transfer of another account', (id) => `${SAVINGS}/moneyTransfer/${id}/execute`, verified],
  ['a transfer as a standing order', (id) => `${STANDING}/${id}/execute`, verified],
  ['a standing order as a transfer', (id) => `${TRANSFER}/${id}/execute`, standing],
  ['a transfer as a consent', (id) => `${CUSTOMER}/consent/request/${id}/confirm`, verified],
  [
    'a consent as a transfer',
    (id) => `${TRANSFER}/${id}/execute`,
    async () => resourceOf(await tpp.requestConsent(token)),
  ],
])('the bank does not know %s', async (_, path, make) => {
  const id = await make();
  const reply = await put(path(id));
  expect([refusalOf(reply), reply.json.result?.messages?.[0]?.message]).toEqual([
    ...(['412 RESOURCE_UNKNOWN', `There is no resource ${id} for this call`] as const),
  ]);
});

const consentTo = (...categories: [name: string, ...products: string[]][]) =>
  tpp.requestConsent(
    token,
    categories.map(([name, ...products]) => ({ name, products })),
  );
const twice = (where: string) => `${where.split(' ')[0]} is twice in ${where.split(' ').slice(1).join(' ')}`;

test.each<Row>([
  [
    'an application without a customer',
    () =>
      tpp.send({
        ...{ method: 'POST', path: `${CUSTOMER}/consent/request`, ...credentials },
        body: { data: { categories: [{ name: 'PAYMENTS', products: ['0010482620'] }] } },
      }),
    '403 NOT_ALLOWED',
    'A consent needs the customer online, through the authorization_code application',
  ],
  [
    'a category twice',
    () => consentTo(['PAYMENTS', '0010482620'], ['ACCOUNT_INFO', '0010482620'], ['PAYMENTS', '0010482638']),
    ...(['417 FIELD_INVALID', twice('PAYMENTS data.categories')] as const),
  ],
  [
    'a product twice',
    () => consentTo(['ACCOUNT_INFO', '0010482620', '0010482638', '0010482620']),
    ...(['417 FIELD_INVALID', twice('0010482620 the products of ACCOUNT_INFO')] as const),
  ],
  [
    'a confirmation before SCA',
    async () => tpp.confirmConsent(token, resourceOf(await tpp.requestConsent(token))),
    '400 NOT_AUTHORIZED',
    'The customer has not authorised this operation',
    'Expected: authorizationStatus AUTHORIZED. It is PENDING.',
  ],
  [
    'a second confirmation',
    async () => tpp.confirmConsent(token, resourceOf(await tpp.giveConsent(token))),
    ...(['400 ALREADY_CONFIRMED', 'The consent was already confirmed'] as const),
  ],
])('a consent: the bank says why it refuses %s', async (...row) => check(row));

const authorize = (changes: Record<string, string>, application = authorizationCode) =>
  tpp.send({ path: tpp.authorizePath(changes), application });
const code = (changes: Record<string, string>) => tpp.send(tpp.codeCall('no-such-code', changes));
const revoke = (body: object) =>
  tpp.send({
    ...{ method: 'POST', path: '/auth/oauth/v2/token/revoke' },
    body: {
      ...{ client_id: authorizationCode.clientId, client_secret: authorizationCode.clientSecret },
      ...{ token: 'x', token_type_hint: 'access_token', ...body },
    },
  });
const redeem = async (used: boolean) => {
  const reply = await tpp.send({ path: tpp.authorizePath() });
  const id = new URL(String(reply.headers.location)).searchParams.get('request') ?? '';
  const issued = bank.sandbox.customers.allowLogin(id, '1048262').searchParams.get('code') ?? '';
  if (used) await tpp.send(tpp.codeCall(issued));
  return tpp.send(tpp.codeCall(issued, used ? {} : { redirect_uri: 'https://tpp.example/other' }));
};

const [WITH_CODE, ALONE] = [authorizationCode.applicationName, clientCredentials.applicationName];
const foreignGrant = (wanted: string, is: string): [string, string, string] => [
  '403 NOT_ALLOWED',
  `The application ${is} is not registered for this grant`,
  `Expected: ${wanted}. Received: ${is}.`,
];
const notRegistered = 'client_id does not belong to a registered application';
const refresh = 'The refresh token is unknown, expired, already used or for another application';

test.each<Row>([
  ...(['response_type', 'redirect_uri', 'client_id'] as const).map(
    (name): Row => [
      `authorize with an empty ${name}`,
      () => authorize({ [name]: '' }),
      ...(['400 PARAMETER_INVALID', `The parameter ${name} is missing`] as const),
    ],
  ),
  [
    'another response_type',
    () => authorize({ response_type: 'token' }),
    '400 PARAMETER_INVALID',
    'The bank does not support this response_type',
    'Expected: code. Received: token.',
  ],
  [
    'an address that the bank does not redirect to',
    () => authorize({ redirect_uri: 'http://tpp.example/' }),
    '400 REDIRECT_URI_INVALID',
    'redirect_uri is not an address that the bank redirects to',
    'Expected: an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment. Received: http://tpp.example/.',
  ],
  [
    'a login for an application without customers',
    () => authorize({ client_id: clientCredentials.clientId }, clientCredentials),
    ...foreignGrant(WITH_CODE, ALONE),
  ],
  ['an unknown client', () => code({ client_id: 'x' }), '400 CLIENT_INVALID', notRegistered],
  [
    'a wrong secret',
    () => code({ client_secret: 'x' }),
    ...(['400 CLIENT_INVALID', 'client_secret does not belong to this client_id'] as const),
  ],
  [
    'another grant',
    () => code({ grant_type: 'password' }),
    '400 PARAMETER_INVALID',
    'The bank does not support this grant_type',
    'Expected: authorization_code, client_credentials or refresh_token. Received: password.',
  ],
  [
    'an unknown code',
    () => code({}),
    '400 GRANT_INVALID',
    'The authorization code is unknown, older than five minutes or for another application',
  ],
  [
    'a code for the second time',
    () => redeem(true),
    ...(['400 GRANT_INVALID', 'The authorization code was already used. Its tokens are revoked'] as const),
  ],
  [
    'a code with another address',
    () => redeem(false),
    '400 REDIRECT_URI_INVALID',
    'redirect_uri differs from that of the authorize request',
    'Expected: http://127.0.0.1:8910/callback. Received: https://tpp.example/other.',
  ],
  ['an unknown refresh token', () => tpp.refresh('x'), '400 GRANT_INVALID', refresh],
  [
    'a refresh by an application without customers',
    () => tpp.tokenCall({ grant_type: 'refresh_token', refresh_token: refreshToken }, clientCredentials),
    ...foreignGrant(WITH_CODE, ALONE),
  ],
  [
    'a code by an application without customers',
    () =>
      tpp.tokenCall({ grant_type: 'authorization_code', code: 'x', redirect_uri: 'x' }, clientCredentials),
    ...foreignGrant(WITH_CODE, ALONE),
  ],
  [
    'client credentials of the other application',
    () => tpp.tokenCall({ grant_type: 'client_credentials' }),
    ...foreignGrant(ALONE, WITH_CODE),
  ],
  [
    'to revoke the token of another application',
    () => revoke({ token: credentials.token }),
    ...(['400 GRANT_INVALID', 'The token belongs to another application'] as const),
  ],
])('OAuth: the bank says why it refuses %s', async (...row) => check(row));

test('a refusal ends nothing: the tokens of this file still work', async () => {
  expect((await tpp.refresh(refreshToken)).status).toBe(200);
  expect((await get(`${CURRENT}/balance/retrieve`)).status).toBe(200);
  expect((await tpp.send({ path: `${CUSTOMER}/accounts`, ...credentials })).status).toBe(200);
});
