import { describe, expect, it } from 'vitest';
import { authorize, requestTokens, revokeToken } from '../../src/bank/endpoints/oauth.ts';
import { success, tokens } from './answers.ts';
import { useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const client = { clientId: 'client-1', clientSecret: 'secret-1' };

describe('OAuth', () => {
  it('authorize is a GET without bearer token or digest, and psd2 reads its Location without following it', async () => {
    const path =
      '/auth/oauth/v2/authorize?response_type=code&client_id=client-1&redirect_uri=http%3A%2F%2F127.0.0.1%3A8910%2Fcallback&state=s1';
    recorded.expect('GET', path, {
      status: 302,
      headers: { 'content-type': 'text/plain', location: 'https://customers.example/login?x=1' },
    });
    const { bankWith } = openClient();
    const location = await authorize(bankWith(), {
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

  it('an authorize answer without a Location is an error', async () => {
    const { bankWith } = openClient();
    const login = { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', transactionId };
    const path =
      '/auth/oauth/v2/authorize?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2F&state=s';
    recorded.expect('GET', path, { status: 302 });
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'bank_answer',
      httpStatus: 302,
    });
    recorded.expect('GET', path, success());
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'bank_answer',
      httpStatus: 200,
    });
    recorded.expect('GET', path, { status: 401, body: '{"error":"unauthorized_client"}' });
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'not_logged_in',
      bankCode: 'unauthorized_client',
    });
  });

  it.each([
    [
      { grant_type: 'authorization_code', code: 'code-1', redirect_uri: 'http://127.0.0.1:8910/callback' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: 'r1', refreshExpiresIn: 2592000, scope: 'oob' },
    ] as const,
    [
      { grant_type: 'refresh_token', refresh_token: 'r0' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: 'r1', refreshExpiresIn: 2592000, scope: 'oob' },
    ] as const,
    [
      { grant_type: 'client_credentials' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: null, refreshExpiresIn: null, scope: 'oob' },
    ] as const,
  ])(
    'psd2 sends the token call %j without `data`, and reads lifetimes written as strings',
    async (grant, granted) => {
      recorded.expect('POST', '/auth/oauth/v2/token', tokens('a1', granted.refreshToken, '600'));
      const { bankWith } = openClient();
      expect(await requestTokens(bankWith(), client, grant, transactionId)).toEqual(granted);
      expect(recorded.lastJson).toEqual({ ...grant, client_id: 'client-1', client_secret: 'secret-1' });
      expect(recorded.last.headers).not.toHaveProperty('authorization');
      expect(recorded.last.headers['content-type']).toBe('application/json');
    },
  );

  it('psd2 keeps new tokens without a lifetime, because the refresh token before them is spent', async () => {
    const { body, ...answer } = tokens('a1', 'r1');
    const withoutLifetime = String(body).replace(/"expires_in":\d+,/, '');
    expect(withoutLifetime).not.toBe(body);
    recorded.expect('POST', '/auth/oauth/v2/token', { ...answer, body: withoutLifetime });
    const grant = { grant_type: 'refresh_token', refresh_token: 'r0' } as const;
    expect(await requestTokens(openClient().bankWith(), client, grant, transactionId)).toMatchObject({
      accessToken: 'a1',
      expiresIn: null,
      refreshToken: 'r1',
    });
  });

  it('psd2 revokes a token and names its kind', async () => {
    recorded.expect(
      'POST',
      '/auth/oauth/v2/token/revoke',
      success('{"tokenType":"refresh_token","operationOutcome":"revoked"}'),
    );
    await revokeToken(openClient().bankWith(), client, 'r1', 'refresh_token', transactionId);
    expect(recorded.lastJson).toEqual({
      client_id: 'client-1',
      client_secret: 'secret-1',
      token: 'r1',
      token_type_hint: 'refresh_token',
    });
  });
});
