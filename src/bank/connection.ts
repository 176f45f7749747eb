import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { KeyPair } from '../certificates/key-pair.ts';
import { Psd2Error } from '../errors.ts';

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
   * @throws CallFailed when there is no complete answer; the signal's reason when it aborts
   * @throws Psd2Error `bank_answer` when the answer is larger than any the interface has
   */
  send(request: WireRequest, timeoutMs: number, signal: AbortSignal): Promise<WireAnswer>;
  close(): Promise<void>;
}

const LARGEST_ANSWER = 32 * 1024 * 1024;

/**
 * Opens connections to a bank as they are needed (interface specification, "Authentication" 1).
 *
 * @param origin scheme, host and port of the bank
 * @param qwac the certificate for mutual TLS
 * @param ca PEM certificates that the bank's must chain to; undefined means the system's
 */
export function connectToBank(origin: URL, qwac: KeyPair, ca: string | undefined): BankConnection {
  // Options of each request, not of the agent: a proxy's agent would show the client certificate to the proxy.
  const tls = {
    cert: qwac.certificatePem,
    key: qwac.key.export({ type: 'pkcs8', format: 'pem' }),
    ...(ca === undefined ? {} : { ca }),
  };
  let route: Promise<Route> | undefined;

  return {
    async send({ method, target, headers, body }, timeoutMs, signal) {
      route ??= routeTo(origin);
      const { agent, proxy } = await route;
      return new Promise((resolve, reject) => {
        const timeout = AbortSignal.timeout(timeoutMs);
        const ended = AbortSignal.any([signal, timeout]);
        /** The connection stands, so bytes may have left. */
        let connected = false;

        const sending = request(
          {
            ...tls,
            agent,
            method,
            protocol: origin.protocol,
            hostname: origin.hostname.replace(/^\[|\]$/g, ''),
            port: origin.port || 443,
            path: target,
            headers: { ...headers, ...(body && { 'content-length': body.length }) },
            signal: ended,
          },
          async (answer) => {
            try {
              const content = await readAll(answer);
              resolve({
                status: answer.statusCode ?? 0,
                headers: joinHeaders(answer.headers),
                body: content,
              });
            } catch (error) {
              sending.destroy();
              fail(error);
            }
          },
        );
        sending.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
          if (statusCode !== 200) sending.destroy(new ProxyRefused(statusCode));
        });
        sending.once('socket', (socket) => {
          // Only a handshake that is seen to be under way proves that nothing has left.
          const shaken = socket instanceof TLSSocket && socket.getPeerFinished() !== undefined;
          if (sending.reusedSocket || shaken) connected = true;
          else socket.once('secureConnect', () => (connected = true));
        });
        const fail = (error: unknown) => {
          if (signal.aborted) reject(signal.reason);
          else if (error instanceof AnswerTooLarge) {
            reject(
              new Psd2Error(
                'bank_answer',
                `The bank's answer to ${method} ${pathOf({ target })} is larger than 32 MiB`,
              ),
            );
          } else if (timeout.aborted) {
            const message = `it did not answer within ${timeoutMs / 1000} s`;
            reject(new CallFailed(message, { neverSent: !connected, passing: true, cause: error }));
          } else reject(explain(error, origin, proxy, !connected));
        };
        sending.once('error', fail);
        sending.end(body);
      });
    },
    async close() {
      (await route)?.agent.destroy();
    },
  };
}

/** How the bank is reached: directly, or through the proxy that the environment names for it. */
interface Route {
  agent: Agent;
  proxy: URL | undefined;
}

async function routeTo(origin: URL): Promise<Route> {
  const { env } = process;
  if (!env.HTTPS_PROXY && !env.https_proxy && !env.ALL_PROXY && !env.all_proxy) {
    return { agent: new Agent({ keepAlive: true }), proxy: undefined };
  }
  const { getProxyForUrl } = await import('proxy-from-env');
  const address = getProxyForUrl(origin.href);
  if (address === '') return { agent: new Agent({ keepAlive: true }), proxy: undefined };
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Psd2Error('config', 'The proxy that the environment names is not an http or https URL', {
      hint: 'Check HTTPS_PROXY; NO_PROXY names the hosts that need none.',
    });
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  const proxy = new URL(address);
  return { agent: new HttpsProxyAgent(proxy, { keepAlive: true }), proxy };
}

/** The proxy answered CONNECT with another status than 200. */
class ProxyRefused extends Error {
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`HTTP ${statusCode}`);
    this.statusCode = statusCode;
  }
}

class AnswerTooLarge extends Error {}

async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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

function explain(error: unknown, origin: URL, proxy: URL | undefined, neverSent: boolean): CallFailed {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fail = (message: string, passing: boolean) =>
    new CallFailed(message, { neverSent, passing, cause: error });
  if (error instanceof ProxyRefused) {
    return fail(`the proxy ${proxy?.host} refused the connection (HTTP ${error.statusCode})`, false);
  }
  const first = proxy ?? origin;
  switch (code) {
    case 'ENOTFOUND':
      return fail(`the host name ${first.hostname} is not known`, true);
    case 'EAI_AGAIN':
      return fail(`the host name ${first.hostname} could not be looked up`, true);
    case 'ECONNREFUSED':
      return fail(`nothing listens at ${first.host}${proxy ? ', the proxy' : ''}`, true);
    case 'ETIMEDOUT':
      return fail('the connection could not be made in time', true);
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return fail(`its certificate is not for ${origin.hostname}`, false);
    case 'CERT_HAS_EXPIRED':
      return fail('its certificate has expired', false);
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_SIGNATURE_FAILURE':
      return fail(
        'its certificate does not chain to a trusted authority (the CA bundle, PSD2_CA, says which are)',
        false,
      );
  }
  if (code.startsWith('CERT_')) return fail(`its certificate is not acceptable (${code})`, false);
  if (/ALERT/i.test(code)) return fail(`it refused the TLS handshake with our QWAC (${code})`, false);
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return fail(`the TLS handshake failed (${code})`, false);
  return fail(neverSent ? 'the connection could not be made' : 'the connection was lost', true);
}
