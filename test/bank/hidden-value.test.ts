import { expect, it } from 'vitest';
import { hideInHeaders, idsInPath, showsValue, withoutValue } from '../../src/bank/call/hidden-value.ts';
import { Secret } from '../../src/secret.ts';

// A text of the bank that has a credential of the customer is left out whole, however it is written.

const VALUE = 'Gé"7-9/x';
const utf8 = Buffer.from(VALUE);

it.each([
  ['as it is', `no: ${VALUE}.`],
  ['in base64', utf8.toString('base64')],
  ['in base64url, within other bytes', Buffer.from(`ab${VALUE}cd`).toString('base64url')],
  ['in hexadecimal', `0x${utf8.toString('hex')}`],
  ['in a URL', `a=${encodeURIComponent(VALUE)}`],
  ['in a URL twice', encodeURIComponent(encodeURIComponent(VALUE))],
  ['in JSON', JSON.stringify({ a: VALUE })],
  ['in JSON with ASCII alone', 'G\\u00e9\\"7-9\\/x'],
  ['in HTML', 'G&#233;&quot;7-9/x'],
  ['in HTML, in hexadecimal', 'G&#xe9;&quot;7-9/x'],
  ['in base64 of a URL', Buffer.from(encodeURIComponent(VALUE)).toString('base64')],
])('a value is found %s', (_, text) => {
  expect(showsValue(text, VALUE)).toBe(true);
  expect(showsValue(text, 'Gé"7-9/y')).toBe(false);
});

it.each(['a=one+two', 'a=one%20two', 'one two', 'one&#32;two'])(
  'a value with a blank is found in %s',
  (text) => {
    expect(showsValue(text, 'one two')).toBe(true);
    expect(showsValue(text, 'one  two')).toBe(false);
  },
);

it('an image is looked at once, and not for ever', () => {
  const image = Buffer.from(`${'x'.repeat(30_000)}${VALUE}`).toString('base64');
  expect(showsValue(image, VALUE)).toBe(true);
});

it('leaves out texts, numbers, names and headers, and keeps ids that were known, and words', () => {
  const secret = new Secret('1234');
  const json = {
    ...{ text: 'TAN 1234', number: 12_345, list: ['1234', 'other', { id: 'pay-1234-x', '1234': 1 }] },
    link: '/v1/payments/pay-1234-x/authorisations/a1',
    quoted: '/v1/payments/pay-1234-x?tan=1234',
    ...{ scaStatus: 'word-1234', nothing: null },
  };
  const known = {
    texts: idsInPath('/v1/payments/pay-1234-x'),
    isWord: (text: string) => text === 'word-1234',
  };
  expect(withoutValue(json, secret, known)).toEqual({
    list: ['other', { id: 'pay-1234-x' }],
    link: '/v1/payments/pay-1234-x/authorisations/a1',
    ...{ scaStatus: 'word-1234', nothing: null },
  });
  expect(withoutValue('1234', secret, known)).toBeUndefined();
  const headers = { location: '/1234', date: 'today' };
  hideInHeaders(headers, secret);
  expect(headers).toEqual({ date: 'today' });
});

it('keeps what has a value by chance: ids that the bank makes, amounts and times', () => {
  const secret = new Secret('2026');
  const id = '0a9c2026-1b2c-4d3e-8f90-202620262026';
  const json = {
    paymentId: id,
    amount: '2026.00',
    list: [id],
    href: `/v1/payments/${id}`,
    text: `${id} 2026`,
  };
  const { text: _, ...kept } = json;
  expect(withoutValue(json, secret, { texts: [], isWord: () => false })).toEqual(kept);
  const headers = { date: 'Sun, 29 Nov 2026 22:00:00 GMT', 'x-request-id': id, location: '/2026' };
  hideInHeaders(headers, secret);
  expect(headers).toEqual({ date: 'Sun, 29 Nov 2026 22:00:00 GMT', 'x-request-id': id });
});

it.each(['date', 'expires', 'last-modified'])('keeps the header %s, which is a time', (name) => {
  const headers = { [name]: 'Sun, 29 Nov 2026 22:00:00 GMT' };
  hideInHeaders(headers, new Secret('2026'));
  expect(headers).toHaveProperty(name);
});

it.each([
  ['/v1/payments/payment1/authorisations/payment1-77777'],
  ['/v1/payments/payment1-77777/authorisations/payment1'],
])('keeps an id that begins with another one: %s', (path) => {
  const known = { texts: idsInPath(path), isWord: () => false };
  const secret = new Secret('77777');
  expect(withoutValue({ id: 'payment1-77777' }, secret, known)).toEqual({ id: 'payment1-77777' });
  expect(withoutValue({ id: 'payment1-77777 77777' }, secret, known)).toEqual({});
});

it('of a value that is very short, only a word of its own is left out: an answer keeps its links, ids and pictures', () => {
  const secret = new Secret('a.7');
  const kept = {
    link: 'https://bank.example/v1/payments/a.7/authorisations/aa.7?page=ba.7',
    image: Buffer.from('a a.7 b').toString('base64'),
    text: 'Version 2a.7',
  };
  const quoted = ['no: a.7', 'a.7', 'tan%3Aa%2e7', 'a&#46;7!', '/v1/x?tan=a.7'];
  const other = ['ax7', 'b a.75'];
  const known = { texts: [], isWord: () => false };
  expect(withoutValue({ ...kept, quoted: [...quoted, ...other] }, secret, known)).toEqual({
    ...kept,
    quoted: other,
  });
  expect(['12', 12, 'TAN 12', 'a12', 312].map((each) => withoutValue(each, new Secret('12'), known))).toEqual(
    [undefined, undefined, undefined, 'a12', 312],
  );
});
