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
function ask(url: URL, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}

/** Attacks the listener in ways that must neither end nor fool its wait. test/callback/listener.test.ts has all of them. */
async function attack(right: URL): Promise<Socket[]> {
  const state = right.searchParams.get('state') ?? '';
  const stolen = (query: Record<string, string>, pathname = right.pathname) =>
    Object.assign(new URL(right), {
      pathname,
      search: `${new URLSearchParams({ code: 'stolen', ...query })}`,
    });
  const refused: [URL, number, Record<string, string>?][] = [
    [stolen({}), 400],
    [stolen({ state: '00000000-0000-4000-8000-000000000000' }), 400],
    [stolen({ state: 'wrong', error: 'access_denied' }), 400],
    [stolen({ state, error: 'access_denied' }, '/'), 404],
    [stolen({ state }), 421, { host: 'evil.example' }],
    [stolen({ state }), 403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
  ];
  for (const [url, status, headers = {}] of refused) {
    const answer = await ask(url, headers);
    expect([url.href, answer.status]).toEqual([url.href, status]);
    expect(answer.body).not.toContain('stolen');
  }
  const held = ['', 'GET /callback', `GET /callback?state=${'x'.repeat(100_000)} HTTP/1.1\r\n`];
  return held.map((bytes) => {
    const socket = connect(Number(right.port), '127.0.0.1').on('error', () => {});
    socket.write(bytes);
    return socket;
  });
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
  expect(stderr).not.toMatch(/stolen|the-right-code/);
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
  expect(stderr).toMatch(/^psd2: The customer refused the login: no\ufffd\[2J psd2: All is well\.\ufffd/m);
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
