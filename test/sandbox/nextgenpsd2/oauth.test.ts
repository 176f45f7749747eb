import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  ANNA,
  askConsent,
  type Bank,
  CALLBACK,
  type DoorReply,
  giveConsent,
  newDoor,
  refusalOf,
  type TestDoor,
} from './door-client.ts';

const VERIFIER = 'a-verifier-of-forty-three-characters-or-more-0';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const CLIENT = 'PSDIT-BI-12345';
const GRANT = { grant_type: 'client_credentials' };

type Metadata = Record<
  'issuer' | 'authorization_endpoint' | 'token_endpoint' | 'revocation_endpoint',
  string
>;

async function metadataOf(
  { client }: TestDoor,
  path = '/.well-known/oauth-authorization-server',
): Promise<Metadata> {
  return JSON.parse((await client.exchange('GET', path, {}, undefined)).text);
}

/** Opens the authorization endpoint as a browser does. @returns where it sends the browser */
async function authorize(at: TestDoor, changes: Record<string, string | null>): Promise<URL> {
  const { authorization_endpoint } = await metadataOf(at);
  const parameters = {
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: CALLBACK,
    state: 'the-state',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...changes,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
  const url = `${authorization_endpoint}?${query}`;
  const { status, headers } = await fetch(url, { redirect: 'manual' });
  return new URL(headers.get('location') ?? `error:${status}`);
}

/** The customer decides at the address that the authorization endpoint gave. @returns where they go back to */
function approve(at: TestDoor, page: URL, customerId = ANNA): URL {
  const { returnTo } = at.sandbox.access.approve(page.searchParams.get('request') ?? '', customerId);
  return returnTo ?? new URL('error:nowhere');
}

function redeem(at: TestDoor, back: URL, changes: Record<string, string> = {}): Promise<DoorReply> {
  return at.client.form('/oauth/token', {
    grant_type: 'authorization_code',
    client_id: CLIENT,
    code: back.searchParams.get('code') ?? '',
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...changes,
  });
}

function bearer(token: unknown): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

describe('integrated', () => {
  const bank: Bank = { oauth: { mode: 'integrated' }, sca: { approaches: ['oauth'] } };

  test('scaOAuth leads to a code for the consent, and the token reads with that consent alone', async () => {
    const at = await newDoor(bank);
    const reply = await askConsent(at);
    const consentId = String(reply.json.consentId);
    expect(reply.headers['aspsp-sca-approach']).toBe('REDIRECT');
    const metadata = await metadataOf(at, String(reply.json._links?.scaOAuth?.href));
    expect(metadata.issuer).toBe(`${at.sandbox.baseUrl}/nextgenpsd2`);
    expect(await metadataOf(at, '/.well-known/oauth-authorization-server/nextgenpsd2')).toEqual(metadata);
    const back = approve(at, await authorize(at, { scope: `AIS:${consentId}` }));
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'the-state', iss: metadata.issuer });
    expect((await at.client.get(`/v1/consents/${consentId}/status`)).json.consentStatus).toBe('valid');
    expect(refusalOf(await at.client.get('/v1/accounts', consentId))).toBe('401 TOKEN_INVALID Authorization');
    const { json } = await redeem(at, back);
    expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 3500, scope: `AIS:${consentId}` });
    const token = bearer(json.access_token);
    expect((await at.client.get('/v1/accounts', consentId, token)).status).toBe(200);

    const other = String((await askConsent(at)).json.consentId);
    approve(at, await authorize(at, { scope: `AIS:${other}` }), '2073915');
    expect(refusalOf(await at.client.get('/v1/accounts', other, token))).toBe('401 TOKEN_INVALID');
  });

  test('a token expires, and its refresh token gives the next one, once', async () => {
    const at = await newDoor(bank);
    const { consentId } = (await askConsent(at)).json;
    const back = approve(at, await authorize(at, { scope: `AIS:${consentId}` }));
    const { json } = await redeem(at, back);
    at.clock.advance(3_500_000);
    const read = (token: unknown) => at.client.get('/v1/accounts', String(consentId), bearer(token));
    expect(refusalOf(await read(json.access_token))).toBe('401 TOKEN_EXPIRED');
    const form = {
      grant_type: 'refresh_token',
      client_id: CLIENT,
      refresh_token: String(json.refresh_token),
    };
    const refresh = () => at.client.form('/oauth/token', form);
    const renewed = await refresh();
    expect((await read(renewed.json.access_token)).status).toBe(200);
    const again = await refresh();
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
    await at.client.form('/oauth/revoke', { client_id: CLIENT, token: String(renewed.json.refresh_token) });
    expect(refusalOf(await read(renewed.json.access_token))).toBe('401 TOKEN_UNKNOWN');
  });

  test.each<[string, Record<string, string>, string]>([
    ['another verifier', { code_verifier: `${VERIFIER}x` }, 'invalid_grant'],
    ['another redirect_uri', { redirect_uri: 'https://tpp.example/' }, 'invalid_grant'],
    ['another client', { client_id: 'somebody' }, 'invalid_client'],
    ['a secret that the bank did not ask for', { client_secret: 'x' }, 'invalid_client'],
    ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ])('%s gets no token', async (_, changes, error) => {
    const at = await newDoor(bank);
    const { consentId } = (await askConsent(at)).json;
    const back = approve(at, await authorize(at, { scope: `AIS:${consentId}` }));
    expect((await redeem(at, back, changes)).json.error).toBe(error);
    const right = await redeem(at, back);
    expect(right.status).toBe(200);
    expect((await redeem(at, back)).json.error).toBe('invalid_grant');
    const replayed = await at.client.get('/v1/accounts', String(consentId), bearer(right.json.access_token));
    expect(refusalOf(replayed)).toBe('401 TOKEN_UNKNOWN');
  });

  test.each<[Record<string, string | null>, string]>([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ scope: 'ais:x' }, 'invalid_scope'],
  ])('an authorization request with %j goes back with %s', async (changes, error) => {
    const at = await newDoor(bank);
    const { consentId } = (await askConsent(at)).json;
    const back = await authorize(at, { scope: `AIS:${consentId}`, ...changes });
    expect([`${back.origin}${back.pathname}`, back.searchParams.get('error')]).toEqual([CALLBACK, error]);
  });

  test('with another client or a foreign address the browser goes nowhere', async () => {
    const at = await newDoor(bank);
    expect((await authorize(at, { client_id: 'x' })).href).toBe('error:400');
    expect((await authorize(at, { redirect_uri: 'http://tpp.example/' })).href).toBe('error:400');
    const { customerSiteUrl } = at.sandbox;
    const page = await fetch(`${customerSiteUrl}/nextgenpsd2/authorize?client_id=%3Cb%3E`);
    expect(await page.text()).toContain(
      `<p role="alert">client_id is not what the bank needs. Expected: ${CLIENT}. Received: &lt;b&gt;.</p>`,
    );
  });

  test("names what is missing by the bank's name for it", async () => {
    const at = await newDoor({ oauth: { ...bank.oauth, names: { client_id: 'clientId' } } });
    const { access } = at.sandbox;
    const query = new URLSearchParams({ client_id: CLIENT, redirect_uri: CALLBACK });
    expect(access.authorize(query)).toEqual({
      wrong: `clientId is not what the bank needs. Expected: ${CLIENT}. Received: nothing.`,
    });
    const foreign = new URLSearchParams({ clientId: CLIENT, redirect_uri: 'http://tpp.example/' });
    expect(access.authorize(foreign)).toEqual({
      wrong: expect.stringMatching(/^redirect_uri .* Expected: an https address.* Received: http:\/\/tpp/),
    });
  });

  test('the scope, the client id and the header of the token are those of the bank file', async () => {
    const own = { clientId: 'our-id', tokenHeader: 'X-Token', scope: { ais: 'AIS: {consentId}' } };
    const at = await newDoor({ oauth: { mode: 'integrated', pkce: 'none', ...own } });
    const { consentId } = (await askConsent(at)).json;
    const client = { client_id: 'our-id', code_challenge: null, code_challenge_method: null };
    const wrong = await authorize(at, { ...client, scope: `AIS:${consentId}` });
    expect(wrong.searchParams.get('error')).toBe('invalid_scope');
    const back = approve(at, await authorize(at, { ...client, scope: `AIS: ${consentId}` }));
    const { json } = await at.client.form('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: 'our-id',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
    });
    const read = async (headers: Record<string, string>) =>
      (await at.client.get('/v1/accounts', String(consentId), headers)).status;
    expect(await read({ 'x-token': `Bearer ${json.access_token}` })).toBe(200);
    expect(await read(bearer(json.access_token))).toBe(400);
  });
});

describe('pre-step', () => {
  const bank: Bank = { oauth: { mode: 'pre-step' } };

  test('every call needs the token of a login, and the consent is for that customer', async () => {
    const at = await newDoor(bank);
    expect(refusalOf(await askConsent(at))).toBe('401 TOKEN_INVALID Authorization');
    const back = approve(at, await authorize(at, { scope: 'ais pis' }));
    const token = bearer((await redeem(at, back)).json.access_token);
    const reply = await askConsent(at, {}, token);
    expect(reply.status).toBe(201);
    const id = String(reply.json._links?.scaRedirect?.href).split('=')[1] ?? '';
    expect(at.sandbox.access.accessRequest(id)?.user).toBe('anna');
    at.sandbox.access.approve(id, ANNA);
    expect((await at.client.get('/v1/accounts', String(reply.json.consentId), token)).status).toBe(200);
  });

  test('the customer can refuse the login', async () => {
    const at = await newDoor(bank);
    const page = await authorize(at, { scope: 'ais pis' });
    const { returnTo } = at.sandbox.access.refuse(page.searchParams.get('request') ?? '');
    expect(returnTo?.searchParams.get('error')).toBe('access_denied');
  });
});

describe('client-credentials', () => {
  const token = (at: TestDoor, fields: Record<string, string> = {}, headers = {}) =>
    at.client.form('/oauth/token', { ...GRANT, scope: 'ais pis', ...fields }, headers);
  const secretOf = ({ sandbox }: TestDoor) =>
    sandbox.registration.applications.authorizationCode.clientSecret;

  test('mtls: the application has a token with its certificate alone, and every call needs it', async () => {
    const at = await newDoor({ oauth: { mode: 'client-credentials' } });
    expect(refusalOf(await askConsent(at))).toBe('401 TOKEN_INVALID Authorization');
    const { json } = await token(at, { client_id: CLIENT });
    expect(json).not.toHaveProperty('refresh_token');
    expect((await askConsent(at, {}, bearer(json.access_token))).status).toBe(201);
    const stale = { ...bearer(json.access_token), 'x-sandbox-fault': 'stale-token' };
    expect(refusalOf(await askConsent(at, {}, stale))).toBe('401 TOKEN_EXPIRED');
  });

  test('basic: the secret is in the header alone; post: in the body alone', async () => {
    const at = await newDoor({ oauth: { mode: 'client-credentials', clientAuth: 'basic' } });
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${CLIENT}:${secret}`).toString('base64')}`,
    });
    expect((await token(at, {}, basic(secretOf(at)))).status).toBe(200);
    expect((await token(at, {}, basic('x'))).json.error).toBe('invalid_client');
    expect((await token(at, { client_id: CLIENT, client_secret: secretOf(at) })).status).toBe(401);
    const post = await newDoor({ oauth: { mode: 'client-credentials', clientAuth: 'post' } });
    expect((await token(post, { client_id: CLIENT, client_secret: secretOf(post) })).status).toBe(200);
    expect((await token(post, { client_id: CLIENT, client_secret: 'x' })).json.error).toBe('invalid_client');
    expect((await token(post, { client_id: CLIENT })).json.error).toBe('invalid_client');
  });
});

test('a bank without OAuth has no token, and takes none', async () => {
  const at = await newDoor();
  const id = await giveConsent(at);
  expect((await at.client.get('/v1/accounts', id, bearer('x'))).status).toBe(400);
  const answer = await at.client.form('/oauth/token', { ...GRANT, client_id: CLIENT });
  expect(answer.json.error).toBe('unsupported_grant_type');
});

test('metadata has no endpoint that the bank file names elsewhere', async () => {
  const oauth = { mode: 'integrated', tokenEndpoint: 'https://bank.example/token' } as const;
  const at = await newDoor({ oauth });
  const metadata = await metadataOf(at);
  expect(metadata).not.toHaveProperty('token_endpoint');
  expect(metadata).toHaveProperty('authorization_endpoint');
});

describe('the token of a login before everything', () => {
  const tokensOf = async (psu: Bank['psu'], ...customers: string[]): Promise<string[]> => {
    const at = await newDoor({ oauth: { mode: 'pre-step' }, psu });
    const tokens: string[] = [];
    for (const customer of customers) {
      const back = approve(at, await authorize(at, { scope: 'ais pis' }), customer);
      tokens.push(String((await redeem(at, back)).json.access_token));
    }
    return tokens;
  };

  test('names its customer where PSU-ID is the sub of the token, and no two are the same', async () => {
    const tokens = await tokensOf({ id: 'token-sub' }, ANNA, ANNA, '2073915');
    const parts = tokens.map((token) =>
      token
        .split('.')
        .slice(0, 2)
        .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString())),
    );
    const jti = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const of = (sub: string) => [{ alg: 'none' }, { sub, jti }];
    expect(parts).toEqual([of(ANNA), of(ANNA), of('2073915')]);
    expect(new Set(tokens).size).toBe(3);
  });

  test('says nothing elsewhere', async () => {
    expect(await tokensOf({}, ANNA)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });
});
