import { expect, test } from 'vitest';
import { Logins, returnUrl } from '../../../src/sandbox/access/logins.ts';
import { seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

const RETURN = 'https://tpp.example/back?profile=a';
const MINUTE = 60_000;
const request = { redirectUri: RETURN, state: 's' };
const [anna, bruno] = [seeded('anna'), seeded('bruno')];

function book() {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  return { clock, logins: new Logins(clock.now) };
}

const codeIn = (url: URL) => url.searchParams.get('code') ?? '';

test.each<[state: string | undefined, issuer: string | undefined, query: string]>([
  [undefined, undefined, 'profile=a&code=c'],
  ['s &t', undefined, 'profile=a&code=c&state=s+%26t'],
  ['', undefined, 'profile=a&code=c&state='],
  [undefined, 'https://bank', 'profile=a&code=c&iss=https%3A%2F%2Fbank'],
  ['s', 'i', 'profile=a&code=c&state=s&iss=i'],
])('the browser returns with the state %j and the issuer %j', (state, issuer, query) => {
  const url = returnUrl({ redirectUri: RETURN, state }, { code: 'c' }, issuer);
  expect(url.href).toBe(`https://tpp.example/back?${query}`);
});

test.each<[minutes: number, more: number, isOpen: boolean]>([
  [10, 0, true],
  [10, 1, false],
])('a login after %i minutes and %i ms is open: %s', (minutes, more, isOpen) => {
  const { logins, clock } = book();
  const login = logins.start(request);
  clock.advance(minutes * MINUTE + more);
  expect(logins.find(login.id)).toEqual(isOpen ? login : undefined);
  expect(logins.open()).toEqual(isOpen ? [login] : []);
  if (isOpen) expect(logins.require(login.id)).toEqual(login);
  else
    expect(() => logins.require(login.id)).toThrow(
      new RangeError(`There is no pending login with the id ${login.id}`),
    );
  const later = logins.start(request);
  expect(logins.memory.pending.has(login.id)).toBe(isOpen);
  expect(logins.open()).toEqual(isOpen ? [login, later] : [later]);
});

test.each<[minutes: number, more: number, isValid: boolean]>([
  [5, 0, true],
  [5, 1, false],
])('a code after %i minutes and %i ms is valid: %s', (minutes, more, isValid) => {
  const { logins, clock } = book();
  const grant = { customerId: anna.customerId };
  const login = logins.start(request);
  const issuedAt = clock.now();
  const code = codeIn(logins.allow(login, grant));
  clock.advance(minutes * MINUTE + more);
  expect(logins.code(code)).toEqual(isValid ? { grant, login, issuedAt, used: false } : undefined);
  logins.start(request);
  expect(logins.memory.codes.has(code)).toBe(isValid);
  expect(logins.code(`${code}x`)).toBeUndefined();
});

test('an allowed login returns with a code, a refused one with an error, and both are over', () => {
  const { logins } = book();
  const [one, other] = [logins.start(request), logins.start({ ...request, state: undefined })];
  const allowed = logins.allow(one, { customerId: anna.customerId }, 'https://bank');
  expect([...allowed.searchParams]).toEqual([
    ['profile', 'a'],
    ['code', expect.stringMatching(/^[\w-]{43}$/)],
    ['state', 's'],
    ['iss', 'https://bank'],
  ]);
  expect(logins.open()).toEqual([other]);
  expect([...logins.refuse(other, 'i').searchParams]).toEqual([
    ...[
      ['profile', 'a'],
      ['error', 'access_denied'],
      ['iss', 'i'],
    ],
  ]);
  expect(logins.open()).toEqual([]);
});

test('a forgotten customer has no code, and the others and those who wait keep theirs', () => {
  const { logins } = book();
  const [hers, his] = [anna, bruno].map(({ customerId }) =>
    codeIn(logins.allow(logins.start(request), { customerId })),
  );
  const waiting = logins.start(request);
  logins.forgetCustomer(anna);
  expect([logins.code(hers ?? ''), logins.code(his ?? '')?.grant]).toEqual([
    ...[undefined, { customerId: bruno.customerId }],
  ]);
  expect(logins.open()).toEqual([waiting]);
});
