import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server/server.ts';
import { useTestBank } from './tpp.ts';

const NAME = 'bank.example';
const { sandbox, tpp } = await useTestBank({ outside: { host: '0.0.0.0', names: [NAME] } });
const { running, registration } = sandbox;
const site = new URL(running.outsideUrl ?? '');

interface Sent {
  headers?: Record<string, string>;
  method?: string;
  body?: string;
}

/** A call of another computer: it knows the name, and trusts the authority of the sandbox. */
function call(path: string, { headers = {}, method = 'GET', body }: Sent = {}) {
  return new Promise<{ status: number; cookie: string; body: string }>((resolve, reject) => {
    request(
      {
        ...{ host: '127.0.0.1', port: site.port, path, method },
        servername: NAME,
        headers: { Host: site.host, ...headers },
        ca: readFileSync(registration.caFile),
        agent: false,
      },
      (answer) => {
        text(answer).then(
          (content) =>
            resolve({
              status: answer.statusCode ?? 0,
              cookie: answer.headers['set-cookie']?.[0] ?? '',
              body: content,
            }),
          reject,
        );
      },
    )
      .on('error', reject)
      .end(body);
  });
}

test('a sandbox for others names itself in its addresses and links, and its certificate has the name', async () => {
  expect(site.origin).toBe(`https://${NAME}:${site.port}`);
  expect(sandbox.baseUrl).toMatch(/^https:\/\/bank\.example:\d+$/);
  const welcome = await call('/');
  expect([welcome.status, welcome.body]).toEqual([200, expect.stringContaining('Sandbox Bank')]);
  expect(tpp.read('serverCertFile')).toContain('BEGIN CERTIFICATE');
});

test('from outside, control and console want the token, whatever host the request names', async () => {
  for (const host of [site.host, `127.0.0.1:${site.port}`, `localhost:${site.port}`]) {
    const headers = { Host: host };
    expect((await call('/control/faults', { headers })).status).toBe(host === site.host ? 401 : 403);
    expect((await call('/console', { headers })).status).toBe(401);
    expect((await call('/console/flows', { headers })).status).toBe(401);
  }
  const bearer = { Authorization: `Bearer ${running.controlToken}` };
  expect(await call('/control/faults', { headers: bearer })).toMatchObject({ status: 200, body: '[]' });
  expect((await call('/console?token=wrong')).status).toBe(401);
  const opened = await call(`/console?token=${running.controlToken}`);
  expect(opened).toMatchObject({ status: 302 });
  expect(opened.cookie).toMatch(/^__Host-.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  const cookie = opened.cookie.split(';', 1)[0] ?? '';
  expect((await call('/console', { headers: { Cookie: cookie } })).status).toBe(200);
});

test('another site cannot give orders with the browser of someone who has opened the console', async () => {
  const opened = await call(`/console?token=${running.controlToken}`);
  const headers = { Cookie: opened.cookie.split(';', 1)[0] ?? '', 'Content-Type': 'application/json' };
  const order = { method: 'POST', body: '{"forwardSeconds":60}' };
  // Its own origin is not enough: the page has a token of its own.
  for (const Origin of ['https://evil.example', 'null', site.origin]) {
    const answer = await call('/console/clock', { ...order, headers: { ...headers, Origin } });
    expect([Origin, answer.status]).toEqual([Origin, 403]);
  }
});

test('on this computer the commands still use plain HTTP on the loopback interface', async () => {
  expect(running.customerSiteUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const answer = await fetch(`${running.customerSiteUrl}/console`);
  expect(answer.status).toBe(200);
});

test('with a state, others find it at the same addresses after a restart', async () => {
  const root = await mkdtemp(join(tmpdir(), 'psd2-outside-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  // The certificates of the name.
  await cp(dirname(dirname(registration.caFile)), join(root, 'sandbox'), { recursive: true });
  await rm(join(root, 'sandbox', 'running.json'), { force: true });
  const places = [];
  for (let start = 0; start < 2; start += 1) {
    const own = { folder: join(root, 'sandbox'), state: join(root, 'state'), port: 0 };
    const started = await startSandbox({ ...own, outside: { host: '0.0.0.0', names: [NAME] } });
    const { baseUrl, outsideUrl, customerSiteUrl } = started.running;
    places.push({ baseUrl, outsideUrl });
    await started.close();
    expect(outsideUrl).toMatch(/^https:\/\/bank\.example:\d+$/);
    expect(new URL(customerSiteUrl).port).not.toBe(new URL(outsideUrl ?? '').port);
  }
  expect(places[1]).toEqual(places[0]);
});
