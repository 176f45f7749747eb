import { beforeEach, describe, expect, test } from 'vitest';
import { magicFaultKinds, planOf } from '../../src/sandbox/operations/plan.ts';
import { codeOf, type Reply, refusalOf, resourceOf, useTestBank } from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';

const bank = await useTestBank();
let token: string;
beforeEach(async () => {
  // Each test logs in again, because the tests move the clock past the lifetime of a token.
  token = (await bank.tpp.login()).accessToken;
});

function verify(name: string): Promise<Reply> {
  return bank.tpp.verifyTransfer(token, { name });
}

async function verified(beneficiaryName: string): Promise<string> {
  return resourceOf(await verify(beneficiaryName));
}

function put(id: string, step: string, body: object = {}): Promise<Reply> {
  return bank.tpp.send({ method: 'PUT', path: `${CURRENT}/moneyTransfer/${id}/${step}`, token, body });
}

async function authorised(beneficiaryName: string): Promise<string> {
  const id = await verified(beneficiaryName);
  await bank.tpp.authorise(token, id);
  return id;
}

async function status(id: string): Promise<[unknown, unknown]> {
  const { data } = (await bank.tpp.send({ path: `/private/operations/${id}/status`, token })).json;
  return [data?.authorizationStatus, data?.executionStatus];
}

async function result(id: string): Promise<unknown> {
  const path = `${CURRENT}/moneyTransfer/${id}/execution/status`;
  return (await bank.tpp.send({ path, token })).json.data;
}

async function available(): Promise<string> {
  const { json } = await bank.tpp.send({ path: `${CURRENT}/balance/retrieve`, token });
  return String(json.data?.availableBalance?.amount);
}

test('a magic name works in any case and with extra spaces, but only as the whole name', () => {
  expect(planOf(' sca  Refused ')).toEqual({ sca: 'NOT_AUTHORIZED' });
  expect(planOf('execution status 500 once')).toEqual({
    fault: { call: 'EXECUTION STATUS', kind: '500', once: true },
  });
  for (const name of ['SCA REFUSED SRL', 'EXECUTE 404', 'STATUS', 'ONCE', 'Mario Rossi']) {
    expect(planOf(name)).toEqual({});
  }
});

describe('SCA', () => {
  test.each([
    ['SCA REFUSED', 'NOT_AUTHORIZED'],
    ['SCA EXPIRED', 'EXPIRED'],
    ['SCA PENDING', 'PENDING'],
  ])('with the name %s, SCA is %s even if the customer approves', async (name, state) => {
    const id = await authorised(name);
    expect(await status(id)).toEqual([state, 'PENDING']);
    expect(codeOf(await put(id, 'execute'))).toBe('NOT_AUTHORIZED');
  });

  test('with the name SCA PENDING, SCA never ends', async () => {
    const id = await verified('SCA PENDING');
    await bank.tpp.startSca(token, id);
    bank.clock.advance(30 * 60_000);
    expect(await status(id)).toEqual(['PENDING', 'PENDING']);
  });
});

describe('execute', () => {
  test('with the name EXECUTE REFUSED, the bank refuses execute and no money moves', async () => {
    const before = await available();
    const id = await authorised('EXECUTE REFUSED');
    expect(refusalOf(await put(id, 'execute'))).toBe('400 EXECUTION_REFUSED');
    expect(await status(id)).toEqual(['AUTHORIZED', 'PENDING']);
    expect(await available()).toBe(before);
  });

  test('with the name INSTANT KO, a transfer ends in KO with a reason, and no money moves', async () => {
    const before = await available();
    const id = await authorised('INSTANT KO');
    expect((await put(id, 'execute')).status).toBe(200);
    expect(await result(id)).toEqual({ executionStatus: 'PENDING', executionStatusDescription: '' });
    expect(await status(id)).toEqual(['AUTHORIZED', 'PENDING']);
    bank.clock.advance(500);
    expect(await result(id)).toEqual({
      executionStatus: 'KO',
      executionStatusDescription: "The payee's bank refused the instant transfer",
    });
    expect(await status(id)).toEqual(['AUTHORIZED', 'KO']);
    expect(await available()).toBe(before);
    expect(codeOf(await put(id, 'execute'))).toBe('ALREADY_EXECUTED');
  });

  test('with the name INSTANT NOW, a transfer settles at once', async () => {
    const id = await authorised('INSTANT NOW');
    await put(id, 'execute');
    expect(await result(id)).toMatchObject({ executionStatus: 'OK' });
  });

  test.each([
    ['INSTANT SLOW', 1500],
    ['INSTANT PENDING', 30_000],
  ])('with the name %s, a transfer settles after %i milliseconds', async (name, milliseconds) => {
    const id = await authorised(name);
    await put(id, 'execute');
    bank.clock.advance(milliseconds - 1);
    expect(await result(id)).toMatchObject({ executionStatus: 'PENDING' });
    bank.clock.advance(1);
    expect(await result(id)).toMatchObject({ executionStatus: 'OK' });
  });
});

describe('verify', () => {
  test('with the name VERIFY WARNING, verify gives a warning and the transfer can continue', async () => {
    const reply = await verify('VERIFY WARNING');
    expect(reply.json.result).toMatchObject({
      outcome: 'SUCCESS',
      messages: [{ code: 'BENEFICIARY_NEW', type: 'WARNING' }],
    });
    expect(reply.json.data?.additionalChecks).toEqual(['This is the first transfer to this payee']);
    expect(reply.json.resources?.resourceId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('with the name VERIFY SECOND STEP, verify names verify2, and the bank refuses other steps before it', async () => {
    const reply = await verify('VERIFY SECOND STEP');
    const id = String(reply.json.resources?.resourceId);
    expect(reply.json._links?.next).toEqual({ href: `${id}/verify2`, method: 'PUT' });
    expect(codeOf(await bank.tpp.startSca(token, id))).toBe('STEP_MISSING');
    expect(codeOf(await put(id, 'execute'))).toBe('STEP_MISSING');
    expect(codeOf(await put(id, 'verify2', { data: { payeeAccepted: false } }))).toBe('FIELD_INVALID');
    const second = await put(id, 'verify2', { data: { payeeAccepted: true } });
    expect(second.json._links?.next).toEqual({ href: `${id}/execute`, method: 'PUT' });
    await bank.tpp.authorise(token, id);
    expect((await put(id, 'execute')).status).toBe(200);
  });

  test('with any other name, the bank refuses verify2', async () => {
    const id = await verified('Mario Rossi');
    expect(codeOf(await put(id, 'verify2', { data: { payeeAccepted: true } }))).toBe('STEP_MISSING');
  });
});

describe('a fault of one call', () => {
  test.each([
    [401, 'TOKEN_INVALID'],
    [420, 'TOO_MANY_CALLS'],
    [500, 'PLANNED_FAILURE'],
  ])('with the name EXECUTE %i, the bank answers that status and executes nothing', async (kind, code) => {
    const id = await authorised(`EXECUTE ${kind}`);
    expect(refusalOf(await put(id, 'execute'))).toBe(`${kind} ${code}`);
    expect(await status(id)).toEqual(['AUTHORIZED', 'PENDING']);
    expect((await put(id, 'execute')).status).toBe(kind);
  });

  test('with the name VERIFY 420, the answer says when to try again', async () => {
    const reply = await verify('VERIFY 420');
    expect([reply.status, reply.headers['retry-after']]).toEqual([420, '1']);
  });

  test("with the name VERIFY 403, the answer is a firewall's HTML page", async () => {
    const reply = await verify('VERIFY 403');
    expect([reply.status, reply.headers['content-type']]).toEqual([403, 'text/html']);
    expect(reply.text).toContain('Request rejected');
  });

  test.each([
    ['EMPTY', 200],
    ['204', 204],
  ])('with the name EXECUTE %s, the bank executes and answers without a body', async (kind, httpStatus) => {
    const id = await authorised(`EXECUTE ${kind}`);
    const reply = await put(id, 'execute');
    expect([reply.status, reply.text]).toEqual([httpStatus, '']);
    expect(await status(id)).toEqual(['AUTHORIZED', 'OK']);
  });

  test('with the name EXECUTE LOST, the bank executes and cuts the connection', async () => {
    const id = await authorised('EXECUTE LOST');
    await expect(put(id, 'execute')).rejects.toThrow('socket hang up');
    expect(await status(id)).toEqual(['AUTHORIZED', 'OK']);
  });

  test('a magic name does not hide why the bank refuses a call', async () => {
    const id = await verified('EXECUTE EMPTY');
    expect(codeOf(await put(id, 'execute'))).toBe('NOT_AUTHORIZED');
  });

  test('ONCE applies to one call of each flow', async () => {
    const [first, second] = [await verified('STATUS 500 ONCE'), await verified('STATUS 500 ONCE')];
    const call = (id: string): Promise<Reply> =>
      bank.tpp.send({ path: `/private/operations/${id}/status`, token });
    expect([(await call(first)).status, (await call(first)).status]).toEqual([500, 200]);
    expect((await call(second)).status).toBe(500);
  });

  test.each(['APPROACH', 'EXECUTION STATUS'])('with the name %s 500, only that call fails', async (name) => {
    const id = await verified(`${name} 500`);
    const paths = {
      APPROACH: `/private/auth/security/sca/${id}/approach`,
      'EXECUTION STATUS': `${CURRENT}/moneyTransfer/${id}/execution/status`,
    };
    const headers = { 'TPP-Redirect-URI': 'https://tpp.example/' };
    for (const [call, path] of Object.entries(paths)) {
      const reply = await bank.tpp.send({ path, token, headers });
      expect([call, reply.status === 500]).toEqual([call, call === name]);
    }
  });
});

describe("carla's accounts", () => {
  const ANSWERS = { 401: 401, 403: 403, 420: 420, 500: 500, 204: 204, EMPTY: 200, LOST: undefined };

  test('carla has one account for each fault and one without a fault', async () => {
    const { accessToken } = await bank.tpp.login('carla');
    const { json } = await bank.tpp.send({ path: '/private/customers/3098127/accounts', token: accessToken });
    expect(json.data?.accounts).toHaveLength(1 + magicFaultKinds.length);
    const sound = '/private/customers/3098127/products/0030981270/balance/retrieve';
    expect((await bank.tpp.send({ path: sound, token: accessToken })).status).toBe(200);
  });

  test.each(magicFaultKinds)(
    'the account for %s breaks balance and transactions, but not the product details',
    async (kind) => {
      const { accessToken } = await bank.tpp.login('carla');
      const product = `/private/customers/3098127/products/${'0030981000'.slice(0, -kind.length)}${kind}`;
      const get = (path: string): Promise<Reply | undefined> =>
        bank.tpp.send({ path: `${product}${path}`, token: accessToken }).catch(() => undefined);
      expect((await get(''))?.status).toBe(200);
      for (const path of ['/balance/retrieve', '/transactions/retrieve?nextAccounting=1']) {
        const reply = await get(path);
        expect(reply?.status).toBe(ANSWERS[kind]);
        expect(reply?.json.data).toBeUndefined();
      }
    },
  );
});

describe('transactions older than 90 days', () => {
  // 90 days before 20 November 2026 is 22 August.
  const transactions = (dateFrom: string): string =>
    `${CURRENT}/transactions/retrieve?dateFrom=${encodeURIComponent(dateFrom)}`;
  const get = (path: string, as = token): Promise<Reply> => bank.tpp.send({ path, token: as });

  test('older transactions need SCA, which then unlocks them for the login that asked', async () => {
    expect((await get(transactions('22/08/2026'))).status).toBe(200);
    expect((await get(`${CURRENT}/transactions/retrieve`)).status).toBe(200);
    const refused = await get(transactions('21/08/2026'));
    const id = resourceOf(refused);
    expect(refusalOf(refused)).toBe('403 PSD2_SCA_REQUIRED');
    expect(refused.json.result).toMatchObject({ outcome: 'ERROR', messages: [{ type: 'ERROR' }] });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);

    await bank.tpp.startSca(token, id);
    expect(bank.sandbox.customers.scaRequest(id)?.request).toEqual({
      ...{ kind: 'inquiry', resourceId: id, tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
      product: {
        productId: '0010482620',
        description: 'CONTO CORRENTE',
        iban: 'IT89F0999001600000010482620',
      },
      from: '2026-08-21',
    });
    expect(codeOf(await get(transactions('21/08/2026')))).toBe('PSD2_SCA_REQUIRED');
    bank.sandbox.customers.approveSca(id);
    expect(await status(id)).toEqual(['AUTHORIZED', 'OK']);
    expect((await get(transactions('01/01/2026'))).status).toBe(200);

    const other = (await bank.tpp.login()).accessToken;
    expect(codeOf(await get(transactions('21/08/2026'), other))).toBe('PSD2_SCA_REQUIRED');
  });

  test('a refused SCA does not unlock older transactions', async () => {
    const id = resourceOf(await get(transactions('01/01/2026')));
    await bank.tpp.startSca(token, id);
    bank.sandbox.customers.refuseSca(id);
    expect(codeOf(await get(transactions('01/01/2026')))).toBe('PSD2_SCA_REQUIRED');
  });

  test('client credentials get no resource for older transactions, because there is no customer to send to SCA', async () => {
    const credentials = await bank.tpp.clientCredentials();
    const reply = await bank.tpp.send({ path: transactions('01/01/2026'), ...credentials });
    expect(refusalOf(reply)).toBe('403 PSD2_SCA_REQUIRED');
    expect(reply.json).not.toHaveProperty('resources');
  });
});
