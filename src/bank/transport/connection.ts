import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { KeyPair } from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import { checkAddressSpace } from './answer-parser.ts';
import { explainFailure, whyUnwritable } from './explain-failure.ts';
import { Line, NotConnected, type OpenSocket } from './line.ts';
import { secureSocketsTo, type TlsRules } from './open-socket.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query exactly as sent. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** An answer as it came over the wire. Header names in lower case; a repeated header is joined with `, `. */
export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The call failed without a complete answer. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** Not a byte of the request left, so the bank can't have acted on it. */
  readonly neverSent: boolean;
  /** A second try may go better; a wrong certificate stays wrong. */
  readonly passing: boolean;

  constructor(message: string, how: { neverSent: boolean; passing: boolean; cause: unknown }) {
    super(message, { cause: how.cause });
    this.neverSent = how.neverSent;
    this.passing = how.passing;
  }
}

/** What goes along with a request. */
export interface Sending {
  /**
   * Called when the connection stands, right before the first byte of the request is written, and waited for; where the
   * connection is lost meanwhile, once more on the next one. What it throws keeps the request from leaving, and is thrown
   * as it is.
   */
  beforeFirstByte?: (() => Promise<void>) | undefined;
  /** Called in the same tick, right before the first byte is written. */
  sent?: (() => void) | undefined;
}

/** One bank's address behind mutual TLS. */
export interface BankConnection {
  /**
   * Sends one request and takes its whole answer. Redirects are not followed.
   *
   * @param timeoutMs limit for the whole call
   * @param watch what goes along with it
   * @throws CallFailed when there is no complete answer, also when the signal aborts
   * @throws Psd2Error `bank_answer` when the answer is larger than any the interface has, or encoded; `usage` when the
   *   request can't be written as HTTP
   */
  send(request: WireRequest, timeoutMs: number, signal: AbortSignal, watch?: Sending): Promise<WireAnswer>;
  close(): Promise<void>;
}

/**
 * Opens connections to a bank as they are needed (interface specification, "Authentication" 1).
 *
 * @param origin scheme, host and port of the bank
 * @param qwac the certificate for mutual TLS
 * @param ca PEM certificates that the bank's must chain to; undefined means the system's
 * @throws Psd2Error `certificate` when `ca` holds no PEM certificate; `config` when the process has too little room
 */
export function connectToBank(origin: URL, qwac: KeyPair, ca: string | undefined): BankConnection {
  checkAddressSpace();
  return new Connection(origin, {
    secureContext: secureContext(qwac, ca),
    // Said here, so that neither NODE_TLS_REJECT_UNAUTHORIZED nor NODE_OPTIONS can say otherwise.
    rejectUnauthorized: true,
  });
}

class Connection implements BankConnection {
  readonly #origin: URL;
  readonly #rules: TlsRules;
  #route: Promise<Route> | undefined;
  readonly #lines = new Set<Line>();
  /** The last one first: it has waited for the shortest time, and the bank has hardly closed it. */
  readonly #idle: Line[] = [];

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
    this.#route ??= routeTo(this.#origin, this.#rules);
    const { open, proxy } = await this.#route;
    const line = this.#idle.pop() ?? new Line(this.#origin, open);
    this.#lines.add(line);
    const attempt = new Attempt(request, timeoutMs, signal, watch);
    try {
      const answer = await attempt.over(line);
      this.#idle.push(line);
      return answer;
    } catch (error) {
      // Nothing that a failed call has left behind on its connection comes to another call.
      this.#lines.delete(line);
      void line.destroy();
      throw attempt.explain(error, this.#origin, proxy);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lines].map((line) => line.destroy()));
  }
}

/** One request on its way: how far it came, and what ends it. */
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

  /** Takes it over a connection, until its whole answer is there, its time is up or the operator ends it. */
  async over(line: Line): Promise<WireAnswer> {
    let giveUp = () => {};
    const ended = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Error('the call was given up'));
    });
    // AbortSignal.any and AbortSignal.timeout cost as much as all else here together.
    const timer = setTimeout(() => {
      this.#timedOut = true;
      giveUp();
    }, this.#timeoutMs);
    // As many calls are under way at once as the operator wants.
    setMaxListeners(0, this.#signal);
    this.#signal.addEventListener('abort', giveUp);
    try {
      if (this.#signal.aborted) throw this.#signal.reason;
      const gate = this.#watch.beforeFirstByte && (() => this.#beforeFirstByte());
      return await Promise.race([line.call(this.#request, gate, () => this.#begin()), ended]);
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

  /** What the caller is told of a failure, as {@link BankConnection.send} says. */
  explain(error: unknown, origin: URL, proxy: URL | undefined): unknown {
    if (this.#refusal) return this.#refusal.error;
    const neverSent = !this.#sent;
    if (this.#signal.aborted)
      return new CallFailed('interrupted', { neverSent, passing: false, cause: this.#signal.reason });
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
    if (unwritable) return new Psd2Error('usage', `The request can't be written as HTTP: ${unwritable}`);
    const { message, passing } = explainFailure(cause, origin, proxy, neverSent);
    return new CallFailed(message, { neverSent, passing, cause });
  }
}

/** Who we are, and whom we trust. TLS 1.2 is said here, so that NODE_OPTIONS can't say otherwise. */
function secureContext({ certificatePem, key }: KeyPair, ca: string | undefined): SecureContext {
  const ours = {
    cert: certificatePem,
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    minVersion: 'TLSv1.2',
  } as const;
  if (ca === undefined) return createSecureContext(ours);
  try {
    // Node would take what holds no certificate for trust in nobody, and an empty text for trust in the system's.
    new X509Certificate(ca);
    return createSecureContext({ ...ours, ca });
  } catch (cause) {
    throw new Psd2Error('certificate', 'The CA bundle is not a list of PEM certificates', {
      hint: 'Check PSD2_CA, or the profile: each begins with -----BEGIN CERTIFICATE-----.',
      cause,
    });
  }
}

/** How the bank is reached: directly, or through the proxy that the environment names for it. */
interface Route {
  open: OpenSocket;
  proxy: URL | undefined;
}

async function routeTo(origin: URL, rules: TlsRules): Promise<Route> {
  const proxy = await proxyFor(origin);
  if (!proxy) return { open: secureSocketsTo(origin, rules), proxy };
  const { tunnelsThrough } = await import('./tunnel.ts');
  return { open: secureSocketsTo(origin, rules, tunnelsThrough(proxy, origin)), proxy };
}

/**
 * The proxy that the environment names for a bank; undefined when it is reached directly. It may hold a user and a
 * password: show its `host`.
 *
 * @throws Psd2Error `config`
 */
export async function proxyFor(origin: URL): Promise<URL | undefined> {
  const { env } = process;
  if (!env.HTTPS_PROXY && !env.https_proxy && !env.ALL_PROXY && !env.all_proxy) return undefined;
  const { getProxyForUrl } = await import('proxy-from-env');
  const address = getProxyForUrl(origin.href);
  if (address === '') return undefined;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Psd2Error('config', 'The proxy that the environment names is not an http or https URL', {
      hint: 'Check HTTPS_PROXY; NO_PROXY names the hosts that need none.',
    });
  }
  return new URL(address);
}

/** A request's path without its query, which may hold what is nobody's business. */
export function pathOf(request: Pick<WireRequest, 'target'>): string {
  return request.target.split('?', 1)[0] ?? '';
}
