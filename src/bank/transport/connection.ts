import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { KeyPair } from '../../certificates/key-pair.ts';
import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';
import { checkAddressSpace } from './answer-parser.ts';
import { explainFailure, type FailureKind, whyUnwritable } from './explain-failure.ts';
import {
  Line,
  NotConnected,
  type OpenSocket,
  pathOf,
  plainSocketsTo,
  secureSocketsTo,
  type TlsRules,
  UnusableAnswer,
  type WireAnswer,
  type WireRequest,
} from './line.ts';

/** A call failed without a complete answer. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** No byte of the request left, so the bank cannot have acted on it. */
  readonly neverSent: boolean;
  /** A second try may succeed. A wrong certificate, for example, stays wrong. */
  readonly passing: boolean;
  /** What the operator can do, if it is not what helps most calls. */
  readonly hint: string | undefined;
  readonly kind: FailureKind;
  /** The bank has answered, and psd2 does not trust it. */
  readonly wasReached: boolean;

  constructor(
    message: string,
    how: {
      neverSent: boolean;
      passing: boolean;
      kind?: FailureKind;
      hint?: string | undefined;
      wasReached?: true | undefined;
      cause: unknown;
    },
  ) {
    super(message, { cause: how.cause });
    this.hint = how.hint;
    this.neverSent = how.neverSent;
    this.passing = how.passing;
    this.kind = how.kind ?? 'no reply';
    this.wasReached = how.wasReached ?? false;
  }
}

/** How a request is sent, and callbacks meanwhile. */
export interface Sending {
  /** Over a new connection, which nothing else has used or will use. So no answer to another request can come over it. */
  alone?: boolean | undefined;
  /**
   * Called after the connection is open, just before the first byte of the request is written. The request waits for it. If
   * the connection is lost in the meantime, it is called again on the next one. If it throws, the request does not leave, and
   * `send` throws the same error.
   */
  beforeFirstByte?: (() => Promise<void>) | undefined;
  /** Called just before the first byte is written, in the same tick. */
  sent?: (() => void) | undefined;
  /** Called once a connection was opened for the request. */
  connected?: ((socket: Socket) => void) | undefined;
  /** Called with the first byte of the answer. */
  answered?: (() => void) | undefined;
  /** How long to wait for what follows an answer on the connection. Absent, or null: not at all. */
  lingers?: ((answer: WireAnswer) => Promise<void> | null) | undefined;
}

/** A connection to a bank over mutual TLS. */
export interface BankConnection {
  /**
   * Sends one request and reads the whole answer. Does not follow redirects. A request with an origin of its own goes there, with
   * the same certificate: its sender trusts that host.
   *
   * @param timeoutMs the limit for the whole call
   * @throws CallFailed if there is no complete answer, for example because the signal aborts
   * @throws Psd2Error `bank_answer` if the answer is too large or encoded. `usage` if the request cannot be written as HTTP
   */
  send(request: WireRequest, timeoutMs: number, signal: AbortSignal, watch?: Sending): Promise<WireAnswer>;
  close(): Promise<void>;
}

/**
 * Opens connections to a bank on demand (interface specification, "Authentication" 1).
 *
 * @param origin scheme, host and port of the bank
 * @param qwac the certificate for mutual TLS
 * @param ca PEM certificates of the authorities to trust. Undefined means the system's
 * @throws Psd2Error `certificate` if `ca` has no PEM certificate. `config` if the process has too little memory
 */
export function connectToBank(origin: URL, qwac: KeyPair, ca: string | undefined): BankConnection {
  checkAddressSpace();
  return new Connection(origin, {
    secureContext: secureContext(qwac, ca),
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED and NODE_OPTIONS cannot override it.
    rejectUnauthorized: true,
  });
}

class Connection implements BankConnection {
  readonly #origin: URL;
  readonly #rules: TlsRules;
  #route: Promise<Route> | undefined;
  readonly #lines = new Set<Line>();
  /** A stack. The last connection was used most recently, so the bank has probably not closed it. */
  readonly #idle: Line[] = [];
  /** Connections to the bank's other hosts, by their origins. */
  readonly #elsewhere = new Map<string, Connection>();

  constructor(origin: URL, rules: TlsRules) {
    this.#origin = origin;
    this.#rules = rules;
  }

  async send(
    request: WireRequest,
    timeoutMs: number,
    signal: AbortSignal,
    watch: Sending = {},
  ): Promise<WireAnswer> {
    const { origin } = request;
    if (origin !== undefined && origin !== this.#origin.origin)
      return this.#to(origin).send(request, timeoutMs, signal, watch);
    this.#route ??= routeTo(this.#origin, this.#rules);
    const { open, proxy } = await this.#route;
    const line = (watch.alone ? undefined : this.#idle.pop()) ?? new Line(this.#origin, open);
    this.#lines.add(line);
    const attempt = new Attempt(request, timeoutMs, signal, watch);
    try {
      const answer = await attempt.over(line);
      if (watch.alone) this.#discard(line);
      else this.#idle.push(line);
      return answer;
    } catch (error) {
      // Leftovers of a failed call must not reach another call.
      this.#discard(line);
      throw attempt.explain(error, this.#origin, proxy);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#elsewhere.values()].map((connection) => connection.close()));
    await Promise.all([...this.#lines].map((line) => line.destroy()));
  }

  #to(origin: string): Connection {
    const other = this.#elsewhere.get(origin) ?? new Connection(new URL(origin), this.#rules);
    this.#elsewhere.set(origin, other);
    return other;
  }

  #discard(line: Line): void {
    this.#lines.delete(line);
    void line.destroy();
  }
}

/** One request in progress: whether it was sent, and why it ended. */
class Attempt {
  readonly #request: WireRequest;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #watch: Sending;
  /** Bytes may have left. */
  #sent = false;
  #timedOut = false;
  /** What `beforeFirstByte` threw. */
  #refusal: { error: unknown } | undefined;

  constructor(request: WireRequest, timeoutMs: number, signal: AbortSignal, watch: Sending) {
    this.#request = request;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#watch = watch;
  }

  /** Sends the request over a connection. Ends with the whole answer, at the time limit, or if the operator interrupts. */
  async over(line: Line): Promise<WireAnswer> {
    let giveUp = () => {};
    const ended = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Error('psd2 gave up the call'));
    });
    // AbortSignal.any and AbortSignal.timeout would cost as much as everything else here.
    const timer = setTimeout(() => {
      this.#timedOut = true;
      giveUp();
    }, this.#timeoutMs);
    // The operator decides how many calls run at the same time.
    setMaxListeners(0, this.#signal);
    this.#signal.addEventListener('abort', giveUp);
    try {
      if (this.#signal.aborted) throw this.#signal.reason;
      const gate = this.#watch.beforeFirstByte && (() => this.#beforeFirstByte());
      return await Promise.race([line.call(this.#request, gate, () => this.#begin(), this.#watch), ended]);
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', giveUp);
    }
  }

  async #beforeFirstByte(): Promise<void> {
    try {
      await this.#watch.beforeFirstByte?.();
    } catch (error) {
      this.#refusal = { error };
      throw error;
    }
  }

  #begin(): void {
    this.#signal.throwIfAborted();
    this.#sent = true;
    this.#watch.sent?.();
  }

  /** The error for the caller, as described at {@link BankConnection.send}. */
  explain(error: unknown, origin: URL, proxy: URL | undefined): unknown {
    if (this.#refusal) return this.#refusal.error;
    const neverSent = !this.#sent;
    if (this.#signal.aborted)
      return new CallFailed('interrupted', {
        neverSent,
        passing: false,
        kind: 'own',
        cause: this.#signal.reason,
      });
    if (error instanceof UnusableAnswer) {
      const call = `${this.#request.method} ${pathOf(this.#request)}`;
      return new Psd2Error('bank_answer', `The bank's answer to ${call} ${error.message}`);
    }
    if (this.#timedOut) {
      const message = `it did not answer within ${this.#timeoutMs / 1000} s`;
      return new CallFailed(message, { neverSent, passing: true, cause: error });
    }
    const cause = error instanceof NotConnected ? error.cause : error;
    const unwritable = whyUnwritable(cause);
    if (unwritable) return new Psd2Error('usage', `The request cannot be written as HTTP: ${unwritable}`);
    const { message, ...how } = explainFailure(cause, origin, proxy, neverSent);
    return new CallFailed(message, { ...how, neverSent, cause });
  }
}

/** Our certificate and the trusted authorities. Sets TLS 1.2 explicitly, so that NODE_OPTIONS cannot override it. */
function secureContext({ certificatePem, key }: KeyPair, ca: string | undefined): SecureContext {
  const ours = {
    cert: certificatePem,
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    minVersion: 'TLSv1.2',
  } as const;
  if (ca === undefined) return createSecureContext(ours);
  try {
    // Without this check, Node would trust no authority if `ca` has no certificate, and the system's if `ca` is empty.
    new X509Certificate(ca);
    return createSecureContext({ ...ours, ca });
  } catch (cause) {
    throw new Psd2Error('certificate', 'The CA bundle is not a list of PEM certificates', {
      hint: 'Check PSD2_CA or the profile. Each certificate begins with -----BEGIN CERTIFICATE-----.',
      cause,
    });
  }
}

/** The way to the bank: direct, or through the proxy that the environment names. */
interface Route {
  open: OpenSocket;
  proxy: URL | undefined;
}

async function routeTo(origin: URL, rules: TlsRules): Promise<Route> {
  // A base URL has http only on this computer, which no proxy reaches.
  if (origin.protocol === 'http:') return { open: plainSocketsTo(origin), proxy: undefined };
  const proxy = await proxyFor(origin);
  if (!proxy) return { open: secureSocketsTo(origin, rules), proxy };
  const { tunnelsThrough } = await import('./tunnel.ts');
  return { open: secureSocketsTo(origin, rules, tunnelsThrough(proxy, origin)), proxy };
}

/** The variables that name a proxy, most specific first. Each is also read in lower case, which comes before upper case. */
const PROXY_VARIABLES = ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY'];

/**
 * The proxy that the environment names for a bank (command contract, "Promises"). Undefined for a direct connection. An
 * address without a scheme means `http:`, as in curl. Show only the `host` of the result, because the URL may contain a user
 * and a password.
 *
 * @throws Psd2Error `config`
 */
export async function proxyFor(origin: URL): Promise<URL | undefined> {
  const { env } = process;
  const named = PROXY_VARIABLES.flatMap((name) => [env[name.toLowerCase()], env[name]]).find(Boolean);
  if (!named) return undefined;
  const { getProxyForUrl } = await import('proxy-from-env');
  // The package reads NO_PROXY, and for an address with https: it does not read HTTP_PROXY.
  const asHttp = `http://${origin.hostname}:${origin.port || '443'}`;
  if (getProxyForUrl(origin.href) === '' && getProxyForUrl(asHttp) === '') return undefined;
  const address = named.includes('://') ? named : `http://${named}`;
  const proxy = urlFrom(address);
  if (!proxy || !/^https?:$/.test(proxy.protocol))
    throw new Psd2Error('config', 'The proxy that the environment names is not an http or https URL', {
      hint: 'Check HTTPS_PROXY. NO_PROXY names the hosts that need no proxy.',
    });
  return proxy;
}
