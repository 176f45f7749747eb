import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkRedirectUri, readQuery } from '../../../src/sandbox/strict/query.ts';
import { answerTo, rawRequest } from './raw.ts';

const parametersOf = (target: string) => Object.fromEntries(readQuery(rawRequest({ target })));

it('the bank reads every parameter of a query, decoded', () => {
  const parameters = fc.dictionary(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({ unit: 'grapheme' }),
    {
      noNullPrototype: true,
    },
  );
  fc.assert(
    fc.property(parameters, (given) => {
      expect(parametersOf(`/accounts?${new URLSearchParams(given)}`)).toEqual(given);
    }),
    { numRuns: 50 },
  );
});

it.each([
  ['/accounts', {}],
  ['/a=1/b', {}],
  ['/accounts?', {}],
  ['?a=1', { a: '1' }],
  ['/accounts?a=1?2&b', { a: '1?2', b: '' }],
])('the query of %s has the parameters %j', (target, parameters) => {
  expect(parametersOf(target)).toEqual(parameters);
});

it('the bank refuses a parameter that was sent twice, even with the same value', () => {
  expect(answerTo(() => readQuery(rawRequest({ target: '/accounts?a=1&b=2&b=2' }))).slice(0, 2)).toEqual([
    'PARAMETER_INVALID',
    'The parameter b was sent twice',
  ]);
});

const HOSTS = ['https://tpp.example', 'http://127.0.0.1:8910', 'http://[::1]:8910', 'http://localhost'];
it.each([...HOSTS.map((host) => `${host}/callback`), 'https://tpp.example:8443/callback?profile=a'])(
  'the bank redirects to %s',
  (address) => {
    expect(answerTo(() => checkRedirectUri('redirect_uri', address))).toBe('accepted');
  },
);

const ELSEWHERE = ['http://tpp.example', 'http://127.0.0.2', 'http://localhost.example', 'ftp://127.0.0.1'];
it.each([
  ...ELSEWHERE.map((host) => `${host}/callback`),
  ...['https://tpp.example/callback#part', 'https://tpp.example/callback#'],
  ...['app:callback', 'javascript:alert(1)', '/callback', ''],
])('the bank does not redirect to %j, and says what it expects', (address) => {
  expect(answerTo(() => checkRedirectUri('TPP-Redirect-URI', address))).toEqual([
    'REDIRECT_URI_INVALID',
    'TPP-Redirect-URI is not an address that the bank redirects to',
    `Expected: an https address, or http on 127.0.0.1, [::1] or localhost, without a fragment. Received: ${address}.`,
  ]);
});
