import { expect, test } from 'vitest';
import {
  type AnyGrant,
  bearerToken,
  REFRESH_TOKEN_SECONDS,
  Tokens,
} from '../../../src/sandbox/access/tokens.ts';
import { seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

const anna = seeded('anna');
const ANNA: AnyGrant = { customerId: anna.customerId };
const BRUNO: AnyGrant = { customerId: '2073915' };
const APPLICATION: AnyGrant = { customerId: undefined };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function book({ keptMs, rotate = true, named }: { keptMs?: number; rotate?: boolean; named?: boolean } = {}) {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  const rules = { now: clock.now, tokenTtlSeconds: 60, rotateRefreshTokens: rotate };
  return { clock, tokens: new Tokens<AnyGrant>(rules, keptMs, named) };
}

test.each([
  ['Bearer abc', 'abc'],
  ['Bearer a.b-c_d', 'a.b-c_d'],
  ['Bearer a b', undefined],
  ['Bearer ', undefined],
  ['Bearer', undefined],
  ['bearer abc', undefined],
  ['Bearer  abc', undefined],
  [' Bearer abc', undefined],
  ['Basic abc', undefined],
  ['', undefined],
  [undefined, undefined],
])('the access token of %j', (value, token) => {
  expect(bearerToken(value)).toBe(token);
});

test('a customer gets an access and a refresh token, an application an access token alone', () => {
  const { tokens } = book();
  const of = tokens.issue(ANNA);
  expect([of.grant, of.accessToken, of.refreshToken]).toEqual([
    ...[ANNA, expect.stringMatching(UUID), expect.stringMatching(UUID)],
  ]);
  expect(tokens.find(of.accessToken)?.kind).toBe('access_token');
  expect(tokens.find(of.refreshToken ?? '')?.kind).toBe('refresh_token');
  expect(tokens.accessToken(of.refreshToken ?? '')).toBeUndefined();
  expect(tokens.issue(APPLICATION).refreshToken).toBeUndefined();
});

test.each<[what: string, seconds: number, kind: 'accessToken' | 'refreshToken']>([
  ['an access token', 60, 'accessToken'],
  ['a refresh token', REFRESH_TOKEN_SECONDS, 'refreshToken'],
])('%s lives for its seconds', (_, seconds, kind) => {
  const { tokens, clock } = book();
  const token = tokens.find(tokens.issue(ANNA)[kind] ?? '');
  if (!token) throw new Error('The token is unknown');
  clock.advance(seconds * 1000 - 1);
  expect(tokens.isOver(token)).toBe(false);
  clock.advance(1);
  expect(tokens.isOver(token)).toBe(true);
});

// The bank forgets as it issues another one.
test.each<[keptMs: number | undefined, after: number, isKnown: boolean]>([
  [1000, 61_000, true],
  [1000, 61_001, false],
  [0, 60_000, true],
  [0, 60_001, false],
  [undefined, 1e12, true],
])('an expired token that is kept for %s ms is known after %i ms: %s', (keptMs, after, isKnown) => {
  const { tokens, clock } = book(keptMs === undefined ? {} : { keptMs });
  const { accessToken } = tokens.issue(APPLICATION);
  clock.advance(after);
  tokens.issue(BRUNO);
  expect(tokens.accessToken(accessToken) !== undefined).toBe(isKnown);
});

test('a token that names the customer is a JSON Web Token, and each is another one', () => {
  const { tokens } = book({ named: true });
  const read = (token: string) =>
    token
      .split('.')
      .slice(0, 2)
      .map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const { accessToken, refreshToken } = tokens.issue(ANNA);
  const id = expect.stringMatching(UUID);
  expect(accessToken).toMatch(/\.sandbox$/);
  expect(read(accessToken)).toEqual([{ alg: 'none' }, { sub: '1048262', jti: id }]);
  expect(read(tokens.issue(APPLICATION).accessToken)).toEqual([{ alg: 'none' }, { jti: id }]);
  expect(refreshToken).not.toBe(accessToken);
});

test.each<[rotate: boolean, isNew: boolean]>([
  [true, true],
  [false, false],
])('with rotation %s, a refresh gives another refresh token: %s', (rotate, isNew) => {
  const { tokens } = book({ rotate });
  const { accessToken, refreshToken = '' } = tokens.issue(ANNA);
  const renewed = tokens.refresh(refreshToken);
  expect([renewed?.grant, renewed?.refreshToken !== undefined]).toEqual([ANNA, isNew]);
  expect(tokens.refresh(refreshToken) === undefined).toBe(isNew);
  for (const known of [accessToken, renewed?.accessToken ?? ''])
    expect(tokens.accessToken(known)?.grant).toBe(ANNA);
});

test('a refresh takes a refresh token that lives, of whoever calls', () => {
  const { tokens, clock } = book();
  const { accessToken, refreshToken = '' } = tokens.issue(ANNA);
  for (const wrong of [accessToken, 'unknown', '']) expect(tokens.refresh(wrong)).toBeUndefined();
  expect(tokens.refresh(refreshToken, (grant) => grant !== ANNA)).toBeUndefined();
  clock.advance(REFRESH_TOKEN_SECONDS * 1000);
  expect(tokens.refresh(refreshToken)).toBeUndefined();
  expect(tokens.find(refreshToken)).toBeDefined();
});

test.each<[kind: 'access' | 'refresh' | 'unknown', left: string]>([
  ['access', 'refresh other'],
  ['refresh', 'other'],
  ['unknown', 'access refresh other'],
])('revoking the %s token leaves %s', (kind, left) => {
  const { tokens } = book();
  const [mine, others] = [tokens.issue({ ...ANNA }), tokens.issue({ ...ANNA })];
  const all = { access: mine.accessToken, refresh: mine.refreshToken ?? '', other: others.accessToken };
  tokens.revoke(kind === 'unknown' ? 'x' : all[kind]);
  const known = Object.entries(all).filter(([, token]) => tokens.find(token));
  expect(known.map(([name]) => name).join(' ')).toBe(left);
});

test('an access token can be made to expire now, and nothing else', () => {
  const { tokens } = book();
  const { accessToken, refreshToken = '' } = tokens.issue(ANNA);
  for (const value of [refreshToken, 'unknown', accessToken]) tokens.expire(value);
  const isOver = (value: string) => {
    const token = tokens.find(value);
    return token && tokens.isOver(token);
  };
  expect([isOver(accessToken), isOver(refreshToken)]).toEqual([true, false]);
});

test('a forgotten customer has no token, and whether there is one for a grant can be asked', () => {
  const { tokens } = book();
  const [hers, his, its] = [ANNA, BRUNO, APPLICATION].map((grant) => tokens.issue(grant));
  const isOf = (customerId: string | undefined) => (grant: AnyGrant) => grant.customerId === customerId;
  expect([tokens.some(isOf('1048262')), tokens.some(isOf('3098127'))]).toEqual([true, false]);
  tokens.forgetCustomer(anna);
  expect([hers, his, its].map((one) => tokens.find(one?.accessToken ?? '') !== undefined)).toEqual([
    ...[false, true, true],
  ]);
  expect(tokens.find(hers?.refreshToken ?? '')).toBeUndefined();
  expect(tokens.some(isOf('1048262'))).toBe(false);
});
