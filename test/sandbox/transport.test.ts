import { execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { createServer, connect as netConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server/server.ts';
import { freePort } from '../support/free-port.ts';
import { words } from '../support/words.ts';
import { detailOf, order, refusalOf, useTestBank } from './tpp.ts';

const bank = await useTestBank();

function pair(name: 'qwac' | 'qseal' | 'bankSigning'): { cert: string; key: string } {
  return { cert: bank.tpp.read(`${name}CertFile`), key: bank.tpp.read(`${name}KeyFile`) };
}

function sha256(pem: string): string {
  return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s', (tlsVersion) => {
  const path = '/private/customers/customerid-info';

  test('the bank serves the QWAC, also in a resumed session', async () => {
    const { accessToken: token } = await bank.tpp.login();
    const { hostname, port } = new URL(bank.sandbox.baseUrl);
    const options = {
      host: hostname,
      port: Number(port),
      ca: bank.tpp.read('caFile'),
      ...pair('qwac'),
      minVersion: tlsVersion,
      maxVersion: tlsVersion,
    };
    expect((await bank.tpp.send({ path, token, tlsVersion })).status).toBe(200);
    // A refused request line shows as much about the certificate as a served one.
    const probe = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const exchange = (
      session: Buffer | undefined,
    ): Promise<{ reused: boolean; answer: string; session: Buffer }> =>
      new Promise((resolve, reject) => {
        const socket = tlsConnect({ ...options, ...(session && { session }) });
        let answer = '';
        let received = Buffer.alloc(0);
        let reused = false;
        socket.once('secureConnect', () => {
          reused = socket.isSessionReused();
        });
        socket.on('session', (ticket) => {
          received = ticket;
        });
        socket.on('data', (chunk) => {
          answer += chunk;
        });
        socket.on('error', reject);
        socket.on('close', () => resolve({ reused, answer, session: received }));
        socket.write(probe);
      });
    const first = await exchange(undefined);
    const second = await exchange(first.session);
    expect([first.reused, second.reused]).toEqual([false, true]);
    expect(second.answer).toContain('HEADER_MISSING');
    expect(second.answer).not.toContain('QWAC_NOT_REGISTERED');
  });

  test('the bank does not serve a client without a certificate', async () => {
    await expect(bank.tpp.send({ path, transport: {}, tlsVersion })).rejects.toMatchObject({
      code: expect.stringMatching(
        /^(?:ERR_SSL_.*(?:CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)|EPROTO|ECONNRESET|EPIPE)$/,
      ),
    });
  });

  test('the bank does not serve a certificate of another authority', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'psd2-stranger-'));
    try {
      const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
      const made = words`req -x509 -newkey rsa:2048 -nodes -subj /CN=stranger -keyout ${key} -out ${cert}`;
      execFileSync('openssl', made, { stdio: 'ignore' });
      const transport = { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
      await expect(bank.tpp.send({ path, transport, tlsVersion })).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:ERR_SSL_|EPROTO|ECONNRESET|EPIPE)/),
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test.each([
    ['qseal', 'The TLS client certificate is the QSealC, but must be the QWAC'],
    ['bankSigning', 'The TLS client certificate is not the registered QWAC'],
  ] as const)(
    'the bank refuses the %s certificate, although its authority issued it, with a 403 that says why',
    async (name, message) => {
      const { accessToken: token } = await bank.tpp.login();
      const transport = pair(name);
      const reply = await bank.tpp.send({ path, token, transport, tlsVersion });
      expect(refusalOf(reply)).toBe('403 QWAC_NOT_REGISTERED');
      expect(reply.json.result?.messages?.[0]?.message).toBe(message);
      expect(detailOf(reply)).toBe(
        `Expected: SHA-256 ${sha256(bank.tpp.read('qwacCertFile'))}. Received: SHA-256 ${sha256(transport.cert)}.`,
      );
    },
  );
});

test('the bank does not speak TLS 1.1', async () => {
  const { host } = new URL(bank.sandbox.baseUrl);
  const client = spawn('openssl', ['s_client', '-connect', host, '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0']);
  client.stdin.end();
  const [output] = await Promise.all([text(client.stderr), once(client, 'close')]);
  expect(output).toMatch(/alert protocol version|no protocols available|unsupported protocol/);
});

describe('start and end', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'psd2-start-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('both addresses are on the loopback interface', () => {
    expect(bank.sandbox.baseUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(bank.sandbox.customerSiteUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test('the error for a busy port says what to do, and nothing stays open', async () => {
    const port = Number(new URL(bank.sandbox.baseUrl).port);
    await expect(startSandbox({ folder, port })).rejects.toMatchObject({
      name: 'Psd2Error',
      code: 'sandbox',
      message: `The port ${port} is already in use`,
      hint: 'Choose another one with --port, or 0 for any free port.',
    });
    const sandbox = await startSandbox({ folder, port: 0 });
    await sandbox.close();
  });

  test("the customer site uses the port after the API's", async () => {
    const port = await freePort();
    const next = await startSandbox({ folder, port });
    await next.close();
    expect(new URL(next.customerSiteUrl).port).toBe(String(port + 1));
  });

  test("if the port after the API's is taken, the customer site uses another one", async () => {
    const port = await freePort();
    const busy = createServer().listen(port + 1, '127.0.0.1');
    await once(busy, 'listening');
    const sandbox = await startSandbox({ folder, port });
    await sandbox.close();
    busy.close();
    expect(new URL(sandbox.baseUrl).port).toBe(String(port));
    expect(new URL(sandbox.customerSiteUrl).port).not.toBe(String(port + 1));
  });

  test('an address that this computer does not have is refused, with what to do', async () => {
    // 192.0.2.0/24 is for documentation (RFC 5737).
    const outside = { host: '192.0.2.1', names: ['localhost'] };
    await expect(startSandbox({ folder, port: 0, outside })).rejects.toMatchObject({
      code: 'sandbox',
      message: 'This computer has no address 192.0.2.1',
      hint: 'Use --host 0.0.0.0 for all its addresses.',
    });
  });

  test('for others, the addresses have the first name, an IPv6 address in brackets', async () => {
    for (const [names, host] of [
      [['localhost', '::1'], 'localhost'],
      [['::1', 'localhost'], '[::1]'],
    ] as const) {
      const sandbox = await startSandbox({ folder, port: 0, outside: { host: '127.0.0.1', names } });
      await sandbox.close();
      const { baseUrl, running, customerSiteUrl } = sandbox;
      const named = [baseUrl, running.outsideUrl].map((url) => url?.replace(/:\d+$/, ''));
      expect(named).toEqual([`https://${host}`, `https://${host}`]);
      expect(customerSiteUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    }
  });

  test('an option that is undefined has the value of a sandbox without options', async () => {
    const sandbox = await startSandbox({ folder, port: 0, tokenTtlSeconds: undefined });
    const { customerId } = sandbox.customers.logins()[0] ?? {};
    const { json } = await order(sandbox, 'POST', '/tokens', { customerId });
    await sandbox.close();
    expect(json.accessTokenSeconds).toBe(3500);
  });

  test('of two simultaneous starts for the same folder, one succeeds, and the other names it', async () => {
    const starts = await Promise.allSettled([
      startSandbox({ folder, port: 0 }),
      startSandbox({ folder, port: 0 }),
    ]);
    const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    await Promise.all(started.map((sandbox) => sandbox.close()));
    expect(started).toHaveLength(1);
    expect(starts.find((start) => start.status === 'rejected')?.reason).toMatchObject({
      code: 'sandbox',
      message: `The sandbox is already running at ${started[0]?.baseUrl}`,
      next: [['sandbox', 'stop']],
    });
    const again = await startSandbox({ folder, port: 0 });
    await again.close();
  });

  test('the sandbox ends without waiting for open connections, idle or kept alive', async () => {
    const sandbox = await startSandbox({ folder, port: 0 });
    const { hostname, port } = new URL(sandbox.baseUrl);
    const quiet = netConnect(Number(port), hostname);
    quiet.on('error', () => undefined);
    await new Promise((resolve) => quiet.once('connect', resolve));
    const site = new URL(sandbox.customerSiteUrl);
    await new Promise<void>((resolve, reject) => {
      const request = httpRequest({ hostname: site.hostname, port: site.port, path: '/login', agent: false });
      request.setHeader('connection', 'keep-alive');
      request.on('response', (response) => response.resume().on('end', resolve));
      request.on('error', reject);
      request.end();
    });
    const ended = new Promise((resolve) => quiet.once('close', resolve));
    // This side closes none of them. Waiting for them would take longer than a test may.
    await sandbox.close();
    await ended;
    expect(quiet.destroyed).toBe(true);
  });

  test('the sandbox replaces a broken record, and removes its own at the end', async () => {
    await writeFile(join(folder, 'running.json'), 'left behind by a power cut');
    const sandbox = await startSandbox({ folder, port: 0 });
    expect(JSON.parse(await readFile(join(folder, 'running.json'), 'utf8'))).toEqual({
      ...{ pid: process.pid, baseUrl: sandbox.baseUrl, customerSiteUrl: sandbox.customerSiteUrl },
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      controlToken: expect.stringMatching(/^[\w-]{32}$/),
    });
    await sandbox.close();
    await expect(readFile(join(folder, 'running.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
