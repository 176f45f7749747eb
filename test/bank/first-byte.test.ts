import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BankConnection, connectToBank } from '../../src/bank/transport/connection.ts';
import type { WireRequest } from '../../src/bank/transport/line.ts';
import { readKeyPair } from '../../src/certificates/key-pair.ts';
import { EC, withOpenssl } from '../certificates/openssl.ts';

// Tests what psd2 knows about the first byte of a request: when it leaves, and whether it has left.

const made = withOpenssl((openssl) => {
  const ca = openssl.authority('Bank of the first byte');
  return {
    ca: ca.cert,
    server: openssl.issued(ca, 'bank', EC, ['IP:127.0.0.1']),
    // A given key, because the QWAC must be RSA, and making such a key takes long.
    client: openssl.issuedFor(ca, 'client', readFileSync('test/vectors/cavage-test-key.pem', 'utf8')),
  };
});
const { cert: certificate, key } = made.client;
const qwac = readKeyPair({ name: 'QWAC', certificate, key, passphrase: undefined, now: new Date() });

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const PUT: WireRequest = { method: 'PUT', target: '/x', headers: { a: 'b' }, body: Buffer.from('{}') };
const TIMEOUT_MS = 60_000;
const never = new AbortController().signal;

/** The bytes received on each connection, in order. */
let heard: string[] = [];
let sockets: TLSSocket[] = [];
let answer: (socket: TLSSocket) => void;
let connection: BankConnection;

const server: Server = createServer({ ...made.server, ca: made.ca, requestCert: true }, (socket) => {
  const at = sockets.push(socket) - 1;
  heard[at] = '';
  socket
    .on('error', () => {})
    .on('data', (bytes) => {
      heard[at] += bytes.toString('latin1');
      if (heard[at]?.endsWith('{}')) answer(socket);
    });
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
const origin = new URL(`https://127.0.0.1:${address.port}`);

beforeEach(() => {
  heard = [];
  sockets = [];
  answer = (socket) => socket.write(OK);
  connection = connectToBank(origin, qwac, made.ca);
});
afterEach(() => connection.close());
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Closes the client's connections and returns every byte that it wrote. */
async function allHeard(): Promise<string[]> {
  await connection.close();
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
  return heard;
}
const requests = (text: string | undefined) => (text ?? '').split('PUT /x HTTP/1.1').length - 1;

describe('the hook before the first byte', () => {
  const stop = new Error('not now');

  it('an error in the hook stops a request on a new connection, and nothing leaves', async () => {
    const sending = connection.send(PUT, TIMEOUT_MS, never, {
      beforeFirstByte: () => Promise.reject(stop),
    });
    await expect(sending).rejects.toBe(stop);
    expect((await allHeard()).join('')).toBe('');
  });

  it('an error in the hook stops a request on a reused connection, and the next request succeeds', async () => {
    await connection.send(PUT, TIMEOUT_MS, never);
    const sending = connection.send(PUT, TIMEOUT_MS, never, {
      beforeFirstByte: () => Promise.reject(stop),
    });
    await expect(sending).rejects.toBe(stop);
    expect(heard.map(requests)).toEqual([1]);
    expect(await connection.send(PUT, TIMEOUT_MS, never)).toMatchObject({ status: 200 });
    expect((await allHeard()).map(requests).reduce((sum, each) => sum + each)).toBe(2);
  });

  it('psd2 calls the hook once per request, after the handshake and before any byte', async () => {
    const calls: { connections: number; requests: number }[] = [];
    for (let call = 0; call < 2; call += 1) {
      await connection.send(PUT, TIMEOUT_MS, never, {
        beforeFirstByte: async () => {
          calls.push({ connections: sockets.length, requests: requests(heard[0]) });
        },
      });
    }
    expect(calls.map((call) => call.requests)).toEqual([0, 1]);
    expect(heard.map(requests)).toEqual([2]);
  });

  it('psd2 does not call the hook if it does not trust the bank', async () => {
    const stranger = connectToBank(origin, qwac, certificate);
    let called = false;
    const sending = stranger.send(PUT, TIMEOUT_MS, never, {
      beforeFirstByte: async () => {
        called = true;
      },
    });
    await expect(sending).rejects.toMatchObject({ neverSent: true, passing: false });
    expect(called).toBe(false);
    await stranger.close();
  });

  it('an interruption in the hook stops the request before it leaves', async () => {
    const controller = new AbortController();
    const sending = connection.send(PUT, TIMEOUT_MS, controller.signal, {
      beforeFirstByte: async () => controller.abort(),
    });
    await expect(sending).rejects.toMatchObject({ message: 'interrupted', neverSent: true });
    expect((await allHeard()).join('')).toBe('');
  });
});

describe('whether a byte has left', () => {
  it('if the bank has closed the connection, psd2 knows that nothing left and opens a new one', async () => {
    answer = (socket) => socket.end(OK);
    await connection.send(PUT, TIMEOUT_MS, never);
    const [first] = sockets;
    if (first && !first.closed) await once(first, 'close');
    await connection.send(PUT, TIMEOUT_MS, never);
    expect((await allHeard()).map(requests)).toEqual([1, 1]);
  });

  it('after writing a request, psd2 assumes that it left and does not send it again', async () => {
    answer = (socket) => socket.destroy();
    for (let call = 0; call < 2; call += 1) {
      const sending = connection.send(PUT, TIMEOUT_MS, never);
      await expect(sending).rejects.toMatchObject({ neverSent: false, message: 'the connection was lost' });
    }
    expect((await allHeard()).map(requests)).toEqual([1, 1]);
  });

  it('if the bank closes a reused connection, psd2 also assumes that the request left', async () => {
    await connection.send(PUT, TIMEOUT_MS, never);
    answer = (socket) => socket.destroy();
    const sending = connection.send(PUT, TIMEOUT_MS, never);
    await expect(sending).rejects.toMatchObject({ neverSent: false });
    expect((await allHeard()).map(requests)).toEqual([2]);
  });

  it('psd2 refuses a request that HTTP cannot express, and sends nothing', async () => {
    for (const odd of [{ target: '/x y' }, { headers: { a: 'b\r\nc: d' } }, { headers: { 'a b': 'c' } }]) {
      const sending = connection.send({ ...PUT, ...odd }, TIMEOUT_MS, never);
      await expect(sending).rejects.toMatchObject({ name: 'Psd2Error', code: 'usage' });
    }
    expect(await allHeard()).toEqual([]);
  });
});

it('a call that times out closes its connection, and the next call does not wait for it', async () => {
  // On a busy machine, to connect may take longer than the time of the call.
  await connection.send(PUT, TIMEOUT_MS, never);
  const silent: Socket[] = [];
  answer = (socket) => silent.push(socket);
  const sending = connection.send(PUT, 300, never);
  await expect(sending).rejects.toMatchObject({
    message: 'it did not answer within 0.3 s',
    neverSent: false,
  });
  answer = (socket) => socket.write(OK);
  await connection.send(PUT, TIMEOUT_MS, never);
  const [first] = silent;
  if (first && !first.closed) await once(first, 'close');
  expect((await allHeard()).map(requests)).toEqual([2, 1]);
});

it('99 simultaneous calls have their own connections and get their own answers', async () => {
  answer = (socket) => {
    const [, own = ''] = /PUT \/x\?(\d+) /.exec(heard[sockets.indexOf(socket)] ?? '') ?? [];
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${own.length}\r\n\r\n${own}`);
  };
  const numbers = Array.from({ length: 99 }, (_, number) => String(number));
  const answers = await Promise.all(
    numbers.map((number) => connection.send({ ...PUT, target: `/x?${number}` }, TIMEOUT_MS, never)),
  );
  expect(answers.map(({ body }) => body.toString())).toEqual(numbers);
});

it('psd2 ignores interim answers', async () => {
  answer = (socket) => socket.write(`HTTP/1.1 102 Processing\r\nA: interim\r\n\r\n${OK}`);
  const { status, headers } = await connection.send(PUT, TIMEOUT_MS, never);
  expect({ status, headers }).toEqual({ status: 200, headers: { 'content-length': '2' } });
});

it('header values lose the spaces around them, and the first Location counts', async () => {
  const head = 'A: \t b c \t\r\nLocation: /1\r\nLocation: /2\r\nContent-Length: 0';
  answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
  const { headers } = await connection.send(PUT, TIMEOUT_MS, never);
  expect(headers).toEqual({ a: 'b c', location: '/1', 'content-length': '0' });
});
