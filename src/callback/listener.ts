import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '../domain/loopback.ts';
import { Psd2Error } from '../errors.ts';
import { type ServerCertificate, serveOnLoopback } from './loopback-server.ts';
import {
  CALLBACK_PAGE_HEADERS,
  type CallbackOutcome,
  type CallbackPurpose,
  type CallbackRefusal,
  callbackPage,
  refusalPage,
} from './page.ts';

export interface CallbackOptions {
  /** On loopback. psd2 listens on its port, and a callback must have its host and path. */
  redirectUri: URL;
  /** The unguessable value that the callback must return. */
  state: string;
  /** Chooses the text of the page. */
  purpose: CallbackPurpose;
  /** The certificate for an `https:` redirect URI. Default: a new self-signed one. */
  certificate?: () => Promise<ServerCertificate>;
}

/** Waits on this computer until the customer's browser comes back from the bank. */
export interface CallbackListener {
  /** The redirect URI. */
  url: string;
  /**
   * The query of the callback, after its page was sent. Rejects with the signal's reason if it aborts. After `close()`,
   * only an abort settles it.
   */
  received(signal: AbortSignal): Promise<URLSearchParams>;
  /** Closes all connections within 100 ms, after finishing a page that is being sent. May be called twice. */
  close(): Promise<void>;
}

/**
 * Listens on the loopback interface for the redirect after login (RFC 6749 section 4.1.2, RFC 8252 section 7.3)
 * or SCA. Accepts exactly one callback: a GET for the redirect URI's host and path, with the expected `state` once.
 * Any other request gets an error page and changes nothing. The caller reads the callback's `code` and `error`.
 *
 * @throws Psd2Error `callback_port_busy` if another program uses the port. `config` if the redirect URI is not on
 *   loopback, or psd2 cannot listen there.
 */
export async function listenForCallback(options: CallbackOptions): Promise<CallbackListener> {
  const { redirectUri, purpose } = options;
  if (!isLoopback(redirectUri) || redirectUri.port === '0') {
    throw new Psd2Error('config', `psd2 cannot listen at the redirect URI ${redirectUri.origin}`, {
      hint: 'Use one on 127.0.0.1 with a fixed port, or log in with --paste.',
    });
  }
  let callback: URLSearchParams | undefined;
  let deliver: (query: URLSearchParams) => void = () => undefined;
  const delivered = new Promise<URLSearchParams>((resolve) => {
    deliver = resolve;
  });
  const certificate = options.certificate ?? (() => selfSigned(redirectUri));
  const stop = await serveOnLoopback(redirectUri, certificate, (request, response) => {
    const verdict = classify(request, options);
    if (verdict === 'icon') {
      response.writeHead(204, { Connection: 'close', 'Cache-Control': 'no-store' }).end();
    } else if (typeof verdict === 'number') {
      send(response, verdict, refusalPage(verdict));
    } else if (callback !== undefined) {
      send(response, 410, refusalPage(410));
    } else {
      callback = verdict;
      // `close` fires after the page is sent, and also if the browser disconnects earlier.
      response.once('close', () => deliver(verdict));
      send(response, 200, callbackPage(purpose, outcomeOf(verdict, purpose)));
    }
  });
  let stopped: Promise<void> | undefined;
  return {
    url: redirectUri.href,
    received: (signal) =>
      new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason);
        if (signal.aborted) return abort();
        signal.addEventListener('abort', abort);
        void delivered.then((query) => {
          signal.removeEventListener('abort', abort);
          resolve(query);
        });
      }),
    close: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

async function selfSigned(uri: URL): Promise<ServerCertificate> {
  const { makeLoopbackCertificate } = await import('../certificates/loopback.ts');
  return makeLoopbackCertificate([uri.hostname]);
}

/** Classifies a request: the callback's query, the status of a refusal, or a browser's request for an icon. */
function classify(
  request: IncomingMessage,
  { redirectUri, state }: CallbackOptions,
): URLSearchParams | CallbackRefusal | 'icon' {
  // A second Host header makes a list of two, which is no host.
  if (request.headersDistinct.host?.join().toLowerCase() !== redirectUri.host) return 421;
  const target = request.url ?? '';
  const [path = ''] = target.split('?', 1);
  if (path !== redirectUri.pathname) return path === '/favicon.ico' ? 'icon' : 404;
  if (request.method !== 'GET') return 405;
  // The bank's redirect navigates the window. A request from a frame, an image or a script does not.
  if ((request.headers['sec-fetch-dest'] ?? 'document') !== 'document') return 403;
  const query = new URLSearchParams(target.slice(path.length));
  // RFC 6749 section 3.1: parameters must not repeat.
  if (['state', 'code', 'error'].some((name) => query.getAll(name).length > 1)) return 400;
  const given = query.get('state');
  return given !== null && sameText(given, state) ? query : 400;
}

/** Compares in constant time. The hashes have the same length and do not reveal how much of the text was right. */
function sameText(left: string, right: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(left), hash(right));
}

function outcomeOf(query: URLSearchParams, purpose: CallbackPurpose): CallbackOutcome {
  const error = query.get('error');
  if (error !== null) return error === 'access_denied' ? 'refused' : 'failed';
  return purpose === 'login' && !query.get('code') ? 'failed' : 'done';
}

function send(response: ServerResponse, status: number, page: string): void {
  response
    .writeHead(status, {
      ...CALLBACK_PAGE_HEADERS,
      'Content-Length': Buffer.byteLength(page),
      Connection: 'close',
      ...(status === 405 ? { Allow: 'GET' } : {}),
    })
    .end(page);
}
