import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import { grantOfCall } from '../../../../src/sandbox/nextgenpsd2/oauth/access-token.ts';
import type { DoorGrant } from '../../../../src/sandbox/nextgenpsd2/oauth/grant.ts';
import { operationAt } from '../../../../src/sandbox/nextgenpsd2/operations.ts';
import { rawRequest } from '../../strict/raw.ts';
import { bankHere, grantOf } from '../bank-here.ts';
import { ANNA } from '../door-client.ts';
import { SCT } from '../payment-client.ts';
import { answerTo } from '../refused.ts';

const SECOND = 1000;
const ACCOUNTS = 'GET /v1/accounts';
const CONSENT = 'POST /v1/consents';
const PAY = `POST ${SCT}`;
const BASKET = 'POST /v1/signing-baskets';

/** What a bank makes of the access token of a call. */
async function opened(oauth: BankFile['oauth'], headers?: BankFile['headers']) {
  const { bank, clock } = await bankHere({ oauth, ...(headers && { headers }) });
  const { tokens } = doorOf(bank);
  const grants: (DoorGrant | undefined)[] = [];
  const answer = (call: string, sent: Record<string, string> = {}, isStale = false): string => {
    const [method = '', path = ''] = call.split(' ');
    const operation = operationAt(bank.rules.description, method, path);
    if (typeof operation !== 'object') return expect.unreachable();
    const request = rawRequest({ headers: Object.entries(sent) });
    return answerTo(() => grants.push(grantOfCall(bank, request, operation, isStale)));
  };
  const issue = (grant: Partial<DoorGrant> = { customerId: ANNA }) => tokens.issue(grantOf(grant));
  return { clock, answer, issue, grantOfLast: () => grants.at(-1) };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const lacks = (name: string) =>
  `401 TOKEN_INVALID ${name}: The call has no access token. Expected: ${name}: Bearer <token>.`;
const takes = (name: string) => `400 FORMAT_ERROR ${name}: The bank does not take the header ${name}.`;
const UNKNOWN = '401 TOKEN_UNKNOWN: The bank does not know this access token.';

describe('a call without a token', () => {
  const ALL = [ACCOUNTS, CONSENT, PAY, BASKET];
  test.each<[oauth: BankFile['oauth'], wanting: string[]]>([
    [{ mode: 'none' }, []],
    [{ mode: 'pre-step' }, ALL],
    [{ mode: 'client-credentials' }, ALL],
    // The customer authorises with OAuth: there is no token before.
    [{ mode: 'integrated' }, [ACCOUNTS]],
    [{ mode: 'integrated', applicationToken: true }, ALL],
  ])('at a bank with %j is refused at %j', async (oauth, wanting) => {
    const { answer } = await opened(oauth);
    expect(ALL.filter((call) => answer(call) !== 'taken')).toEqual(wanting);
    for (const call of wanting) expect(answer(call)).toBe(lacks('Authorization'));
  });

  test.each(['Basic x', 'Bearer', 'Bearer a b', 'bearer x', ''])('has "%s"', async (Authorization) => {
    const { answer } = await opened({ mode: 'pre-step' });
    expect(answer(ACCOUNTS, { Authorization })).toBe(lacks('Authorization'));
  });
});

describe('the header of the token', () => {
  test.each<[oauth: BankFile['oauth'], sent: string, answer: string]>([
    [{ mode: 'none' }, 'Authorization', takes('Authorization')],
    [{ mode: 'none', tokenHeader: 'X-Token' }, 'X-Token', takes('X-Token')],
    [{ mode: 'none', tokenHeader: 'X-Token' }, 'Authorization', takes('authorization')],
    [{ mode: 'pre-step', tokenHeader: 'X-Token' }, 'X-Token', 'taken'],
    [{ mode: 'pre-step', tokenHeader: 'X-Token' }, 'x-token', 'taken'],
    [{ mode: 'pre-step', tokenHeader: 'X-Token' }, 'Authorization', takes('authorization')],
    [{ mode: 'pre-step' }, 'X-Token', lacks('Authorization')],
    [{ mode: 'integrated' }, 'Authorization', 'taken'],
  ])('of a bank with %j, sent as %s: %s', async (oauth, sent, expected) => {
    const { answer, issue, grantOfLast } = await opened(oauth);
    const { accessToken, grant } = issue();
    expect(answer(ACCOUNTS, { [sent]: `Bearer ${accessToken}` })).toBe(expected);
    expect(grantOfLast()).toBe(expected === 'taken' ? grant : undefined);
  });

  test("is the bank's own at a call that has it in the bank file", async () => {
    const headers = { perOperation: { getAccountList: { authorization: 'Bearer fixed' } } };
    const { answer, grantOfLast } = await opened({ mode: 'pre-step' }, headers);
    expect([answer(ACCOUNTS, bearer('fixed')), grantOfLast()]).toEqual(['taken', undefined]);
    expect(answer(CONSENT, bearer('fixed'))).toBe(UNKNOWN);
  });
});

describe('a token', () => {
  test('is one of this bank, and not its refresh token', async () => {
    const { answer, issue } = await opened({ mode: 'pre-step' });
    const { accessToken, refreshToken = '' } = issue();
    const answers = [accessToken, refreshToken, `${accessToken}x`].map((one) => answer(PAY, bearer(one)));
    expect(answers).toEqual(['taken', UNKNOWN, UNKNOWN]);
  });

  test('lives 3500 seconds', async () => {
    const { answer, issue, clock } = await opened({ mode: 'pre-step' });
    const sent = bearer(issue().accessToken);
    clock.advance(3500 * SECOND - 1);
    expect(answer(PAY, sent)).toBe('taken');
    clock.advance(1);
    expect(answer(PAY, sent)).toBe(
      '401 TOKEN_EXPIRED: The access token has expired. It ended at 2026-11-20T11:58:20.000Z.',
    );
  });

  test('that a fault makes stale has expired from then on, and no other one', async () => {
    const { answer, issue } = await opened({ mode: 'pre-step' });
    const [one, other] = [bearer(issue().accessToken), bearer(issue().accessToken)];
    const over = '401 TOKEN_EXPIRED: The access token has expired. It ended at 2026-11-20T11:00:00.000Z.';
    expect([answer(PAY, one, true), answer(PAY, one), answer(PAY, other)]).toEqual([over, over, 'taken']);
  });

  test.each<[call: string, scope: 'A' | 'P']>([
    [ACCOUNTS, 'A'],
    [CONSENT, 'A'],
    ['GET /v1/consents/c/status', 'A'],
    [PAY, 'P'],
    [`GET ${SCT}/p/status`, 'P'],
    [`POST ${SCT}/p/cancellation-authorisations`, 'P'],
    [BASKET, 'P'],
    ['GET /v1/signing-baskets/b/status', 'P'],
    ['POST /v1/signing-baskets/b/authorisations', 'P'],
  ])('of two scopes is the one for %s: %s', async (call, scope) => {
    const { answer, issue } = await opened({ mode: 'pre-step', scope: { preStep: { ais: 'A', pis: 'P' } } });
    const answers = ['A', 'P', 'A P'].map((has) => answer(call, bearer(issue({ scope: has }).accessToken)));
    const other = '401 TOKEN_INVALID: The access token has another scope.';
    expect(answers).toEqual(scope === 'A' ? ['taken', other, other] : [other, 'taken', other]);
  });
});
