import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { KeyPair } from '../certificates/key-pair.ts';
import { Psd2Error } from '../errors.ts';
import { explainFailure } from './explain-failure.ts';
import type { TunnelledRequestOptions } from './tunnel.ts';

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

/** One bank's address behind mutual TLS. */
export interface BankConnection {
  /**
   * Sends one request and takes its whole answer. Redirects are not followed.
   *
   * @param timeoutMs limit for the whole call
   * @throws CallFailed when there is no complete answer, also when the signal aborts
   * @throws Psd2Error `bank_answer` when the answer is larger than any the interface has
   */
  send(
    request: WireRequest,
    timeoutMs: number,
    signal: AbortSignal,
    beforeFirstByte?: () => void,
  ): Promise<WireAnswer>;
  close(): Promise<void>;
}

const LARGEST_ANSWER = 32 * 1024 * 1024;

/**
 * Opens connections to a bank as they are needed (interface specification, "Authentication" 1).
 *
 * @param origin scheme, host and port of the bank
 * @param qwac the certificate for mutual TLS
 * @param ca PEM certificates that the bank's must chain to; undefined means the system's
 * @throws Psd2Error `certificate` when `ca` holds no PEM certificate
 */
export function connectToBank(origin: URL, qwac: KeyPair, ca: string | undefined): BankConnection {
  // Options of each request, not of the agent: a proxy's agent would show the client certificate to the proxy.
  const tls = {
    secureContext: secureContext(qwac, ca),
    // Said here, so that neither NODE_TLS_REJECT_UNAUTHORIZED nor NODE_OPTIONS can say otherwise.
    rejectUnauthorized: true,
  } as const;
  let route: Promise<Route> | undefined;

  return {
    async send({ method, target, headers, body }, timeoutMs, signal, beforeFirstByte) {
      route ??= routeTo(origin);
      const { agent, proxy } = await route;
      // AbortSignal.any and AbortSignal.timeout cost as much as all else here together.
      const ending = new AbortController();
      const end = () => ending.abort();
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        end();
      }, timeoutMs);
      // As many calls are under way at once as the operator wants.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      const ended = ending.signal;
      const answered = new Promise<WireAnswer>((resolve, reject) => {
        /** The connection stands, so bytes may have left. */
        let connected = false;

        const options: TunnelledRequestOptions & { insecureHTTPParser: boolean } = {
          ...tls,
          agent,
          method,
          protocol: origin.protocol,
          hostname: origin.hostname.replace(/^\[|\]$/g, ''),
          port: origin.port || 443,
          path: target,
          headers: { ...headers, ...(body && { 'content-length': body.length }) },
          signal: ended,
          insecureHTTPParser: false,
          tunnel: { tls, signal: ended },
        };
        const sending = request(options, async (answer) => {
          try {
            const content = await readAll(answer);
            resolve({ status: answer.statusCode ?? 0, headers: joinHeaders(answer.headers), body: content });
          } catch (error) {
            sending.destroy();
            fail(error);
          }
        });
        sending.once('socket', (socket) => {
          // Only a handshake that is seen to be under way proves that nothing has left.
          const shaken = socket instanceof TLSSocket && socket.getPeerFinished() !== undefined;
          if (sending.reusedSocket || shaken) connected = true;
          else socket.once('secureConnect', () => (connected = true));
        });
        const fail = (error: unknown) => {
          if (signal.aborted) {
            reject(
              new CallFailed('interrupted', { neverSent: !connected, passing: false, cause: signal.reason }),
            );
          } else if (error instanceof UnusableAnswer) {
            const message = `The bank's answer to ${method} ${pathOf({ target })} ${error.message}`;
            reject(new Psd2Error('bank_answer', message));
          } else if (timedOut) {
            const message = `it did not answer within ${timeoutMs / 1000} s`;
            reject(new CallFailed(message, { neverSent: !connected, passing: true, cause: error }));
          } else {
            const { message, passing } = explainFailure(error, origin, proxy, !connected);
            reject(new CallFailed(message, { neverSent: !connected, passing, cause: error }));
          }
        };
        sending.on('error', fail);
        try {
          beforeFirstByte?.();
          sending.end(body);
        } catch (error) {
          reject(error);
          sending.destroy();
        }
      });
      return answered.finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
      });
    },
    async close() {
      (await route)?.agent.destroy();
    },
  };
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
  agent: Agent;
  proxy: URL | undefined;
}

async function routeTo(origin: URL): Promise<Route> {
  const proxy = await proxyFor(origin);
  if (!proxy) return { agent: new Agent({ keepAlive: true }), proxy };
  const { TunnelAgent } = await import('./tunnel.ts');
  return { agent: new TunnelAgent(proxy), proxy };
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

/** The answer came, and can't be taken; the message goes on after "The bank's answer to ...". */
class UnusableAnswer extends Error {}

async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const coding = answer.headers['content-encoding']?.trim().toLowerCase();
  if (coding && coding !== 'identity') {
    throw new UnusableAnswer(`is encoded as ${coding}, which psd2 did not ask for`);
  }
  const tooLarge = () => new UnusableAnswer('is larger than 32 MiB');
  if (Number(answer.headers['content-length']) > LARGEST_ANSWER) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > LARGEST_ANSWER) reject(tooLarge());
    });
    answer.once('end', () => resolve(Buffer.concat(chunks)));
    answer.once('error', reject);
    // Also where it was cut off without an error of its own.
    answer.once('close', () => reject(new Error('the connection was closed')));
  });
}

function joinHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

/** A request's path without its query, which may hold what is nobody's business. */
export function pathOf(request: Pick<WireRequest, 'target'>): string {
  return request.target.split('?', 1)[0] ?? '';
}
