import { expect, test } from 'vitest';
import { codeOf, newTestBank, type Reply, refusalOf, resourceOf, type TestBank } from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';
const MINUTE = 60_000;

function whoAmI(bank: TestBank, token: string): Promise<Reply> {
  return bank.tpp.send({ path: '/private/customers/customerid-info', token });
}

test('tokenTtlSeconds sets the lifetime of an access token, and the answer states it', async () => {
  const bank = await newTestBank({ tokenTtlSeconds: 5 });
  const { accessToken, refreshToken } = await bank.tpp.login();
  bank.clock.advance(4999);
  expect((await whoAmI(bank, accessToken)).status).toBe(200);
  bank.clock.advance(1);
  expect(codeOf(await whoAmI(bank, accessToken))).toBe('TOKEN_EXPIRED');
  const renewed = await bank.tpp.refresh(refreshToken);
  expect(renewed.json.data).toMatchObject({ expires_in: 5, refresh_token: expect.any(String) });
});

test('without rotation, a refresh gives no refresh token and the old one stays valid', async () => {
  const bank = await newTestBank({ rotateRefreshTokens: false });
  const { refreshToken } = await bank.tpp.login();
  for (const reply of [await bank.tpp.refresh(refreshToken), await bank.tpp.refresh(refreshToken)]) {
    expect(reply.status).toBe(200);
    const fields = ['access_token', 'token_type', 'expires_in', 'scope'];
    expect(Object.keys(reply.json.data ?? {})).toEqual(fields);
    expect((await whoAmI(bank, String(reply.json.data?.access_token))).status).toBe(200);
  }
});

test('above callsPerMinute the bank answers 420 with Retry-After, to that application alone', async () => {
  const bank = await newTestBank({ callsPerMinute: 5 });
  const { accessToken } = await bank.tpp.login(); // makes two calls
  bank.clock.advance(20_000);
  for (let call = 3; call <= 5; call += 1) expect((await whoAmI(bank, accessToken)).status).toBe(200);
  const reply = await whoAmI(bank, accessToken);
  expect([reply.status, codeOf(reply), reply.headers['retry-after']]).toEqual([420, 'TOO_MANY_CALLS', '40']);
  expect((await bank.tpp.clientCredentials()).token).toMatch(/^[0-9a-f-]{36}$/);
  bank.clock.advance(40_000);
  expect((await whoAmI(bank, accessToken)).status).toBe(200);
  expect((await whoAmI(bank, accessToken)).status).toBe(200);
  expect((await whoAmI(bank, accessToken)).status).toBe(420);
});

test("the daily limit of client credentials resets at midnight in Rome, and does not affect customers' calls", async () => {
  const bank = await newTestBank({ clientCredentialsCallsPerDay: 2 });
  const path = '/private/customers/1048262/accounts';
  const credentials = await bank.tpp.clientCredentials();
  const call = (): Promise<Reply> => bank.tpp.send({ path, ...credentials });
  expect([(await call()).status, (await call()).status]).toEqual([200, 200]);
  bank.clock.advance(MINUTE);
  const reply = await call();
  expect(refusalOf(reply)).toBe('420 TOO_MANY_CALLS');
  // At 12:01 midnight is 11 hours and 59 minutes away.
  expect(reply.headers['retry-after']).toBe(String((11 * 60 + 59) * 60));
  const { accessToken } = await bank.tpp.login();
  expect((await bank.tpp.send({ path, token: accessToken })).status).toBe(200);

  bank.clock.advance((11 * 60 + 59) * MINUTE);
  const tomorrow = await bank.tpp.clientCredentials();
  expect((await bank.tpp.send({ path, ...tomorrow })).status).toBe(200);
});

test('the bank knows a finished operation for 15 minutes, and an unfinished one for a day', async () => {
  const bank = await newTestBank({ tokenTtlSeconds: 100_000 });
  const token = (await bank.tpp.login()).accessToken;
  const verified = async () => resourceOf(await bank.tpp.verifyTransfer(token));
  const [finished, open] = [await verified(), await verified()];
  await bank.tpp.authorise(token, finished);
  const execute = () => bank.tpp.execute(token, finished);
  expect((await execute()).status).toBe(200);
  const calls = [
    `/private/operations/${finished}/status`,
    `${CURRENT}/moneyTransfer/${finished}/execution/status`,
    `${CURRENT}/common/printer/${finished}/retrieve`,
  ];
  // The operation is finished when it has settled, half a second after execute.
  bank.clock.advance(15 * MINUTE + 500);
  for (const path of calls) expect((await bank.tpp.send({ path, token })).status).toBe(200);
  expect(codeOf(await execute())).toBe('ALREADY_EXECUTED');
  bank.clock.advance(1);
  for (const path of calls)
    expect(refusalOf(await bank.tpp.send({ path, token }))).toBe('412 RESOURCE_UNKNOWN');
  expect(codeOf(await execute())).toBe('RESOURCE_UNKNOWN');
  expect((await bank.tpp.send({ path: `/private/operations/${open}/status`, token })).status).toBe(200);
});
