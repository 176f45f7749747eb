import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { clientOf } from '../../../../src/bank/interfaces/nextgenpsd2/oauth.ts';
import { withOpenssl } from '../../../certificates/openssl.ts';
import { json, type NextGenOptions, silent, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const METADATA = '/.well-known/oauth-authorization-server';
const SITE = 'https://login.bank.example/authorize?brand=x';
const LOGIN_PAGE = 'https://login.bank.example/authorize';
const REDIRECT = 'http://127.0.0.1:8910/callback';
const VERIFIER = 'v'.repeat(43);
const CLIENT = { clientId: 'PSDIT-BI-1', clientSecret: 's e&cret' };

type Oauth = NonNullable<NonNullable<NextGenOptions['file']>['oauth']>;

const preStep = (more: Oauth = {}): NextGenOptions => ({
  file: { oauth: { mode: 'pre-step', metadata: `${bank.baseUrl}${METADATA}`, ...more } },
});

const metadata = (more: object = {}) =>
  json({
    issuer: bank.baseUrl,
    authorization_endpoint: SITE,
    token_endpoint: `${bank.baseUrl}/token`,
    revocation_endpoint: `${bank.baseUrl}/revoke`,
    ...more,
  });

const TOKENS = json({
  access_token: 't1',
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'r1',
  scope: 'ais',
});
const start = {
  clientId: CLIENT.clientId,
  redirectUri: REDIRECT,
  state: 's1',
  codeVerifier: VERIFIER,
  transactionId: TRANSACTION_ID,
};
const code = {
  grant_type: 'authorization_code',
  code: 'c/1',
  redirect_uri: REDIRECT,
  code_verifier: VERIFIER,
} as const;

describe('a login before everything', () => {
  it('sends the customer to the server in the metadata, with PKCE', async () => {
    bank.expect('GET', METADATA, metadata());
    const { login } = open(preStep()).bank;
    expect(login.tiesCodes).toBe(true);
    const url = new URL(await login.authorize(start));
    expect(`${url.origin}${url.pathname}`).toBe('https://login.bank.example/authorize');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      brand: 'x',
      response_type: 'code',
      client_id: 'PSDIT-BI-1',
      redirect_uri: REDIRECT,
      scope: 'ais pis',
      state: 's1',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    });
    // The metadata is read once.
    await login.authorize(start);
  });

  it('has the names, the response type and the parameters of the bank file', async () => {
    const names = { client_id: 'clientId', response_type: 'responseType', code_challenge: 'challenge' };
    const parameters = { bic: 'GENODEF1S06', consent: '{consentId}' };
    const oauth: Oauth = { names, parameters, responseType: 'AuthorizationCode' };
    bank.expect('GET', METADATA, metadata());
    const url = new URL(await open(preStep(oauth)).bank.login.authorize(start));
    const { code_challenge_method, redirect_uri, ...sent } = Object.fromEntries(url.searchParams);
    const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
    const own = { clientId: 'PSDIT-BI-1', responseType: 'AuthorizationCode', challenge };
    expect(sent).toEqual({ brand: 'x', ...own, bic: 'GENODEF1S06', scope: 'ais pis', state: 's1' });
  });

  it('is for readings or for payments, where no token has both', async () => {
    const scope = { preStep: { ais: 'of-readings', pis: 'of-payments' } };
    bank.expect('GET', METADATA, metadata());
    const { login } = open(preStep({ scope })).bank;
    const asked = async (more: object) =>
      new URL(await login.authorize({ ...start, ...more })).searchParams.get('scope');
    expect(await asked({})).toBe('of-readings');
    expect(await asked({ isForPayments: true })).toBe('of-payments');
  });

  it('a token endpoint may have a query', async () => {
    const oauth: Oauth = {
      mode: 'pre-step',
      authorizationEndpoint: LOGIN_PAGE,
      tokenEndpoint: `${bank.baseUrl}/own/token?role=DEDICATED_AISP`,
    };
    bank.expect('POST', '/own/token?role=DEDICATED_AISP', TOKENS);
    await open({ file: { oauth } }).bank.login.tokens(CLIENT, code, TRANSACTION_ID);
    expect(bank.last.target).toBe('/own/token?role=DEDICATED_AISP');
  });

  it('gets tokens for the code, as a client with a certificate', async () => {
    bank.expect('GET', METADATA, metadata());
    bank.expect('POST', '/token', TOKENS);
    const tokens = { current: async () => 'other', renewed: async () => 'other' };
    expect(await open({ ...preStep(), tokens }).bank.login.tokens(CLIENT, code, TRANSACTION_ID)).toEqual({
      accessToken: 't1',
      expiresIn: 3600,
      refreshToken: 'r1',
      refreshExpiresIn: null,
      scope: 'ais',
    });
    expect(Object.fromEntries(new URLSearchParams(bank.last.body.toString()))).toEqual({
      ...code,
      client_id: 'PSDIT-BI-1',
    });
    expect(bank.last.headers).not.toHaveProperty('signature');
    expect(bank.last.headers).not.toHaveProperty('authorization');
  });

  it('a client with a certificate has addresses of its own (RFC 8705)', async () => {
    const aliases = { mtls_endpoint_aliases: { token_endpoint: `${bank.baseUrl}/mtls/token` } };
    bank.expect('GET', METADATA, metadata(aliases));
    bank.expect('POST', '/mtls/token', TOKENS);
    await open(preStep()).bank.login.tokens(CLIENT, code, TRANSACTION_ID);
    expect(bank.last.target).toBe('/mtls/token');
    bank.expect('GET', METADATA, metadata(aliases));
    bank.expect('POST', '/token', TOKENS);
    await open(preStep({ clientAuth: 'post' })).bank.login.tokens(CLIENT, code, TRANSACTION_ID);
    expect(bank.last.target).toBe('/token');
  });

  it('a refresh token that has ended says so in OAuth’s words', async () => {
    bank.expect('GET', METADATA, metadata());
    bank.expect('POST', '/token', json({ error: 'invalid_grant', error_description: 'over' }, 400));
    const work = open(preStep()).bank.login.tokens(CLIENT, code, TRANSACTION_ID);
    await expect(work).rejects.toMatchObject({
      code: 'bank_refused',
      bankCode: 'invalid_grant',
      message: expect.stringContaining('over'),
    });
  });

  it('a token call can be on another host that the bank file names', async () => {
    const elsewhere = await bank.listen(bank.certificates.server);
    bank.expect('POST', '/token', TOKENS);
    const oauth: Oauth = {
      mode: 'pre-step',
      authorizationEndpoint: LOGIN_PAGE,
      tokenEndpoint: `${elsewhere}/token`,
    };
    await open({ file: { oauth } }).bank.login.tokens(CLIENT, code, TRANSACTION_ID);
    expect(bank.last.headers.host).toBe(new URL(elsewhere).host);
  });
});

describe('codes and tokens go to known hosts only', () => {
  it.each([
    ['token_endpoint', 'https://evil.example/token'],
    ['token_endpoint', 'http://127.0.0.1/token'],
    ['revocation_endpoint', 'https://evil.example/revoke'],
    ['authorization_endpoint', 'http://evil.example/authorize'],
    ['authorization_endpoint', 'javascript:1'],
  ])('a %s at %s is refused', async (field, address) => {
    bank.expect('GET', METADATA, metadata({ [field]: address }));
    await expect(open(preStep()).bank.login.authorize(start)).rejects.toMatchObject({ code: 'bank_answer' });
  });
});

describe('a login with the consent', () => {
  const file = { oauth: { mode: 'integrated' as const } };

  it('the server is the one that the consent names, and the scope has the consent', async () => {
    bank.expect('GET', METADATA, metadata());
    const opened = open({ file }).bank;
    const sca = {
      resourceId: 'c 1',
      links: { approach: null, oauth: METADATA },
      redirectUri: REDIRECT,
      login: start,
      transactionId: TRANSACTION_ID,
      beforeSend: silent,
    };
    const turn = await opened.sca.proceed?.(sca);
    expect(turn).toMatchObject({ next: 'log in', server: METADATA });
    const url = new URL(turn?.next === 'log in' ? turn.url : '');
    expect(url.searchParams.get('scope')).toBe('AIS:c 1');
    expect(url.searchParams.get('redirect_uri')).toBe(REDIRECT);
    bank.expect('POST', '/token', TOKENS);
    await opened.login.tokens({ ...CLIENT, server: METADATA }, code, TRANSACTION_ID);
  });
});

describe('the client', () => {
  const qwac = withOpenssl((openssl) => {
    const key = openssl.write('given.key', readFileSync('test/vectors/cavage-test-key.pem', 'utf8'));
    openssl.run(
      'req',
      '-x509',
      '-key',
      key,
      '-subj',
      '/C=IT/organizationIdentifier=PSDIT-BI-9/CN=x',
      '-out',
      'q.pem',
    );
    return new X509Certificate(readFileSync(`${openssl.folder}/q.pem`));
  });
  const client = (oauth: object) => clientOf(bankFile.parse({ interface: 'nextgenpsd2', oauth }), qwac);

  it('is the organization in the QWAC, or the bank file names it', () => {
    expect(client({})).toBeNull();
    expect(client({ mode: 'pre-step' })).toEqual({ clientId: 'PSDIT-BI-9', needsSecret: false });
    expect(client({ mode: 'integrated', clientId: 'own', clientAuth: 'basic' })).toEqual({
      clientId: 'own',
      needsSecret: true,
    });
  });

  it('nobody logs in at a bank without OAuth', async () => {
    const { login } = open().bank;
    await expect(login.authorize(start)).rejects.toMatchObject({ code: 'usage' });
    await expect(login.whose(TRANSACTION_ID)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
