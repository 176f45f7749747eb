import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkDate,
  checkOptionalHeaders,
  header,
  isUuid,
  refuseDuplicates,
  requiredHeader,
  uuidHeader,
} from '../../../src/sandbox/strict/headers.ts';
import type { RawRequest } from '../../../src/sandbox/strict/raw-request.ts';
import { answerTo, rawRequest } from './raw.ts';

const ID = '3f2b6c1e-9a4d-4b7f-8e10-5d6c7b8a9f00';
const NOW = new Date('2026-11-20T11:00:00Z');

const sent = (...headers: [name: string, value: string][]) => rawRequest({ headers });
const withHeader = (name: string, value: string) => sent(['Host', 'bank.example'], [name, value]);

describe('a header', () => {
  it('the bank finds a header whatever the case of its name, and takes the first of two', () => {
    const request = sent(['dAtE', 'one'], ['Date', 'two']);
    expect(header(request, 'date')).toBe('one');
    expect(header(request, 'digest')).toBeUndefined();
    expect(requiredHeader(request, 'Date')).toBe('one');
  });

  it('the bank distinguishes a missing header from an empty one', () => {
    const needs = 'Every request to this endpoint needs Digest.';
    const answer = (request: RawRequest) => answerTo(() => requiredHeader(request, 'Digest'));
    expect(answer(sent())).toEqual(['HEADER_MISSING', 'The header Digest is missing', needs]);
    const empty = withHeader('Digest', '');
    expect(answer(empty)).toEqual(['HEADER_MISSING', 'The header Digest is empty', needs]);
  });

  it.each([
    ...['Accept', 'Authorization', 'cb-apitrack-id', 'CB-Trace-Id', 'Content-Type'],
    ...['Date', 'Digest', 'PSU-IP-Address', 'Signature', 'TPP-Certificate'],
    ...['TPP-Redirect-URI', 'TPP-Request-ID', 'TPP-Transaction-ID'],
  ])('the bank reads %s, so it may be sent only once', (name) => {
    expect(answerTo(() => refuseDuplicates(sent([name, 'x'])))).toBe('accepted');
    const thrice = sent([name, 'x'], [name.toLowerCase(), 'y'], [name.toUpperCase(), 'x']);
    expect(answerTo(() => refuseDuplicates(thrice))).toEqual([
      'HEADER_DUPLICATE',
      `The header ${name.toLowerCase()} was sent 3 times`,
      `Expected: ${name.toLowerCase()} once. Received: 3 times.`,
    ]);
  });

  it('a header that the bank does not read may be sent several times', () => {
    const request = sent(['Cookie', 'a'], ['Cookie', 'b']);
    expect(answerTo(() => refuseDuplicates(request))).toBe('accepted');
  });
});

describe('a UUID', () => {
  it('the bank accepts every UUID and compares it in lower case', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(isUuid(id)).toBe(true);
        expect(uuidHeader(withHeader('TPP-Request-ID', id.toUpperCase()), 'TPP-Request-ID')).toBe(id);
      }),
    );
  });

  it.each([
    ...[`${ID}0`, `0${ID}`, ID.slice(1), ID.slice(0, -1), ID.replaceAll('-', ''), `{${ID}}`],
    ...[
      ID.replace('f', 'g'),
      ID.replace('9a4d', '9a4'),
      ID.replace('4b7f', '4b7'),
      ID.replace('8e10', '8e1'),
    ],
  ])('%s is no UUID', (text) => {
    expect(isUuid(text)).toBe(false);
    expect(answerTo(() => uuidHeader(withHeader('TPP-Request-ID', text), 'TPP-Request-ID'))).toEqual([
      'HEADER_MALFORMED',
      'TPP-Request-ID is not a UUID',
      `Expected: a UUID. Received: ${text}.`,
    ]);
  });
});

describe('the Date', () => {
  it.each([
    'Fri, 20 Nov 2026 11:00:00 GMT',
    'Fri, 20 Nov 2026 10:55:00 GMT',
    'Fri, 20 Nov 2026 11:05:00 GMT',
  ])('at eleven the bank accepts %s', (date) => {
    expect(answerTo(() => checkDate(withHeader('Date', date), NOW))).toBe('accepted');
  });

  it.each([
    ['Fri, 20 Nov 2026 10:54:59 GMT', 301],
    ['Fri, 20 Nov 2026 11:05:01 GMT', 301],
    ['Thu, 19 Nov 2026 11:00:00 GMT', 86_400],
  ])('at eleven the bank refuses %s, which is %i seconds away', (date, seconds) => {
    expect(answerTo(() => checkDate(withHeader('Date', date), NOW))).toEqual([
      'DATE_OUT_OF_RANGE',
      `Date is ${seconds} seconds from the bank's clock. At most 300 are allowed`,
      `Expected: about "Fri, 20 Nov 2026 11:00:00 GMT". Received: "${date}".`,
    ]);
  });

  it.each(['2026-11-20T11:00:00Z', 'Thu, 20 Nov 2026 11:00:00 GMT', 'Fri, 20 Nov 2026 11:00:00 UTC', 'now'])(
    'the bank refuses %s, which is not an IMF-fixdate',
    (date) => {
      expect(answerTo(() => checkDate(withHeader('Date', date), NOW))).toEqual([
        'HEADER_MALFORMED',
        'Date is not an IMF-fixdate (RFC 7231, section 7.1.1.1)',
        `Expected: for example "Fri, 20 Nov 2026 11:00:00 GMT". Received: "${date}".`,
      ]);
    },
  );
});

describe('the optional headers', () => {
  it('the bank needs none of them', () => {
    expect(answerTo(() => checkOptionalHeaders(rawRequest()))).toBe('accepted');
  });

  it.each([
    ['Accept', 'application/json'],
    ['Accept', 'APPLICATION/JSON'],
    ['Accept', 'application/*'],
    ['Accept', '*/*'],
    ['Accept', 'application/json;q=0.9'],
    ['Accept', 'text/plain,application/json'],
    ['Accept', 'text/plain, */*;q=0.1, text/html'],
    ['Accept', 'application/json , text/html'],
    ['PSU-IP-Address', '203.0.113.7'],
    ['PSU-IP-Address', '2001:db8::1'],
    ['CB-Trace-Id', 'viewId=psd2'],
    ['CB-Trace-Id', 'viewId=A_LONG_NAME'],
  ])('%s may be %j', (name, value) => {
    expect(answerTo(() => checkOptionalHeaders(withHeader(name, value)))).toBe('accepted');
  });

  it.each([
    ...['', 'text/html', 'application/xml', 'application/jsonp', 'xapplication/json', 'text/*'],
    'application/json/1',
  ])('the bank answers with JSON only, so Accept may not be %j', (value) => {
    expect(answerTo(() => checkOptionalHeaders(withHeader('Accept', value)))).toEqual([
      'ACCEPT_UNSUPPORTED',
      'The bank answers with application/json only',
      `Expected: Accept: application/json. Received: ${value}.`,
    ]);
  });

  it.each(['', '10.0.0.256', 'localhost', '203.0.113.7:80'])('PSU-IP-Address may not be %j', (value) => {
    expect(answerTo(() => checkOptionalHeaders(withHeader('PSU-IP-Address', value)))).toEqual([
      'HEADER_MALFORMED',
      'PSU-IP-Address is not an IP address',
      `Expected: an IPv4 or IPv6 address. Received: ${value}.`,
    ]);
  });

  it.each(['', 'psd2', 'viewId=', 'viewId=a b', 'my viewId=a', 'viewid=a'])(
    'CB-Trace-Id may not be %j',
    (value) => {
      expect(answerTo(() => checkOptionalHeaders(withHeader('CB-Trace-Id', value)))).toEqual([
        'HEADER_MALFORMED',
        'CB-Trace-Id does not name a component',
        `Expected: viewId=<COMPONENT_NAME>. Received: ${value}.`,
      ]);
    },
  );
});
