import { expect, test } from 'vitest';
import { jsonAnswer, type OutgoingAnswer } from '../../../../src/sandbox/answers/outgoing.ts';
import { applyPersona } from '../../../../src/sandbox/cb/persona/lived-in.ts';
import { Customers } from '../../../../src/sandbox/customers/customers.ts';
import { defaultRules } from '../../../../src/sandbox/rules.ts';

const rules = { ...defaultRules, rowsAPage: 5 };
const bank = { rules, customers: new Customers(rules) };
const CUSTOMER = '/private/customers/1048262';
const CURRENT = `${CUSTOMER}/products/0010482620`;
const SAVINGS = `${CUSTOMER}/products/0010482638`;
const ELSEWHERE = 'https://gateway.bank.invalid';

type Envelope = Record<string, unknown>;

function shaped(target: string, envelope: Envelope, status = 200): OutgoingAnswer {
  const answer = jsonAnswer(status, envelope);
  applyPersona(answer, { target }, bank);
  return answer;
}

const read = ({ body }: OutgoingAnswer): unknown => JSON.parse(body.toString());

const record = (name: string) => ({ accountId: '1', name });
const row = (more: Envelope) => ({ amountTransaction: 1, ...more });

test.each<[path: string, data: Envelope, becomes: Envelope]>([
  [
    '/auth/oauth/v2/token',
    { access_token: 'a', token_type: 'Bearer', expires_in: 5, rt_expires_in: 6, scope: 'oob' },
    { access_token: 'a', expires_in: '5', rt_expires_in: '6', scope: 'oob' },
  ],
  ['/auth/oauth/v2/token', { expires_in: 5 }, { expires_in: '5' }],
  ['/auth/oauth/v2/token/revoke', { tokenType: 'a', token_type: 'b' }, { tokenType: 'a', token_type: 'b' }],
  [
    `${CUSTOMER}/accounts`,
    { accounts: [record(''), record('a')] },
    { accounts: [{ accountId: '1' }, record('a')] },
  ],
  [
    `${CUSTOMER}/products`,
    { products: [record('a'), record('')] },
    { products: [record('a'), { accountId: '1' }] },
  ],
  [CURRENT, record(''), { accountId: '1' }],
  [CURRENT, record('a'), record('a')],
  [
    `${CURRENT}/balance/retrieve`,
    { date: '20/11/2026', hour: '12:00', accountAvailableCredit: 1, isPocketAccount: false },
    { date: '2026-11-20', hour: '12:00' },
  ],
  [`${CURRENT}/balance/retrieve`, { date: null }, { date: null }],
  [
    `${CURRENT}/transactions/retrieve`,
    {
      ...{ nextAccounting: 11, nextNotAccounting: 21, showNotAccounting: true, transactionDescriptions: [] },
      ...{ numberTransactionsAccounting: 3, numberTransactionsNotAccounting: 2 },
      transactionsAccounting: [row({ isFeeCharge: true, shortDescription: 'a' })],
      transactionsNotAccounting: [
        row({ shortDescription: '', extendedDescription: '', idMoneyTransfer: '' }),
      ],
    },
    {
      ...{ nextAccounting: '11', nextNotAccounting: '21', numberTransactionsAccounting: 3 },
      transactionsAccounting: [row({ shortDescription: 'a' })],
      transactionsNotAccounting: [row({})],
    },
  ],
  [`${CURRENT}/transactions/retrieve`, {}, { nextAccounting: 0, nextNotAccounting: null }],
  [
    '/private/operations/x/status',
    { authorizationStatus: 'PENDING', executionStatus: 'OK' },
    { authenticationState: 'PENDING', executionStatus: 'OK' },
  ],
  [
    `${CURRENT}/moneyTransfer/prepare`,
    { swift: false, SWIFT: false, currency: {}, editBeneficiary: false, abi: '1' },
    { abi: '1' },
  ],
  [
    `${CURRENT}/moneyTransfer/verify`,
    { equivalentAmount: {}, bankName: 'a', branchName: 'b', address: 'c', totalAmount: 1 },
    { totalAmount: 1 },
  ],
  [
    `${CURRENT}/moneyTransfer/x/execute`,
    { moneyTransferOffline: false, sendEmailEnabled: false, cro: '1' },
    { cro: '1' },
  ],
  [`${CURRENT}/standingOrder/x/execute`, { sendEmailEnabled: false }, { sendEmailEnabled: false }],
  [
    `${CURRENT}/moneyTransfer/x/execution/status`,
    { executionStatus: 'OK', executionStatusDescription: '' },
    { executionStatus: 'OK', executionStatusDescription: null },
  ],
  [
    `${CURRENT}/moneyTransfer/x/execution/status`,
    { executionStatusDescription: 'why' },
    { executionStatusDescription: 'why' },
  ],
  [`${CUSTOMER}/else`, { name: '', swift: 1 }, { name: '', swift: 1 }],
])('the data of %s', (path, data, becomes) => {
  for (const target of [path, `${path}?a=b`])
    expect(read(shaped(target, { data }))).toEqual({ data: becomes });
  // Only a success is reshaped, and only as a whole path.
  expect(read(shaped(path, { data }, 400))).toEqual({ data });
  expect(read(shaped(`${path}/x/more`, { data }))).toEqual({ data });
});

test.each<[what: string, query: string, data: Envelope, next: string | undefined]>([
  ['the first page', '', { nextAccounting: 6, nextNotAccounting: 6 }, 'nextAccounting=6&nextNotAccounting=6'],
  ['a page of one list', '', { nextNotAccounting: 6 }, 'nextAccounting=6&nextNotAccounting=6'],
  ['a page of the other', '', { nextAccounting: 6 }, 'nextAccounting=6&nextNotAccounting=6'],
  [
    'a later page',
    '?dateFrom=a&nextAccounting=6&nextNotAccounting=11',
    { nextAccounting: 11 },
    'dateFrom=a&nextAccounting=11&nextNotAccounting=16',
  ],
  ['the last page', '?nextAccounting=6', {}, undefined],
])('the savings account has a link to the next page: %s', (_, query, cursors, next) => {
  const days = { dateAccountingCurrency: '20261101T00:00:00', dateLiquidationValue: '20261102T00:00:00' };
  const iso = { dateAccountingCurrency: '2026-11-01T00:00:00', dateLiquidationValue: '2026-11-02T00:00:00' };
  const data = {
    transactionsAccounting: [row(days), row({})],
    transactionsNotAccounting: [row(days)],
    count: 3,
  };
  const answer = shaped(`${SAVINGS}/transactions/retrieve${query}`, {
    data: { ...data, ...cursors },
    _links: {},
  });
  expect(read(answer)).toEqual({
    data: { transactionsAccounting: [row(iso), row({})], transactionsNotAccounting: [row(iso)], count: 3 },
    _links: next === undefined ? {} : { next: { href: `retrieve?${next}`, method: 'GET' } },
  });
});

test('a refusal about the savings account has neither data nor links to change', () => {
  for (const envelope of [{ data: {} }, { _links: {} }, {}])
    expect(read(shaped(`${SAVINGS}/transactions/retrieve`, envelope, 417))).toEqual(envelope);
});

test.each<[message: Envelope, becomes: unknown[]]>([
  [{ code: 'A', message: 'm', type: 'SUCCESS', detail: 'd' }, ['m']],
  [
    { code: 'A', message: 'm', type: 'ERROR', detail: 'd' },
    [{ code: 'A', message: 'm', type: 'ERROR' }, 'Operazione non riuscita'],
  ],
  [
    { code: 'A', message: 'm', type: 'WARNING', detail: 'd' },
    [{ code: 'A', message: 'm', type: 'WARNING', detail: 'd' }],
  ],
  [{ code: 'A', message: 'm', type: 'INFO' }, [{ code: 'A', message: 'm', type: 'INFO' }]],
])('the message %j becomes %j', (message, becomes) => {
  const result = { outcome: 'x', flushMessages: true };
  const of = (...messages: Envelope[]) => read(shaped('/', { result: { ...result, messages } }));
  expect(of(message)).toEqual({ result: { outcome: 'x', messages: becomes } });
  expect(of(message, message)).toEqual({ result: { outcome: 'x', messages: [...becomes, ...becomes] } });
  expect(of()).toEqual({ result: { outcome: 'x' } });
});

test.each<[name: string, href: string]>([
  ['consent', `${ELSEWHERE}/platform/private/a/{rel}`],
  ['transactions', '/private/a/{rel}'],
  ['balance', `${ELSEWHERE}/private/a/`],
])('the links of %s lead elsewhere', (name, href) => {
  const method = 'GET';
  const links = (self: string, curie: string) => ({
    ...{ self: { href: self, method }, next: { href: 'n', method } },
    curies: [
      { href: curie, name },
      { href: curie, name },
    ],
  });
  for (const origin of ['https://127.0.0.1:8443', 'http://bank'])
    expect(read(shaped('/', { _links: links('retrieve', `${origin}/private/a/{rel}`) }))).toEqual({
      _links: links(' ', href),
    });
  expect(read(shaped('/', { _links: {} }))).toEqual({ _links: {} });
});

test.each<[name: string, href: string, becomes: unknown]>([
  ['polling', 'https://a/private/b?c=%2F', `${ELSEWHERE}/private/b?c=%2F`],
  ['printer', 'https://a/b', `${ELSEWHERE}/b`],
  ['transactions:generatePdf', 'https://a/b/retrieve?d=01%2F02', 'retrieve?d=01/02'],
])('the embedded link %s', (name, href, becomes) => {
  const embedded = (to: unknown) => ({ _embedded: { [name]: { href: to, method: 'GET' }, other: 'text' } });
  expect(read(shaped('/', embedded(href)))).toEqual(embedded(becomes));
});

test('a consent request embeds a call on another host, in place of what it had', () => {
  const security = { href: `${ELSEWHERE}/private/auth/security/approach`, method: 'GET' };
  const answer = shaped(`${CUSTOMER}/consent/request`, { data: { a: 1 } });
  expect(read(answer)).toEqual({ data: { a: 1 }, _embedded: { security } });
});

test('the approach has its data in a second result', () => {
  const path = '/private/auth/security/sca/x/approach';
  const answer = shaped(path, { result: { outcome: 'S', flushMessages: true }, data: { a: 1 } });
  const result = { outcome: 'S', flushMessages: true, _links: {}, _embedded: {}, data: { a: 1 } };
  expect(read(answer)).toEqual({ result: { outcome: 'S', result } });
  expect(read(shaped(path, { data: { a: 1 } }))).toEqual({ data: { a: 1 } });
});

const digits = (first: string, count = 24) => first.padEnd(count, '7');
test.each<[id: string, written: string]>([
  [digits('1'), `"requestId":${digits('1')}`],
  [digits('0'), `"requestId":"${digits('0')}"`],
  [digits('1', 23), `"requestId":"${digits('1', 23)}"`],
  [digits('1', 25), `"requestId":"${digits('1', 25)}"`],
])('the request id %s is written as %s', (requestId, written) => {
  expect(shaped('/', { result: { requestId } }).body.toString()).toBe(`{"result":{${written}}}`);
});

test('only the token answer is padded', () => {
  expect(shaped('/auth/oauth/v2/token', { data: {} }, 400).body.toString()).toBe('\n\n\r\n{"data":{}}\n\n');
  expect(shaped('/auth/oauth/v2/tokens', { data: {} }, 400).body.toString()).toBe('{"data":{}}');
});

test.each<[codes: string[], status: number]>([
  [['PSD2_SCA_REQUIRED'], 401],
  [['OTHER', 'PSD2_SCA_REQUIRED'], 401],
  [['OTHER'], 403],
  [[], 403],
])('a refusal with the codes %j has the status %i', (codes, status) => {
  const messages = codes.map((code) => ({ code, type: 'ERROR' }));
  expect(shaped('/', { result: { messages } }, 403).status).toBe(status);
  expect(shaped('/', {}, 403).status).toBe(403);
});

test('a redirect has a long address, and nothing else of it changes', () => {
  const answer = {
    status: 302,
    headers: new Headers({ location: 'https://site/login?request=a' }),
    body: Buffer.alloc(0),
  };
  applyPersona(answer, { target: '/auth/oauth/v2/authorize' }, bank);
  const location = answer.headers.get('location') ?? '';
  expect(location).toMatch(/^https:\/\/site\/login\?request=a&session=(?:0123456789abcdef){75}$/);
  expect([answer.status, answer.body.length]).toEqual([302, 0]);
});

test.each<[type: string | undefined, body: string]>([
  ['text/html', '<html>"requestId"</html>'],
  ['application/pdf', '%PDF-'],
  [undefined, ''],
  ['application/json', '[{"name":""}]'],
  ['application/json', 'null'],
  ['application/json', '"text"'],
])('an answer of the type %s with %s does not change', (type, body) => {
  const headers = new Headers(type === undefined ? {} : { 'content-type': type });
  const answer = { status: 200, headers, body: Buffer.from(body) };
  applyPersona(answer, { target: CURRENT }, bank);
  expect([answer.status, answer.body.toString(), answer.headers.get('location')]).toEqual([200, body, null]);
});
