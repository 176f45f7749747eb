import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { RawGlobals } from '../../../src/cli/globals.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { runIn } from '../command.ts';
import { useOperatorHere } from '../operator.ts';

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
  const failure = await runIn(
    { ...context, printBytes: (some) => void bytes.push(Buffer.from(some)) },
    ...['api', ...words],
  ).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { bytes: Buffer.concat(bytes).toString('utf8'), printed: printed(), failure };
}

describe('the answer of the bank', () => {
  it('is printed as JSON, whatever the case of the method and however the path begins', async () => {
    for (const words of [
      ['GET', INFO],
      ['get', INFO.slice(1)],
    ]) {
      const answer = await operator.json(ANSWER, ['api', ...words]);
      expect([answer.result.outcome, answer.data.customerid]).toEqual(['SUCCESS', anna]);
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
    const { folder: own } = operator;
    operator.folder = newConfigFolder(folder);
    try {
      await expect(requestOf(['GET', path])).rejects.toMatchObject({ code: 'not_logged_in' });
    } finally {
      operator.folder = own;
    }
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

const PAGES = { hint: 'psd2 knows the next page only when the bank has answered.' };
it.each<[string[], string, object]>([
  [['PATCH', INFO], 'The method "PATCH" is not one of GET, POST, PUT, DELETE', {}],
  [['', INFO], 'The method "" is not one of GET, POST, PUT, DELETE', {}],
  [['POST', INFO, '--paginate'], '--paginate is for GET, not for POST', {}],
  [['GET', INFO, '--paginate', '--dry-run'], '--paginate and --dry-run cannot be used together', PAGES],
  [['GET', INFO, '--paginate', '--curl'], '--paginate and --curl cannot be used together', PAGES],
  [
    ['GET', 'https://bank.example/x'],
    '"https://bank.example/x" is a complete URL, but psd2 sends every call to the base URL',
    {
      hint: 'Give only what follows the base URL, for example /private/customers/customerid-info or /v1/accounts.',
    },
  ],
  [['GET', '/a b'], 'The path contains a space or another character that must be percent-encoded', {}],
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
  ...['authorization', 'digest', 'signature', 'date', 'tpp-request-id', 'tpp-transaction-id', 'host'],
  ...['content-length', 'connection', 'transfer-encoding', 'expect', 'te', 'trailer', 'upgrade'],
])('psd2 api sets the header %s itself', async (name) => {
  for (const given of [name, name.toUpperCase()])
    await expect(api(['GET', INFO, '--header', `${given}: x`])).rejects.toThrow(
      new Psd2Error('usage', `psd2 sets the header ${given} itself`, { hint: 'Leave it out.' }),
    );
});

it.each<[string, string[]]>([
  ...['X-HTTP-Method-Override', 'x-http-method', 'X-METHOD-OVERRIDE', 'X_HTTP_Method_Override'].map(
    (name): [string, string[]] => [`the header ${name}`, [INFO, '--header', `${name}: POST`]],
  ),
  ...['X-Original-URL', 'x-rewrite-url'].map((name): [string, string[]] => [
    `the header ${name}`,
    [INFO, '--header', `${name}: /v1/payments/x`],
  ]),
  ['the query parameter _method', [`${INFO}?a=b&%5Fmethod=POST`]],
  ['the query parameter _METHOD', [`${INFO}?_METHOD=POST`]],
])('psd2 api does not send %s, by which a server may make another call', async (what, words) => {
  await expect(api(['GET', ...words])).rejects.toThrow(
    new Psd2Error('usage', `psd2 api does not send ${what}: a server may make another call of this one`, {
      hint: 'Leave it out, and give the method and the path that you mean.',
    }),
  );
});
