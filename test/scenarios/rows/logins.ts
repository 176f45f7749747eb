import { expect } from 'vitest';
import { atCb, gets, type Row, type Step, step } from '../row.ts';

// Logins at today's bank: tokens that end, that the bank does not renew, and that the operator gives back.

const CUSTOMER = '1048262';
const LIST = `GET /private/customers/${CUSTOMER}/accounts`;
const lists = (calls: string, more: Partial<Step> = {}): Step => ({
  ...{ words: ['accounts', 'list', '--json'], ends: '0', calls, ...more },
});
const auth = (verb: string, ...more: string[]) => ['auth', verb, ...more, '--json'];
const logsIn = (more: Partial<Step> = {}): Step => ({
  ...{ words: auth('login'), ends: '0', calls: 'authorize token customer', ...more },
});
const ENDED = { tokenHasEnded: true } as const;

export const LOGINS: Row[] = [
  atCb(
    'a token that has ended is renewed once, before the call that needs it',
    0,
    [lists(`token customer ${LIST}`), lists(LIST)],
    ENDED,
  ),
  atCb(
    'the bank refuses to renew the login: that is kept, and a new login ends it',
    0,
    [
      lists('token', {
        meets: { token: [gets(400, { error: 'invalid_grant' })] },
        ends: '4 not_logged_in',
        says: '$ auth login',
      }),
      step(auth('status'), '0', {
        prints: { customerId: CUSTOMER, refused: { what: 'refresh', message: expect.any(String) } },
      }),
      logsIn({ prints: { customerId: CUSTOMER, grantType: 'authorization_code' } }),
      lists(LIST),
    ],
    ENDED,
  ),
  atCb(
    'the bank fails to renew the login: the next command asks it again',
    0,
    [
      lists(expect.stringMatching(/^token( token)*$/), {
        meets: { token: Array(8).fill(gets(503)) },
        ends: '11 bank_failing',
      }),
      lists(`token customer ${LIST}`),
    ],
    ENDED,
  ),
  atCb('a customer who refuses the login changes nothing', 0, [
    logsIn({ customer: 'refuses', ends: '6 login_refused', calls: 'authorize' }),
    lists(LIST),
  ]),
  atCb(
    'psd2 auth token prints a token that is good, and auth refresh gets one although the old one is',
    0,
    [
      step(auth('token'), '0', {
        calls: 'token customer',
        prints: { accessToken: expect.not.stringMatching(/^ended$/), expiresAt: expect.any(String) },
      }),
      step(auth('refresh'), '0', { calls: expect.stringMatching(/^token/) }),
    ],
    ENDED,
  ),
  atCb('a logout that revokes gives both tokens back, and then nobody is logged in', 0, [
    step(auth('logout', '--revoke'), '0', {
      calls: 'revoke revoke',
      prints: { revoked: ['refresh_token', 'access_token'] },
    }),
    lists('', { ends: '4 not_logged_in', says: 'Nobody is logged in' }),
    logsIn(),
    lists(LIST),
  ]),
];
