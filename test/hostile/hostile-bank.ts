import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterAll, beforeAll } from 'vitest';
import { EC, type PemPair, RSA, withOpenssl } from '../certificates/openssl.ts';
import { type Operator, useOperator } from '../e2e/support/psd2.ts';

export const CUSTOMER_ID = '1048262';
/** The product that the commands ask about. */
export const PRODUCT = '0010482620';
/** The customer's access token, which psd2 must not show. */
export const ACCESS_TOKEN = '11111111-2222-4333-8444-555555555555';

/** A request as it arrived; hostile banks do not check it. */
export interface Heard {
  method: string;
  /** Path and query. */
  target: string;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** Does what it likes to the connection of a request. */
export type Behaviour = (socket: TLSSocket, heard: Heard) => void;

export interface HostileCertificates {
  ca: PemPair;
  server: PemPair;
  client: PemPair;
}

/** A bank that answers with raw bytes over mutual TLS, and a logged-in operator whose profile is the environment. */
export interface HostileBank {
  operator: Operator;
  certificates: HostileCertificates;
  /** `https://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** The requests since the last call of `behave`. */
  heard: Heard[];
  /** Sets the answer to every request from now on. */
  behave(behaviour: Behaviour): void;
  /** Starts another TLS server, with its own answer or that of `behave`. @returns its base URL */
  listenTls(options: TlsOptions, behaviour?: Behaviour): Promise<string>;
  /** Starts a server that does what it likes to a connection. @returns its host and port */
  listenTcp(onConnection: (socket: Socket) => void): Promise<string>;
}

/** An answer without its framing. */
export interface PlainAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Writes a well-formed answer. */
export function write(socket: Socket, { status = 200, headers = {}, body = '' }: PlainAnswer): void {
  const all = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  socket.write(
    `HTTP/1.1 ${status} Whatever\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  socket.write(body);
}

/** A success with `data`, a JSON text. */
export function success(data = '{}', more = ''): PlainAnswer {
  return { body: `{"result":{"outcome":"SUCCESS","requestId":"1"},"data":${data}${more}}` };
}

/** A hostile bank for the tests of a file. */
export function useHostileBank(): HostileBank {
  const operator = useOperator();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const certificates = withOpenssl((openssl): HostileCertificates => {
    const ca = openssl.authority('Hostile CA');
    return {
      ca,
      server: openssl.issued(ca, 'hostile bank', EC, ['IP:127.0.0.1']),
      client: openssl.issued(ca, 'client', RSA),
    };
  });
  let behaviour: Behaviour = (socket) => write(socket, { status: 501 });
  let baseUrl = '';

  const listen = async (server: Server): Promise<string> => {
    servers.push(server);
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
    return `127.0.0.1:${address.port}`;
  };

  const bank: HostileBank = {
    operator,
    certificates,
    heard: [],
    get baseUrl() {
      return baseUrl;
    },
    behave(next) {
      bank.heard = [];
      behaviour = next;
    },
    async listenTls(options, own) {
      const { ca, server } = certificates;
      const mutual = { ca: ca.cert, requestCert: true, rejectUnauthorized: true, ...server };
      return `https://${await listen(
        createTlsServer({ ...mutual, ...options }, (socket) => {
          socket.on('error', () => {}).setNoDelay();
          hear(socket, (request) => {
            if (own) return own(socket, request);
            bank.heard.push(request);
            behaviour(socket, request);
          });
        }),
      )}`;
    },
    listenTcp: (onConnection) => listen(createTcpServer(onConnection)),
  };

  beforeAll(async () => {
    baseUrl = await bank.listenTls({});
    const file = (name: string, content: string) => {
      const path = join(operator.ownHands, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    };
    Object.assign(operator.env, {
      PSD2_BASE_URL: baseUrl,
      PSD2_CLIENT_ID: 'the-client',
      PSD2_CLIENT_SECRET: 'the-client-secret',
      PSD2_APP_NAME: 'the application',
      PSD2_QWAC_CERT: file('client.pem', certificates.client.cert),
      PSD2_QWAC_KEY: file('client-key.pem', certificates.client.key),
      PSD2_CA: file('ca.pem', certificates.ca.cert),
      PSD2_BROWSER: 'none',
    });
    writeTokens(operator.config, baseUrl);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });
  return bank;
}

/** The files that a login at `baseUrl` leaves for the profile of the environment. */
export function writeTokens(config: string, baseUrl: string, changed: object = {}): void {
  const folder = join(config, 'tokens', 'env');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const tokens = {
    baseUrl: new URL(baseUrl).href,
    accessToken: ACCESS_TOKEN,
    accessTokenExpiresAt: inAnHour,
    refreshToken: randomUUID(),
    refreshTokenExpiresAt: inAnHour,
    scope: null,
    ...changed,
  };
  const file = (name: string, content: object) =>
    writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 });
  const customer = `customer-${CUSTOMER_ID}`;
  rmSync(join(folder, customer), { recursive: true, force: true });
  mkdirSync(join(folder, customer), { mode: 0o700 });
  file(join(customer, '1.json'), tokens);
  file('last-login.json', { customerId: CUSTOMER_ID });
}

/**
 * A preload for `NODE_OPTIONS` that writes the peak memory of the process to a file at its end.
 * Linux counts into `maxRSS` what the process that started this one had in memory, so `VmHWM` is read there.
 */
export function measuringMemory(operator: Operator): {
  env: { NODE_OPTIONS: string };
  peakMiB: () => number;
} {
  const file = join(operator.folder, `max-rss-${randomUUID()}`);
  const peak =
    process.platform === 'linux'
      ? String.raw`/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status','utf8'))[1]`
      : 'String(process.resourceUsage().maxRSS)';
  const code = `import{readFileSync,writeFileSync}from'node:fs';process.on('exit',()=>writeFileSync('${file}',${peak}))`;
  return {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` },
    peakMiB: () => {
      const kib = Number(readFileSync(file, 'utf8'));
      rmSync(file);
      return kib / 1024;
    },
  };
}

/** Reads requests from a connection: enough of HTTP for what psd2 sends. */
function hear(socket: TLSSocket, onRequest: (heard: Heard) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = bytes.subarray(0, end).toString('latin1');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (bytes.length < end + 4 + length) return;
      const [method = '', target = ''] = head.split(' ', 2);
      const headers = Object.fromEntries(
        [...head.matchAll(/\r\n([^:]+): (.*)/g)].map(([, name = '', value = '']) => [
          name.toLowerCase(),
          value,
        ]),
      );
      onRequest({
        method,
        target,
        headers,
        body: bytes.subarray(end + 4, end + 4 + length).toString('utf8'),
      });
      bytes = bytes.subarray(end + 4 + length);
    }
  });
}
