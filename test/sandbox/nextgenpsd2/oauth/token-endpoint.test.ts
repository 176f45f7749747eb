import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { OAuthError } from '../../../../src/sandbox/nextgenpsd2/oauth/client.ts';
import { oauthCall } from '../../../../src/sandbox/nextgenpsd2/oauth/token-endpoint.ts';
import { rawRequest } from '../../strict/raw.ts';
import { type BankHere, bankHere, grantOf } from '../bank-here.ts';
import { ANNA, CALLBACK } from '../door-client.ts';

const CLIENT = 'PSDIT-BI-12345';
const VERIFIER = 'a-verifier-of-forty-three-characters-or-more-0';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const TOKEN = { token_type: 'Bearer' };
const FORM = 'application/x-www-form-urlencoded';

type Fields = Record<string, string | undefined>;

/** What the endpoint answers to a form: its body, or `400 invalid_grant: text`. */
function send(
  { bank }: BankHere,
  fields: Fields,
  {
    path = '/oauth/token',
    type = FORM,
    headers = {},
  }: { path?: string; type?: string; headers?: Record<string, string> } = {},
): unknown {
  const sent = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  const all: [string, string][] = [['Content-Type', type], ...Object.entries(headers)];
  const target = `/nextgenpsd2${path}`;
  const request = rawRequest({
    method: 'POST',
    target,
    body: new URLSearchParams(sent).toString(),
    headers: all,
  });
  try {
    return oauthCall(bank, request, path)?.();
  } catch (error) {
    if (error instanceof OAuthError) return `${error.status} ${error.code}: ${error.message}`;
    throw error;
  }
}

const bank = (oauth: BankFile['oauth']) => bankHere({ oauth });

describe('a code', () => {
  let here: BankHere;
  beforeEach(async () => {
    here = await bank({ mode: 'integrated' });
  });

  /** A code for a consent that anna gave. */
  function code(challenge: string | undefined): string {
    const { logins } = doorOf(here.bank);
    const request = {
      redirectUri: CALLBACK,
      state: undefined,
      scope: 'AIS:c',
      challenge,
      authorisationId: undefined,
    };
    const grant = grantOf({ scope: 'AIS:c', customerId: ANNA, consentId: 'c' });
    return logins.allow(logins.start(request), grant).searchParams.get('code') ?? '';
  }
  const right = (of: string): Fields => ({
    ...{ grant_type: 'authorization_code', client_id: CLIENT, code: of },
    ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
  });

  test('gets tokens for what the customer gave', () => {
    const issued = Object(send(here, right(code(CHALLENGE))));
    expect(issued).toEqual({
      ...{ token_type: 'Bearer', expires_in: 3500, scope: 'AIS:c' },
      ...{ access_token: expect.any(String), refresh_token: expect.any(String) },
    });
    const { grant } = doorOf(here.bank).tokens.accessToken(issued.access_token) ?? expect.unreachable();
    expect(grant).toEqual(grantOf({ scope: 'AIS:c', customerId: ANNA, consentId: 'c' }));
  });

  test.each<[what: string, changes: Fields, answer: string]>([
    ['another code', { code: 'x' }, '400 invalid_grant: The code is unknown or older than five minutes'],
    [
      'another address',
      { redirect_uri: 'https://tpp.example/' },
      '400 invalid_grant: redirect_uri is not that of the authorization request',
    ],
    [
      'another verifier',
      { code_verifier: `${VERIFIER}x` },
      '400 invalid_grant: code_verifier does not match code_challenge',
    ],
    [
      'no verifier',
      { code_verifier: undefined },
      '400 invalid_grant: code_verifier does not match code_challenge',
    ],
    ['no code', { code: undefined }, '400 invalid_request: code is missing'],
    ['an empty code', { code: '' }, '400 invalid_request: code is missing'],
    ['no address', { redirect_uri: undefined }, '400 invalid_request: redirect_uri is missing'],
    ['no grant type', { grant_type: undefined }, '400 invalid_request: grant_type is missing'],
    [
      'another grant type',
      { grant_type: 'password' },
      '400 unsupported_grant_type: The bank does not take this grant_type',
    ],
    [
      'that of an application',
      { grant_type: 'client_credentials' },
      '400 unsupported_grant_type: The bank does not take this grant_type',
    ],
    ['another client', { client_id: 'x' }, `401 invalid_client: client_id is not ${CLIENT}`],
    ['a secret', { client_secret: 'x' }, '401 invalid_client: The bank takes no client_secret in the body'],
  ])('with %s gets none, and the right one gets them still', (_, changes, answer) => {
    const of = code(CHALLENGE);
    expect(send(here, { ...right(of), ...changes })).toBe(answer);
    expect(send(here, right(of))).toMatchObject(TOKEN);
  });

  test('that is used twice ends the tokens of the first time', () => {
    const of = code(CHALLENGE);
    const issued = Object(send(here, right(of)));
    const other = Object(send(here, right(code(CHALLENGE))));
    const { tokens } = doorOf(here.bank);
    expect(send(here, right(of))).toBe(
      '400 invalid_grant: The code was already used. Its tokens are revoked',
    );
    expect([issued, other].map(({ access_token }) => tokens.accessToken(access_token) !== undefined)).toEqual(
      [...[false, true]],
    );
  });

  test('without a challenge takes no verifier', () => {
    expect(send(here, right(code(undefined)))).toContain('400 invalid_grant: code_verifier');
    expect(send(here, { ...right(code(undefined)), code_verifier: undefined })).toMatchObject(TOKEN);
  });

  test('lives for five minutes', () => {
    const [one, other] = [code(CHALLENGE), code(CHALLENGE)];
    here.clock.advance(300_000);
    expect(send(here, right(one))).toMatchObject(TOKEN);
    here.clock.advance(1);
    expect(send(here, right(other))).toContain('400 invalid_grant: The code is unknown');
  });
});

describe('an application', () => {
  const fields: Fields = { grant_type: 'client_credentials', client_id: CLIENT };
  const NONE = '400 unsupported_grant_type: The bank does not take this grant_type';
  test.each<[oauth: BankFile['oauth'], scope: string | undefined, answer: string]>([
    [{ mode: 'client-credentials' }, undefined, 'ais pis'],
    [{ mode: 'client-credentials' }, 'ais pis', 'ais pis'],
    [{ mode: 'client-credentials' }, 'ais', '400 invalid_scope: The scope is "ais pis"'],
    [{ mode: 'client-credentials', scope: { preStep: 'api' } }, undefined, 'api'],
    [{ mode: 'client-credentials', scope: { preStep: { ais: 'A', pis: 'P' } } }, undefined, 'A P'],
    [
      { mode: 'client-credentials', scope: { preStep: { ais: 'A', pis: 'P' } } },
      'A',
      '400 invalid_scope: The scope is "A P"',
    ],
    [{ mode: 'integrated', applicationToken: true }, undefined, 'ais pis'],
    [{ mode: 'integrated' }, undefined, NONE],
    [{ mode: 'pre-step' }, undefined, NONE],
    [{ mode: 'none' }, undefined, NONE],
  ])('at a bank with %j asks for the scope %s: %s', async (oauth, scope, answer) => {
    const here = await bank(oauth);
    const issued = send(here, { ...fields, scope });
    if (/^\d/.test(answer)) {
      expect(issued).toBe(answer);
      return;
    }
    expect(issued).toEqual({ ...TOKEN, expires_in: 3500, scope: answer, access_token: expect.any(String) });
    const { grant } =
      doorOf(here.bank).tokens.accessToken(Object(issued).access_token) ?? expect.unreachable();
    expect(grant).toEqual(grantOf({ scope: answer }));
  });

  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const WRONG = '401 invalid_client: Client id and client secret are wrong';
  const NO_HEADER = '401 invalid_client: The bank takes no Authorization here';
  const NO_SECRET = '401 invalid_client: The bank takes no client_secret in the body';
  const OTHER = `401 invalid_client: client_id is not ${CLIENT}`;
  test.each<
    [
      by: 'mtls' | 'basic' | 'post',
      id: string | undefined,
      secret: string | undefined,
      header: string | undefined,
      answer: string | undefined,
    ]
  >([
    ['mtls', CLIENT, undefined, undefined, undefined],
    ['mtls', 'x', undefined, undefined, OTHER],
    ['mtls', undefined, undefined, undefined, OTHER],
    ['mtls', CLIENT, 'own', undefined, NO_SECRET],
    ['mtls', CLIENT, undefined, `${CLIENT}:own`, NO_HEADER],
    ['post', CLIENT, 'own', undefined, undefined],
    ['post', CLIENT, 'x', undefined, '401 invalid_client: The client secret is wrong'],
    ['post', CLIENT, undefined, undefined, '401 invalid_client: The client secret is wrong'],
    ['post', 'x', 'own', undefined, OTHER],
    ['post', CLIENT, 'own', `${CLIENT}:own`, NO_HEADER],
    ['basic', undefined, undefined, `${CLIENT}:own`, undefined],
    // Each part is encoded as in a form.
    ['basic', undefined, undefined, `${CLIENT.replaceAll('-', '%2D')}:own`, undefined],
    ['basic', undefined, undefined, `x:own`, WRONG],
    ['basic', undefined, undefined, `${CLIENT}:x`, WRONG],
    ['basic', undefined, undefined, `${CLIENT}:own:x`, WRONG],
    ['basic', undefined, undefined, CLIENT, WRONG],
    ['basic', CLIENT, undefined, undefined, WRONG],
    ['basic', CLIENT, 'own', `${CLIENT}:own`, NO_SECRET],
  ])(
    'says who it is with %s: client_id %s, secret %s, header %s: %s',
    async (clientAuth, id, secret, header, answer) => {
      const here = await bank({ mode: 'client-credentials', clientAuth });
      const { clientSecret } = here.bank.applications.authorizationCode;
      const own = (text: string) => text.replace(/\bown\b/, encodeURIComponent(clientSecret));
      const sent = { ...fields, client_id: id, client_secret: secret === 'own' ? clientSecret : secret };
      const headers = header === undefined ? {} : basic(own(header));
      expect(send(here, sent, { headers })).toEqual(answer ?? expect.objectContaining(TOKEN));
    },
  );
});

describe('a refresh token', () => {
  const ask = (here: BankHere, refresh_token: string | undefined) =>
    send(here, { grant_type: 'refresh_token', client_id: CLIENT, refresh_token });
  const USED = '400 invalid_grant: The refresh token is unknown, expired or used up';

  test.each<[oauth: BankFile['oauth'], isTaken: boolean]>([
    [{ mode: 'integrated' }, true],
    [{ mode: 'pre-step' }, true],
    [{ mode: 'none' }, false],
  ])('gets the next tokens, once, at a bank with %j: %s', async (oauth, isTaken) => {
    const here = await bank(oauth);
    const grant = grantOf({ scope: 's', customerId: ANNA });
    const { refreshToken } = doorOf(here.bank).tokens.issue(grant);
    const first = ask(here, refreshToken);
    if (!isTaken) {
      expect(first).toBe('400 unsupported_grant_type: The bank does not take this grant_type');
      return;
    }
    expect(first).toMatchObject({ ...TOKEN, scope: 's', refresh_token: expect.any(String) });
    expect([ask(here, refreshToken), ask(here, 'x')]).toEqual([USED, USED]);
    expect(ask(here, undefined)).toBe('400 invalid_request: refresh_token is missing');
    expect(ask(here, Object(first).refresh_token)).toMatchObject(TOKEN);
  });
});

describe('a token that is given back', () => {
  const revoke = (here: BankHere, token: string | undefined, client_id = CLIENT) =>
    send(here, { client_id, token }, { path: '/oauth/revoke' });

  test('gives nothing any more, and is no error twice', async () => {
    const here = await bank({ mode: 'integrated' });
    const { tokens } = doorOf(here.bank);
    const { accessToken, refreshToken = '' } = tokens.issue(grantOf({ customerId: ANNA }));
    expect(revoke(here, refreshToken, 'x')).toBe(`401 invalid_client: client_id is not ${CLIENT}`);
    expect(revoke(here, undefined)).toBe('400 invalid_request: token is missing');
    expect(tokens.find(refreshToken)).toBeDefined();
    expect([revoke(here, refreshToken), revoke(here, refreshToken), revoke(here, 'x')]).toEqual([{}, {}, {}]);
    expect([tokens.find(refreshToken), tokens.find(accessToken)]).toEqual([undefined, undefined]);
  });
});

describe('a call', () => {
  const form = `grant_type=client_credentials&client_id=${CLIENT}`;
  /** What a call gets, or null if it is none of OAuth. */
  async function answer(
    call: string,
    oauth: BankFile['oauth'],
    { type = FORM, body = form } = {},
  ): Promise<unknown> {
    const { bank: at } = await bankHere({ oauth: { mode: 'client-credentials', ...oauth } });
    const [method = '', target = ''] = call.split(' ');
    const headers: [string, string][] = type === '' ? [] : [['Content-Type', type]];
    const request = rawRequest({ method, target, body, headers });
    const path = target.replace(/^\/nextgenpsd2/, '').split('?')[0] ?? '';
    try {
      return Object(oauthCall(at, request, path)?.() ?? { none: true });
    } catch (error) {
      return error instanceof OAuthError ? `${error.status} ${error.code}: ${error.message}` : error;
    }
  }
  const NONE = { none: true };
  const METADATA = expect.objectContaining({ issuer: 'https://bank.example/nextgenpsd2' });
  const ISSUED = expect.objectContaining(TOKEN);
  const own = { tokenEndpoint: 'https://b.example/t', metadata: 'https://b.example/m' };
  const query = { tokenEndpoint: 'https://b.example/t?bank=1' };
  const wrongQuery = (expected: string) =>
    `400 invalid_request: The query of the token endpoint is "${expected}"`;

  test.each<[call: string, oauth: BankFile['oauth'], answer: unknown]>([
    ['POST /nextgenpsd2/oauth/token', {}, ISSUED],
    ['GET /nextgenpsd2/oauth/token', {}, NONE],
    ['GET /nextgenpsd2/.well-known/oauth-authorization-server', {}, METADATA],
    ['POST /nextgenpsd2/.well-known/oauth-authorization-server', {}, NONE],
    ['GET /nextgenpsd2/oauth/revoke', {}, NONE],
    ['POST /nextgenpsd2/v1/consents', {}, NONE],
    // Where the bank file has it.
    ['POST /t', own, ISSUED],
    ['POST /nextgenpsd2/t', own, ISSUED],
    ['POST /nextgenpsd2/oauth/token', own, ISSUED],
    ['GET /m', own, METADATA],
    ['GET /nextgenpsd2/m', own, METADATA],
    ['GET /t', own, NONE],
    ['POST /t', {}, NONE],
    ['POST /t?bank=1', query, ISSUED],
    ['POST /t', query, wrongQuery('?bank=1')],
    ['POST /t?bank=2', query, wrongQuery('?bank=1')],
    ['POST /t?bank=1', own, wrongQuery('')],
    // The query belongs to the bank's own address.
    ['POST /nextgenpsd2/oauth/token?bank=2', query, ISSUED],
  ])('%s at a bank with %j: %j', async (call, oauth, expected) => {
    expect(await answer(call, oauth)).toEqual(expected);
  });

  test.each<[type: string, body: string, answer: unknown]>([
    [FORM, form, ISSUED],
    [`${FORM}; charset=utf-8`, form, ISSUED],
    ['application/json', form, '400 invalid_request: The body is not a form'],
    ['', form, '400 invalid_request: The body is not a form'],
    [FORM, `${form}&client_id=x`, '400 invalid_request: client_id came twice'],
    [FORM, `${form}&more=1`, ISSUED],
    [FORM, '', `401 invalid_client: client_id is not ${CLIENT}`],
  ])('with Content-Type: %s and %s: %j', async (type, body, expected) => {
    expect(await answer('POST /nextgenpsd2/oauth/token', {}, { type, body })).toEqual(expected);
  });
});
