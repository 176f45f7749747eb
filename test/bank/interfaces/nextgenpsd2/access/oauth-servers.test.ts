import { describe, expect, it } from 'vitest';
import {
  authorizationUrl,
  clientOf,
  loginOf,
  type OAuthServer,
} from '../../../../../src/bank/interfaces/nextgenpsd2/access/oauth.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import { certificateOf } from '../identified.ts';
import { described, errorOf, failureOf, ORIGIN, type Scripted, said, scriptedCalls } from '../scripted.ts';

// OAuth servers: which addresses psd2 uses of the bank file's and the metadata's, and what it sends there.

type Oauth = NonNullable<BankFile['oauth']>;
const META = `${ORIGIN}/meta`;
const METADATA = {
  issuer: ORIGIN,
  authorization_endpoint: 'https://login.example/authorize',
  token_endpoint: `${ORIGIN}/token`,
  revocation_endpoint: `${ORIGIN}/revoke`,
};
const SERVER: OAuthServer = {
  ...{ issuer: ORIGIN, namesItself: false, authorization: 'https://login.example/authorize' },
  token: { origin: ORIGIN, path: '/token' },
  revocation: { origin: ORIGIN, path: '/revoke' },
};
const NOTHING: OAuthServer = {
  ...{ issuer: null, namesItself: false, authorization: null, token: null, revocation: null },
};
const NAMES_ITSELF = { authorization_response_iss_parameter_supported: true };
const LOGIN = { reads: null, needsConsent: false, login: true };
const CLIENT = { clientId: 'PSD IT/1', clientSecret: 's&cret' };
const HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

function opened(answers: Scripted[], oauth: Oauth = {}, more: Omit<BankFile, 'interface' | 'oauth'> = {}) {
  const script = scriptedCalls(answers, { oauth, ...more });
  return { ...script, login: loginOf(script.calls.bank, script.oauth, script.calls.description) };
}

/** The server that the bank file and this metadata name. */
const serverOf = (metadata: object, oauth: Oauth = {}, more: Omit<BankFile, 'interface' | 'oauth'> = {}) =>
  opened([said(metadata)], { metadata: META, ...oauth }, more).oauth.server(undefined, TRANSACTION_ID);

const unnamed = (field: string) => ({
  code: 'config',
  message: `The bank names no OAuth address for this: oauth.${field}`,
  hint: 'Name oauth.metadata, or this address, in the bank file.',
});

describe('the server of a bank', () => {
  const ENDPOINTS = { authorizationEndpoint: `${ORIGIN}/own/login`, tokenEndpoint: `${ORIGIN}/own/token` };
  const aliases = (more: object) => ({ ...METADATA, mtls_endpoint_aliases: more });
  const at = (path: string) => ({ origin: ORIGIN, path });
  const EMPTY = { authorization_endpoint: '', token_endpoint: '', revocation_endpoint: '' };

  const AT_OWN = { ...SERVER, authorization: ENDPOINTS.authorizationEndpoint, token: at('/own/token') };
  const MTLS = { clientAuth: 'mtls' } as const;
  const TOKEN = { token_endpoint: '/mtls/token' };
  const REVOKE = { revocation_endpoint: '/mtls/revoke' };
  const AT_BOTH = { ...SERVER, token: at('/mtls/token'), revocation: at('/mtls/revoke') };
  it.each<[string, Oauth, object, object]>([
    ['is in the metadata', {}, METADATA, SERVER],
    ['names itself', {}, { ...METADATA, ...NAMES_ITSELF }, { ...SERVER, namesItself: true }],
    ['has nothing', {}, {}, NOTHING],
    ['has empty addresses', {}, EMPTY, NOTHING],
    ['is at the addresses of the bank file before the metadata', ENDPOINTS, METADATA, AT_OWN],
    ['has addresses for clients with a certificate', MTLS, aliases({ ...TOKEN, ...REVOKE }), AT_BOTH],
    ['has one of these', MTLS, aliases(TOKEN), { ...SERVER, token: at('/mtls/token') }],
    ['has none of these', { clientAuth: 'mtls' }, aliases({}), SERVER],
    ...['grant_types_supported', 'token_endpoint_auth_methods_supported'].flatMap((name) =>
      ['none', {}, [7], null].map((value): [string, Oauth, object, object] => [
        `is the same with ${JSON.stringify(value)} for ${name}`,
        {},
        { ...METADATA, [name]: value },
        SERVER,
      ]),
    ),
    ['has odd ones', { clientAuth: 'mtls' }, { ...METADATA, mtls_endpoint_aliases: 'none' }, SERVER],
    ['has these for others', { clientAuth: 'post' }, aliases({ token_endpoint: '/mtls/token' }), SERVER],
  ])('%s', async (_, oauth, metadata, server) => {
    const script = opened([said(metadata)], { metadata: META, ...oauth });
    expect(await script.oauth.server(undefined, TRANSACTION_ID)).toEqual(server);
    expect(script.sent).toEqual([
      { method: 'GET', origin: ORIGIN, path: '/meta', facts: LOGIN, transactionId: TRANSACTION_ID },
    ]);
  });

  it.each(['https://login.example', 'no address', `${ORIGIN}.evil.example`])(
    'may not have the issuer %s',
    async (issuer) => {
      expect(await failureOf(serverOf({ ...METADATA, issuer }))).toEqual({
        code: 'bank_answer',
        message: `The OAuth metadata is of another server: its issuer is "${issuer}"`,
        hint: "If that is the bank's, name oauth.authorizationEndpoint on that host in the bank file.",
        transactionId: TRANSACTION_ID,
      });
    },
  );

  it.each([
    ['/.well-known/oauth-authorization-server/a', `${ORIGIN}/a`],
    ['/a/.well-known/openid-configuration', `${ORIGIN}/a`],
    ['/a/.well-known/oauth-authorization-server', `${ORIGIN}/a/`],
    ['/.well-known/openid-configuration', ORIGIN],
  ])('whose metadata is at %s has the issuer %s, and no other', async (path, issuer) => {
    const opens = (named: string, oauth: Oauth = {}) =>
      serverOf({ ...METADATA, issuer: named }, { metadata: `${ORIGIN}${path}`, ...oauth });
    expect((await opens(issuer)).issuer).toBe(issuer);
    for (const other of [`${ORIGIN}/b`, `${ORIGIN}/a/b`, 'https://login.example/a']) {
      expect(await failureOf(opens(other))).toMatchObject({ code: 'bank_answer' });
      const tokenEndpoint = new URL('/token', other).href;
      expect((await opens(other, { tokenEndpoint })).issuer).toBe(other);
    }
  });

  it('may have an issuer on a host that the bank file names', async () => {
    const issuer = 'https://login.example';
    const oauth = { authorizationEndpoint: `${issuer}/authorize` };
    expect((await serverOf({ ...METADATA, issuer }, oauth)).issuer).toBe(issuer);
  });

  it('is asked once, and again after a failure', async () => {
    const { oauth, sent } = opened([{ status: 503 }, said(METADATA)], { metadata: META });
    expect(await failureOf(oauth.server(undefined, TRANSACTION_ID))).toMatchObject({ code: 'bank_failing' });
    for (let times = 0; times < 3; times += 1)
      expect(await oauth.server(undefined, TRANSACTION_ID)).toEqual(SERVER);
    expect(sent).toHaveLength(2);
  });

  it('is the one that a resource names, unless the bank file says where it is', async () => {
    const named = opened([said(METADATA), said({})]);
    expect(await named.oauth.server(`${ORIGIN}/a`, TRANSACTION_ID)).toEqual(SERVER);
    expect(await named.oauth.server(`${ORIGIN}/b`, TRANSACTION_ID)).toEqual(NOTHING);
    expect(named.sent.map(({ path }) => path)).toEqual(['/a', '/b']);
    expect(await opened([]).oauth.server(undefined, TRANSACTION_ID)).toEqual(NOTHING);
  });

  const { authorizationEndpoint, tokenEndpoint } = ENDPOINTS;
  it.each<[Oauth, Scripted[], object]>([
    [ENDPOINTS, [], { ...NOTHING, authorization: authorizationEndpoint, token: at('/own/token') }],
    [{ tokenEndpoint }, [said(METADATA)], { ...SERVER, token: at('/own/token') }],
    [{ authorizationEndpoint }, [said(METADATA)], { ...SERVER, authorization: authorizationEndpoint }],
  ])('that a resource names goes after %j of the bank file', async (oauth, answers, server) => {
    expect(await opened(answers, oauth).oauth.server(`${ORIGIN}/a`, TRANSACTION_ID)).toEqual(server);
  });

  const LOGIN_THERE = { metadata: META, authorizationEndpoint: 'https://a.example/x' };
  it.each<[Oauth, object]>([
    [{ metadata: 'https://a.example/meta' }, { token_endpoint: 'https://a.example/t' }],
    [LOGIN_THERE, { token_endpoint: 'https://a.example/t' }],
    [{ metadata: META, tokenEndpoint: 'https://a.example/t' }, {}],
  ])('may be on a host that the bank file names: %j', async (oauth, metadata) => {
    const { token } = await serverOf(metadata, oauth);
    expect(token).toEqual({ origin: 'https://a.example', path: '/t' });
  });

  it('may be on the host of the base URL in the bank file', async () => {
    const file = { api: { baseUrl: 'https://a.example/x' } };
    const { token } = await serverOf({ token_endpoint: 'https://a.example/t' }, {}, file);
    expect(token?.origin).toBe('https://a.example');
  });

  const unknown = (name: string) =>
    `The OAuth address ${name} is on a host that psd2 does not know: a.example`;
  const NOT_HTTPS = "The bank's link authorization_endpoint is not an https address";
  it.each([
    [{ token_endpoint: 'https://a.example/t' }, unknown('token_endpoint')],
    [{ revocation_endpoint: 'https://a.example/t' }, unknown('revocation_endpoint')],
    [{ authorization_endpoint: 'http://a.example/t' }, NOT_HTTPS],
  ])('is not used if its metadata is %j', async (metadata, message) => {
    expect(await failureOf(serverOf(metadata))).toMatchObject({ code: 'bank_answer', message });
  });

  it('has its metadata on no host that psd2 does not know', async () => {
    const asking = opened([]).oauth.server('https://a.example/meta', TRANSACTION_ID);
    expect(await failureOf(asking)).toMatchObject({ message: unknown('of the metadata') });
  });
});

describe('the page of a login', () => {
  const asked = {
    ...{ clientId: 'c&1', redirectUri: 'http://127.0.0.1/x', state: 's 1', scope: 'a b' },
    codeVerifier: 'v'.repeat(43),
  };
  const COMMON =
    'response_type=code&client_id=c%261&redirect_uri=http%3A%2F%2F127.0.0.1%2Fx&scope=a+b&state=s+1';

  it.each<[Oauth, string]>([
    [{}, `${COMMON}&code_challenge=7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM&code_challenge_method=S256`],
    [{ pkce: 'none' }, COMMON],
    [
      {
        ...{ names: { client_id: 'clientId', response_type: 'responseType', code_challenge: 'challenge' } },
        ...{ parameters: { bic: 'GENODEF1S06', consent: '{consentId}' }, responseType: 'AuthorizationCode' },
      },
      'responseType=AuthorizationCode&clientId=c%261&redirect_uri=http%3A%2F%2F127.0.0.1%2Fx&scope=a+b&state=s+1&bic=GENODEF1S06&challenge=7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM&code_challenge_method=S256',
    ],
  ])('with the bank file %j', (oauth, query) => {
    const url = authorizationUrl(SERVER, asked, described({ oauth }));
    expect(url).toBe(`https://login.example/authorize?${query}`);
  });

  it('keeps what the address of the bank has', () => {
    const server = { ...SERVER, authorization: 'https://login.example/a?brand=x&scope=y' };
    const oauth: Oauth = { pkce: 'none' };
    const url = new URL(authorizationUrl(server, asked, described({ oauth })));
    expect([url.searchParams.get('brand'), url.searchParams.getAll('scope')]).toEqual(['x', ['a b']]);
  });

  it('needs an address for the customer, one for the code, and a verifier', () => {
    const made = (server: Partial<OAuthServer>, codeVerifier: string | undefined = asked.codeVerifier) =>
      authorizationUrl({ ...SERVER, ...server }, { ...asked, codeVerifier }, described());
    expect(errorOf(() => made({ authorization: null }))).toEqual(unnamed('authorizationEndpoint'));
    expect(errorOf(() => made({ token: null }))).toEqual(unnamed('tokenEndpoint'));
    expect(() => authorizationUrl(SERVER, { ...asked, codeVerifier: undefined }, described())).toThrow(
      new TypeError('A login at this bank needs a code verifier'),
    );
  });
});

describe('a login', () => {
  const PRE: Oauth = { mode: 'pre-step', metadata: META };
  const asked = {
    ...{ clientId: 'c', redirectUri: 'http://127.0.0.1/x', state: 's1', codeVerifier: 'v'.repeat(43) },
    transactionId: TRANSACTION_ID,
  };

  it.each<[Oauth, boolean]>([
    [{}, false],
    [{ mode: 'pre-step' }, true],
    [{ mode: 'pre-step', pkce: 'none' }, false],
    [{ mode: 'integrated' }, true],
  ])('ties its code to the request: %j, %s', (oauth, ties) => {
    expect(opened([], oauth).login.tiesCodes).toBe(ties ? true : undefined);
  });

  const ofEach = { preStep: { ais: 'of-readings', pis: 'of-payments' } };
  it.each<[Oauth['scope'], boolean | undefined, string]>([
    [undefined, undefined, 'ais pis'],
    [{ preStep: 'own' }, true, 'own'],
    [ofEach, undefined, 'of-readings'],
    [ofEach, true, 'of-payments'],
  ])(
    'is at the page of the bank, with a scope of %j (for payments: %s)',
    async (scope, isForPayments, asks) => {
      const { login } = opened([said(METADATA)], { ...PRE, ...(scope && { scope }) });
      const url = new URL(await login.authorize({ ...asked, ...(isForPayments && { isForPayments }) }));
      expect(`${url.origin}${url.pathname}`).toBe('https://login.example/authorize');
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        ...{ client_id: 'c', redirect_uri: 'http://127.0.0.1/x', state: 's1', scope: asks },
      });
    },
  );

  const AWAY = 'https://login.example/page?session=1';
  it.each<[string, Record<string, string>, number, string]>([
    ['that redirects', { location: AWAY }, 303, AWAY],
    ['that redirects with the first such status', { location: AWAY }, 300, AWAY],
    ['that redirects with the last such status', { location: AWAY }, 399, AWAY],
    ['that succeeds', { location: AWAY }, 299, `${ORIGIN}/own/login`],
    ['that fails', { location: AWAY }, 400, `${ORIGIN}/own/login`],
    ['that is a page', {}, 200, `${ORIGIN}/own/login`],
    ['that sets a cookie', { location: AWAY, 'set-cookie': 'a=b' }, 302, `${ORIGIN}/own/login`],
  ])('asks an endpoint %s on the host of the API itself', async (_, headers, status, page) => {
    const oauth: Oauth = { ...PRE, authorizationEndpoint: `${ORIGIN}/own/login` };
    const { login, sent } = opened([said(METADATA), said({}, status, headers)], oauth);
    const url = new URL(await login.authorize(asked));
    expect(url.href.startsWith(page)).toBe(true);
    expect(sent.map(({ path }) => path.split('?', 1)[0])).toEqual(['/meta', '/own/login']);
    expect(sent[1]?.path).toContain('code_challenge=');
  });

  it.each(['none', 'integrated', 'client-credentials'] as const)(
    'is none at a bank with %s',
    async (mode) => {
      expect(await failureOf(opened([], { mode }).login.authorize(asked))).toEqual({
        code: 'usage',
        message: "This bank's interface has no login of customers before they consent",
        next: [['consent', 'request']],
      });
    },
  );

  it('tells nothing of the customer', async () => {
    expect(await failureOf(opened([]).login.whose(TRANSACTION_ID))).toEqual({
      code: 'forbidden',
      message: 'No call of this interface tells whose a token is',
      hint: 'The customer is the one that was named at the login.',
    });
  });

  it.each<[string | null, object, string | null]>([
    [ORIGIN, METADATA, null],
    ['https://evil.example', METADATA, 'comes from another OAuth server'],
    ['https://evil.example', {}, null],
    [null, METADATA, null],
    [null, NAMES_ITSELF, 'does not say which OAuth server it comes from'],
  ])('that comes back from %s', async (iss, metadata, problem) => {
    const { login } = opened([said(metadata)]);
    const checked = Promise.resolve(login.assertIssuer?.(iss, META, TRANSACTION_ID));
    if (problem === null) expect(await checked).toBeUndefined();
    else
      expect(await failureOf(checked)).toEqual({
        code: 'login_refused',
        message: `The return of the browser ${problem}`,
        hint: 'psd2 did not use the code. Log in again, and follow no other link.',
        transactionId: TRANSACTION_ID,
      });
  });
});

describe('tokens', () => {
  const REFRESH = { grant_type: 'refresh_token', refresh_token: 'r 1' } as const;
  const TOKENS = { access_token: 't1' };
  const EMPTY = {
    ...{ accessToken: 't1', expiresIn: null, refreshToken: null, refreshExpiresIn: null, scope: null },
  };
  const FORM = 'grant_type=refresh_token&refresh_token=r+1';
  const basic = Buffer.from('PSD%20IT%2F1:s%26cret').toString('base64');
  const asked = (answer: Scripted, oauth: Oauth = {}) =>
    opened([said(METADATA), answer], { metadata: META, ...oauth });

  it.each<[Oauth, string, object]>([
    [{}, `${FORM}&client_id=PSD+IT%2F1`, {}],
    [{ clientAuth: 'post' }, `${FORM}&client_id=PSD+IT%2F1&client_secret=s%26cret`, {}],
    [{ clientAuth: 'basic' }, FORM, { authorization: `Basic ${basic}` }],
  ])('are asked for with the proof that the bank wants: %j', async (oauth, body, headers) => {
    const { login, sent } = asked(said(TOKENS), oauth);
    expect(await login.tokens(CLIENT, REFRESH, TRANSACTION_ID, silent)).toEqual(EMPTY);
    expect(sent[1]).toEqual({
      ...{ method: 'POST', origin: ORIGIN, path: '/token', facts: LOGIN, transactionId: TRANSACTION_ID },
      ...{ body, headers: { ...HEADERS, ...headers }, beforeSend: silent },
      ...{ repeatable: true, interruptible: 'until sent' },
    });
  });

  it('come from the server that the resource names', async () => {
    const { login, sent } = opened([said(METADATA), said(TOKENS)]);
    await login.tokens({ ...CLIENT, server: META }, REFRESH, TRANSACTION_ID);
    expect(sent.map(({ path }) => path)).toEqual(['/meta', '/token']);
  });

  it('that have ended say so in OAuth’s words', async () => {
    const { login } = asked(said({ error: 'invalid_grant', error_description: 'over' }, 400));
    expect(await failureOf(login.tokens(CLIENT, REFRESH, TRANSACTION_ID))).toMatchObject({
      ...{ code: 'bank_refused', bankCode: 'invalid_grant', message: expect.stringContaining('over') },
    });
  });

  it('of the application have both scopes, where a bank has one for each', async () => {
    const { login, sent } = asked(said(TOKENS), { scope: { preStep: { ais: 'a', pis: 'p' } } });
    await login.tokens(CLIENT, { grant_type: 'client_credentials' }, TRANSACTION_ID);
    expect(sent[1]?.body).toBe('grant_type=client_credentials&scope=a+p&client_id=PSD+IT%2F1');
  });

  it('of the application have its scope, and no other has one', async () => {
    const { login, sent } = asked(said(TOKENS), { scope: { preStep: 'own' } });
    await login.tokens(CLIENT, { grant_type: 'client_credentials' }, TRANSACTION_ID);
    expect(sent[1]).toEqual({
      ...{ method: 'POST', origin: ORIGIN, path: '/token', facts: LOGIN, transactionId: TRANSACTION_ID },
      body: 'grant_type=client_credentials&scope=own&client_id=PSD+IT%2F1',
      ...{ headers: HEADERS, repeatable: true, interruptible: 'until sent' },
    });
  });

  it('need an address', async () => {
    const asking = opened([]).login.tokens(CLIENT, REFRESH, TRANSACTION_ID);
    expect(await failureOf(asking)).toEqual(unnamed('tokenEndpoint'));
  });

  const ALL = { expires_in: 3600, scope: 'a b', refresh_token: 'r2' };
  it.each<[object, object]>([
    [ALL, { expiresIn: 3600, scope: 'a b', refreshToken: 'r2' }],
    [{ expires_in: ' 60 ' }, { expiresIn: 60 }],
    [{ expires_in: '59.9' }, { expiresIn: 59 }],
    [{ expires_in: 10_000_000_000 }, { expiresIn: 10_000_000_000 }],
    [{ expires_in: 10_000_000_001 }, {}],
    [{ expires_in: '60s' }, {}],
    [{ expires_in: '1.' }, {}],
    [{ expires_in: 'in 60' }, {}],
    [{ expires_in: null }, {}],
    [{ expires_in: [60] }, {}],
    [{ refresh_expires_in: 5, refresh_token_expires_in: 6 }, { refreshExpiresIn: 5 }],
    [{ refresh_token_expires_in: 6 }, { refreshExpiresIn: 6 }],
    [{ refresh_token: 'x'.repeat(8000) }, { refreshToken: 'x'.repeat(8000) }],
    [{ refresh_token: 'x'.repeat(8001) }, {}],
    [{ refresh_token: '' }, {}],
    [{ refresh_token: '  ' }, {}],
    [{ refresh_token: 'a\nb' }, {}],
    [{ scope: 7 }, {}],
  ])('have what the bank says of them: %j', async (more, expected) => {
    const { login } = asked(said({ ...TOKENS, ...more }));
    expect(await login.tokens(CLIENT, REFRESH, TRANSACTION_ID)).toEqual({ ...EMPTY, ...expected });
  });

  it.each<[object, RegExp]>([
    // How zod says it depends on what else is loaded.
    [{}, /: Invalid input/],
    [{ access_token: 7 }, /: Invalid input/],
    ...['', 'a b', 'a\n', '\u00e4', '\u007f'].map((token): [object, RegExp] => [
      { access_token: token },
      /: expected a token$/,
    ]),
  ])('are none in %j', async (answer, why) => {
    const { login } = asked(said(answer));
    const failure = await failureOf(login.tokens(CLIENT, REFRESH, TRANSACTION_ID));
    const unusable = "The bank's answer to POST /token has no usable access_token: ";
    expect(failure).toMatchObject({ code: 'bank_answer', message: expect.stringContaining(unusable) });
    expect(failure).toMatchObject({ message: expect.stringMatching(why) });
  });

  it('are revoked where the bank has an address for it', async () => {
    const { login, sent } = asked({ status: 200 });
    expect(await login.revoke(CLIENT, 't1', 'refresh_token', TRANSACTION_ID)).toBe(true);
    expect(sent[1]).toEqual({
      ...{ method: 'POST', origin: ORIGIN, path: '/revoke', facts: LOGIN, transactionId: TRANSACTION_ID },
      body: 'token=t1&token_type_hint=refresh_token&client_id=PSD+IT%2F1',
      ...{ headers: HEADERS, repeatable: true },
    });
    expect(await opened([]).login.revoke(CLIENT, 't1', 'access_token', TRANSACTION_ID)).toBe(false);
    const refused = asked({ status: 400 }).login.revoke(CLIENT, 't1', 'access_token', TRANSACTION_ID);
    expect(await failureOf(refused)).toMatchObject({ code: 'bank_refused' });
  });
});

describe('the client', () => {
  const qwac = certificateOf('/C=IT/organizationIdentifier=PSDIT-BI-9/CN=x');

  const OWN: Oauth = { mode: 'integrated', clientId: 'own', clientAuth: 'basic' };
  it.each<[Oauth, object | null]>([
    [{}, null],
    [{ mode: 'pre-step' }, { clientId: 'PSDIT-BI-9', needsSecret: false }],
    [OWN, { clientId: 'own', needsSecret: true }],
  ])('is the organization in the QWAC, or the bank file names it: %j', (oauth, client) => {
    expect(clientOf(described({ oauth }), qwac)).toEqual(client);
  });
});
