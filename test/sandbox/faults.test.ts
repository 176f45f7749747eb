import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BadFault, faultKinds, faultText, parseFault } from '../../src/sandbox/faults/fault.ts';
import { FaultBook, type FaultOrder } from '../../src/sandbox/faults/fault-book.ts';
import { endpointNames, parseTarget } from '../../src/sandbox/faults/target.ts';
import { codeOf, digestOf, order, type Reply, refusalOf, signatureOf, useTestBank } from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';
const ME = '/private/customers/customerid-info';

const bank = await useTestBank();
let token: string;
beforeEach(async () => {
  token = (await bank.tpp.login()).accessToken;
});
afterEach(async () => {
  await order(bank.sandbox, 'DELETE', '/faults');
});

async function add(fault: FaultOrder): Promise<void> {
  expect(await order(bank.sandbox, 'POST', '/faults', fault)).toMatchObject({ status: 201 });
}

/** Gets the customer id, with the given faults in the request's header. */
function me(fault?: string): Promise<Reply> {
  return bank.tpp.send({ path: ME, token, ...(fault && { headers: { 'X-Sandbox-Fault': fault } }) });
}

function verifyTransfer(fault?: string, amount = '1.00'): Promise<Reply> {
  return bank.tpp.verifyTransfer(token, { amount, ...(fault && { headers: { 'X-Sandbox-Fault': fault } }) });
}

async function authorised(): Promise<string> {
  const id = String((await verifyTransfer()).json.resources?.resourceId);
  await bank.tpp.authorise(token, id);
  return id;
}

function execute(id: string, fault: string): Promise<Reply> {
  return bank.tpp.execute(token, id, CURRENT, { 'X-Sandbox-Fault': fault });
}

async function available(): Promise<number> {
  const { json } = await bank.tpp.send({ path: `${CURRENT}/balance/retrieve`, token });
  return Number(json.data?.availableBalance?.amount);
}

/** Returns whether the digest and the signature of an answer are right. */
function sealOf(reply: Reply, request: string): { digest: boolean; signature: boolean } {
  const digest = reply.headers.digest === digestOf(reply.bytes);
  return { digest, signature: signatureOf(bank.tpp, reply, request).valid };
}

describe("faults in a request's header", () => {
  test.each([
    ['cut-before-effect', 0],
    ['cut-after-effect', 1.5],
    ['cut-in-the-middle', 1.5],
  ])('%s cuts the connection, and execute has cost %d EUR', async (fault, cost) => {
    const id = await authorised();
    const before = await available();
    await expect(execute(id, fault)).rejects.toThrow();
    expect(await available()).toBeCloseTo(before - cost, 2);
  });

  test('cut-in-the-middle sends the head and half of the body', async () => {
    const request = httpsRequest(`${bank.sandbox.baseUrl}${ME}`, {
      ca: bank.tpp.read('caFile'),
      cert: bank.tpp.read('qwacCertFile'),
      key: bank.tpp.read('qwacKeyFile'),
      headers: { 'X-Sandbox-Fault': 'cut-in-the-middle' },
    }).end();
    const [response] = await once(request, 'response');
    let received = 0;
    response.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    const [error] = await once(response, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    const announced = Number(response.headers['content-length']);
    expect(received).toBe(Math.floor(announced / 2));
    expect(received).toBeGreaterThan(50);
  });

  test('wrong-signature and wrong-digest each spoil only one of the two', async () => {
    const request = `post ${CURRENT}/moneyTransfer/verify`;
    expect(sealOf(await verifyTransfer(), request)).toEqual({ digest: true, signature: true });
    const unsigned = await verifyTransfer('wrong-signature');
    expect(sealOf(unsigned, request)).toEqual({ digest: true, signature: false });
    expect(sealOf(await verifyTransfer('wrong-digest'), request)).toEqual({ digest: false, signature: true });
  });

  test('wrong-signature signs the answer to a GET, which is otherwise unsigned', async () => {
    expect((await me()).headers.signature).toBeUndefined();
    expect(sealOf(await me('wrong-signature'), `get ${ME}`)).toEqual({ digest: true, signature: false });
  });

  test('stale-token ends the access token but not the refresh token', async () => {
    const { accessToken, refreshToken } = await bank.tpp.login();
    token = accessToken;
    expect(codeOf(await me('stale-token'))).toBe('TOKEN_EXPIRED');
    expect(codeOf(await me())).toBe('TOKEN_EXPIRED');
    expect((await bank.tpp.refresh(refreshToken)).status).toBe(200);
  });

  test.each([7, -7])(
    "with clock=%i the bank refuses the client's Date and sends its own",
    async (minutes) => {
      const reply = await me(`clock=${minutes}`);
      expect(codeOf(reply)).toBe('DATE_OUT_OF_RANGE');
      expect(reply.headers.date).toBe(new Date(bank.clock.now().getTime() + minutes * 60_000).toUTCString());
      expect((await me(`clock=${Math.sign(minutes) * 4}`)).status).toBe(200);
    },
  );

  test.each([
    ['status=400', 400, 'PLANNED_FAILURE', undefined, 0],
    ['status=401', 401, 'TOKEN_INVALID', undefined, 0],
    ['status=420', 420, 'TOO_MANY_CALLS', '1', 0],
    ['status=503', 503, 'PLANNED_FAILURE', '1', 0],
    ['status=504', 504, 'PLANNED_FAILURE', undefined, 0],
    ['delivered-twice', 400, 'ALREADY_EXECUTED', undefined, 1.5],
    ['delivered-twice-status=409', 409, 'PLANNED_FAILURE', undefined, 1.5],
    ['delivered-twice-status=401', 401, 'TOKEN_INVALID', undefined, 1.5],
    ['delivered-twice-status=429', 429, 'TOO_MANY_CALLS', '1', 1.5],
  ])('%s answers %i %s, and execute costs what it did', async (fault, status, code, retryAfter, cost) => {
    const id = await authorised();
    const before = await available();
    const reply = await execute(id, fault);
    expect([reply.status, codeOf(reply), reply.headers['retry-after']]).toEqual([status, code, retryAfter]);
    expect(await available()).toBeCloseTo(before - cost, 2);
  });

  test('truncated-json is complete for HTTP but ends in the middle of its JSON', async () => {
    const whole = (await me()).bytes.length;
    const reply = await me('truncated-json');
    expect([reply.status, Number(reply.headers['content-length'])]).toEqual([200, Math.floor(whole / 2)]);
    expect(reply.bytes).toHaveLength(Math.floor(whole / 2));
    expect(reply.text).toMatch(/^\{"result":\{"outcome":"SUCCESS"/);
  });

  test('the answers to empty, no-content and firewall have no JSON', async () => {
    const [empty, none, firewall] = [await me('empty'), await me('no-content'), await me('firewall')];
    expect([empty.status, empty.text]).toEqual([200, '']);
    expect([none.status, none.text]).toEqual([204, '']);
    expect([firewall.status, firewall.headers['content-type']]).toEqual([403, 'text/html']);
    expect(firewall.text).toContain('<html>');
  });

  test('an empty answer does not hide a refusal', async () => {
    expect(codeOf(await verifyTransfer('empty', '0'))).toBe('FIELD_INVALID');
  });

  test('delay answers late but correctly', async () => {
    const begun = performance.now();
    expect((await me('delay=120')).status).toBe(200);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(119);
  });

  test('a call that the bank refuses at its first delivery gets that refusal', async () => {
    const id = await authorised();
    expect((await execute(id, 'delay=1')).status).toBe(200);
    for (const fault of ['delivered-twice', 'delivered-twice-status=409']) {
      expect(codeOf(await execute(id, fault))).toBe('ALREADY_EXECUTED');
    }
    expect(codeOf(await verifyTransfer('delivered-twice', '0'))).toBe('FIELD_INVALID');
  });

  test('several faults work together', async () => {
    const begun = performance.now();
    expect((await me('delay=60, status=503')).status).toBe(503);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(59);
  });

  test('the bank refuses an unknown fault and lists the known ones', async () => {
    const reply = await me('explode');
    expect(refusalOf(reply)).toBe('400 HEADER_MALFORMED');
    expect(reply.text).toContain('X-Sandbox-Fault: There is no fault');
    expect(reply.text).toContain('cut-after-effect');
  });

  test('the bank stays strict: it refuses a wrong request before it plays a planned status', async () => {
    const reply = await bank.tpp.send({
      path: ME,
      token,
      signedTarget: 'get /elsewhere',
      headers: { 'X-Sandbox-Fault': 'status=503' },
    });
    expect(codeOf(reply)).toBe('SIGNATURE_INVALID');
  });
});

describe('faults added through the control', () => {
  test('a fault applies to the calls that it names, skips the first `after` calls and fires `times` times', async () => {
    await add({ fault: 'status=503', on: 'customerid', after: 1, times: 2 });
    const statuses = [];
    for (let call = 0; call < 5; call += 1) {
      statuses.push((await me()).status);
      expect(await available()).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([200, 503, 503, 200, 200]);
    const ordered = { fault: 'status=503', on: 'customerid', times: 2, after: 1, probability: 1, seed: '1' };
    expect((await order(bank.sandbox, 'GET', '/faults')).json).toEqual([
      { id: expect.any(Number), customer: null, until: null, ...ordered, seen: 5, fired: 2 },
    ]);
  });

  test('a refresh that is delivered twice spends its token, and answers with a refusal', async () => {
    const { refreshToken } = await bank.tpp.login();
    await add({ fault: 'delivered-twice', on: 'token', times: 1 });
    expect(codeOf(await bank.tpp.refresh(refreshToken))).toBe('GRANT_INVALID');
    expect(codeOf(await bank.tpp.refresh(refreshToken))).toBe('GRANT_INVALID');
  });

  test('one of several faults is cleared by its id', async () => {
    await add({ fault: 'status=500', on: 'balance' });
    await add({ fault: 'status=503', on: 'customerid' });
    const { json } = await order(bank.sandbox, 'GET', '/faults');
    const last = await order(bank.sandbox, 'DELETE', `/faults/${json[1]?.id}`);
    expect(last.json).toEqual({ cleared: 1 });
    expect((await me()).status).toBe(200);
    expect((await order(bank.sandbox, 'DELETE', '/faults')).json).toEqual({ cleared: 1 });
  });

  test('a reset ends logins, consents, operations and faults, and restores the balances', async () => {
    await order(bank.sandbox, 'POST', '/reset');
    token = (await bank.tpp.login()).accessToken;
    const before = await available();
    const id = await authorised();
    expect((await execute(id, 'delay=1')).status).toBe(200);
    expect(await available()).toBeLessThan(before);
    await add({ fault: 'status=503' });
    expect(await order(bank.sandbox, 'POST', '/reset')).toEqual({ status: 200, json: { reset: true } });
    expect(codeOf(await me())).toBe('TOKEN_INVALID');
    token = (await bank.tpp.login()).accessToken;
    expect(await available()).toBe(before);
    expect(codeOf(await execute(id, 'delay=1'))).toBe('RESOURCE_UNKNOWN');
    expect((await order(bank.sandbox, 'GET', '/faults')).json).toEqual([]);
  });

  test('the control gives tokens for a customer', async () => {
    const { json } = await order(bank.sandbox, 'POST', '/tokens', { customerId: '2073915' });
    expect(json).toEqual({
      customerId: '2073915',
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      accessTokenSeconds: 3500,
      refreshTokenSeconds: 2_592_000,
    });
    token = String(Object(json).accessToken);
    expect((await me()).json.data?.customerid).toBe('2073915');
    expect((await order(bank.sandbox, 'POST', '/tokens', { customerId: '1' })).status).toBe(400);
  });
});

describe('access to the control', () => {
  const fault = { fault: 'status=503' };

  test.each([
    ['without the token', { authorization: '' }, 401],
    ['with another token', { authorization: `Bearer ${'x'.repeat(32)}` }, 401],
    ['from a page of another origin', { origin: 'http://evil.example' }, 403],
    ['from a page without an origin', { origin: 'null' }, 403],
    ['from a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ])('the control refuses an order %s', async (_name, headers, status) => {
    expect((await order(bank.sandbox, 'POST', '/faults', fault, headers)).status).toBe(status);
    expect((await me()).status).toBe(200);
  });

  test('the control refuses an order under another name (DNS rebinding)', async () => {
    const { customerSiteUrl, controlToken } = bank.sandbox.running;
    const call = httpRequest(`${customerSiteUrl}/control/faults`, {
      headers: { host: 'evil.example', authorization: `Bearer ${controlToken}` },
    }).end();
    const [response] = await once(call, 'response');
    response.resume();
    expect(response.statusCode).toBe(403);
  });

  test.each([
    [{ fault: 'explode' }, /There is no fault/],
    [{ fault: 'delay' }, /needs its milliseconds/],
    [{ fault: 'empty', on: 'nowhere' }, /There is no call/],
    [{ fault: 'empty', times: 0 }, /times/],
    [{ fault: 'empty', probability: 0 }, /probability/],
    [{ fault: 'empty', other: 1 }, /other/],
    [{}, /fault/],
  ])('the control refuses %j', async (body, message) => {
    const { status, json } = await order(bank.sandbox, 'POST', '/faults', body);
    expect([status, String(Object(json).error)]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('the syntax of faults', () => {
  test('a fault that was read is written the same', () => {
    for (const [kind, { value }] of faultKinds) {
      const text = value ? `${kind}=${value.to}` : kind;
      expect(faultText(parseFault(` ${text} `))).toBe(text);
      expect(() => parseFault(value ? kind : `${kind}=1`)).toThrow(BadFault);
      if (value) {
        expect(() => parseFault(`${kind}=${value.to + 1}`)).toThrow(BadFault);
        expect(() => parseFault(`${kind}=${value.from - 1}`)).toThrow(BadFault);
      }
    }
  });

  test('any text is either a fault or a BadFault error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(faultKinds.has(parseFault(text).kind)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(BadFault);
        }
      }),
    );
  });

  test('a path matches as a whole, without its query, and * matches any segment', () => {
    const matches = (pattern: string, method: string, target: string) =>
      parseTarget(pattern).matches({ method, target });
    const accounts = '/private/customers/*/accounts';
    expect(matches(`get ${accounts}`, 'GET', '/private/customers/1/accounts?x=1')).toBe(true);
    expect(matches(`GET ${accounts}`, 'PUT', '/private/customers/1/accounts')).toBe(false);
    expect(matches('GET /private', 'GET', '/private/customers')).toBe(false);
    expect(matches('* *', 'PUT', '/a')).toBe(true);
    expect(matches('GET /a.c', 'GET', '/abc')).toBe(false);
    for (const name of endpointNames) expect(parseTarget(name).text).toBe(name);
    expect(matches('execute', 'PUT', `${CURRENT}/moneyTransfer/x/execute`)).toBe(true);
    expect(matches('status', 'GET', `${CURRENT}/moneyTransfer/x/execution/status`)).toBe(false);
  });
});

const call = { method: 'GET', target: '/' };
const now = new Date('2026-11-20T11:00:00Z');
const run = (seed: string) => {
  const book = new FaultBook();
  book.add({ fault: 'empty', probability: 0.25, seed }, now);
  return Array.from({ length: 400 }, () => book.due(call, { now, customerId: undefined }).length);
};

test('chance repeats with the same seed, changes with another, and fires about as often as ordered', () => {
  expect(run('a')).toEqual(run('a'));
  expect(run('a')).not.toEqual(run('b'));
  const share = run('a').reduce((sum, one) => sum + one, 0) / 400;
  expect(share).toBeGreaterThan(0.15);
  expect(share).toBeLessThan(0.35);
});
