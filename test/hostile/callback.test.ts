import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../support/free-port.ts';
import { words } from '../support/words.ts';
import { PRODUCT, success, useHostileBank, write } from './hostile-bank.ts';
import { ACTED_UPON } from './resident.ts';

const bank = useHostileBank();
const { operator } = bank;

/** The address to which the bank was told to send the browser back, with its state. */
function returnAddress(): URL {
  for (const { target, headers } of bank.heard.toReversed()) {
    const query = new URL(target, 'https://bank.example').searchParams;
    const redirect = query.get('redirect_uri') ?? headers['tpp-redirect-uri'];
    if (redirect === undefined || redirect === null) continue;
    const url = new URL(redirect);
    if (query.get('state')) url.searchParams.set('state', query.get('state') ?? '');
    return url;
  }
  throw new Error('The bank was not told where to send the browser back to');
}

/** Sends one request, as any program on this computer may send it. */
function ask(url: URL, options: { method?: string; headers?: Record<string, string> } = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    request(url, { ...options, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

/** Attacks the listener in every way that must neither end nor fool its wait. */
async function attack(right: URL): Promise<Socket[]> {
  const mark = '<img src=x onerror=alert(1)>"\'';
  const changed = (change: (query: URLSearchParams) => void, path = right.pathname) => {
    const url = new URL(right);
    url.pathname = path;
    change(url.searchParams);
    return url;
  };
  const stolen = (state?: string) =>
    changed((query) => {
      query.set('code', 'stolen');
      if (state === undefined) query.delete('state');
      else query.set('state', state);
    });
  const refused: [URL, number, { method?: string; headers?: Record<string, string> }?][] = [
    [stolen(), 400],
    [stolen(''), 400],
    [stolen('00000000-0000-4000-8000-000000000000'), 400],
    [stolen(mark), 400],
    [changed((query) => query.append('state', 'other')), 400],
    [changed((query) => query.set('error', 'access_denied'), '/'), 404],
    [changed((query) => query.delete('state'), right.pathname), 400],
    [changed((query) => query.set('code', mark), '/favicon.ico'), 204],
    [changed((query) => query.set('code', mark), `/${encodeURIComponent(mark)}`), 404],
    [stolen(right.searchParams.get('state') ?? ''), 421, { headers: { host: 'evil.example' } }],
    [stolen(right.searchParams.get('state') ?? ''), 421, { headers: { host: `localhost:${right.port}` } }],
    [stolen(right.searchParams.get('state') ?? ''), 405, { method: 'POST' }],
    [
      stolen(right.searchParams.get('state') ?? ''),
      403,
      {
        headers: {
          origin: 'https://evil.example',
          'sec-fetch-site': 'cross-site',
          'sec-fetch-dest': 'image',
        },
      },
    ],
  ];
  const denied = changed((query) => query.set('error', 'access_denied'));
  denied.searchParams.set('state', 'wrong');
  refused.push([denied, 400]);
  for (const [url, status, options] of refused) {
    const answer = await ask(url, options);
    expect([url.href, answer.status]).toEqual([url.href, status]);
    expect(answer.body).not.toMatch(/alert\(1\)|stolen|onerror/);
  }
  const held: Socket[] = [];
  for (const bytes of [
    '',
    'GET /callback',
    'POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\nx',
    '\x16\x03\x01junk',
  ]) {
    const socket = connect(Number(right.port), '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(bytes);
    held.push(socket);
  }
  const huge = connect(Number(right.port), '127.0.0.1').on('error', () => {});
  huge.write(`GET /callback?state=${'x'.repeat(100_000)} HTTP/1.1\r\n`);
  held.push(huge);
  return held;
}

it('a login under attack takes the right answer and no other', async () => {
  const env = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
  bank.behave((socket, { target, body }) => {
    if (target.startsWith('/auth/oauth/v2/authorize'))
      write(socket, { status: 302, headers: { location: 'https://bank.example/login' } });
    else if (target.endsWith('/token')) {
      expect(JSON.parse(body)).toMatchObject({ code: 'the-right-code' });
      write(socket, success('{"access_token":"abc","expires_in":600}'));
    } else write(socket, success('{"customerid":"7"}'));
  });
  const login = await operator.start(['auth', 'login', '--json'], env);
  await login.prints(/^\{"event":"open","url":"https:\/\/bank\.example\/login"\}\n/m);
  const right = returnAddress();
  const held = await attack(right);
  right.searchParams.set('code', 'the-right-code');
  expect((await ask(right)).status).toBe(200);
  const { code, stdout, stderr } = await login.ended;
  expect(code, stderr).toBe(0);
  expect(z.object({ customerId: z.string() }).parse(JSON.parse(stdout))).toEqual({ customerId: '7' });
  expect(stderr).not.toMatch(/stolen|the-right-code|alert/);
  for (const socket of held) socket.destroy();
});

it('psd2 shows a refusal with the right state in words that no terminal acts on', async () => {
  const env = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
  bank.behave((socket) =>
    write(socket, { status: 302, headers: { location: 'https://bank.example/login' } }),
  );
  const login = await operator.start(['auth', 'login'], env);
  await login.prints(/https:\/\/bank\.example\/login\n/);
  const right = returnAddress();
  right.searchParams.set('error', 'access_denied');
  right.searchParams.set('error_description', 'no\u001b[2J\n\tpsd2: All is well.\u202e');
  expect((await ask(right)).status).toBe(200);
  const { code, stderr } = await login.ended;
  expect(code).toBe(6);
  expect(stderr).toMatch(/^psd2: The customer was not logged in: no\ufffd\[2J psd2: All is well\.\ufffd/m);
  expect(stderr).not.toMatch(ACTED_UPON);
});

it('a transfer under attack waits for its customer, and asks the bank instead of believing the browser', async () => {
  const env = { PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback` };
  let asked = 0;
  bank.behave((socket, { target }) => {
    const last = target.split('?', 1)[0]?.split('/').at(-1);
    if (last === 'verify') write(socket, success('{}', ',"resources":{"resourceId":"r1"}'));
    else if (last === 'approach')
      write(socket, success('{"chosenScaApproach":"REDIRECT","scaRedirectURL":"https://bank.example/sca"}'));
    else if (last === 'status') {
      asked += 1;
      write(socket, success('{"authorizationStatus":"NOT_AUTHORIZED"}'));
    } else write(socket, { status: 500 });
  });
  const transfer = await operator.start(
    words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name ${'Ada Lovelace'}
      --amount 6.00 --json`,
    env,
  );
  await transfer.prints(/^\{"event":"open","url":"https:\/\/bank\.example\/sca"\}\n/m);
  const right = returnAddress();
  const held = await attack(right);
  expect(asked).toBe(0);
  right.searchParams.set('outcome', 'AUTHORIZED');
  expect((await ask(right)).status).toBe(200);
  const { code, stdout } = await transfer.ended;
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'rejected' });
  expect(bank.heard.some(({ target }) => target.endsWith('/execute'))).toBe(false);
  for (const socket of held) socket.destroy();
});
