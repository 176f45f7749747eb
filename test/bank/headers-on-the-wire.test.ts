import { describe, expect, it } from 'vitest';
import { never, OK, PUT, TIMEOUT_MS, useRawBank } from './raw-bank.ts';

const bank = useRawBank();

const send = (headers: Record<string, string> = {}) =>
  bank.connection.send({ ...PUT, headers }, TIMEOUT_MS, never);

// HTTP ignores case, but some banks do not. Names that no standard has go out as they are.
const SPELLED: readonly [name: string, onTheWire: string][] = [
  ['psu-id', 'PSU-ID'],
  ['psu-id-type', 'PSU-ID-Type'],
  ['psu-corporate-id', 'PSU-Corporate-ID'],
  ['psu-ip-address', 'PSU-IP-Address'],
  ['psu-idle', 'PSU-Idle'],
  ['tpp-redirect-uri', 'TPP-Redirect-URI'],
  ['tpp-signature-certificate', 'TPP-Signature-Certificate'],
  ['x-request-id', 'X-Request-ID'],
  ['consent-id', 'Consent-ID'],
  ['digest', 'Digest'],
  ['signature', 'Signature'],
  ['date', 'Date'],
  ['authorization', 'Authorization'],
  ['accept', 'Accept'],
  ['content-type', 'Content-Type'],
  ['x-api-key', 'x-api-key'],
  ['x-psu-id', 'x-psu-id'],
  ['my-psu-id', 'my-psu-id'],
  ['psu', 'psu'],
  ['x-request-id-2', 'x-request-id-2'],
  ['my-consent-id', 'my-consent-id'],
  ['date-of-birth', 'date-of-birth'],
  ['up-date', 'up-date'],
  ['accept-language', 'accept-language'],
];

it('the headers of requests go out as the standards spell them, also in the next request', async () => {
  for (let times = 1; times <= 2; times += 1) {
    await send(Object.fromEntries(SPELLED.map(([name], at) => [name, `value-${at}`])));
    for (const [at, [, onTheWire]] of SPELLED.entries())
      expect(bank.heard[0]?.split(`\r\n${onTheWire}: value-${at}\r\n`)).toHaveLength(times + 1);
  }
});

describe('the headers of an answer', () => {
  it.each<[string, string[], string]>([
    ['once', ['a'], 'a'],
    ['with blanks around it', ['  a b \t '], 'a b'],
    ['empty', [''], ''],
    ['of blanks', ['  '], ''],
    ['twice', ['a', 'b'], 'a, b'],
    ['twice the same', ['a', 'a'], 'a, a'],
    ['three times, with blanks', ['a ', ' b\t', 'c'], 'a, b, c'],
  ])('are there %s', async (_, values, value) => {
    bank.answer = (socket) =>
      socket.write(OK.replace('\r\n', `\r\n${values.map((each) => `X-Own: ${each}\r\n`).join('')}`));
    expect((await send()).headers).toEqual({ 'content-length': '2', 'x-own': value });
  });

  it.each([
    ['Content-Type', 'a'],
    ['Location', 'a'],
    ['Retry-After', 'a'],
    ['Retry-Later', 'a, b'],
    ['Date', 'a, b'],
  ])('of which %s is there twice have %j', async (name, value) => {
    bank.answer = (socket) => socket.write(OK.replace('\r\n', `\r\n${name}: a\r\n${name}: b\r\n`));
    expect((await send()).headers[name.toLowerCase()]).toBe(value);
  });
});
