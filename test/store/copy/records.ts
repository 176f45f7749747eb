import type { FlowRecord, LoginRecord, StoredRecord } from '../../../src/store/ports/copy.ts';
import type { StoredTokens } from '../../../src/store/ports/tokens.ts';

// Records of a store, as a copy sees them.

export const TOKENS: StoredTokens = {
  ...{ accessToken: 'a', accessTokenExpiresAt: '2026-11-21T11:00:00.000Z', scope: 'oob' },
  ...{ refreshToken: 'r', refreshTokenExpiresAt: null },
};
export const LOGIN: LoginRecord = {
  ...{ kind: 'login', holder: '42', generation: 3, origin: 2, baseUrl: 'https://bank.example/' },
  tokens: TOKENS,
};
/** A flow with events of these types. */
export const flow = (...types: string[]): FlowRecord => ({
  ...{ kind: 'flow', flow: 'tr-1', underWay: false },
  events: types.map((type) => ({ at: '2026-11-21T10:00:00.000Z', event: { type } })),
});
export const count = (times: number): StoredRecord => ({
  ...{ kind: 'count', day: '2026-11-21', read: null, count: times },
});
export const last = (customerId: string): StoredRecord => ({ kind: 'last-login', customerId });
