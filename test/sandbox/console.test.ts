import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as tlsConnect } from 'node:tls';
import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { askConsent, giveConsent, newDoor } from './nextgenpsd2/door-client.ts';
import { type Call, type Json, list, newTestBank, order, resourceOf, type TestBank } from './tpp.ts';

// What the console says, and to whom, without a browser.

const ANNA = '1048262';
const CURRENT = `/private/customers/${ANNA}/products/0010482620`;
const HISTORY = `${CURRENT}/transactions/retrieve`;

let bank: TestBank;
let token: string;
beforeEach(async () => {
  bank = await newTestBank();
  token = (await bank.tpp.login()).accessToken;
});

const consoleUrl = () => `${bank.sandbox.customerSiteUrl}/console`;

async function shown(path: string): Promise<Json> {
  return JSON.parse(await (await fetch(`${consoleUrl()}${path}`)).text());
}

/** The newest call, as the console shows it. The login took two. */
async function newest(): Promise<Json> {
  let last: Json | undefined;
  for (let id = 3; ; id += 1) {
    const call = await shown(`/calls/${id}`);
    if (call.id === undefined) return last ?? expect.unreachable();
    last = call;
  }
}

describe('a call', () => {
  const transfer = { method: 'POST', path: `${CURRENT}/moneyTransfer/verify`, body: { data: {} } } as const;
  test.each<
    [what: string, call: Call, line: [title: string, status: number, decision: string, tone: string]]
  >([
    ['that was served', { path: CURRENT }, [CURRENT, 200, 'served', 'good']],
    ['with a name', { path: `/private/customers/${ANNA}/accounts` }, ['accounts', 200, 'served', 'good']],
    [
      'with another word',
      { path: '/private/customers/customerid-info' },
      ['customer id', 200, 'served', 'good'],
    ],
    ['of no endpoint', { path: '/nowhere' }, ['/nowhere', 404, 'ENDPOINT_UNKNOWN', 'bad']],
    ['of a step', transfer, ['verify moneyTransfer', 417, 'FIELD_INVALID', 'bad']],
    ['of the first page', { path: HISTORY }, ['transactions', 200, 'served', 'good']],
    ['from the first row', { path: `${HISTORY}?nextAccounting=1` }, ['transactions', 200, 'served', 'good']],
    ['from row 11', { path: `${HISTORY}?nextAccounting=11` }, ['transactions page 2', 200, 'served', 'good']],
    [
      'from the last row of a page',
      { path: `${HISTORY}?nextAccounting=20` },
      ['transactions page 2', 200, 'served', 'good'],
    ],
    [
      'of the pending rows',
      { path: `${HISTORY}?nextAccounting=1&nextNotAccounting=21` },
      ['transactions page 3', 200, 'served', 'good'],
    ],
    [
      'with a fault',
      { path: CURRENT, headers: { 'X-Sandbox-Fault': 'status=503' } },
      [CURRENT, 503, 'status=503', 'fault'],
    ],
    [
      'with a fault that refuses nothing',
      { path: CURRENT, headers: { 'X-Sandbox-Fault': 'delay=1' } },
      [CURRENT, 200, 'delay=1', 'fault'],
    ],
  ])('%s', async (_, call, line) => {
    await bank.tpp.send({ ...call, token });
    const { title, method, status, decision, tone, target } = await newest();
    expect([title, status, decision, tone]).toEqual(line);
    expect([method, target]).toEqual([call.method ?? 'GET', call.path]);
  });

  test.each([
    ['cut-before-effect', CURRENT, 'cut-before-effect'],
    ['cut-after-effect', CURRENT, 'cut-after-effect'],
    ['cut-after-effect', '/nowhere', 'ENDPOINT_UNKNOWN'],
  ])('%s of %s has no status', async (fault, path, decision) => {
    const cut = bank.tpp.send({ path, token, headers: { 'X-Sandbox-Fault': fault } });
    await expect(cut).rejects.toThrow();
    expect(await newest()).toMatchObject({ status: 0, decision, tone: 'fault' });
  });

  test.each([
    ['authorization_code', 2],
    ['refresh_token', 3],
    ['client_credentials', 3],
  ])('for a token names how: %s', async (how, id) => {
    if (how === 'refresh_token') await bank.tpp.refresh('none');
    if (how === 'client_credentials') await bank.tpp.clientCredentials();
    expect((await shown(`/calls/${id}`)).title).toBe(`token ${how}`);
  });

  test('has all of the request and the answer, but the beginning of secrets alone', async () => {
    const { accessToken, refreshToken } = await bank.tpp.login();
    const { clientSecret } = bank.tpp.registration.applications.authorizationCode;
    const login = await newest();
    const answer = String(login.answer?.body);
    for (const secret of [accessToken, refreshToken, clientSecret]) {
      expect(`${login.request?.body} ${answer}`).toContain(`${secret.slice(0, 6)}…`);
      expect(JSON.stringify(login)).not.toContain(secret);
    }
    await bank.tpp.send({ path: CURRENT, token });
    const call = await newest();
    expect(String(call.request?.head)).toContain(`Bearer ${token.slice(0, 6)}…`);
    expect(JSON.stringify(call)).not.toContain(token);
    expect(String(call.request?.head).split('\n')[0]).toBe(`GET ${CURRENT} HTTP/1.1`);
    expect(String(call.answer?.head).split('\n')[0]).toBe('HTTP/1.1 200');
    expect(String(call.answer?.body)).toContain('0010482620');
    expect(call).toMatchObject({ caller: `psd2-sandbox, customer ${ANNA}`, explanation: '', faults: [] });
  });

  test('has the digest, both certificates, and why the bank refused it', async () => {
    await bank.tpp.verifyTransfer(token, { amount: '0.00' });
    const call = await newest();
    expect(call.digest?.received).toBe(call.digest?.computed);
    expect(call.explanation).toBe(
      'data.moneyTransferAmount.amount is not valid. Expected: a decimal from 0.01 to 999999999.99 with a point and at most two decimals. Received: "0.00".',
    );
    expect(list(call.certificates)).toMatchObject([
      { use: 'TLS client certificate (QWAC)', registered: true, qcType: 'web' },
      { use: 'TPP-Certificate (QSealC)', registered: true, qcType: 'eseal' },
    ]);
    for (const certificate of list(call.certificates))
      expect(certificate).toMatchObject({
        ...{ organizationIdentifier: 'PSDIT-BI-12345', roles: 'PSP_AI, PSP_PI, PSP_IC' },
        authority: 'Bank of Italy, IT-BI',
      });
    await bank.tpp.send({ path: CURRENT, token });
    expect(await newest()).not.toHaveProperty('digest');
  });

  test('that the console does not have any more is no call', async () => {
    expect(await shown('/calls/99')).toEqual({ error: 'The console no longer has this call' });
  });
});

describe('the flows', () => {
  const flows = async (door = 'cb') => (await shown('/flows')).doors?.[door];
  const resources = async () => list((await flows())?.resources);

  test('each kind of resource says what it is about, newest first', async () => {
    await bank.tpp.requestConsent(token, [
      { name: 'ACCOUNT_INFO', products: ['0010482620', '0010482638'] },
      { name: 'PAYMENTS', products: ['0010482620'] },
    ]);
    await bank.tpp.verifyTransfer(token, { amount: '12.50' });
    await bank.tpp.send({
      ...{ method: 'POST', path: `${CURRENT}/standingOrder/verify`, token },
      body: {
        data: {
          ...{ amount: { currency: 'EUR', amount: '50.00' }, frequency: 'MONTHLY', description: 'rent' },
          ...{ firstExecutionDate: '30/11/2026', beneficiaryName: 'Mario Rossi' },
          ibanBeneficiary: 'IT60X0542811101000000123456',
        },
      },
    });
    await bank.tpp.send({ path: `${HISTORY}?dateFrom=01%2F02%2F2026`, token });
    expect((await resources()).map(({ kind, about }) => [kind, about])).toEqual([
      ['inquiry', 'transactions of 0010482620 from 2026-02-01'],
      ['standingOrder', '50.00 EUR from 0010482620 to Mario Rossi, IT60X0542811101000000123456'],
      ['moneyTransfer', '12.50 EUR from 0010482620 to Ada Lovelace, IT60X0542811101000000123456'],
      ['consent', 'ACCOUNT_INFO for 0010482620, 0010482638; PAYMENTS for 0010482620'],
    ]);
  });

  test('a resource is open while its customer can decide, and then executed', async () => {
    const id = resourceOf(await bank.tpp.verifyTransfer(token));
    const state = async () => {
      const [resource] = await resources();
      return [resource?.id, resource?.customer, resource?.sca, resource?.open, resource?.execution];
    };
    expect(await state()).toEqual([id, 'anna', 'not started', false, 'not executed']);
    await bank.tpp.startSca(token, id);
    expect(await state()).toEqual([id, 'anna', 'PENDING', true, 'not executed']);
    bank.sandbox.customers.approveSca(id);
    expect(await state()).toEqual([id, 'anna', 'AUTHORIZED', false, 'not executed']);
    await bank.tpp.execute(token, id);
    expect((await state()).slice(2)).toEqual([
      'AUTHORIZED',
      false,
      expect.not.stringMatching('not executed'),
    ]);
  });

  test('consents that are in force have their end, and logins that wait their page', async () => {
    await bank.tpp.giveConsent(token);
    await bank.tpp.send({ path: bank.tpp.authorizePath() });
    const { consents, logins } = (await flows()) ?? {};
    const given = { category: 'ACCOUNT_INFO', productId: '0010482620', customer: 'anna' };
    expect(list(consents)).toMatchObject([{ ...given, givenAt: '2026-11-20T11:00:00.000Z' }]);
    const [{ endsAt } = {}] = list(consents);
    const days = (Date.parse(String(endsAt)) - Date.parse('2026-11-20T11:00:00Z')) / 86_400_000;
    expect(Math.round(days)).toBe(180);
    const [login, ...more] = list(logins);
    expect([login?.application, more]).toEqual(['psd2-sandbox', []]);
    expect(String(login?.url)).toBe(`${bank.sandbox.customerSiteUrl}/login?request=${login?.id}`);
    await order(bank.sandbox, 'POST', `/customers/${ANNA}/revoke-consents`);
    expect(list((await flows())?.consents)).toEqual([]);
  });
});

describe('the accounts', () => {
  test('are those of all customers, of one, or of nobody', async () => {
    const users = async (query = '') => list(await shown(`/accounts${query}`)).map(({ user }) => user);
    expect(await users()).toEqual(expect.arrayContaining(['anna', 'bruno', 'carla']));
    expect(await users('?user=bruno')).toEqual(['bruno']);
    expect(await users('?user=nobody')).toEqual([]);
  });

  test('have the balances that the ledger leads to: pending entries are in the available one alone', async () => {
    const of = async () => {
      const products = list(list(await shown('/accounts?user=anna'))[0]?.products);
      const product = products.find(({ productId }) => String(productId) === '0010482620');
      return [product?.booked, product?.available].map((amount) => Math.round(Number(amount) * 100));
    };
    const entries = async () => list((await shown('/accounts/0010482620')).entries);
    const [booked = 0, available = 0] = await of();
    const pending = (await entries()).filter(({ state }) => String(state) === 'pending');
    const sum = pending.reduce((all, { amount }) => all + Math.round(Number(amount) * 100), 0);
    expect(pending.length).toBeGreaterThan(0);
    expect(available - booked).toBe(sum);
    const id = resourceOf(await bank.tpp.verifyTransfer(token, { amount: '12.50', description: 'Bread' }));
    await bank.tpp.authorise(token, id);
    await bank.tpp.execute(token, id);
    // The fees are 0.50 EUR.
    expect(await of()).toEqual([booked, available - 1300]);
    bank.clock.advance(3_600_000);
    expect(await of()).toEqual([booked - 1300, available - 1300]);
    const all = await entries();
    const states = all.map(({ state }) => String(state));
    expect(states).toEqual(states.toSorted().toReversed());
    expect(all).toContainEqual(
      expect.objectContaining({ state: 'booked', amount: '-12.50', day: '2026-11-20' }),
    );
  });

  test.each([
    ['0010482620', 3],
    // Savings have no pending rows.
    ['0010482638', 0],
    ['0000093017', 3],
  ])('have the newest rows of %s, the %i pending ones first, and how many there are', async (id, pending) => {
    const path = `/private/customers/${ANNA}/products/${id}/transactions/retrieve`;
    const { data } = (await bank.tpp.send({ path, token })).json;
    const booked = Number(data?.numberTransactionsAccounting);
    expect(Number(data?.numberTransactionsNotAccounting)).toBe(pending);
    const ledger = await shown(`/accounts/${id}`);
    expect([ledger.productId, ledger.count]).toEqual([id, booked + pending]);
    const states = list(ledger.entries).map(({ state }) => String(state));
    const listed = [...Array(pending).fill('pending'), ...Array(Math.min(booked, 50)).fill('booked')];
    expect(states).toEqual(listed);
  });

  test('are none that the bank does not have', async () => {
    expect(await shown('/accounts/0000000000')).toEqual({ error: 'The bank has no such account' });
  });
});

test('the requests of the second door stand beside those of the first', async () => {
  const door = await newDoor();
  bank = { ...bank, sandbox: door.sandbox };
  await askConsent(door);
  await giveConsent(door);
  const { doors } = await shown('/flows');
  expect(Object.keys(doors ?? {}).toSorted()).toEqual(['cb', 'nextgenpsd2']);
  expect(await shown('/calls/1')).toMatchObject({ title: 'createConsent', status: 201, decision: 'served' });
});

test('as many windows as sixteen are told of what happens, and a closed one makes room', async () => {
  const open = () => {
    const ending = new AbortController();
    return { ending, answer: fetch(`${consoleUrl()}/events`, { signal: ending.signal }) };
  };
  const windows = Array.from({ length: 16 }, open);
  for (const { answer } of windows) expect((await answer).status).toBe(200);
  const further = await fetch(`${consoleUrl()}/events`);
  expect([further.status, await further.json()]).toEqual([
    ...[400, { error: 'The console is open in too many windows' }],
  ]);
  windows[0]?.ending.abort();
  const again = async (): Promise<number> => {
    const { answer, ending } = open();
    const { status } = await answer;
    ending.abort();
    return status;
  };
  await expect.poll(again).toBe(200);
  for (const { ending } of windows) ending.abort();
});

test('the console also shows a client without a certificate', async () => {
  const { hostname, port } = new URL(bank.sandbox.baseUrl);
  const socket = tlsConnect({ host: hostname, port: Number(port), ca: bank.tpp.read('caFile') });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  const events = await fetch(`${consoleUrl()}/events`);
  const reader = events.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(first).toContain('"method":"TLS","target":"peer did not return a certificate"');
});

describe('access to the console', () => {
  /** The token that the console sends to its page, with the first event. */
  async function pageToken(): Promise<string> {
    const { body } = await fetch(`${consoleUrl()}/events`);
    let text = '';
    for await (const part of body ?? []) {
      text += Buffer.from(part).toString();
      const [, found] = /"token":"([^"]+)"/.exec(text) ?? [];
      if (found !== undefined) return found;
    }
    throw new Error('The events ended without the token');
  }

  async function send(
    path: string,
    { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<number> {
    const call = httpRequest(`${consoleUrl()}${path}`, { method, headers });
    call.end();
    const [response] = await once(call, 'response');
    response.destroy();
    return response.statusCode;
  }

  test('payments of one account that follow each other are shown together, with their sum', async () => {
    const flows = z.looseObject({ together: z.unknown() });
    const together = async () => flows.parse(await (await fetch(`${consoleUrl()}/flows`)).json()).together;
    await bank.tpp.verifyTransfer(token, { amount: '12.50' });
    expect(await together()).toEqual([]);
    await bank.tpp.verifyTransfer(token, { amount: '7.25' });
    const payments = ['12.50', '7.25'].map((amount) => ({ amount, state: 'not executed' }));
    expect(await together()).toMatchObject([{ account: '0010482620', total: '19.75', payments }]);
  });

  test.each(['', '/console.js', '/events', '/flows', '/accounts', '/calls/1', '/faults'])(
    'the console refuses GET %s under another name (DNS rebinding)',
    async (path) => {
      const crossSite = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
      for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }, crossSite])
        expect(await send(path, { headers })).toBe(403);
      expect(await send(path)).toBe(200);
    },
  );

  test('a link from anywhere opens the console', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await send('', { headers })).toBe(200);
    expect(await send('/')).toBe(302);
  });

  test.each([
    ['POST', '/decide'],
    ['POST', '/login'],
    ['POST', '/faults'],
    ['DELETE', '/faults'],
    ['DELETE', '/faults/1'],
    ['POST', '/reset'],
  ])("%s %s needs the token of the console's page", async (method, path) => {
    expect(await send(path, { method })).toBe(403);
    const headers = { 'x-console-token': bank.sandbox.running.controlToken };
    expect(await send(path, { method, headers })).toBe(403);
  });

  test.each([
    ['/decide', '{"resourceId":"1","decision":"secret"}', 'decision are not valid: decision'],
    ['/decide', 'secret', 'decision are not valid: the body'],
    ['/login', '{"id":"1","user":null,"more":"secret"}', 'login are not valid: more'],
    ['/faults', '{"fault":5}', 'fault are not valid: fault'],
  ])('the answer of %s to %s names the fields, but not the values', async (path, body, invalid) => {
    const headers = { 'x-console-token': await pageToken() };
    const answer = await fetch(`${consoleUrl()}${path}`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: `These fields of the ${invalid}` });
  });

  /** Presses a button of the page. */
  async function press(path: string, body: object): Promise<{ status: number; json: Json }> {
    const headers = { 'x-console-token': await pageToken() };
    const answer = await fetch(`${consoleUrl()}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  }

  test.each(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED'])('a button decides an SCA: %s', async (decision) => {
    const id = resourceOf(await bank.tpp.verifyTransfer(token));
    await bank.tpp.startSca(token, id);
    const { status, json } = await press('/decide', { resourceId: id, decision });
    expect([status, String(json.returnTo)]).toEqual([200, expect.stringMatching(/^https?:\/\//)]);
    expect(list((await shown('/flows')).doors?.cb?.resources)[0]).toMatchObject({
      id,
      sca: decision,
      open: false,
    });
  });

  test('a button logs a customer in, or refuses the login', async () => {
    const begin = async () => {
      await bank.tpp.send({ path: bank.tpp.authorizePath() });
      return String(list((await shown('/flows')).doors?.cb?.logins)[0]?.id);
    };
    const back = async (user: string | null) => {
      const { json } = await press('/login', { id: await begin(), user });
      return new URL(String(json.returnTo)).searchParams;
    };
    expect((await back(null)).get('error')).toBe('access_denied');
    const code = (await back('bruno')).get('code') ?? '';
    const { data } = (await bank.tpp.send(bank.tpp.codeCall(code))).json;
    const name = { path: '/private/customers/customerid-info', token: String(data?.access_token) };
    expect((await bank.tpp.send(name)).text).toContain('2073915');
    expect(list((await shown('/flows')).doors?.cb?.logins)).toEqual([]);
  });

  test('a button decides nothing that does not wait', async () => {
    const id = resourceOf(await bank.tpp.verifyTransfer(token));
    const none = { status: 404, json: { error: 'There is nothing to decide' } };
    expect(await press('/decide', { resourceId: id, decision: 'AUTHORIZED' })).toEqual(none);
    expect(await press('/decide', { resourceId: 'x', decision: 'AUTHORIZED' })).toEqual(none);
    const noLogin = { status: 404, json: { error: 'This login is no longer pending' } };
    expect(await press('/login', { id: 'x', user: 'anna' })).toEqual(noLogin);
    await bank.tpp.send({ path: bank.tpp.authorizePath() });
    const login = String(list((await shown('/flows')).doors?.cb?.logins)[0]?.id);
    const noUser = { status: 404, json: { error: 'There is no customer nobody' } };
    expect(await press('/login', { id: login, user: 'nobody' })).toEqual(noUser);
  });

  test("the console's answers allow no other origin, no framing and no foreign script", async () => {
    const { headers } = await fetch(consoleUrl());
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

test('the call log keeps the last 500 calls and the beginning of each body', async () => {
  const { CallLog } = await import('../../src/sandbox/console/call-log.ts');
  const log = new CallLog();
  const body = Buffer.alloc(100_000, 'a');
  for (let call = 0; call < 600; call += 1) {
    log.addCall({
      ...{ at: new Date(), milliseconds: 1, faults: [], warnings: [] },
      ...{ refusal: undefined, caller: undefined, title: undefined },
      request: { method: 'PUT', target: '/', headers: [], body, clientCertificate: undefined },
      answer: { status: 200, headers: new Headers(), body },
    });
  }
  expect(log.list()).toHaveLength(500);
  expect(log.find(100)).toBeUndefined();
  const last = log.find(600);
  if (!last || !('answer' in last)) throw new Error('The last call is missing from the log');
  expect([last.request.body.length, last.body.length]).toEqual([16_384, 100_000]);
  expect(last.answer.body.bytes.buffer.byteLength).toBeLessThan(50_000);
});
