import { expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { metadata, namedPaths } from '../../../../src/sandbox/nextgenpsd2/oauth/metadata.ts';
import { bankHere } from '../bank-here.ts';
import { bankOf } from '../refused.ts';

const DOOR = 'https://bank.example/nextgenpsd2';
const ENDPOINTS = {
  authorization_endpoint: 'https://customers.example/nextgenpsd2/authorize',
  token_endpoint: `${DOOR}/oauth/token`,
};
const STANDARD = {
  ...{ issuer: DOOR, ...ENDPOINTS, revocation_endpoint: `${DOOR}/oauth/revoke` },
  ...{ response_types_supported: ['code'], grant_types_supported: ['authorization_code', 'refresh_token'] },
  token_endpoint_auth_methods_supported: ['tls_client_auth'],
  code_challenge_methods_supported: ['S256'],
  tls_client_certificate_bound_access_tokens: true,
  authorization_response_iss_parameter_supported: true,
};
const grants = (...grant_types_supported: string[]) => ({ grant_types_supported });
const by = (method: string) => ({ token_endpoint_auth_methods_supported: [method] });

test.each<[oauth: BankFile['oauth'], changes: object]>([
  [{ mode: 'integrated' }, {}],
  [{ mode: 'pre-step' }, {}],
  [{ mode: 'integrated', pkce: 'none' }, { code_challenge_methods_supported: undefined }],
  [{ mode: 'integrated', clientAuth: 'basic' }, by('client_secret_basic')],
  [{ mode: 'integrated', clientAuth: 'post' }, by('client_secret_post')],
  [
    { mode: 'integrated', applicationToken: true },
    grants('authorization_code', 'refresh_token', 'client_credentials'),
  ],
  [{ mode: 'client-credentials' }, grants('client_credentials')],
  [
    { mode: 'integrated', authorizationEndpoint: 'https://b.example/a' },
    { authorization_endpoint: undefined },
  ],
  [{ mode: 'integrated', tokenEndpoint: 'https://b.example/t' }, { token_endpoint: undefined }],
])('a bank with %j says how to authorise, but for what it has elsewhere: %j', async (oauth, changes) => {
  const said = { ...STANDARD, ...changes };
  const there = Object.entries(said).filter(([, value]) => value !== undefined);
  const answer = metadata((await bankHere({ oauth })).bank);
  expect(answer).toStrictEqual(Object.fromEntries(there));
});

test.each<[baseUrl: string | undefined, address: string | undefined, paths: string[]]>([
  ['https://b.example/psd2', undefined, []],
  [undefined, 'https://b.example/o/token', ['/o/token', '/nextgenpsd2/o/token']],
  ['https://b.example', 'https://b.example/o/token', ['/o/token', '/nextgenpsd2/o/token']],
  ['https://b.example/', 'https://b.example/o/token', ['/o/token', '/nextgenpsd2/o/token']],
  ['https://b.example/psd2', 'https://b.example/psd2/token', ['/psd2/token', '/nextgenpsd2/token']],
  ['https://b.example/psd2/', 'https://b.example/psd2/token', ['/psd2/token', '/nextgenpsd2/token']],
  // It is not below the base URL.
  [
    'https://b.example/psd2',
    'https://b.example/psd2more/token',
    ['/psd2more/token', '/nextgenpsd2/psd2more/token'],
  ],
  [
    'https://b.example/psd2',
    'https://b.example/o/psd2/token',
    ['/o/psd2/token', '/nextgenpsd2/o/psd2/token'],
  ],
  ['https://b.example/psd2', 'https://b.example/t?bank=1', ['/t', '/nextgenpsd2/t']],
])('below the base URL %s, an endpoint at %s has the paths %j', (baseUrl, address, paths) => {
  const api = baseUrl === undefined ? {} : { baseUrl };
  for (const endpoint of ['metadata', 'authorizationEndpoint', 'tokenEndpoint'] as const) {
    if (address?.includes('?') && endpoint !== 'tokenEndpoint') continue;
    const oauth = { mode: 'integrated', ...(address !== undefined && { [endpoint]: address }) } as const;
    expect(namedPaths(bankOf({ api, oauth }), endpoint)).toEqual(paths);
  }
});
