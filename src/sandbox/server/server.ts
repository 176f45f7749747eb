import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { Psd2Error } from '../../errors.ts';
import { type Bank, openBank } from '../bank.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { customerSide } from '../customer-site/customer-side.ts';
import { type DoorAddresses, writeDoorBankFile } from '../folder/door-bank-file.ts';
import { loadOrCreateRegistration, type Registration } from '../folder/registration.ts';
import { forgetRunning, type RunningSandbox, recordRunning, refuseSecondStart } from '../folder/running.ts';
import { accessSide } from '../nextgenpsd2/access-side.ts';
import { doorUrl, metadataUrl } from '../nextgenpsd2/links.ts';
import { oauthEndpoints } from '../nextgenpsd2/oauth/metadata.ts';
import { type BankRules, defaultRules } from '../rules.ts';

/** A rule that is missing or undefined has its value from `defaultRules`. */
export interface SandboxOptions extends Optional<BankRules> {
  /** The folder for the registration and `running.json`. Created if missing. */
  folder: string;
  /** The API's port. 0 for any free port. */
  port: number;
  /** The customer site's port. Default: `port` + 1, or any free port if that one is taken, blocked by browsers, or `port` is 0. */
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
  /** The content of `running.json`. */
  running: RunningSandbox;
  /** The interface of the customer site, to play the customer without the site. */
  customers: BankSide;
  /** The same for the second door. */
  access: AccessSide;
  /** Closes the listeners and all open connections. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Gives the start time to report that it is ready. */
const LOAD_AFTER_MS = 20;

/**
 * Starts the sandbox bank on the loopback interface: the API over mutual TLS (1.2 and 1.3), the customer site over plain
 * HTTP. A client without a certificate from the sandbox's authority cannot connect to the API.
 *
 * @throws Psd2Error `sandbox` if a sandbox already runs for the folder, a port is taken, or the folder cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, port, customerPort } = options;
  // First of all, because a running sandbox's certificates must not be replaced.
  await refuseSecondStart(folder);
  const registration = await loadOrCreateRegistration(folder);
  const bank = await openBank(registration, rulesOf(options));
  const customers = customerSide(bank);
  const access = accessSide(bank);
  const identity = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    controlToken: randomBytes(24).toString('base64url'),
  };
  const { api, site, load } = await makeServers(bank, registration, { customers, access }, identity);
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
    // After it, so that of two starts for a folder only the one that runs writes the file.
    await writeDoorBankFile(folder, bank.rules.description, addressesOf(bank));
    setTimeout(load, LOAD_AFTER_MS).unref();
    const close = async (): Promise<void> => {
      await closeBoth();
      await forgetRunning(folder, running);
    };
    return { baseUrl, customerSiteUrl, registration, running, customers, access, close };
  } catch (error) {
    await closeBoth();
    throw error;
  }
}

function addressesOf(bank: Bank): DoorAddresses {
  const { authorization, token } = oauthEndpoints(bank);
  return { baseUrl: doorUrl(bank), metadata: metadataUrl(bank), authorization, token };
}

/**
 * Makes the two servers. They do not listen yet. Their handlers are loaded by `load`, or at the first request if that comes
 * earlier.
 */
async function makeServers(
  bank: Bank,
  registration: Registration,
  sides: { customers: BankSide; access: AccessSide },
  identity: Omit<RunningSandbox, 'baseUrl' | 'customerSiteUrl'>,
): Promise<{ api: Closable; site: Closable; load: () => void }> {
  const listeners = lazily(() => import('./listeners.ts'));
  const site = lazily(async () =>
    (await listeners()).siteListener(bank, sides.customers, sides.access, identity),
  );
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

function rulesOf({ folder: _folder, port: _port, customerPort: _site, ...given }: SandboxOptions): BankRules {
  const chosen = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultRules, ...Object.fromEntries(chosen) };
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

/** @returns the port. Port 0 gives a free one that browsers do not block. */
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
      const reason = cause.code === 'EACCES' ? 'is not allowed for this user' : 'is already in use';
      const known = cause.code === 'EACCES' || cause.code === 'EADDRINUSE';
      reject(
        known
          ? new Psd2Error('sandbox', `The port ${port} ${reason}`, {
              hint: `Choose another one with ${option}, or 0 for any free port.`,
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

/** OpenSSL's reason, without its source location. */
function reasonOf(error: Error): string {
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}

/** Calls `make` at the first use and keeps its result. */
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

/** A server whose `close` ends open connections instead of waiting for them. */
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
        // Ignore the error of a server that never listened.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
