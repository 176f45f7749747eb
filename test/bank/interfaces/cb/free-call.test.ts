import { describe, expect, it } from 'vitest';
import { composeFreely, OWN_HEADERS, refusalOf } from '../../../../src/bank/interfaces/cb/free-call.ts';
import type { FreeCall } from '../../../../src/bank/ports/bank.ts';
import { refusal, scaRequired, success } from '../../answers.ts';
import { useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const EXECUTE = '/private/customers/1/products/0000012345/moneyTransfer/r1/execute';

const freeCall = (call: Partial<FreeCall>): FreeCall => ({
  method: 'GET',
  path: '/private/x',
  transactionId,
  headers: {},
  returnAddress: () => 'http://127.0.0.1:8910/callback',
  ...call,
});

describe('the execution of a bank transfer by a free call', () => {
  it.each([
    EXECUTE,
    EXECUTE.toUpperCase(),
    `${EXECUTE}/`,
    `${EXECUTE}?x=1`,
    `${EXECUTE}#x`,
    `${EXECUTE}/y/..`,
    EXECUTE.replace('/execute', '\\execute'),
    EXECUTE.replace('/execute', '/execute;v=1'),
    EXECUTE.replace('/execute', '//./execute'),
    EXECUTE.replace('/execute', '%2Fexecute'),
    EXECUTE.replace('execute', '%65xecute'),
    EXECUTE.replace('execute', '%2565xecute'),
    EXECUTE.replace('execute', 'exe\u200Bcute'),
    `${EXECUTE}%3Fx`,
  ])('psd2 refuses %s', (path) => {
    for (const method of ['PUT', 'POST', 'DELETE'])
      expect(refusalOf(method, path)).toMatchObject({
        code: 'usage',
        message: 'psd2 api does not execute a bank transfer',
        hint: 'Use psd2 transfer, which checks the payee, the amount and the reference. --dry-run and --curl show the request.',
      });
  });

  it.each([
    ['GET', EXECUTE],
    ['PUT', EXECUTE.replace('moneyTransfer', 'standingOrder')],
    ['PUT', EXECUTE.replace('execute', 'verify2')],
    ['PUT', `${EXECUTE}/..`],
    ['PUT', '/private/x?path=moneyTransfer/execute'],
  ])('psd2 does not refuse %s %s', (method, path) => {
    expect(refusalOf(method, path)).toBeNull();
  });
});

describe('a free call', () => {
  it('psd2 gives the answer and its JSON, and no refusal for a success', async () => {
    recorded.expect('GET', '/private/x', success('{"a":1.50}'));
    const answer = await openClient().bank.send(freeCall({ headers: { 'x-own': '1' } }));
    expect(answer).toMatchObject({ refusal: null, json: { data: { a: '1.50' } } });
    expect(answer.body.toString()).toContain('1.50');
    expect(recorded.last.headers['x-own']).toBe('1');
  });

  it('psd2 also gives an answer that is not a success, and why', async () => {
    recorded.expect('GET', '/private/x', refusal(400));
    const answer = await openClient().bank.send(freeCall({}));
    expect(answer.json).toMatchObject({ result: { outcome: 'ERROR' } });
    expect(answer.refusal).toMatchObject({ code: 'bank_refused', httpStatus: 400 });
  });

  it('if the bank requires SCA, psd2 says which call starts it', async () => {
    recorded.expect('GET', '/private/x', scaRequired(412, 'r/1'));
    const { refusal: error } = await openClient().bank.send(freeCall({}));
    expect(error).toMatchObject({
      code: 'sca_required',
      hint: 'The customer must authorise first and then returns to your callback. After that, make the call again. Start with:',
      next: [
        [
          ...['api', 'GET', '/private/auth/security/sca/r%2F1/approach'],
          ...['--header', 'TPP-Redirect-URI: http://127.0.0.1:8910/callback'],
        ],
      ],
    });
  });

  it.each(['execute', 'CONFIRM', 'x/../%63onfirm'])('psd2 sends %s once, also after a 401', async (step) => {
    const path = `/private/x/r1/${step}`;
    recorded.expect('PUT', path, refusal(401));
    const { refusal: error } = await openClient().bank.send(freeCall({ method: 'PUT', path, body: {} }));
    expect(error).toMatchObject({
      code: 'not_logged_in',
      hint: 'psd2 has not sent the call again, because the bank may have received the request twice. Look at the status of the resource first. Renew the token with:',
      next: [['auth', 'refresh']],
    });
  });
});

describe('the pages of a list that a free call reads', () => {
  const read = async (path: string) => {
    const pages: unknown[] = [];
    for await (const { json, refusal: no } of openClient().bank.pages(freeCall({ path })))
      pages.push(no ?? json);
    return pages;
  };
  const PAGE_2 = '/private/list?page=2';
  const linked = (data: string, href: string, method = 'GET') => success(data, { next: { method, href } });

  it.each([
    ['list?page=2', '/private/list?page=2'],
    ['/private/other?b=2', '/private/other?b=2'],
    ['https://elsewhere.example/v1/private/other?b=2', '/private/other?b=2'],
  ])('the link %s leads to %s at the bank, with the same transaction and headers', async (href, path) => {
    recorded.expect('GET', '/private/list', linked('{"rows":[1]}', href));
    recorded.expect('GET', path, success('{"rows":[2]}'));
    const pages = openClient().bank.pages(freeCall({ path: '/private/list', headers: { 'x-own': '1' } }));
    const found: unknown[] = [];
    for await (const { json } of pages) found.push(json);
    expect(found).toMatchObject([{ data: { rows: [1] } }, { data: { rows: [2] } }]);
    for (const { headers } of recorded.received)
      expect(headers).toMatchObject({ 'x-own': '1', 'tpp-transaction-id': transactionId });
  });

  it('the positions of the next page go before a link, and one that has ended is not asked for', async () => {
    const path = '/private/list?dateFrom=01%2F11%2F2026';
    const positions = '{"nextAccounting":11,"nextNotAccounting":3}';
    recorded.expect('GET', path, linked(positions, '/private/elsewhere'));
    const both = `${path}&nextAccounting=11&nextNotAccounting=3`;
    recorded.expect('GET', both, success('{"nextAccounting":"21"}'));
    recorded.expect('GET', `${path}&nextAccounting=21`, success('{"nextAccounting":0}'));
    expect(await read(path)).toHaveLength(3);
  });

  it.each([
    ['PUT', 'r1/execute'],
    ['GET', ' '],
  ])('a link with %s to %j is not a page', async (method, href) => {
    recorded.expect('GET', '/private/list', linked('{}', href, method));
    expect(await read('/private/list')).toHaveLength(1);
  });

  it('the answer that is not a success is the last page', async () => {
    recorded.expect('GET', '/private/list', linked('{}', '?page=2'));
    recorded.expect('GET', '/private/list?page=2', refusal(400));
    expect(await read('/private/list')).toMatchObject([{}, { code: 'bank_refused' }]);
  });

  it.each(['?page=2', 'https://['])('a refusal is the last page, although it links to %s', async (href) => {
    recorded.expect('GET', '/private/list', { ...linked('{}', href), status: 403 });
    expect(await read('/private/list')).toMatchObject([{ code: 'forbidden' }]);
  });

  it.each([
    ['back to the first page', '?page=2', '/private/list', '[2]', 'leads back to a page'],
    ['to itself', '?page=2', '?page=2', '[2]', 'leads back to a page'],
    ['to the same page at another address', PAGE_2, PAGE_2, '[1]', 'same page twice'],
  ])('a link %s ends it', async (_, first, href, rows, message) => {
    recorded.expect('GET', '/private/list', linked('{"rows":[1]}', first));
    recorded.expect('GET', '/private/list?page=2', linked(`{"rows":${rows}}`, href));
    await expect(read('/private/list')).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(message),
      transactionId,
    });
  });

  it('a link that is no address ends it', async () => {
    recorded.expect('GET', '/private/list', linked('{}', 'https://['));
    await expect(read('/private/list')).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

describe('a request that is not sent', () => {
  const composed = (call: Partial<FreeCall>, bearer?: string) =>
    composeFreely(
      {
        compose: async ({ method, path, body, bearer: token }) => ({
          request: {
            method,
            target: path,
            headers: token === undefined ? {} : { authorization: token },
            body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
          },
          tppRequestId: 'q1',
          digest: null,
          signingString: 'signed',
        }),
      },
      freeCall(call),
      bearer,
    );

  it('psd2 shows the request, with a word in place of the token', async () => {
    expect(await composed({ method: 'POST', body: { code: 'x' } }, '<token>')).toMatchInlineSnapshot(`
      { body: "{"code":"x"}", headers: { authorization: "<token>" }, method: "POST",
        signingString: "signed", target: "/private/x" }
    `);
    expect(await composed({})).toMatchObject({ headers: {}, body: null });
  });

  it('psd2 shows no secret of a call that gets tokens', async () => {
    const secrets = ['client_secret', 'code', 'token', 'refresh_token', 'access_token', 'password'];
    const body = { client_id: 'c1', ...Object.fromEntries(secrets.map((name) => [name, 'hidden'])) };
    const shown = await composed({ method: 'POST', path: '/auth/oauth/v2/token', body });
    expect(shown.body).not.toContain('hidden');
    expect(JSON.parse(shown.body ?? '')).toMatchObject({ client_id: 'c1', password: '<secret>' });
  });
});

it('the operator sets no header that psd2 signs, that is secret, or that belongs to the connection', () => {
  expect(OWN_HEADERS).toEqual([
    ...['authorization', 'digest', 'signature', 'date', 'tpp-request-id', 'tpp-transaction-id'],
    ...['content-length', 'host', 'connection', 'transfer-encoding', 'expect', 'te', 'trailer', 'upgrade'],
  ]);
});
