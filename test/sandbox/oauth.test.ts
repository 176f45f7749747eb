import { describe, expect, test } from 'vitest';
import { codeOf, detailOf, type Reply, refusalOf, useTestBank } from './tpp.ts';

const MINUTE = 60_000;
const UUID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const bank = await useTestBank();

/** Goes to the login page and back. Returns the code. */
async function authorize(changes: Record<string, string> = {}): Promise<string> {
  const back = bank.sandbox.customers.allowLogin(await startLogin(changes), '1048262');
  return back.searchParams.get('code') ?? '';
}

async function startLogin(changes: Record<string, string> = {}): Promise<string> {
  const reply = await bank.tpp.send({ path: bank.tpp.authorizePath(changes) });
  return new URL(String(reply.headers.location)).searchParams.get('request') ?? '';
}

function clientCredentials(): Promise<Reply> {
  const application = bank.tpp.registration.applications.clientCredentials;
  return bank.tpp.tokenCall({ grant_type: 'client_credentials' }, application);
}

async function isAccepted(token: string): Promise<boolean> {
  return (await bank.tpp.send({ path: '/private/customers/customerid-info', token })).status === 200;
}

describe('authorize', () => {
  test('authorize answers 302 without a body, and redirects to the login page of the customer site', async () => {
    const reply = await bank.tpp.send({ path: bank.tpp.authorizePath() });
    expect(reply.status).toBe(302);
    expect(reply.text).toBe('');
    expect(reply.headers['content-type']).toMatch(/^text\/plain/);
    const location = new URL(String(reply.headers.location));
    expect(location.origin).toBe(bank.sandbox.customerSiteUrl);
    expect(location.pathname).toBe('/login');
    expect(bank.sandbox.customers.loginRequest(location.searchParams.get('request') ?? '')).toEqual({
      id: location.searchParams.get('request'),
      tppName: 'Sandbox TPP',
      applicationName: 'psd2-sandbox',
    });
  });

  test('authorize needs no bearer token and no digest, and is signed like a GET', async () => {
    const signedTarget = 'get /auth/oauth/v2/authorize';
    const reply = await bank.tpp.send({ path: bank.tpp.authorizePath(), signedTarget });
    expect(codeOf(reply)).toBe('SIGNATURE_INVALID');
  });

  test.each([
    [{ response_type: 'token' }, 'PARAMETER_INVALID'],
    [{ response_type: '' }, 'PARAMETER_INVALID'],
    [{ redirect_uri: '' }, 'PARAMETER_INVALID'],
    [{ redirect_uri: 'http://tpp.example/callback' }, 'REDIRECT_URI_INVALID'],
    [{ client_id: 'unknown' }, 'CLIENT_INVALID'],
  ])('authorize refuses %o', async (changes, code) => {
    const reply = await bank.tpp.send({ path: bank.tpp.authorizePath(changes) });
    expect(refusalOf(reply)).toBe(`400 ${code}`);
  });

  test('authorize refuses the client_credentials application', async () => {
    const application = bank.tpp.registration.applications.clientCredentials;
    const path = bank.tpp.authorizePath({ client_id: application.clientId });
    expect(refusalOf(await bank.tpp.send({ path, application }))).toBe('403 NOT_ALLOWED');
  });

  test("authorize must be signed under the application's own name", async () => {
    const application = bank.tpp.registration.applications.clientCredentials;
    const reply = await bank.tpp.send({ path: bank.tpp.authorizePath(), application });
    expect(codeOf(reply)).toBe('SIGNATURE_KEY_ID');
  });
});

describe('the return from the login page', () => {
  test('the return keeps the query of the redirect URI, and adds code and state', async () => {
    const uri = 'http://127.0.0.1:8910/callback?profile=a';
    const id = await startLogin({ redirect_uri: uri, state: 's t&a=te' });
    const url = bank.sandbox.customers.allowLogin(id, '1048262');
    expect(url.origin + url.pathname).toBe('http://127.0.0.1:8910/callback');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      profile: 'a',
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 's t&a=te',
    });
  });

  test('the return has no state if the client sent none', async () => {
    const path = bank.tpp.authorizePath().replace('&state=abc', '');
    const reply = await bank.tpp.send({ path });
    const id = new URL(String(reply.headers.location)).searchParams.get('request') ?? '';
    expect([...bank.sandbox.customers.allowLogin(id, '1048262').searchParams.keys()]).toEqual(['code']);
  });

  test('the return has the error after the customer refused', async () => {
    const url = bank.sandbox.customers.refuseLogin(await startLogin());
    expect(Object.fromEntries(url.searchParams)).toEqual({ error: 'access_denied', state: 'abc' });
  });

  test('a customer can decide a login only once', async () => {
    const id = await startLogin();
    bank.sandbox.customers.allowLogin(id, '1048262');
    expect(bank.sandbox.customers.loginRequest(id)).toBeUndefined();
    expect(() => bank.sandbox.customers.allowLogin(id, '1048262')).toThrow('no pending login');
  });

  test('a login stays open for ten minutes', async () => {
    const id = await startLogin();
    bank.clock.advance(10 * MINUTE);
    // Another one takes nothing away.
    await startLogin();
    expect(bank.sandbox.customers.loginRequest(id)).toBeDefined();
    bank.clock.advance(1);
    expect(bank.sandbox.customers.loginRequest(id)).toBeUndefined();
  });
});

test("the login page accepts the customers' passwords only", () => {
  const { customers } = bank.sandbox;
  expect(customers.logins().map(({ user, customerId }) => [user, customerId])).toEqual([
    ['anna', '1048262'],
    ['bruno', '2073915'],
    ['carla', '3098127'],
  ]);
  for (const login of customers.logins())
    expect(customers.authenticate(login.user, login.password)).toEqual(login);
  expect(customers.authenticate('anna', 'bruno-sandbox')).toBeUndefined();
});

describe('the token call for a code', () => {
  test('the token call gives tokens with their lifetimes, and forbids caching', async () => {
    const reply = await bank.tpp.send(bank.tpp.codeCall(await authorize()));
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      result: {
        ...{ outcome: 'SUCCESS', requestId: expect.stringMatching(/^\d{24}$/) },
        ...{ flushMessages: true, messages: [] },
      },
      data: {
        ...{ access_token: expect.stringMatching(UUID_FORM), token_type: 'Bearer', expires_in: 3500 },
        ...{ refresh_token: expect.stringMatching(UUID_FORM), rt_expires_in: 2592000, scope: 'oob' },
      },
    });
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers.pragma).toBe('no-cache');
  });

  test('the token call accepts a form as well', async () => {
    const { body, ...call } = bank.tpp.codeCall(await authorize());
    const form = new URLSearchParams(Object.entries(body ?? {})).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const reply = await bank.tpp.send({ ...call, body: form, headers });
    expect(reply.json.data?.access_token).toMatch(UUID_FORM);
    const repeated = await bank.tpp.send({ ...call, body: `${form}&grant_type=x`, headers });
    expect(refusalOf(repeated)).toBe('400 BODY_MALFORMED');
  });

  test('a code works once, and its second use ends the tokens of the first', async () => {
    const code = await authorize();
    const first = await bank.tpp.send(bank.tpp.codeCall(code));
    const token = String(first.json.data?.access_token);
    expect(await isAccepted(token)).toBe(true);
    const second = await bank.tpp.send(bank.tpp.codeCall(code));
    expect(refusalOf(second)).toBe('400 GRANT_INVALID');
    expect(await isAccepted(token)).toBe(false);
    expect(second.text).not.toContain(code);
  });

  test('a code is valid for five minutes', async () => {
    const [early, late] = [await authorize(), await authorize()];
    bank.clock.advance(5 * MINUTE);
    expect((await bank.tpp.send(bank.tpp.codeCall(early))).status).toBe(200);
    bank.clock.advance(1);
    expect(codeOf(await bank.tpp.send(bank.tpp.codeCall(late)))).toBe('GRANT_INVALID');
  });

  test('the token call must repeat the redirect URI exactly', async () => {
    const code = await authorize();
    const other = bank.tpp.codeCall(code, { redirect_uri: 'http://127.0.0.1:8910/callback/' });
    expect(refusalOf(await bank.tpp.send(other))).toBe('400 REDIRECT_URI_INVALID');
    expect((await bank.tpp.send(bank.tpp.codeCall(code))).status).toBe(200);
  });

  test.each([
    [{ client_secret: 'wrong' }, 'CLIENT_INVALID'],
    [{ client_id: 'wrong' }, 'CLIENT_INVALID'],
    [{ code: 'wrong' }, 'GRANT_INVALID'],
    [{ grant_type: 'password' }, 'PARAMETER_INVALID'],
  ])('the token call refuses %o, and repeats no secret', async (changes, code) => {
    const reply = await bank.tpp.send(bank.tpp.codeCall(await authorize(), changes));
    expect(refusalOf(reply)).toBe(`400 ${code}`);
    expect(reply.text).not.toContain(bank.tpp.registration.applications.authorizationCode.clientSecret);
  });

  test('the token call names a missing field', async () => {
    const reply = await bank.tpp.tokenCall({ grant_type: 'authorization_code', code: 'x' });
    expect(refusalOf(reply)).toBe('417 FIELD_INVALID');
    expect(detailOf(reply)).toBe('redirect_uri is missing.');
  });
});

test('an access token is valid for 3500 seconds', async () => {
  const { accessToken } = await bank.tpp.login();
  bank.clock.advance(3_499_999);
  expect(await isAccepted(accessToken)).toBe(true);
  bank.clock.advance(1);
  const late = await bank.tpp.send({ path: '/private/customers/customerid-info', token: accessToken });
  expect(refusalOf(late)).toBe('401 TOKEN_EXPIRED');
});

test('the bank tells an expired token from one that it never had, for a day', async () => {
  const { accessToken } = await bank.tpp.login();
  const refusal = async () => {
    // It forgets as it issues another one.
    await clientCredentials();
    return refusalOf(await bank.tpp.send({ path: '/private/customers/customerid-info', token: accessToken }));
  };
  bank.clock.advance(3_500_000 + 24 * 60 * MINUTE);
  expect(await refusal()).toBe('401 TOKEN_EXPIRED');
  bank.clock.advance(1);
  expect(await refusal()).toBe('401 TOKEN_INVALID');
});

describe('refresh', () => {
  test('a refresh gives new tokens, ends the old refresh token, and keeps the old access token', async () => {
    const old = await bank.tpp.login();
    const reply = await bank.tpp.refresh(old.refreshToken);
    const { access_token: access, refresh_token: refresh } = reply.json.data ?? {};
    expect(access).not.toBe(old.accessToken);
    expect(refresh).not.toBe(old.refreshToken);
    expect(await isAccepted(String(access))).toBe(true);
    expect(await isAccepted(old.accessToken)).toBe(true);
    const again = await bank.tpp.refresh(old.refreshToken);
    expect(refusalOf(again)).toBe('400 GRANT_INVALID');
    expect(again.text).not.toContain(old.refreshToken);
  });

  test('a refresh token is valid for 30 days', async () => {
    const { refreshToken } = await bank.tpp.login();
    bank.clock.advance(2_592_000_000);
    expect(codeOf(await bank.tpp.refresh(refreshToken))).toBe('GRANT_INVALID');
  });

  test('a refresh needs a refresh token, not an access token', async () => {
    const { accessToken } = await bank.tpp.login();
    expect(codeOf(await bank.tpp.refresh(accessToken))).toBe('GRANT_INVALID');
  });
});

describe('client credentials', () => {
  test('client credentials give only an access token', async () => {
    const reply = await clientCredentials();
    expect(reply.json.data).toEqual({
      access_token: expect.stringMatching(UUID_FORM),
      token_type: 'Bearer',
      expires_in: 3500,
      scope: 'oob',
    });
  });

  test('client credentials read accounts under their own application name, and have no customer', async () => {
    const token = String((await clientCredentials()).json.data?.access_token);
    const application = bank.tpp.registration.applications.clientCredentials;
    const accounts = await bank.tpp.send({ path: '/private/customers/2073915/accounts', token, application });
    expect(accounts.status).toBe(200);
    const own = await bank.tpp.send({ path: '/private/customers/customerid-info', token, application });
    expect(refusalOf(own)).toBe('403 NOT_ALLOWED');
    const misnamed = await bank.tpp.send({ path: '/private/customers/2073915/accounts', token });
    expect(codeOf(misnamed)).toBe('SIGNATURE_KEY_ID');
  });

  test('the authorization_code application cannot use client credentials', async () => {
    expect(refusalOf(await bank.tpp.tokenCall({ grant_type: 'client_credentials' }))).toBe('403 NOT_ALLOWED');
  });
});

describe('revoke', () => {
  function revoke(token: string, hint: string): Promise<Reply> {
    const { clientId, clientSecret } = bank.tpp.registration.applications.authorizationCode;
    const client = { client_id: clientId, client_secret: clientSecret };
    const path = '/auth/oauth/v2/token/revoke';
    return bank.tpp.send({ method: 'POST', path, body: { ...client, token, token_type_hint: hint } });
  }

  // What the token is counts, whatever the client calls it.
  test.each<[kind: 'access' | 'refresh', hint: string, isRefreshed: boolean]>([
    ['access', 'access_token', true],
    ['access', 'refresh_token', true],
    ['refresh', 'refresh_token', false],
    ['refresh', 'access_token', false],
  ])(
    'revoking the %s token, as %s, ends the access token: a refresh works then: %s',
    async (kind, hint, isRefreshed) => {
      const { accessToken, refreshToken } = await bank.tpp.login();
      const reply = await revoke(kind === 'access' ? accessToken : refreshToken, hint);
      expect(reply.json.data).toEqual({ tokenType: `${kind}_token`, operationOutcome: 'revoked' });
      expect(await isAccepted(accessToken)).toBe(false);
      const refreshed = await bank.tpp.refresh(refreshToken);
      expect(refreshed.status === 200 ? 'refreshed' : codeOf(refreshed)).toBe(
        isRefreshed ? 'refreshed' : 'GRANT_INVALID',
      );
    },
  );

  test('revoking a token leaves the tokens of other logins alone', async () => {
    const [one, other] = [await bank.tpp.login(), await bank.tpp.login()];
    await revoke(one.refreshToken, 'refresh_token');
    expect(await isAccepted(other.accessToken)).toBe(true);
  });

  test('revoking an unknown token is not an error (RFC 7009)', async () => {
    for (const tokenType of ['refresh_token', 'access_token']) {
      const reply = await revoke('8d3f7f4e-0000-4000-8000-000000000000', tokenType);
      expect(reply.json.data).toEqual({ tokenType, operationOutcome: 'revoked' });
    }
  });

  test("the bank revokes only access tokens and refresh tokens, and not another application's", async () => {
    const token = String((await clientCredentials()).json.data?.access_token);
    expect(codeOf(await revoke('x', 'id_token'))).toBe('FIELD_INVALID');
    const reply = await revoke(token, 'access_token');
    expect(refusalOf(reply)).toBe('400 GRANT_INVALID');
    expect(reply.text).not.toContain(token);
  });
});
