import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type BankConnection, connectToBank } from '../../src/bank/transport/connection.ts';
import { ClosedUnanswered } from '../../src/bank/transport/line.ts';
import { freePort } from '../support/free-port.ts';
import { closed, made, never, OK, PUT, portOf, qwac, TIMEOUT_MS } from './raw-bank.ts';

const folder = mkdtempSync(join(tmpdir(), 'psd2-refused-'));
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});
afterAll(() => rmSync(folder, { recursive: true }));

function connect(port: number): BankConnection {
  const connection = connectToBank(new URL(`https://127.0.0.1:${port}`), qwac, made.ca);
  endings.push(() => connection.close());
  return connection;
}

/** Starts OpenSSL's own server. It sends an alert if it refuses a client certificate. */
async function startOpenssl(version: '-tls1_2' | '-tls1_3'): Promise<number> {
  const port = await freePort();
  const own = ['-cert', file('server.pem', made.server.cert)];
  const pair = [...own, '-key', file('server-key.pem', made.server.key)];
  const verify = ['-Verify', '1', '-verify_return_error', '-CAfile', file('stranger.pem', made.stranger)];
  const words = ['s_server', '-accept', String(port), version, ...pair, ...verify];
  const server: ChildProcess = spawn('openssl', words, { stdio: ['pipe', 'pipe', 'ignore'] });
  endings.push(() => {
    server.kill();
    return once(server, 'exit');
  });
  await new Promise<void>((resolve) => {
    server.stdout?.on('data', (text) => String(text).includes('ACCEPT') && resolve());
  });
  return port;
}

/** @param ca of the clients that it accepts @param serve called after the handshake */
async function startNode(
  version: SecureVersion,
  ca: string,
  serve: (socket: TLSSocket) => void = () => {},
): Promise<number> {
  const rules = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...made.server, ...rules, ca }, (socket) =>
    serve(socket.on('error', () => {})),
  ).on('tlsClientError', () => {});
  await once(server.listen(0, '127.0.0.1'), 'listening');
  endings.push(() => server.close());
  return portOf(server);
}

/** Passes connections on to a server. */
async function startFront(behind: number) {
  const sockets: Socket[] = [];
  const front = createTcpServer((socket) => {
    sockets.push(socket);
    const other = connectTcp(behind, '127.0.0.1', () => socket.pipe(other).pipe(socket));
    other.on('error', () => {}).on('close', () => socket.resume().end());
    socket.on('error', () => {}).on('close', () => other.destroy());
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  endings.push(() => front.close());
  return { port: portOf(front), sockets };
}

const REFUSED = expect.stringMatching(
  /^it refused the TLS handshake with our QWAC \(ERR_SSL_\w+_ALERT_\w+\)$/,
);
const send = (port: number) => connect(port).send(PUT, TIMEOUT_MS, never);

/** Sends a request that psd2 announces first. Psd2 has noticed the end of the connection before the first byte may leave. */
async function announceTo(server: number): Promise<{ sending: Promise<unknown>; announced: () => number }> {
  const { port, sockets } = await startFront(server);
  let announced = 0;
  const beforeFirstByte = async () => {
    const socket = sockets[announced];
    announced += 1;
    if (socket) await closed(socket);
  };
  return {
    sending: connect(port).send(PUT, TIMEOUT_MS, never, { beforeFirstByte }),
    announced: () => announced,
  };
}

describe('a bank that refuses the QWAC with an alert', () => {
  it('with TLS 1.2 the alert comes in the handshake, and nothing has left', async () => {
    const sending = send(await startOpenssl('-tls1_2'));
    await expect(sending).rejects.toMatchObject({ message: REFUSED, neverSent: true, passing: false });
  });

  it('with TLS 1.3 the alert comes after the handshake, and the request may have left', async () => {
    const sending = send(await startOpenssl('-tls1_3'));
    await expect(sending).rejects.toMatchObject({ message: REFUSED, neverSent: false, passing: false });
  });

  it('if the alert comes before the first byte, nothing has left, and psd2 does not connect again', async () => {
    const { sending, announced } = await announceTo(await startOpenssl('-tls1_3'));
    await expect(sending).rejects.toMatchObject({ message: REFUSED, neverSent: true, passing: false });
    expect(announced()).toBe(1);
  });
});

describe('a bank that closes the connection without an alert', () => {
  it('with TLS 1.2 Node closes it in the handshake, and nothing has left', async () => {
    await expect(send(await startNode('TLSv1.2', made.stranger))).rejects.toMatchObject({
      message: 'the connection could not be made',
      neverSent: true,
      cause: { code: 'ECONNRESET' },
    });
  });

  const endOnData = (socket: TLSSocket) => void socket.once('data', () => socket.end());
  it.each<[string, () => Promise<number>]>([
    ['refuses the QWAC', () => startNode('TLSv1.3', made.stranger)],
    ['closes the connection', () => startNode('TLSv1.3', made.ca, (socket) => socket.end())],
    ['closes it after the request', () => startNode('TLSv1.3', made.ca, endOnData)],
  ])('with TLS 1.3, if the server %s, psd2 knows that no byte of an answer came', async (_, start) => {
    await expect(send(await start())).rejects.toMatchObject({
      message: 'the connection was lost',
      neverSent: false,
      passing: true,
      cause: expect.any(ClosedUnanswered),
    });
  });

  it('with TLS 1.3, a reset also counts', async () => {
    let front: Awaited<ReturnType<typeof startFront>> | undefined;
    const server = await startNode('TLSv1.3', made.ca, (socket) =>
      socket.once('data', () => front?.sockets[0]?.resetAndDestroy()),
    );
    front = await startFront(server);
    await expect(send(front.port)).rejects.toMatchObject({
      message: 'the connection was lost',
      neverSent: false,
      cause: expect.any(ClosedUnanswered),
    });
  });

  it('before the first byte, nothing has left, and psd2 does not connect again', async () => {
    const { sending, announced } = await announceTo(await startNode('TLSv1.3', made.stranger));
    await expect(sending).rejects.toMatchObject({ neverSent: true, cause: expect.any(ClosedUnanswered) });
    expect(announced()).toBe(1);
  });
});

describe('a connection that is lost for another reason', () => {
  it.each<[string, SecureVersion, string]>([
    ['with TLS 1.2', 'TLSv1.2', ''],
    ['in the head of the answer', 'TLSv1.3', 'HTTP/1.1 200'],
    ['in the body of the answer', 'TLSv1.3', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'],
  ])('%s, the end of the connection does not count as a refusal', async (_, version, text) => {
    const port = await startNode(version, made.ca, (socket) => socket.once('data', () => socket.end(text)));
    const error = await send(port).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'the connection was lost', neverSent: false });
    expect(error instanceof Error && error.cause).not.toBeInstanceOf(ClosedUnanswered);
  });

  it('after an earlier answer, the end of the connection does not count as a refusal', async () => {
    const port = await startNode('TLSv1.3', made.ca, (socket) => {
      let requests = 0;
      socket.on('data', (bytes) => {
        if (!bytes.toString('latin1').endsWith('{}')) return;
        requests += 1;
        if (requests === 1) socket.write(OK);
        else socket.end();
      });
    });
    const connection = connect(port);
    await connection.send(PUT, TIMEOUT_MS, never);
    const error = await connection.send(PUT, TIMEOUT_MS, never).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'the connection was lost', neverSent: false });
    expect(error instanceof Error && error.cause).not.toBeInstanceOf(ClosedUnanswered);
  });
});
