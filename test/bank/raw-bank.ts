import { once } from 'node:events';
import {
  connect as connectTcp,
  createServer as createTcpServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type BankConnection, connectToBank } from '../../src/bank/transport/connection.ts';
import type { WireRequest } from '../../src/bank/transport/line.ts';
import { EC, GIVEN_KEY, withOpenssl } from '../certificates/openssl.ts';
import { readPair } from './client.ts';

/** A complete answer with the body `{}`. */
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
export const PUT: WireRequest = {
  method: 'PUT',
  target: '/x?secret=1',
  headers: { a: 'b' },
  body: Buffer.from('{}'),
};
export const TIMEOUT_MS = 60_000;
export const never = new AbortController().signal;

/** The bank's authority, its server and psd2, and an authority that neither of them uses. */
export const made = withOpenssl((openssl) => {
  const ca = openssl.authority('Raw Bank CA');
  return {
    ca: ca.cert,
    server: openssl.issued(ca, 'raw bank', EC, ['IP:127.0.0.1']),
    client: openssl.issuedFor(ca, 'client', GIVEN_KEY),
    stranger: openssl.authority('CA of other clients').cert,
  };
});
export const qwac = readPair('QWAC', made.client);

/** A bank behind mutual TLS that writes bytes instead of answers, and psd2's connection to it. */
export interface RawBank {
  /** Writes the answer to a request that has arrived completely. Each test begins with {@link OK}. */
  answer: (socket: TLSSocket) => void;
  /** The bytes received on each connection, in order. */
  heard: string[];
  /** The bytes received on the connection of a socket. */
  heardOn(socket: TLSSocket): string;
  origin: URL;
  connection: BankConnection;
  /** Another connection to this or another address, with the same certificates. */
  connect(origin?: URL): BankConnection;
  /** Breaks a connection without an end of TLS or TCP, after psd2 has read what was written. */
  reset(socket: TLSSocket): Promise<void>;
  /** Ends every connection in order, and waits until psd2 has noticed. */
  hangUp(): Promise<void>;
  /** Closes psd2's connections. @returns how often each of them carried the request */
  requests(): Promise<number[]>;
}

/** Opens a raw bank for the tests of a file. */
export function useRawBank(): RawBank {
  let sockets: TLSSocket[] = [];
  const connections: BankConnection[] = [];
  const server: Server = createServer({ ...made.server, ca: made.ca, requestCert: true }, (socket) => {
    const at = sockets.push(socket) - 1;
    bank.heard[at] = '';
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        bank.heard[at] += bytes.toString('latin1');
        if (bank.heard[at]?.endsWith('{}')) bank.answer(socket);
      });
  });
  // Only a plain socket can break without an end of TLS, so one stands in front of each connection.
  const fronts = new Map<number | undefined, Socket>();
  const front = createTcpServer((socket) => {
    const behind = connectTcp(portOf(server), '127.0.0.1', () => {
      fronts.set(behind.localPort, socket);
      socket.pipe(behind).pipe(socket);
    });
    // What psd2 still writes must be read, or its end is not seen.
    behind.on('error', () => {}).on('close', () => socket.resume());
    socket.on('error', () => {}).on('close', () => behind.destroy());
  });
  const connect = (origin = bank.origin) => {
    const opened = connectToBank(origin, qwac, made.ca);
    connections.push(opened);
    return opened;
  };
  const close = () => Promise.all(connections.splice(0).map((each) => each.close()));
  const bank: RawBank = {
    answer: () => {},
    heard: [],
    heardOn: (socket) => bank.heard[sockets.indexOf(socket)] ?? '',
    origin: new URL('https://127.0.0.1'),
    connection: connectToBank(new URL('https://127.0.0.1'), qwac, made.ca),
    connect,
    async reset(socket) {
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
      fronts.get(socket.remotePort)?.resetAndDestroy();
    },
    async hangUp() {
      for (const socket of sockets) socket.end();
      await Promise.all(sockets.map(closed));
    },
    async requests() {
      await close();
      await Promise.all(sockets.map(closed));
      return bank.heard.map((text) => text.split('PUT /x').length - 1);
    },
  };

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await once(front.listen(0, '127.0.0.1'), 'listening');
    bank.origin = new URL(`https://127.0.0.1:${portOf(front)}`);
  });
  beforeEach(() => {
    sockets = [];
    bank.heard = [];
    bank.answer = (socket) => socket.write(OK);
    bank.connection = connect();
  });
  afterEach(async () => {
    await close();
    for (const socket of sockets) socket.destroy();
  });
  afterAll(async () => {
    await new Promise((resolve) => front.close(resolve));
    await new Promise((resolve) => server.close(resolve));
  });
  return bank;
}

/** Resolves when a socket is closed, whether by an error or not. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

/** The port of a listener. */
export function portOf(server: NetServer): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return address.port;
}
