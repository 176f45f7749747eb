import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { interfaceNamed } from '../../../../src/bank/open.ts';
import type { FindInterface } from '../../../../src/commands/open/bank.ts';
import { bankOf } from '../../../../src/commands/open/bank-file.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import { checkedBank } from '../../../../src/store/machine/checked-bank.ts';
import { differing } from '../../named-bank.ts';
import { atSmallBank, friendly, refuses, type SmallBank, useSmallBanks } from './small-bank.ts';

// What bank learn finds out of a bank that wants a token before a consent.

const { learnAt, newFile } = useSmallBanks();

const SERVER = '/.well-known/oauth-authorization-server';
/** A bank that wants a token before a consent. @param metadata of its OAuth server, which is no host for secrets */
const wantsToken =
  (metadata: object | null): SmallBank =>
  (method, path, headers, ...of) => {
    if (path === SERVER && metadata) {
      const origin = `http://${headers.host}`;
      return { status: 200, body: { issuer: origin, token_endpoint: `${origin}/token`, ...metadata } };
    }
    if (method === 'POST' && path === '/v1/consents') return refuses(401, 'TOKEN_UNKNOWN');
    return friendly(method, path, headers, ...of);
  };
const PAGE = { authorization_endpoint: 'https://bank.example/login' };
const NO_OWN = { grant_types_supported: ['authorization_code'] };
const UNKNOWN_HOST = 'The OAuth address of the metadata is on a host that psd2 does not know: ';
it.each<[string, object | null, string | null, string]>([
  [
    'has no server',
    null,
    null,
    ' before a consent, and has no OAuth server where the standard puts its metadata',
  ],
  ['logs its customers in', { ...PAGE, ...NO_OWN }, '"pre-step"', ''],
  [
    'logs nobody in',
    NO_OWN,
    null,
    `, and none of the application's: no token for the application: ${UNKNOWN_HOST}`,
  ],
  ['gives the application none', PAGE, null, `, and gave the application none: ${UNKNOWN_HOST}`],
])('a bank that wants a token before a consent, and %s', async (_, metadata, value, reason) => {
  await atSmallBank(wantsToken(metadata), async (env, calls) => {
    const { failure, result } = await learnAt(env);
    const found = result?.findings.find(({ field }) => field === 'oauth.mode');
    expect(found).toMatchObject({ value, status: value === null ? 'unknown' : 'differs' });
    if (value === null) expect(found?.reason).toContain(`the bank wants a token${reason}`);
    else expect(found).toMatchObject({ reason: null, asked: `GET ${SERVER}` });
    expect([failure === null, result?.ok]).toEqual([false, false]);
    expect(calls.filter((call) => /^DELETE|token/.test(call))).toEqual([]);
    expect(calls.filter((call) => call === `GET ${SERVER}`)).toHaveLength(1);
  });
});

it.each<[string, string[] | undefined, value: string | undefined]>([
  ['nothing', undefined, undefined],
  ['a certificate', ['tls_client_auth'], '"mtls"'],
  ['a certificate of its own', ['self_signed_tls_client_auth'], '"mtls"'],
  ['a secret in a header', ['client_secret_basic'], '"basic"'],
  ['a secret in the body', ['client_secret_post'], '"post"'],
  ['all of them', ['client_secret_post', 'client_secret_basic', 'tls_client_auth'], '"mtls"'],
  ['both secrets', ['client_secret_post', 'client_secret_basic'], '"basic"'],
  ['what psd2 does not have', ['private_key_jwt', 'none'], undefined],
])('an application proves who it is by what the OAuth server takes: %s', async (_, methods, value) => {
  const metadata = { ...PAGE, ...NO_OWN, token_endpoint_auth_methods_supported: methods };
  await atSmallBank(wantsToken(metadata), async (env) => {
    const { result } = await learnAt(env);
    const found = (name: string) => result?.findings.find(({ field }) => field === `oauth.${name}`);
    const address = `${env.PSD2_BASE_URL}${SERVER}`;
    expect(found('metadata')).toMatchObject({ status: 'differs', value: JSON.stringify(address) });
    expect(found('mode')).toMatchObject({
      value: '"pre-step"',
      answered: expect.stringMatching(/^no token for the application: /),
    });
    const auth = found('clientAuth');
    expect(auth?.status === 'unknown' ? undefined : auth?.value).toBe(value);
  });
});

/** Finds the bank of a draft. Its OAuth server refuses the application a token with this error. */
const refusingTokens =
  (bankCode: string): FindInterface =>
  async (profile) => {
    const description = await bankOf(profile().settings.bank ?? '', {}, checkedBank(newFile()));
    const refused = () => Promise.reject(new Psd2Error('login_refused', 'No token', { bankCode }));
    return differing(await interfaceNamed(description.interface, description), ({ questions }) =>
      questions ? { questions: { ...questions, applicationToken: refused } } : {},
    );
  };
it.each([
  ['unsupported_grant_type', '"pre-step"'],
  ['unauthorized_client', '"pre-step"'],
  ['invalid_client', null],
  ['invalid_scope', null],
])(
  'a server that refuses the application a token with %s has tokens of customers: %s',
  async (code, value) => {
    await atSmallBank(wantsToken(PAGE), async (env) => {
      const file = newFile();
      writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2' }));
      const { result } = await learnAt(env, file, undefined, { find: refusingTokens(code) });
      const found = result?.findings.find(({ field }) => field === 'oauth.mode');
      expect(found).toMatchObject({ value, status: value === null ? 'unknown' : 'differs' });
    });
  },
);
