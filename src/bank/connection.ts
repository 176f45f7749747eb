import Client from 'undici/lib/dispatcher/client.js';
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
  const client = new Client(origin.origin, {
    pipelining: 1,
    allowH2: false,
    // The limit of the whole call, below, is the one that counts.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      cert: qwac.certificatePem,
      key: qwac.key.export({ type: 'pkcs8', format: 'pem' }),
      timeout: 0,
      ...(ca === undefined ? {} : { ca }),
    },
  });

  return {
    send(request, timeoutMs, signal) {
      return new Promise((resolve, reject) => {
        const timeout = AbortSignal.timeout(timeoutMs);
        const ended = AbortSignal.any([signal, timeout]);
        const chunks: Buffer[] = [];
        let size = 0;
        let status = 0;
        let headers: Record<string, string> = {};
        let begun = false;
        let abort: (reason: Error) => void = () => {};

        const stop = () => {
          abort(new Error('stopped'));
          reject(
            signal.aborted
              ? signal.reason
              : new CallFailed(`it did not answer within ${timeoutMs / 1000} s`, {
                  neverSent: !begun,
                  passing: true,
                  cause: timeout.reason,
                }),
          );
        };
        ended.addEventListener('abort', stop, { once: true });
        const settle = (act: () => void) => {
          ended.removeEventListener('abort', stop);
          act();
        };
        if (ended.aborted) return settle(stop);

        client.dispatch(
          {
            method: request.method,
            path: request.target,
            headers: request.headers,
            body: request.body ?? null,
          },
          {
            onRequestStart(controller) {
              abort = (reason) => controller.abort(reason);
              // Given up while the connection was being made: the request must not leave any more.
              if (ended.aborted) controller.abort(new Error('stopped'));
              else begun = true;
            },
            onResponseStart(_controller, statusCode, received) {
              status = statusCode;
              headers = Object.fromEntries(
                Object.entries(received).map(([name, value]) => [
                  name.toLowerCase(),
                  [value].flat().join(', '),
                ]),
              );
            },
            onResponseData(controller, chunk) {
              size += chunk.length;
              if (size > LARGEST_ANSWER) {
                settle(() =>
                  reject(
                    new Psd2Error(
                      'bank_answer',
                      `The bank's answer to ${request.method} ${pathOf(request)} is larger than 32 MiB`,
                    ),
                  ),
                );
                controller.abort(new Error('too large'));
              } else chunks.push(chunk);
            },
            onResponseEnd() {
              settle(() => resolve({ status, headers, body: Buffer.concat(chunks) }));
            },
            onResponseError(_controller, error) {
              settle(() => reject(explain(error, origin, !begun)));
            },
          },
        );
      });
    },
    close: () => client.destroy(),
  };
}

/** A request's path without its query, which may hold what is nobody's business. */
export function pathOf(request: Pick<WireRequest, 'target'>): string {
  return request.target.split('?', 1)[0] ?? '';
}

function explain(error: Error, origin: URL, neverSent: boolean): CallFailed {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fail = (message: string, passing: boolean) =>
    new CallFailed(message, { neverSent, passing, cause: error });
  switch (code) {
    case 'ENOTFOUND':
      return fail(`the host name ${origin.hostname} is not known`, true);
    case 'EAI_AGAIN':
      return fail(`the host name ${origin.hostname} could not be looked up`, true);
    case 'ECONNREFUSED':
      return fail(`nothing listens at ${origin.host}`, true);
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
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
  if (/ALERT/i.test(code)) return fail(`it refused the TLS handshake with our QWAC (${code})`, false);
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return fail(`the TLS handshake failed (${code})`, false);
  return fail(neverSent ? 'the connection could not be made' : 'the connection was lost', true);
}
