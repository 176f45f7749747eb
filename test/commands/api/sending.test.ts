import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { FreeAnswer, FreeCall } from '../../../src/bank/ports/bank.ts';
import type { RawGlobals } from '../../../src/cli/globals.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow, storeLogin } from '../access.ts';
import { BankHere } from '../bank-here.ts';
import { openCommand, runIn } from '../command.ts';
import { differing } from '../named-bank.ts';
import { useOperatorHere } from '../operator.ts';
import { ANNA, endOf, payerAt } from '../payer-here.ts';

const operator = useOperatorHere();
const folder = temporaryFolder();
const INFO = '/private/customers/customerid-info';
const UUID = '01234567-89ab-cdef-0123-456789abcdef';
const ANSWER = z.looseObject({
  result: z.looseObject({ outcome: z.string() }),
  data: z.strictObject({ customerid: z.string() }),
});

let anna: string;
beforeAll(async () => {
  anna = await operator.logIn('anna');
});

const api = (words: string[], how?: Parameters<typeof operator.run>[1]) =>
  operator.run(['api', ...words], how);

/** What psd2 prints instead of sending the call. */
const shown = async (words: string[], globals: Partial<RawGlobals> = {}) =>
  (await api(words, { globals })).printed();
const requestOf = async (words: string[], globals?: Partial<RawGlobals>) =>
  JSON.parse(await shown([...words, '--dry-run'], globals));

/** What psd2 prints with --raw. */
async function raw(...words: string[]) {
  const { context, printed } = operator.open({ globals: { raw: true } });
  const bytes: Buffer[] = [];
  const printBytes = (some: Uint8Array) => void bytes.push(Buffer.from(some));
  const work = runIn({ ...context, printBytes }, 'api', ...words).then(() => undefined);
  const failure = await work.catch((error: unknown) => error);
  return { bytes: Buffer.concat(bytes).toString('utf8'), printed: printed(), failure };
}

describe('the answer of the bank', () => {
  it('is printed as JSON, whatever the case of the method and however the path begins', async () => {
    for (const [method, path] of [['GET', INFO] as const, ['get', INFO.slice(1)] as const]) {
      const { result, data } = await operator.json(ANSWER, ['api', method, path]);
      expect([result.outcome, data.customerid]).toEqual(['SUCCESS', anna]);
    }
    const table = (await api(['GET', INFO], { format: 'table' })).printed();
    expect(ANSWER.parse(JSON.parse(table)).data.customerid).toBe(anna);
  });

  it('is printed byte for byte with --raw, and nothing besides', async () => {
    const { bytes, printed, failure } = await raw('GET', INFO);
    expect([printed, failure]).toEqual(['', undefined]);
    expect(ANSWER.parse(JSON.parse(bytes)).data.customerid).toBe(anna);
  });

  it('is printed too if the bank says no, and is an error', async () => {
    const { bytes, failure } = await raw('GET', '/private/customers/{customerId}/accounts/x/balances');
    expect(JSON.parse(bytes)).toMatchObject({ result: { outcome: 'ERROR' } });
    expect(failure).toBeInstanceOf(Psd2Error);
  });

  it('to a call without a token is that it needs one', async () => {
    await expect(api(['GET', INFO, '--no-token'])).rejects.toMatchObject({ httpStatus: 401 });
  });

  it('with --paginate is a list of pages, and of one without others', async () => {
    const pages = await operator.json(z.array(ANSWER), ['api', 'GET', INFO, '--paginate']);
    expect(pages.map(({ data }) => data.customerid)).toEqual([anna]);
    const { bytes, printed } = await raw('GET', INFO, '--paginate');
    expect([ANSWER.parse(JSON.parse(bytes)).data.customerid, printed]).toEqual([anna, '']);
    const refused = await raw('GET', '/private/customers/{customerId}/accounts/x/balances', '--paginate');
    expect(refused.failure).toBeInstanceOf(Psd2Error);
    expect(JSON.parse(refused.bytes)).toMatchObject({ result: { outcome: 'ERROR' } });
  });
});

describe('psd2 api --dry-run', () => {
  const REQUEST = z.strictObject({
    ...{ method: z.string(), url: z.string(), headers: z.record(z.string(), z.string()) },
    ...{ body: z.nullable(z.string()), signingString: z.string() },
  });

  it('prints the request with its signing string, and no secret', async () => {
    const file = join(folder, 'body.json');
    writeFileSync(file, '{ "a": 1 }\n');
    const options = ['--dry-run', '--transaction', UUID, '--header', 'x-one: 1'];
    const words = ['POST', INFO, '--data', `@${file}`, ...options];
    const globals = { psuIp: '198.51.100.7', lang: 'it-IT', trace: 'balances' };
    const request = await operator.json(REQUEST, ['api', ...words], { globals });
    expect(request).toMatchObject({
      ...{ method: 'POST', url: `${operator.env.PSD2_BASE_URL}${INFO}`, body: '{ "a": 1 }\n' },
      headers: {
        ...{ authorization: 'Bearer <access token>', 'tpp-transaction-id': UUID, 'x-one': '1' },
        ...{ 'psu-ip-address': '198.51.100.7', 'accept-language': 'it-IT', 'cb-trace-id': 'viewId=balances' },
      },
    });
    expect(request.signingString).toMatch(/^\(request-target\): post \//);
    const table = (await api(words, { format: 'table' })).printed().split('\n');
    const base = new URL(operator.env.PSD2_BASE_URL ?? '');
    expect([table[0], table[1]]).toEqual([
      `POST ${base.pathname === '/' ? '' : base.pathname}${INFO} HTTP/1.1`,
      `host: ${base.host}`,
    ]);
    expect(table).toContain('authorization: Bearer <access token>');
    const [from, signed] = [table.indexOf('{ "a": 1 }'), table.indexOf('Signing string:')];
    expect([table[from - 1], table[signed - 1], table.at(-1)]).toEqual(['', '', '']);
    expect(from).toBeLessThan(signed);
    expect(table[signed + 1]).toMatch(/^\(request-target\): post \//);
  });

  it('without a body prints no body', async () => {
    const { body } = await operator.json(REQUEST, ['api', 'GET', INFO, '--dry-run']);
    expect(body).toBeNull();
    const table = (await api(['GET', INFO, '--dry-run'], { format: 'table' })).printed().split('\n');
    expect(table[table.indexOf('Signing string:') - 1]).toBe('');
    expect(table[table.indexOf('Signing string:') - 2]).not.toBe('');
  });

  it('with --no-token shows a request without a token', async () => {
    expect((await requestOf(['GET', INFO, '--no-token'])).headers).not.toHaveProperty('authorization');
  });

  it('of a header that is given twice has the last value; other headers stay', async () => {
    const header = ['x-one: 1', 'X-Two: 2', 'X-ONE: 3'].flatMap((each) => ['--header', each]);
    expect((await requestOf(['GET', INFO, ...header])).headers).toMatchObject({ 'x-one': '3', 'x-two': '2' });
  });

  it('has the customer of the option for {customerId}, at each place in the path', async () => {
    const path = '/private/customers/{customerId}/x/{customerId}';
    const { url } = await requestOf(['GET', path], { customer: '1000002' });
    expect(url).toBe(`${operator.env.PSD2_BASE_URL}/private/customers/1000002/x/1000002`);
    const { env, bank } = operator;
    const { context: nobody } = openCommand(newConfigFolder(folder), bank.clock.now, { env });
    const code = 'not_logged_in';
    await expect(runIn(nobody, 'api', 'GET', path, '--dry-run')).rejects.toMatchObject({ code });
  });
});

it.each(['client_secret', 'code', 'token', 'refresh_token', 'access_token', 'password'])(
  'psd2 api --dry-run and --curl hide the %s of a call to the authorization server',
  async (field) => {
    const data = JSON.stringify({ client_id: 'id', [field]: 'hush' });
    for (const how of ['--dry-run', '--curl']) {
      const words = ['POST', '/auth/oauth/v2/token/revoke', '--data', data, '--no-token', how];
      const text = await shown(words);
      expect(text).toContain('<secret>');
      expect(text).not.toContain('hush');
    }
  },
);

describe('psd2 api --curl', () => {
  it('prints a command for a shell, which gets the token from psd2', async () => {
    const { env } = operator;
    const lines = (await api(['POST', INFO, '--curl', '--data', '{"it\'s":1}']))
      .printed()
      .trimEnd()
      .split(' \\\n  ');
    expect(lines.slice(0, 4)).toEqual([
      `printf 'authorization: Bearer %s\\n' "$(psd2 --profile env auth token)" |`,
      `curl --globoff --path-as-is --request POST ${env.PSD2_BASE_URL}${INFO}`,
      `--cert ${env.PSD2_QWAC_CERT} --key ${env.PSD2_QWAC_KEY}`,
      `--cacert ${env.PSD2_CA}`,
    ]);
    expect(lines).toContain('--header @-');
    expect(lines.at(-1)).toBe(`--data-binary '{"it'\\''s":1}'`);
  });

  it('without a token asks psd2 for none', async () => {
    const lines = (await api(['GET', INFO, '--curl', '--no-token'])).printed().trimEnd().split(' \\\n  ');
    expect(lines[0]).toMatch(/^curl --globoff /);
    expect(lines).not.toContain('--header @-');
    expect(lines.filter((line) => line.startsWith('--data'))).toEqual([]);
  });

  it.each<[Partial<RawGlobals>, string]>([
    [{ customer: '1000001' }, '--customer 1000001'],
    [{ grant: 'client_credentials', customer: '1' }, '--grant client_credentials --customer 1'],
  ])('with %j asks psd2 for the token of the same', async (globals, words) => {
    const text = await shown(['GET', INFO, '--curl'], globals);
    expect(text).toContain(`$(psd2 --profile env ${words} auth token)`);
  });
});

const COMPLETE = 'is a complete URL, but psd2 sends every call to the base URL';
const PATH_ALONE =
  'Give only what follows the base URL, for example /private/customers/customerid-info or /v1/accounts.';
const PAGES = { hint: 'psd2 knows the next page only when the bank has answered.' };
it.each<[string[], string, object]>([
  [['PATCH', INFO], 'The method "PATCH" is not one of GET, POST, PUT, DELETE', {}],
  [['', INFO], 'The method "" is not one of GET, POST, PUT, DELETE', {}],
  [['POST', INFO, '--paginate'], '--paginate is for GET, not for POST', {}],
  [['GET', INFO, '--paginate', '--dry-run'], '--paginate and --dry-run cannot be used together', PAGES],
  [['GET', INFO, '--paginate', '--curl'], '--paginate and --curl cannot be used together', PAGES],
  [['GET', 'https://bank.example/x'], `"https://bank.example/x" ${COMPLETE}`, { hint: PATH_ALONE }],
  [['GET', '/a b'], 'The path contains a space or another character that must be percent-encoded', {}],
  [['GET', '/a\x7f'], 'The path contains a space or another character that must be percent-encoded', {}],
  [['GET', '/è'], 'The path contains a space or another character that must be percent-encoded', {}],
  ...['x', '', 'x01234567-89ab-cdef-0123-456789abcdef', `${UUID}0`, '01234567-89ab-cdef-456789abcdef'].map(
    (id): [string[], string, object] => [
      ['GET', INFO, '--transaction', id],
      `--transaction "${id}" is not a UUID`,
      {},
    ],
  ),
  [['GET', INFO, '--dry-run', '--curl'], '--dry-run and --curl cannot be used together', {}],
  ...['no colon', 'a b: c', 'x: tab\there', ': x'].map((header): [string[], string, object] => [
    ['GET', INFO, '--header', header],
    `--header ${JSON.stringify(header)} is not of the form name:value`,
    {},
  ]),
])('psd2 api %j sends nothing', async (words, message, advice) => {
  await expect(api(words)).rejects.toThrow(new Psd2Error('usage', message, advice));
});

it.each([
  ['psuData', '{"psuData":{"password":"12345"}}'],
  ['scaAuthenticationData', '{"scaAuthenticationData":"654321"}'],
  ['PSUDATA', '{"PSUDATA":{}}'],
  ['psuData', '[{"a":{"\\u0070suData":"12345"}}]'],
])('psd2 api sends and shows no %s: %s', async (name, body) => {
  for (const more of [[], ['--dry-run'], ['--curl']]) {
    const error = await api(['PUT', '/v1/consents/1/authorisations/2', '--data', body, ...more]).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'usage',
      message: `psd2 api sends no ${name}: no PIN and no TAN of a customer`,
    });
    expect(JSON.stringify(error)).not.toMatch(/12345|654321/);
  }
});

it.each([
  ...['authorization', 'digest', 'signature', 'date', 'tpp-request-id', 'tpp-transaction-id', 'host'],
  ...['content-length', 'connection', 'transfer-encoding', 'expect', 'te', 'trailer', 'upgrade'],
])('psd2 api sets the header %s itself', async (name) => {
  for (const given of [name, name.toUpperCase()])
    await expect(api(['GET', INFO, '--header', `${given}: x`])).rejects.toThrow(
      new Psd2Error('usage', `psd2 sets the header ${given} itself`, { hint: 'Leave it out.' }),
    );
});

it.each<[string, string[]]>([
  ...[
    ...['X-HTTP-Method-Override', 'x-http-method', 'X-METHOD-OVERRIDE', 'X_HTTP_Method_Override', 'x-method'],
    ...[
      'x-original-method',
      'x-forwarded-method',
      'X_Forwarded_Method_Override',
      'x_original-method_override',
    ],
  ].map((name): [string, string[]] => [`the header ${name}`, [INFO, '--header', `${name}: POST`]]),
  ...['X-Original-URL', 'x-rewrite-url', 'x-original-uri', 'X_Rewrite_URI'].map(
    (name): [string, string[]] => [`the header ${name}`, [INFO, '--header', `${name}: /v1/payments/x`]],
  ),
  ['the query parameter _method', [`${INFO}?a=b&%5Fmethod=POST`]],
  ['the query parameter _METHOD', [`${INFO}?_METHOD=POST`]],
  ['the query parameter _method', [`${INFO}?a=b?_method=POST`]],
])('psd2 api does not send %s, by which a server may make another call', async (what, words) => {
  await expect(api(['GET', ...words])).rejects.toThrow(
    new Psd2Error('usage', `psd2 api does not send ${what}: a server may make another call of this one`, {
      hint: 'Leave it out, and give the method and the path that you mean.',
    }),
  );
});

it.each([
  ...['y-x-http-method', 'x-http-methods', 'x-http-method-overrides', 'xx-method', 'x-httpmethod', 'x-url'],
  ...['x-original-urn', 'x-original-urls', 'y-x-original-url', 'x-forwarded-url', 'method', 'x-original'],
])('psd2 api sends the header %s, which means nothing like that', async (name) => {
  expect((await requestOf(['GET', INFO, '--header', `${name}:1`])).headers).toMatchObject({ [name]: '1' });
});

it.each([
  ['/x?next=https://bank.example/y', '/x?next=https://bank.example/y'],
  ['1x://y', '/1x://y'],
  ['/!~', '/!~'],
  ['x?a=_method', '/x?a=_method'],
])('psd2 api sends the path %s as %s', async (path, sent) => {
  expect((await requestOf(['GET', path])).url).toBe(`${operator.env.PSD2_BASE_URL}${sent}`);
});

it.each(['HTTPS://bank.example', 'a+b-c.1://x'])('psd2 api does not call %s', async (url) => {
  const message = expect.stringMatching(/ is a complete URL, but psd2 sends every call to the base URL$/);
  await expect(api(['GET', url])).rejects.toMatchObject({ code: 'usage', message });
});

// Calls of psd2 api at a bank in the memory of the test, which answers what a test says.

const REFUSAL = new Psd2Error('bank_refused', 'The bank says no');

const answerOf = (body: string, more: Partial<FreeAnswer> = {}): FreeAnswer => ({
  ...{ body: Buffer.from(body), json: undefined, refusal: null },
  ...more,
});
const json = (value: object, more: Partial<FreeAnswer> = {}) =>
  answerOf(JSON.stringify(value), { json: value, ...more });

/** An operator at a bank that gives these answers. */
async function operatorAt(answers: FreeAnswer[], changes: Partial<BankHere['interface']> = {}) {
  const bank = new BankHere();
  const sent: FreeCall[] = [];
  const known = differing({ ...bank.interface, ...changes }, () => ({
    send: async (call) => {
      sent.push(call);
      return answers[sent.length - 1] ?? expect.unreachable();
    },
    pages: async function* (call) {
      sent.push(call);
      yield* answers;
    },
  }));
  return { sent, ...(await payerAt({ interface: known }, folder)) };
}

describe('an answer that is no JSON', () => {
  it.each([
    ['GET', 'Maintenance\n', 'Maintenance\n\n', '"Maintenance\\n"\n'],
    ['DELETE', '', '', '""\n'],
  ])('to %s is printed as it is, or as a JSON string: %j', async (method, text, table, asJson) => {
    const { run } = await operatorAt([answerOf(text), answerOf(text)]);
    expect((await run(['api', method, '/x'], { format: 'table' })).printed).toBe(table);
    expect((await run(['api', method, '/x'], { format: 'json' })).printed).toBe(asJson);
  });

  it('is a page like any other', async () => {
    const { run } = await operatorAt([json({ a: 1 }), answerOf('Maintenance', { refusal: REFUSAL })]);
    const { printed, failure } = await run(['api', 'GET', '/x', '--paginate'], { format: 'ndjson' });
    expect(printed).toBe('{"a":1}\n"Maintenance"\n');
    expect(failure?.message).toBe('The bank says no');
  });
});

it('with --raw each page is printed byte for byte, and a refusal of the last one is the error', async () => {
  const bytes: string[] = [];
  const { run } = await operatorAt([json({ a: 1 }), json({ b: 2 }, { refusal: REFUSAL })]);
  const { printed, failure } = await run(['api', 'GET', '/x', '--paginate'], {
    globals: { raw: true },
    changes: () => ({ printBytes: (some) => void bytes.push(Buffer.from(some).toString('utf8')) }),
  });
  expect([bytes, printed, failure?.message]).toEqual([['{"a":1}', '{"b":2}'], '', 'The bank says no']);
});

it('the call has the path, the headers and the body of the operator, and an id of its own', async () => {
  const { run, sent } = await operatorAt([json({}), json({})]);
  await run(['api', 'put', 'x/{customerId}?a=b', '--header', 'X-One:  a b ', '--data', '-'], {
    stdin: '{"a":1}',
  });
  await run(['api', 'GET', '/y', '--transaction', '01234567-89AB-cdef-0123-456789abcdef']);
  const [first, second] = sent;
  expect(first).toMatchObject({
    ...{ method: 'PUT', path: `/x/${ANNA}?a=b`, headers: { 'x-one': 'a b ' }, body: '{"a":1}' },
    transactionId: expect.stringMatching(/^[0-9a-f]{8}-/),
  });
  expect(first?.returnAddress()).toBe('https://tpp.example/callback');
  expect(second).toMatchObject({
    ...{ method: 'GET', path: '/y', headers: {}, transactionId: '01234567-89AB-cdef-0123-456789abcdef' },
  });
  expect(second && 'body' in second).toBe(false);
});

it('what psd2 does not send is refused before and after the customer is in the path, unless it is only shown', async () => {
  const asked: string[] = [];
  const refusalOf: BankHere['interface']['refusalOf'] = (method, path) => {
    asked.push(`${method} ${path}`);
    return path.includes(ANNA) || path.includes('pay')
      ? new Psd2Error('usage', 'psd2 sends no payment')
      : null;
  };
  const { run, sent } = await operatorAt([], { refusalOf });
  for (const path of ['/pay', '/x/{customerId}'])
    expect(endOf(await run(['api', 'POST', path]))).toEqual(['exit 2, usage: psd2 sends no payment']);
  expect(asked).toEqual(['POST /pay', 'POST /x/{customerId}', `POST /x/${ANNA}`]);
  expect(sent).toEqual([]);
  asked.length = 0;
  await run(['api', 'POST', '/pay', '--dry-run']).catch(() => {});
  expect(asked).toEqual([]);
});

describe('--consent', () => {
  async function withConsent(isKnown: boolean, changes: Partial<BankHere['interface']> = {}) {
    const operator = await operatorAt([json({})], changes);
    const { context } = operator.open();
    await storeLogin(context, '1000009');
    await storeLogin(context, ANNA);
    const requested = { type: 'requested' as const, resourceId: 'consent-1', outcomes: [] };
    const flow = await storeConsentFlow(context, { customerId: '1000009' }, ...(isKnown ? [requested] : []));
    return { ...operator, flow };
  }

  it('adds the id of the consent, and the call is for its customer', async () => {
    const { run, sent, flow } = await withConsent(true);
    const words = ['api', 'GET', '/x/{customerId}', '--consent', flow, '--header', 'x-one: 1'];
    expect((await run(words)).failure).toBeNull();
    const headers = { 'x-one': '1', 'consent-id': 'consent-1' };
    expect(sent).toMatchObject([{ path: '/x/1000009', headers }]);
  });

  it('of one that the bank has given no id is refused', async () => {
    const { run, sent, flow } = await withConsent(false);
    expect(endOf(await run(['api', 'GET', '/x', '--consent', flow]))).toEqual([
      'exit 2, usage of co-1: The bank has given the consent co-1 no id',
    ]);
    expect(sent).toEqual([]);
  });

  it('of another customer than the operator names is refused', async () => {
    const { run, sent, flow } = await withConsent(true);
    const how = { globals: { customer: ANNA }, given: ['customer'] };
    expect((await run(['api', 'GET', '/x', '--consent', flow], how)).failure?.code).toBe('usage');
    expect(sent).toEqual([]);
  });

  it('is refused where consents are in no header', async () => {
    const has = new Set([...new BankHere().interface.has].filter((each) => each !== 'Consent-ID'));
    const { run, flow } = await withConsent(true, { has });
    expect(endOf(await run(['api', 'GET', '/x', '--consent', flow]))).toEqual([
      'exit 2, usage: The interface of this bank, here, has no Consent-ID',
    ]);
  });
});

it('a curl command needs the certificates in files', async () => {
  const request = { method: 'GET' as const, target: '/x', headers: {}, body: null, signingString: '' };
  const free = Object.fromEntries(['PSD2_QWAC_CERT', 'PSD2_QWAC_KEY'].map((name) => [name, '']));
  const known = new BankHere().interface;
  const open: typeof known.open = (settings) => ({ ...known.open(settings), compose: async () => request });
  const payer = await payerAt({ interface: { ...known, open } }, folder);
  const { env, profiles } = payer.open().context;
  const pem = (name: string) => ({ pem: readFileSync(env[name] ?? '', 'utf8') });
  const certificates = { qwacCertificate: pem('PSD2_QWAC_CERT'), qwacKey: pem('PSD2_QWAC_KEY') };
  await profiles.write('bank', { baseUrl: 'https://bank.example', ...certificates });
  const curl = ['api', 'GET', '/x', '--curl'];
  expect(endOf(await payer.run(curl, { env: free, globals: { profile: 'bank' } }))).toEqual([
    'exit 3, config: The profile contains its certificates, but curl needs files',
    'Add the profile with --reference, or set PSD2_QWAC_CERT and PSD2_QWAC_KEY.',
  ]);
  expect((await payer.run(curl)).printed).toBe(
    `curl --globoff --path-as-is --request GET https://bank.example/x \\\n  --cert ${env.PSD2_QWAC_CERT} --key ${env.PSD2_QWAC_KEY}\n`,
  );
});
