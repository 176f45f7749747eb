import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { Psd2Error } from '../../errors.ts';
import { type Bank, openBank } from '../bank.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { customerSide } from '../customer-site/customer-side.ts';
import { loadOrCreateRegistration, type Registration } from '../folder/registration.ts';
import { forgetRunning, type RunningSandbox, recordRunning, refuseSecondStart } from '../folder/running.ts';
import { type BankRules, defaultRules } from '../rules.ts';

/** Every rule may be left out, or be undefined: then it is the one of `defaultRules`. */
export interface SandboxOptions extends Optional<BankRules> {
  /** Where the registration and `running.json` are kept. Made when it is missing. */
  folder: string;
  /** Of the API; 0 for any that is free. */
  port: number;
  /** Of the customer site. Default: `port` + 1, or any where that is taken, browsers block it, or `port` is 0. */
  customerPort?: number;
}

type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** A sandbox bank that runs in this process. */
export interface Sandbox {
  /** `https://127.0.0.1:<port>` */
  baseUrl: string;
  /** `http://127.0.0.1:<port>` */
  customerSiteUrl: string;
  registration: Registration;
  /** What `running.json` says of it. */
  running: RunningSandbox;
  /** What the customer site works with, to play the customer without it. */
  customers: BankSide;
  /** Ends the listeners and every open connection. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** When the start has had time to say that it is ready. */
const LOAD_AFTER_MS = 20;

/**
 * Starts the sandbox bank on the loopback interface: the API over mutual TLS (1.2 and 1.3; a client without a
 * certificate of the sandbox's authority gets no connection), the customer site over plain HTTP.
 *
 * @throws Psd2Error `sandbox` when one runs for the folder already, a port is taken, or the folder can't be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, port, customerPort } = options;
  // Before the registration: certificates are not to be renewed under a sandbox that runs.
  await refuseSecondStart(folder);
  const registration = await loadOrCreateRegistration(folder);
  const bank = await openBank(registration, rulesOf(options));
  const customers = customerSide(bank);
  const identity = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    controlToken: randomBytes(24).toString('base64url'),
  };
  const { api, site, load } = await makeServers(bank, registration, customers, identity);
  const closeBoth = async (): Promise<void> => {
    await Promise.all([site.close(), api.close()]);
  };

  try {
    const sitePort = await listenForCustomers(site.server, port, customerPort);
    bank.customerSiteUrl = `http://${HOST}:${sitePort}`;
    const apiPort = await listen(api.server, port, '--port');
    bank.baseUrl = `https://${HOST}:${apiPort}`;
    const { baseUrl, customerSiteUrl } = bank;
    const running: RunningSandbox = { baseUrl, customerSiteUrl, ...identity };
    await recordRunning(folder, running);
    setTimeout(load, LOAD_AFTER_MS).unref();
    const close = async (): Promise<void> => {
      await closeBoth();
      await forgetRunning(folder, running);
    };
    return { baseUrl, customerSiteUrl, registration, running, customers, close };
  } catch (error) {
    await closeBoth();
    throw error;
  }
}

/**
 * The two servers, which do not listen yet. What answers is loaded with the first request, or by `load`: while the first
 * client is on its way.
 */
async function makeServers(
  bank: Bank,
  registration: Registration,
  customers: BankSide,
  identity: Omit<RunningSandbox, 'baseUrl' | 'customerSiteUrl'>,
): Promise<{ api: Closable; site: Closable; load: () => void }> {
  const listeners = lazily(() => import('./listeners.ts'));
  const site = lazily(async () => (await listeners()).siteListener(bank, customers, identity));
  const api = lazily(async () => (await listeners()).apiListener(bank));
  const [ca, cert, key] = await Promise.all([
    readFile(registration.caFile),
    readFile(registration.serverCertFile),
    readFile(registration.serverKeyFile),
  ]);
  const apiServer = createHttpsServer(
    {
      ca,
      cert,
      key,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
    },
    answerWith(api),
  );
  apiServer.on('tlsClientError', (error: Error) => bank.calls.addHandshake(bank.now(), reasonOf(error)));
  return {
    api: closable(apiServer),
    site: closable(createHttpServer(answerWith(site))),
    load: () => void Promise.all([site(), api()]),
  };
}

function rulesOf(options: SandboxOptions): BankRules {
  const {
    now = defaultRules.now,
    consents = defaultRules.consents,
    roles,
    tokenTtlSeconds = defaultRules.tokenTtlSeconds,
    rotateRefreshTokens = defaultRules.rotateRefreshTokens,
    callsPerMinute,
    clientCredentialsCallsPerDay,
    customers = defaultRules.customers,
    transactions,
    rowsAPage = defaultRules.rowsAPage,
    persona = defaultRules.persona,
  } = options;
  return {
    now,
    consents,
    roles,
    tokenTtlSeconds,
    rotateRefreshTokens,
    callsPerMinute,
    clientCredentialsCallsPerDay,
    customers,
    transactions,
    rowsAPage,
    persona,
  };
}

function listenForCustomers(
  server: Server,
  apiPort: number,
  customerPort: number | undefined,
): Promise<number> {
  if (customerPort !== undefined) return listen(server, customerPort, '--customer-port');
  if (apiPort === 0 || apiPort >= 65535 || isBlockedPort(apiPort + 1)) return listen(server, 0, '--port');
  return listen(server, apiPort + 1, '--port').catch((error: unknown) => {
    if (error instanceof Psd2Error) return listen(server, 0, '--port');
    throw error;
  });
}

/** @returns the port that it listens on: of those that are free, one that browsers open. */
async function listen(server: Server, port: number, option: string): Promise<number> {
  for (;;) {
    const taken = await listenAt(server, port, option);
    if (port !== 0 || !isBlockedPort(taken)) return taken;
    await new Promise((resolve) => server.close(resolve));
  }
}

function listenAt(server: Server, port: number, option: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException): void => {
      const reason = cause.code === 'EACCES' ? 'may not be used by this user' : 'is already in use';
      const known = cause.code === 'EACCES' || cause.code === 'EADDRINUSE';
      reject(
        known
          ? new Psd2Error('sandbox', `The port ${port} ${reason}`, {
              hint: `Choose another one with ${option}, or 0 for any that is free.`,
              cause,
            })
          : cause,
      );
    };
    server.once('error', failed);
    server.listen(port, HOST, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** What OpenSSL says, without where in its source it says so. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** The value of `make`, which is made when it is first asked for. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function answerWith(listener: () => Promise<RequestListener>): RequestListener {
  return (request, response) => {
    void listener().then((answer) => answer(request, response));
  };
}

/** A server that does not wait, when it closes, for connections that its clients keep open. */
interface Closable {
  server: Server;
  close(): Promise<void>;
}

function closable(server: Server): Closable {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    server,
    close: () =>
      new Promise((resolve) => {
        // The error of a server that never listened is of no interest.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
