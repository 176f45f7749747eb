import { expect, it } from 'vitest';
import type { TokenSource } from '../../src/bank/call/bank.ts';
import { fetchCustomerId } from '../../src/bank/endpoints/customers.ts';
import { Psd2Error } from '../../src/errors.ts';
import { refusal, scaRequired, success } from './answers.ts';
import { useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const PATH = '/private/customers/customerid-info';

/** Tokens that are numbered as they are renewed. */
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

it('a call answered 401 is made once more with a renewed token', async () => {
  recorded.expect('GET', PATH, refusal(401));
  recorded.expect('GET', PATH, success('{"customerid":"1234567"}'));
  const tokens = numberedTokens();
  expect(await fetchCustomerId(openClient({ tokens }).bank, transactionId)).toBe('1234567');
  expect(bearers()).toEqual(['Bearer token-0', 'Bearer token-1']);
  expect(tokens.refused).toEqual(['token-0']);
});

it('a PUT too, since a 401 did nothing', async () => {
  recorded.expect('PUT', '/x', refusal(401));
  recorded.expect('PUT', '/x', success());
  const announced: string[] = [];
  const { bank } = openClient({ tokens: numberedTokens() });
  const answer = await bank.exchange({
    method: 'PUT',
    path: '/x',
    body: {},
    transactionId,
    beforeSend: async ({ requestId }) => void announced.push(requestId),
  });
  expect(answer.status).toBe(200);
  expect(new Set(announced).size).toBe(2);
});

it('a PUT is not made again after a 401 that may not be the word of the bank', async () => {
  recorded.expect('PUT', '/x', { status: 401, body: '{"error":"invalid_token"}' });
  const tokens = numberedTokens();
  const { bank } = openClient({ tokens });
  const answer = await bank.exchange({ method: 'PUT', path: '/x', body: {}, transactionId });
  expect(answer.status).toBe(401);
  expect(bearers()).toEqual(['Bearer token-0']);
  expect(tokens.refused).toEqual([]);
});

it('a second 401 is the end', async () => {
  recorded.expect('GET', PATH, refusal(401));
  recorded.expect('GET', PATH, refusal(401));
  const tokens = numberedTokens();
  await expect(fetchCustomerId(openClient({ tokens }).bank, transactionId)).rejects.toMatchObject({
    code: 'not_logged_in',
    httpStatus: 401,
  });
  expect(tokens.refused).toHaveLength(1);
});

it('a 401 that asks for SCA says nothing against the token', async () => {
  recorded.expect('GET', PATH, scaRequired(401, 'r1'));
  const tokens = numberedTokens();
  await expect(fetchCustomerId(openClient({ tokens }).bank, transactionId)).rejects.toMatchObject({
    code: 'sca_required',
    resourceId: 'r1',
  });
  expect(tokens.refused).toEqual([]);
});

it('a renewal that fails is what the operator hears of', async () => {
  recorded.expect('GET', PATH, refusal(401));
  const ended = new Psd2Error('not_logged_in', 'The login has ended');
  const tokens: TokenSource = {
    current: async () => 'token-0',
    renewed: async () => {
      throw ended;
    },
  };
  await expect(fetchCustomerId(openClient({ tokens }).bank, transactionId)).rejects.toBe(ended);
});

it('without a token nothing is sent', async () => {
  const nobody = new Psd2Error('not_logged_in', 'Nobody is logged in');
  const tokens: TokenSource = {
    current: async () => {
      throw nobody;
    },
    renewed: async () => 'never',
  };
  await expect(fetchCustomerId(openClient({ tokens }).bank, transactionId)).rejects.toBe(nobody);
  expect(recorded.received).toEqual([]);
});

it('the warnings and infos of a success reach the operator', async () => {
  recorded.expect(
    'GET',
    PATH,
    success('{"customerid":"1"}', { message: '{"code":"W1","message":"Soon closed","type":"WARNING"}' }),
  );
  const { bank, notices } = openClient();
  await fetchCustomerId(bank, transactionId);
  expect(notices).toEqual([{ code: 'W1', text: 'Soon closed', type: 'WARNING', detail: null }]);
});
