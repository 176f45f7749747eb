import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isBlockedPort } from '../domain/local-address.ts';
import { Psd2Error } from '../errors.ts';

/** PEM certificate and key of an `https:` server. */
export interface ServerCertificate {
  cert: string;
  key: string;
}

/** Headers can be long, because a browser sends the cookies of all servers on this host. */
const LIMITS = {
  maxHeaderSize: 16_384,
  headersTimeout: 3_000,
  requestTimeout: 3_000,
  connectionsCheckingInterval: 500,
};
const HANDSHAKE_TIMEOUT_MS = 3_000;
/**
 * At all addresses together. A browser opens about 6. Under `ulimit -n 64`, psd2 has about 40 files left, and it needs some of
 * them for the calls to the bank.
 */
const MAX_CONNECTIONS = 16;
const LAST_ANSWERS_MS = 80;

/**
 * Serves HTTP on the loopback address and port of a URI. For `localhost` it serves 127.0.0.1 and ::1. Limits protect it
 * from slow, huge and many requests. Each connection has one request. Bodies are not read.
 *
 * @param uri has a loopback host. `https:` uses the given certificate.
 * @returns a function that stops the server within 100 ms, after finishing answers that are being sent.
 * @throws Psd2Error `callback_port_busy` or `config` if it cannot listen there.
 */
export async function serveOnLoopback(
  uri: URL,
  certificate: () => Promise<ServerCertificate>,
  answer: RequestListener,
): Promise<() => Promise<void>> {
  const tls = uri.protocol === 'https:' ? await certificate() : undefined;
  const port = uri.port === '' ? (tls ? 443 : 80) : Number(uri.port);
  const addresses =
    uri.hostname === 'localhost' ? ['127.0.0.1', '::1'] : [uri.hostname.replace(/[[\]]/g, '')];
  const guard = new Guard(answer);
  for (const address of addresses) {
    const server = tls
      ? createTlsServer({ ...LIMITS, ...tls, handshakeTimeout: HANDSHAKE_TIMEOUT_MS })
      : createServer(LIMITS);
    try {
      server.listen(port, address);
      await once(server, 'listening');
    } catch (error) {
      // On a computer without IPv6, `localhost` is only 127.0.0.1.
      if (guard.hasServer && !['EADDRINUSE', 'EACCES'].includes(systemCodeOf(error))) continue;
      await guard.stop();
      throw listenError(error, uri, port);
    }
    guard.protect(server);
  }
  return () => guard.stop();
}

/** Limits the connections of listening servers, and stops the servers. */
class Guard {
  readonly #answer: RequestListener;
  readonly #servers: Server[] = [];
  /** The oldest is first. */
  readonly #sockets = new Set<Socket>();
  readonly #answers = new Set<ServerResponse>();

  constructor(answer: RequestListener) {
    this.#answer = answer;
  }

  get hasServer(): boolean {
    return this.#servers.length > 0;
  }

  protect(server: Server): void {
    this.#servers.push(server);
    server.maxRequestsPerSocket = 1;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.#sockets.size > MAX_CONNECTIONS) this.#dropOldest();
    });
    // Keep listening after a connection could not be accepted.
    server.on('error', () => undefined);
    server.on('request', (request, response) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
      this.#answer(request, response);
    });
  }

  /** Stops within 100 ms, after finishing answers that are being sent. */
  async stop(): Promise<void> {
    const closed = this.#servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    const sent = Promise.all([...this.#answers].map((response) => once(response, 'close')));
    const patience = new AbortController();
    const elapsed = delay(LAST_ANSWERS_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([sent, elapsed]);
    patience.abort();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /**
   * Drops the oldest connection without a request, so that connections that send nothing cannot keep the customer's browser
   * out. Node's own limit (`maxConnections`) would drop the newest one, which may be the browser's.
   */
  #dropOldest(): void {
    // With TLS, a request has another socket than its connection, so compare the client's port.
    const busy = new Set([...this.#answers].map(({ req }) => req.socket.remotePort));
    [...this.#sockets].find(({ remotePort }) => !busy.has(remotePort))?.destroy();
  }
}

function listenError(error: unknown, uri: URL, port: number): Psd2Error {
  const other = new URL(uri);
  const isFit = port >= 1024 && port < 65_535 && !isBlockedPort(port + 1);
  other.port = String(isFit ? port + 1 : 8910);
  const hint = `Choose another one that is registered at the bank, for example PSD2_REDIRECT_URI=${other.origin}${other.pathname}`;
  const code = systemCodeOf(error);
  if (code === 'EADDRINUSE') {
    const message = `Port ${port} of the redirect URI is in use by another psd2 or another program`;
    return new Psd2Error('callback_port_busy', message, { hint, cause: error });
  }
  const why = code === 'EACCES' ? 'this user may not listen on that port' : `the system says ${code}`;
  return new Psd2Error('config', `psd2 cannot listen at the redirect URI ${uri.origin}: ${why}`, {
    hint,
    cause: error,
  });
}

function systemCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
