import { expect, it } from 'vitest';
import {
  OPERATIONS,
  parametersOf,
  pathOf,
} from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';

it('the standard has 38 operations and the extended service 8, each with its own method and path', () => {
  const all = Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`);
  expect(all).toHaveLength(46);
  expect(new Set(all).size).toBe(46);
  for (const each of all)
    expect(each).toMatch(/^(GET|POST|PUT|DELETE) \/v[12](\/([a-z-]+|\{[A-Za-z-]+\}))+$/);
});

it('the path of an operation has the version of the bank, or is the bank’s own', () => {
  expect(pathOf({ version: 'v1', paths: {} }, 'getBalances')).toBe('/v1/accounts/{account-id}/balances');
  expect(pathOf({ version: '1.3/v2', paths: {} }, 'createConsent')).toBe('/1.3/v2/consents');
  expect(pathOf({ version: '', paths: {} }, 'createConsent')).toBe('/consents');
  const funds = '/v2/consents/confirmation-of-funds';
  expect(pathOf({ version: 'v3', paths: {} }, 'createConsentConfirmationOfFunds')).toBe(funds);
  expect(pathOf({ version: 'v2', paths: { createConsent: '/v9/c' } }, 'createConsent')).toBe('/v9/c');
});

it('the parameters of a template are sorted, with those that stand twice', () => {
  expect(parametersOf('/v1/{b}/x/{a}/{b}')).toEqual(['{a}', '{b}', '{b}']);
  expect(parametersOf('/v1')).toEqual([]);
});
