import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { isIPv6, type Server, type Socket } from 'node:net';
import { isBlockedPort } from '../../domain/local-address.ts';
import { Psd2Error } from '../../errors.ts';
import { type Bank, openBank } from '../bank.ts';
import { customerSide } from '../cb/customer-side.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import type { BankSide } from '../customer-site/bank-side.ts';
import { DOORS } from '../doors.ts';
import { type DoorAddresses, writeDoorBankFile } from '../folder/door-bank-file.ts';
import { controlTokenOf, type KeptPorts, keepPorts, keptPorts } from '../folder/kept-place.ts';
import { loadOrCreateRegistration, type Registration } from '../folder/registration.ts';
import { forgetRunning, type RunningSandbox, recordRunning, refuseSecondStart } from '../folder/running.ts';
import { accessSide } from '../nextgenpsd2/access-side.ts';
import { playedBank } from '../nextgenpsd2/door-rules.ts';
import { doorUrl, metadataUrl } from '../nextgenpsd2/links.ts';
import { oauthEndpoints } from '../nextgenpsd2/oauth/metadata.ts';
import { type BankRules, defaultRules } from '../rules.ts';
import type { SitePlace } from './listeners.ts';

/** A rule that is missing or undefined has its value from `defaultRules`. */
export interface SandboxOptions extends Optional<BankRules> {
  /** The folder for the registration and `running.json`. Created if missing. */
  folder: string;
  /**
   * The API's port. 0 for the one of the last start with this state if it is free, or else any free port. The customer site has the next
   * one, or any free port if that one is taken, blocked by browsers, or `port` is 0.
   */
  port: number;
  /** Where others reach the sandbox. Default: nowhere, it listens on the loopback interface only. */
  outside?: Outside | undefined;
  /** The folder that keeps the state of the bank over restarts. Default: it is only in memory. */
  state?: string | undefined;
}

/** How other computers reach a sandbox. */
export interface Outside {
  /** The address that it listens on: `0.0.0.0` for all. */
  host: string;
  /** The host names and IP addresses that clients use, at least one. Links have the first. */
  names: readonly string[];
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
/** Longer than clients keep a connection that does nothing, so that no call meets one that just ends. */
const IDLE_MS = 75_000;
/** Gives the start time to report that it is ready. */
const LOAD_AFTER_MS = 20;

/**
 * Starts the sandbox bank: the API over mutual TLS (1.2 and 1.3), the customer site over plain HTTP for this computer, and
 * over TLS for others if they may reach it. A client without a certificate from the sandbox's authority cannot connect to the API.
 *
 * @throws Psd2Error `sandbox` if a sandbox already runs for the folder, a port is taken, or the folder cannot be used.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { folder, port, outside, state } = options;
  // First of all, because a running sandbox's certificates must not be replaced.
  await refuseSecondStart(folder);
  const names = outside?.names ?? [];
  const registration = await loadOrCreateRegistration(folder, { names });
  const bank = await openBank(registration, rulesOf(options), state, DOORS);
  const customers = customerSide(bank);
  const access = accessSide(bank);
  const identity = {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    controlToken: await controlTokenOf(state),
  };
  const place = { bank, customers, access, identity };
  const { api, site, outer, load } = await makeServers(place, registration, outside?.names);
  const closeAll = async (): Promise<void> => {
    await Promise.all([site.close(), api.close(), outer?.close()]);
  };

  try {
    const ports = port === 0 && state !== undefined ? await keptPorts(state) : undefined;
    const { customerSiteUrl, outsideUrl } = await listenWithSites({ site, outer }, options, ports);
    bank.customerSiteUrl = outsideUrl ?? customerSiteUrl;
    const apiPort = await listenAgain(ports?.api, (earlier) =>
      listen(api.server, outside?.host ?? HOST, earlier ?? port),
    );
    bank.baseUrl = `https://${inUrl(names[0] ?? HOST)}:${apiPort}`;
    const { baseUrl } = bank;
    const running: RunningSandbox = {
      baseUrl,
      customerSiteUrl,
      ...(outsideUrl && { outsideUrl }),
      ...identity,
    };
    await recordRunning(folder, running);
    if (state !== undefined)
      await keepPorts(state, { api: apiPort, site: Number(new URL(bank.customerSiteUrl).port) });
    // After it, so that of two starts for a folder only the one that runs writes the file.
    await writeDoorBankFile(folder, bank.rules.description, addressesOf(bank));
    setTimeout(load, LOAD_AFTER_MS).unref();
    const close = async (): Promise<void> => {
      await closeAll();
      await forgetRunning(folder, running);
    };
    return { baseUrl, customerSiteUrl, registration, running, customers, access, close };
  } catch (error) {
    await closeAll();
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
  place: SitePlace,
  registration: Registration,
  names: readonly string[] | undefined,
): Promise<Servers & { api: Closable; load: () => void }> {
  const { bank } = place;
  const listeners = lazily(() => import('./listeners.ts'));
  const site = lazily(async () => (await listeners()).siteListener(place));
  const outer = lazily(async () => (await listeners()).siteListener(place, names));
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
      keepAliveTimeout: IDLE_MS,
    },
    answerWith(api),
  );
  apiServer.on('tlsClientError', (error: Error) => bank.calls.addHandshake(bank.now(), opensslReason(error)));
  return {
    api: closable(apiServer),
    site: closable(createHttpServer(answerWith(site))),
    outer: names && closable(createHttpsServer({ cert, key, minVersion: 'TLSv1.2' }, answerWith(outer))),
    load: () => void Promise.all([site(), api()]),
  };
}

function rulesOf({
  folder: _folder,
  port: _port,
  state: _state,
  outside: _outside,
  ...options
}: SandboxOptions): BankRules {
  const chosen = Object.entries(options).filter(([, value]) => value !== undefined);
  const rules: BankRules = { ...defaultRules, ...Object.fromEntries(chosen) };
  return { ...rules, description: playedBank(rules) };
}

interface Servers {
  /** The customer site for this computer. */
  site: Closable;
  /** The same for others. Undefined: they cannot reach it. */
  outer: Closable | undefined;
}

/** For this computer the site has plain HTTP. Browsers of others get TLS, because a form has a password. */
async function listenWithSites(
  { site, outer }: Servers,
  { outside, port }: SandboxOptions,
  ports: KeptPorts | undefined,
): Promise<{ customerSiteUrl: string; outsideUrl: string | undefined }> {
  const listenAsBefore = (server: Server, host: string) =>
    listenAgain(ports?.site, (earlier) => listenForCustomers(server, host, port, earlier));
  if (!outer || !outside) {
    const sitePort = await listenAsBefore(site.server, HOST);
    return { customerSiteUrl: `http://${HOST}:${sitePort}`, outsideUrl: undefined };
  }
  const outerPort = await listenAsBefore(outer.server, outside.host);
  const sitePort = await listen(site.server, HOST, 0);
  const outsideUrl = `https://${inUrl(outside.names[0] ?? outside.host)}:${outerPort}`;
  return { customerSiteUrl: `http://${HOST}:${sitePort}`, outsideUrl };
}

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Listens at the port of the last start, or as if there was none if that port is taken by now. */
async function listenAgain(
  earlier: number | undefined,
  at: (kept: number | undefined) => Promise<number>,
): Promise<number> {
  if (earlier === undefined) return at(undefined);
  return at(earlier).catch((error: unknown) => {
    if (error instanceof Psd2Error) return at(undefined);
    throw error;
  });
}

function listenForCustomers(
  server: Server,
  host: string,
  apiPort: number,
  earlier: number | undefined,
): Promise<number> {
  if (earlier !== undefined) return listen(server, host, earlier);
  if (apiPort === 0 || apiPort >= 65535 || isBlockedPort(apiPort + 1)) return listen(server, host, 0);
  return listen(server, host, apiPort + 1).catch((error: unknown) => {
    if (error instanceof Psd2Error) return listen(server, host, 0);
    throw error;
  });
}

/** @returns the port. Port 0 gives a free one that browsers do not block. */
async function listen(server: Server, host: string, port: number): Promise<number> {
  for (;;) {
    const opened = await listenAt(server, host, port);
    if (port !== 0 || !isBlockedPort(opened)) return opened;
    await new Promise((resolve) => server.close(resolve));
  }
}

function listenAt(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException): void => {
      const reason = cause.code === 'EACCES' ? 'is not allowed for this user' : 'is already in use';
      if (cause.code === 'EADDRNOTAVAIL' || cause.code === 'ENOTFOUND') {
        const hint = 'Use --host 0.0.0.0 for all its addresses.';
        reject(new Psd2Error('sandbox', `This computer has no address ${host}`, { hint, cause }));
        return;
      }
      const isPortRefused = cause.code === 'EACCES' || cause.code === 'EADDRINUSE';
      reject(
        isPortRefused
          ? new Psd2Error('sandbox', `The port ${port} ${reason}`, {
              hint: 'Choose another one with --port, or 0 for any free port.',
              cause,
            })
          : cause,
      );
    };
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** OpenSSL's reason, without its source location. */
function opensslReason(error: Error): string {
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
