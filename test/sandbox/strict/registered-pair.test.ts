import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { registeredFor } from '../../../src/sandbox/strict/registered-pair.ts';
import { rawRequest } from './raw.ts';
import { registered as first, stranger } from './registered.ts';

const files = await loadOrCreateRegistration(inject('registration'));
const read = (file: string) => new X509Certificate(readFileSync(file));
const next = { qwac: read(files.nextQwacCertFile), qseal: read(files.nextQsealCertFile) };
const pairs = { tppCertificates: first, nextTppCertificates: next };

const base64 = (of: X509Certificate) => of.raw.toString('base64');
const lines = (of: X509Certificate) => base64(of).replace(/.{64}/g, '$& ');
const pem = (of: X509Certificate) => of.toString();
const lowerEscapes = (text: string) => encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase());

type Which = 'first' | 'next';

test.each<[what: string, qwac: X509Certificate | undefined, which: Which]>([
  ['the first certificate', first.qwac, 'first'],
  ['the next certificate', next.qwac, 'next'],
  ['the next seal', next.qseal, 'first'],
  ['a stranger', stranger, 'first'],
  ['no certificate', undefined, 'first'],
])('a connection with %s must match the %s pair', (_, qwac, which) => {
  const request = rawRequest({ clientCertificate: qwac?.raw });
  const { qwac: wanted, qseal } = registeredFor(pairs, request);
  expect([wanted, qseal]).toEqual([{ first, next }[which].qwac, first.qseal]);
});

test.each<[what: string, header: string, value: string, which: Which]>([
  ['the first seal in base64', 'TPP-Certificate', base64(first.qseal), 'first'],
  ['the next seal in base64', 'TPP-Certificate', base64(next.qseal), 'next'],
  ['the next seal in lines', 'TPP-Certificate', lines(next.qseal), 'next'],
  ['the next seal at the second door', 'TPP-Signature-Certificate', base64(next.qseal), 'next'],
  ['the next seal as PEM in one line', 'TPP-Certificate', pem(next.qseal).replaceAll('\n', ' '), 'next'],
  ['the next seal as escaped PEM', 'TPP-Certificate', encodeURIComponent(pem(next.qseal)), 'next'],
  ['the next seal with escapes in lower case', 'TPP-Certificate', lowerEscapes(pem(next.qseal)), 'next'],
  ['the next seal as escaped base64', 'TPP-Certificate', encodeURIComponent(base64(next.qseal)), 'next'],
  [
    'the next seal as PEM in base64',
    ...(['TPP-Certificate', Buffer.from(pem(next.qseal)).toString('base64'), 'next'] as const),
  ],
  ['the next certificate of connections', 'TPP-Certificate', base64(next.qwac), 'first'],
  ['a stranger', 'TPP-Certificate', base64(stranger), 'first'],
  ['nothing', 'TPP-Certificate', '', 'first'],
  ['half of an escape', 'TPP-Certificate', '%', 'first'],
  ['another header', 'TPP-Other', base64(next.qseal), 'first'],
])('a request that names %s (%s)', (_, header, value, which) => {
  const request = rawRequest({ headers: [[header, value]], clientCertificate: first.qwac.raw });
  expect(registeredFor(pairs, request)).toEqual({ qwac: first.qwac, qseal: { first, next }[which].qseal });
});

test('each of the two may be the next one: a TPP changes them one after the other', () => {
  const headers: [string, string][] = [['TPP-Certificate', base64(next.qseal)]];
  expect(registeredFor(pairs, rawRequest({ headers, clientCertificate: next.qwac.raw }))).toEqual(next);
});
