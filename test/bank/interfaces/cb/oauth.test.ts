import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ask } from '../../../../src/bank/interfaces/cb/answer.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import { success, tokens } from '../../answers.ts';
import { PLAIN_FACTS, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const client = { clientId: 'client-1', clientSecret: 'secret-1' };
const REFRESH = { grant_type: 'refresh_token', refresh_token: 'r0' } as const;

describe('OAuth', () => {
  const [AT, AUTHORIZE] = ['https://a.example/', 'GET /auth/oauth/v2/authorize'];
  const GRANTED = {
    ...{ accessToken: 'a1', expiresIn: 600, refreshToken: 'r1', refreshExpiresIn: 2592000, scope: 'oob' },
  };
  const redirect_uri = 'http://127.0.0.1:8910/callback';
  const CODE = { grant_type: 'authorization_code', code: 'code-1', redirect_uri } as const;
  it('authorize is a GET without bearer token or digest, and psd2 reads its Location without following it', async () => {
    const path =
      '/auth/oauth/v2/authorize?response_type=code&client_id=client-1&redirect_uri=http%3A%2F%2F127.0.0.1%3A8910%2Fcallback&state=s1';
    recorded.expect('GET', path, {
      status: 302,
      headers: { 'content-type': 'text/plain', location: 'https://customers.example/login?x=1' },
    });
    const { bankWith } = openClient();
    const location = await bankWith().login.authorize({
      clientId: 'client-1',
      redirectUri: 'http://127.0.0.1:8910/callback',
      state: 's1',
      transactionId,
    });
    expect(location).toBe('https://customers.example/login?x=1');
    expect(recorded.last.headers).not.toHaveProperty('authorization');
    expect(recorded.last.headers).not.toHaveProperty('digest');
    expect(recorded.last.headers).not.toHaveProperty('content-type');
  });

  it.each([
    [299, AT, `The bank's answer to ${AUTHORIZE} is not JSON: the answer is empty`],
    [300, AT, undefined],
    [399, AT, undefined],
    [400, AT, `The bank refused ${AUTHORIZE} (HTTP 400): the answer is empty`],
    [200, AT, 'The bank answered the authorize call without a Location (HTTP 200)'],
    [300, undefined, 'The bank answered the authorize call without a Location (HTTP 300)'],
    [399, '', 'The bank answered the authorize call without a Location (HTTP 399)'],
  ])(
    'HTTP %i of authorize with the Location %s is an address or this error: %s',
    async (status, location, error) => {
      const path =
        '/auth/oauth/v2/authorize?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2F&state=s';
      const body = status === 200 ? success().body : undefined;
      const headers: Record<string, string> = location === undefined ? {} : { location };
      recorded.expect('GET', path, { status, headers, ...(body !== undefined && { body }) });
      const login = { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', transactionId };
      const given = await openClient()
        .bankWith()
        .login.authorize(login)
        .catch((thrown: unknown) => thrown);
      if (error === undefined) expect(given).toBe(location);
      else
        expect(given).toMatchObject({
          message: error,
          httpStatus: status,
          tppRequestId: recorded.last.headers['tpp-request-id'],
          transactionId,
        });
    },
  );

  it.each([
    [
      302,
      { location: AT },
      undefined,
      'the bank accepts the application, its signature and the redirect URI',
    ],
    [302, {}, undefined, 'The bank answered without a Location (HTTP 302)'],
    [200, {}, success().body, 'The bank answered without a Location (HTTP 200)'],
    [200, {}, '{"tppMessages":[]}', 'This bank answers as NextGenPSD2'],
    [
      401,
      {},
      '{"tppMessages":[{"category":"ERROR","code":"CERTIFICATE_INVALID"}]}',
      'This bank answers as NextGenPSD2',
    ],
    [400, {}, undefined, `The bank refused ${AUTHORIZE} (HTTP 400): the answer is empty`],
    // It is for diagnosis, so psd2 asks once.
    [503, {}, undefined, `The bank failed on ${AUTHORIZE} (HTTP 503): the answer is empty`],
    [429, {}, undefined, 'The bank allows no more calls at the moment (HTTP 429)'],
  ] as const)(
    'to a probe, HTTP %i with %o and the body %s says: %s',
    async (status, headers, body, words) => {
      const path =
        '/auth/oauth/v2/authorize?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2F&state=s';
      recorded.expect('GET', path, { status, headers, ...(body !== undefined && { body }) });
      const login = { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', transactionId };
      const { judge } = await openClient().bankWith().login.probe(login);
      const verdict = await judge().then(
        ({ says }) => says,
        (error: unknown) => (error instanceof Psd2Error ? error.message : error),
      );
      expect(verdict).toContain(words);
    },
  );

  it('psd2 announces a token call, and Ctrl-C cannot end it after it has left', async () => {
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    const controller = new AbortController();
    const announced: (string | null)[] = [];
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('a1', 'r1'));
    const { bankWith } = openClient({ signal: controller.signal });
    const granted = await bankWith().login.tokens(client, REFRESH, transactionId, async ({ digest }) => {
      announced.push(digest);
      // The first byte leaves immediately after this.
      return { beforeFirstByte: async () => void setImmediate(() => controller.abort(interrupted)) };
    });
    expect(granted).toMatchObject({ accessToken: 'a1', refreshToken: 'r1' });
    expect(announced).toEqual([recorded.last.headers.digest]);
  });

  it.each(['/auth/oauth/v2/token', '/auth/oauth/v2/token/revoke'])(
    'psd2 repeats a call of %s that the bank failed on, because it may be repeated',
    async (path) => {
      recorded.expect('POST', path, { status: 503 });
      recorded.expect('POST', path, path.endsWith('revoke') ? success('{}') : tokens('a1', null));
      const bank = openClient().bankWith();
      if (path.endsWith('revoke')) await bank.login.revoke(client, 'r1', 'refresh_token', transactionId);
      else await bank.login.tokens(client, { grant_type: 'client_credentials' }, transactionId);
      expect(recorded.received).toHaveLength(2);
    },
  );

  it.each([
    [CODE, GRANTED],
    [REFRESH, GRANTED],
    [{ grant_type: 'client_credentials' }, { ...GRANTED, refreshToken: null, refreshExpiresIn: null }],
  ] as const)(
    'psd2 sends the token call %j without `data`, and reads lifetimes written as strings',
    async (grant, granted) => {
      recorded.expect('POST', '/auth/oauth/v2/token', tokens('a1', granted.refreshToken, '600'));
      const { bankWith } = openClient();
      expect(await bankWith().login.tokens(client, grant, transactionId)).toEqual(granted);
      expect(recorded.lastJson).toEqual({ ...grant, client_id: 'client-1', client_secret: 'secret-1' });
      expect(recorded.last.headers).not.toHaveProperty('authorization');
      expect(recorded.last.headers['content-type']).toBe('application/json');
    },
  );

  const GRANT = '"access_token":"a1","refresh_token":"r1","expires_in":600';
  it.each<[string, body: string, status?: number]>([
    ['without an outcome', `{"result":{"messages":"none"},"data":{${GRANT}}}`],
    ['of another success', `{"result":{},"data":{${GRANT}}}`, 299],
    ['with an unknown outcome', `{"result":{"outcome":"success","messages":[7,null]},"data":{${GRANT}}}`],
    ['with an empty error beside them', `{"error":"",${GRANT}}`],
    ['with tokens beside an empty `data`', `{"result":{"outcome":"SUCCESS",${GRANT}},"data":{}}`],
    ['without a lifetime', '{"data":{"access_token":"a1","refresh_token":"r1"}}'],
    ['with tokens in a list', `[{"result":{"outcome":"SUCCESS"},"data":[{"data":{${GRANT}}}]}]`],
  ])(
    'psd2 keeps the tokens of an answer %s, because the bank gives them only once',
    async (_, body, status = 200) => {
      recorded.expect('POST', '/auth/oauth/v2/token', { status, body });
      expect(await openClient().bankWith().login.tokens(client, REFRESH, transactionId)).toEqual({
        ...{ accessToken: 'a1', refreshToken: 'r1', refreshExpiresIn: null, scope: null },
        expiresIn: body.includes('expires_in') ? 600 : null,
      });
    },
  );

  it.each([
    [200, `{"result":{"outcome":"ERROR"},"data":{${GRANT}}}`, 'bank_refused'],
    [400, `{${GRANT}}`, 'bank_refused'],
    [200, '{"result":{"outcome":"SUCCESS"},"data":{"access_token":["a1"],"expires_in":600}}', 'bank_answer'],
  ])('psd2 takes no tokens from an answer with HTTP %i and %s', async (status, body, code) => {
    recorded.expect('POST', '/auth/oauth/v2/token', { status, body });
    await expect(openClient().bankWith().login.tokens(client, REFRESH, transactionId)).rejects.toMatchObject({
      code,
    });
  });

  it('an answer to another call that has a token in it counts no more than without it', async () => {
    for (const data of ['{}', `{${GRANT}}`]) {
      recorded.expect('PUT', '/x', { status: 200, body: `{"result":{},"data":${data}}` });
      const call = { method: 'PUT', path: '/x', facts: PLAIN_FACTS, body: {}, transactionId } as const;
      await expect(ask(openClient().caller, call, z.unknown())).rejects.toThrow(Psd2Error);
    }
  });

  it('the error for a token call that the bank refused is the same if there are tokens in its answer', async () => {
    const grant = { grant_type: 'client_credentials' } as const;
    const messages: string[] = [];
    for (const more of ['', `,${GRANT}`]) {
      recorded.expect('POST', '/auth/oauth/v2/token', {
        status: 400,
        body: `{"error":"invalid_grant"${more}}`,
      });
      const error: unknown = await openClient()
        .bankWith()
        .login.tokens(client, grant, transactionId)
        .catch((reason: unknown) => reason);
      if (!(error instanceof Psd2Error)) throw new TypeError('The bank refused nothing');
      messages.push(`${error.code} ${error.bankCode} ${error.message}`);
    }
    expect(messages[1]).toBe(messages[0]);
  });

  it('psd2 revokes a token and names its kind', async () => {
    recorded.expect(
      'POST',
      '/auth/oauth/v2/token/revoke',
      success('{"tokenType":"refresh_token","operationOutcome":"revoked"}'),
    );
    await openClient().bankWith().login.revoke(client, 'r1', 'refresh_token', transactionId);
    expect(recorded.lastJson).toEqual({
      client_id: 'client-1',
      client_secret: 'secret-1',
      token: 'r1',
      token_type_hint: 'refresh_token',
    });
  });
});
