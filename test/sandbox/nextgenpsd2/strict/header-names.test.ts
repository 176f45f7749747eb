import { expect, test } from 'vitest';
import {
  atBank,
  withBanksNames,
  withStandardNames,
} from '../../../../src/sandbox/nextgenpsd2/strict/header-names.ts';
import { rawRequest } from '../../strict/raw.ts';

const NAMES = { 'X-Request-ID': 'TPP-Request-ID', 'Consent-ID': 'X-Consent' };

const request = (...names: string[]) =>
  rawRequest({ method: 'POST', body: '{}', headers: names.map((name, index) => [name, String(index)]) });

test.each<[names: Record<string, string>, standard: string[], own: string[]]>([
  [{}, ['X-Request-ID', 'DATE'], ['x-request-id', 'date']],
  [NAMES, ['X-Request-ID', 'Date'], ['tpp-request-id', 'date']],
  [NAMES, ['date', 'consent-id', 'x-request-id'], ['date', 'x-consent', 'tpp-request-id']],
  [NAMES, [], []],
])('at a bank with the names %j, %j are %j', (names, standard, own) => {
  expect(atBank(names, standard)).toEqual(own);
});

test.each<[names: Record<string, string>, came: string[], read: [string, string][]]>([
  [
    {},
    ['X-Request-ID', 'Date'],
    [
      ['X-Request-ID', '0'],
      ['Date', '1'],
    ],
  ],
  [
    NAMES,
    ['TPP-Request-ID', 'Date'],
    [
      ['X-Request-ID', '0'],
      ['Date', '1'],
    ],
  ],
  [
    NAMES,
    ['tpp-request-id', 'x-CONSENT'],
    [
      ['X-Request-ID', '0'],
      ['Consent-ID', '1'],
    ],
  ],
  // The bank does not know the names of the standard.
  [NAMES, ['x-request-id', 'Date', 'Consent-ID'], [['Date', '1']]],
  [NAMES, ['X-Request-ID', 'TPP-Request-ID'], [['X-Request-ID', '1']]],
  [NAMES, [], []],
])('at a bank with the names %j, the headers %j are read as %j', (names, came, read) => {
  expect(withStandardNames(request(...came), names)).toEqual({ ...request(), headers: read });
});

test.each<[names: Record<string, string>, came: string[], own: [string, string][]]>([
  [
    {},
    ['X-Request-ID', 'Date'],
    [
      ['X-Request-ID', '0'],
      ['Date', '1'],
    ],
  ],
  [
    NAMES,
    ['X-Request-ID', 'Date'],
    [
      ['tpp-request-id', '0'],
      ['date', '1'],
    ],
  ],
  [
    NAMES,
    ['x-request-id', 'consent-id'],
    [
      ['tpp-request-id', '0'],
      ['x-consent', '1'],
    ],
  ],
  [NAMES, [], []],
])('at a bank with the names %j, the headers %j came as %j', (names, came, own) => {
  expect(withBanksNames(request(...came), names)).toEqual({ ...request(), headers: own });
});
