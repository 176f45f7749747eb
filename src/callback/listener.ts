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
  /** On loopback, with the port that is listened on; its path and host are what a callback must have. */
  redirectUri: URL;
  /** The unguessable value that the callback must bring back. */
  state: string;
  /** Chooses the words of the page. */
  purpose: CallbackPurpose;
  /** For an `https:` redirect URI; without it a self-signed certificate is made. */
  certificate?: () => Promise<ServerCertificate>;
}

/** Waits on this computer for the browser that the bank sends back. */
export interface CallbackListener {
  /** The redirect URI. */
  url: string;
  /**
   * The query of the one callback, once its page was sent. Rejects with the signal's reason when it aborts;
   * after `close()` only that ends it.
   */
  received(signal: AbortSignal): Promise<URLSearchParams>;
  /** Ends every connection, after a page that is being sent, within 100 ms. May be called twice. */
  close(): Promise<void>;
}

/**
 * Listens on the loopback interface for the redirect after login (RFC 6749 section 4.1.2, RFC 8252 section 7.3)
 * or SCA. Takes exactly one callback: a GET for the redirect URI's path and host with exactly one `state`, the
 * expected one. Everything else gets an error page and changes nothing. What the callback says (`code`, `error`)
 * is for the caller to read.
 *
 * @throws Psd2Error `callback_port_busy` when another program has the port; `config` when the redirect URI is
 *   not on loopback or can't be listened on.
 */
export async function listenForCallback(options: CallbackOptions): Promise<CallbackListener> {
  const { redirectUri, purpose } = options;
  if (!isLoopback(redirectUri) || redirectUri.port === '0') {
    throw new Psd2Error('config', `psd2 can't listen at the redirect URI ${redirectUri.origin}`, {
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
    const verdict = judge(request, options);
    if (verdict === 'icon') {
      response.writeHead(204, { Connection: 'close', 'Cache-Control': 'no-store' }).end();
    } else if (typeof verdict === 'number') {
      send(response, verdict, refusalPage(verdict));
    } else if (callback !== undefined) {
      send(response, 410, refusalPage(410));
    } else {
      callback = verdict;
      // `close` comes when the page is out, and also when the browser hung up before.
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
        signal.addEventListener('abort', abort, { once: true });
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

/** What a request is: the callback's query, a status that it is refused with, or a browser's wish for an icon. */
function judge(
  request: IncomingMessage,
  { redirectUri, state }: CallbackOptions,
): URLSearchParams | CallbackRefusal | 'icon' {
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1 || request.headers.host?.toLowerCase() !== redirectUri.host) return 421;
  const target = request.url ?? '';
  const [path = ''] = target.split('?', 1);
  if (path !== redirectUri.pathname) return path === '/favicon.ico' ? 'icon' : 404;
  if (request.method !== 'GET') return 405;
  // The bank's redirect navigates the window; a frame, an image or a script of some page does not.
  if ((request.headers['sec-fetch-dest'] ?? 'document') !== 'document') return 403;
  const query = new URLSearchParams(target.slice(path.length));
  // RFC 6749 section 3.1: no parameter is given twice.
  if (['state', 'code', 'error'].some((name) => query.getAll(name).length > 1)) return 400;
  const given = query.get('state');
  return given !== null && sameText(given, state) ? query : 400;
}

/** In constant time: the hashes have one length, and tell nothing of how much of the text was right. */
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
