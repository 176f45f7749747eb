import { expect, it } from 'vitest';
import type { BankCall } from '../../src/bank/call/call.ts';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import { Psd2Error } from '../../src/errors.ts';
import { Secret } from '../../src/secret.ts';
import { refusal, scaRequired, success } from './answers.ts';
import { PLAIN_FACTS, useClients } from './client.ts';
import { useRecordedBank, type WrittenAnswer } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const PATH = '/private/customers/customerid-info';
const PUT = { method: 'PUT', path: '/x', facts: PLAIN_FACTS, body: {}, transactionId } as const;

/** Returns tokens that count their renewals. */
function numberedTokens(): TokenSource & { refused: string[] } {
  const refused: string[] = [];
  return {
    refused,
    current: async () => `token-${refused.length}`,
    async renewed(token) {
      refused.push(token);
      return `token-${refused.length}`;
    },
  };
}

function bearers(): (string | undefined)[] {
  return recorded.received.map(({ headers }) => headers.authorization);
}

const CUSTOMER = success('{"customerid":"1234567"}');
const PAGE = { status: 401, headers: { 'content-type': 'text/html' }, body: '<html>' };
const ENDED = { code: 'not_logged_in', httpStatus: 401 };
const ASKS_SCA = { code: 'sca_required', resourceId: 'r1' };

it.each<[string, WrittenAnswer[], string | object, string[]]>([
  [
    'renews the token after a 401, and makes the call once more',
    [refusal(401), CUSTOMER],
    '1234567',
    ['token-0'],
  ],
  ['does so after any 401, because a GET changes nothing', [PAGE, CUSTOMER], '1234567', ['token-0']],
  ['stops after a second 401', [refusal(401), refusal(401)], ENDED, ['token-0']],
  ['does not renew the token after a 401 that asks for SCA', [scaRequired(401, 'r1')], ASKS_SCA, []],
])('psd2 %s', async (_, answers, expected, refused) => {
  for (const answer of answers) recorded.expect('GET', PATH, answer);
  const tokens = numberedTokens();
  const asking = openClient({ tokens }).bank.login.whose(transactionId);
  if (typeof expected === 'string') expect(await asking).toBe(expected);
  else await expect(asking).rejects.toMatchObject(expected);
  expect(tokens.refused).toEqual(refused);
  expect(bearers()).toEqual(answers.map((_, at) => `Bearer token-${at}`));
});

it('after a 401 psd2 also retries a PUT, since the bank did nothing', async () => {
  recorded.expect('PUT', '/x', refusal(401));
  recorded.expect('PUT', '/x', success());
  const announced: string[] = [];
  const { caller } = openClient({ tokens: numberedTokens() });
  const beforeSend = async ({ requestId }: { requestId: string }) => void announced.push(requestId);
  const answer = await caller.send({ ...PUT, body: '{ "amount": 1.50 }', beforeSend });
  expect(answer.status).toBe(200);
  expect(new Set(announced).size).toBe(2);
  expect(recorded.last.body.toString()).toBe('{ "amount": 1.50 }');
});

it('psd2 does not retry a PUT if the 401 may not come from the bank', async () => {
  recorded.expect('PUT', '/x', { status: 401, body: '{"error":"invalid_token"}' });
  const tokens = numberedTokens();
  const { caller } = openClient({ tokens });
  const answer = await caller.send(PUT);
  expect(answer.status).toBe(401);
  expect(bearers()).toEqual(['Bearer token-0']);
  expect(tokens.refused).toEqual([]);
});

it('psd2 does not itself repeat a call that moves money after a 401, and renews the token for the next call', async () => {
  recorded.expect('PUT', '/x', refusal(401));
  recorded.expect('GET', PATH, CUSTOMER);
  const tokens = numberedTokens();
  // The tokens have not learnt that the bank refuses this one.
  tokens.current = async () => 'token-0';
  const { bank, caller } = openClient({ tokens });
  expect((await caller.send({ ...PUT, irrevocable: true })).status).toBe(401);
  expect(tokens.refused).toEqual([]);
  await bank.login.whose(transactionId);
  expect(bearers()).toEqual(['Bearer token-0', 'Bearer token-1']);
  expect(tokens.refused).toEqual(['token-0']);
});

it('psd2 does not itself repeat a call with a credential of the customer after a 401', async () => {
  recorded.expect('PUT', '/x', refusal(401));
  const { caller } = openClient({ tokens: numberedTokens() });
  const credential = { value: new Secret('1234'), body: (tan: string) => ({ tan }) };
  expect((await caller.send({ ...PUT, credential })).status).toBe(401);
  expect(bearers()).toEqual(['Bearer token-0']);
});

it.each<[string, Partial<BankCall>, boolean]>([
  ['another call', {}, true],
  ['a reading of an account', { facts: { ...PLAIN_FACTS, reads: { account: 'a1' } } }, false],
  ['the initiation of a payment', { judged: 'payment' }, false],
])('a credential that the bank had is hidden in the answer to %s: %s', async (_, more, isHidden) => {
  const { caller } = openClient({ tokens: numberedTokens() });
  for (const headers of [{}, { 'x-own': 'id-123456' }])
    recorded.expect('PUT', '/x', { ...success(), headers });
  const credential = { value: new Secret('123456'), body: (tan: string) => ({ tan }) };
  await caller.send({ ...PUT, credential });
  const { headers } = await caller.send({ ...PUT, ...more });
  expect('x-own' in headers).toBe(!isHidden);
});

it('psd2 does not renew once more if the bank refuses the renewed token for that call too', async () => {
  const tokens = numberedTokens();
  const { bank, caller } = openClient({ tokens });
  for (let times = 0; times < 2; times += 1) {
    recorded.expect('PUT', '/x', refusal(401));
    recorded.expect('GET', PATH, CUSTOMER);
    expect((await caller.send({ ...PUT, irrevocable: true })).status).toBe(401);
    await bank.login.whose(transactionId);
  }
  expect(bearers()).toEqual(['token-0', 'token-1', 'token-1', 'token-1'].map((token) => `Bearer ${token}`));
  expect(tokens.refused).toEqual(['token-0']);
});

it("if the renewal fails, the operator sees the renewal's error", async () => {
  recorded.expect('GET', PATH, refusal(401));
  const ended = new Psd2Error('not_logged_in', 'The login has ended');
  const tokens: TokenSource = { current: async () => 'token-0', renewed: () => Promise.reject(ended) };
  await expect(openClient({ tokens }).bank.login.whose(transactionId)).rejects.toBe(ended);
});

it('psd2 sends nothing without a token', async () => {
  const nobody = new Psd2Error('not_logged_in', 'Nobody is logged in');
  const tokens: TokenSource = { current: () => Promise.reject(nobody), renewed: async () => 'never' };
  await expect(openClient({ tokens }).bank.login.whose(transactionId)).rejects.toBe(nobody);
  expect(recorded.received).toEqual([]);
});

it('the operator sees the warnings and infos of a success', async () => {
  const message = '{"code":"W1","message":"Soon closed","type":"WARNING"}';
  recorded.expect('GET', PATH, success('{"customerid":"1"}', { message }));
  const { bank, notices } = openClient();
  await bank.login.whose(transactionId);
  expect(notices).toEqual([{ code: 'W1', text: 'Soon closed', type: 'WARNING', detail: null }]);
});
