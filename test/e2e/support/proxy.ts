import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** A CONNECT proxy that records what it sees. */
export interface ConnectProxy {
  url: string;
  /** Each CONNECT that it received, with the headers, as one text. */
  asked: string[];
  /** What clients sent through its tunnels, byte for byte. */
  passed(): Buffer;
  /** The certificates that clients presented. */
  certificates: Buffer[];
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** PEM of a proxy that clients reach over TLS, and that asks for a client certificate. */
  pem?: { cert: string; key: string };
  /** The status of its answer to CONNECT. Only 200 opens a tunnel. */
  status?: number;
}

/** Opens a proxy on loopback (RFC 9110, section 9.3.6). */
export async function openProxy({ pem, status = 200 }: ProxyOptions = {}): Promise<ConnectProxy> {
  const asked: string[] = [];
  const passed: Buffer[] = [];
  const certificates: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server: Server = pem
    ? createTlsServer({ ...pem, requestCert: true, rejectUnauthorized: false })
    : createServer();

  server.on('connect', (request: IncomingMessage, inside: Socket) => {
    asked.push([`CONNECT ${request.url}`, ...request.rawHeaders].join('\n'));
    if (inside instanceof TLSSocket) {
      const { raw } = inside.getPeerCertificate();
      if (raw) certificates.push(raw);
    }
    if (status !== 200) {
      inside.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const outside = connect(Number(port), host, () => {
      inside.write('HTTP/1.1 200 Connection established\r\n\r\n');
      inside.on('data', (bytes) => passed.push(Buffer.from(bytes)));
      inside.pipe(outside).pipe(inside);
    });
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.once('error', () => other.destroy()).once('close', () => sockets.delete(socket));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return {
    url: `${pem ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    asked,
    passed: () => Buffer.concat(passed),
    certificates,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
