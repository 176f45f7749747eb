import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '../domain/local-address.ts';
import { Psd2Error } from '../errors.ts';
import { type ServerCertificate, serveOnLoopback } from './loopback-server.ts';

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
 * or SCA. Accepts exactly one callback: a GET for the redirect URI's host and path, with the expected `state` once, or with an error
 * of OAuth and no state while the customer logs in.
 * Any other request gets an error page and changes nothing. The caller reads the callback's `code` and `error`.
 *
 * @throws Psd2Error `callback_port_busy` if another program uses the port. `config` if the redirect URI is not on
 *   loopback, or psd2 cannot listen there.
 */
export async function listenForCallback(options: CallbackOptions): Promise<CallbackListener> {
  const { redirectUri, purpose } = options;
  if (!isLoopback(redirectUri) || redirectUri.port === '0')
    throw new Psd2Error('config', `psd2 cannot listen at the redirect URI ${redirectUri.origin}`, {
      hint: 'Use one on 127.0.0.1 with a fixed port, or log in with --paste.',
    });
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
      sendPage(response, verdict, refusalPage(verdict));
    } else if (callback !== undefined) {
      sendPage(response, 410, refusalPage(410));
    } else {
      callback = verdict;
      // `close` fires after the page is sent, and also if the browser disconnects earlier.
      response.once('close', () => deliver(verdict));
      sendPage(response, 200, callbackPage(purpose, callbackOutcome(verdict, purpose)));
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
  { purpose, redirectUri, state }: CallbackOptions,
): URLSearchParams | CallbackRefusal | 'icon' {
  // A second Host header makes a list of two, which is not a host.
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
  const returnedState = query.get('state');
  // Some banks leave the state out of an error. It grants nothing, so whoever sends it only ends the wait.
  if (purpose === 'login' && returnedState === null && query.has('error') && !query.has('code')) return query;
  return returnedState !== null && sameText(returnedState, state) ? query : 400;
}

/** Compares in constant time. The hashes have the same length and do not reveal how much of the text was right. */
function sameText(left: string, right: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(left), hash(right));
}

function callbackOutcome(query: URLSearchParams, purpose: CallbackPurpose): CallbackOutcome {
  const error = query.get('error');
  if (error !== null) return error === 'access_denied' ? 'refused' : 'failed';
  return purpose === 'login' && !query.get('code') ? 'failed' : 'done';
}

function sendPage(response: ServerResponse, status: number, page: string): void {
  response
    .writeHead(status, {
      ...CALLBACK_PAGE_HEADERS,
      'Content-Length': Buffer.byteLength(page),
      Connection: 'close',
      ...(status === 405 ? { Allow: 'GET' } : {}),
    })
    .end(page);
}

/** The step at the bank that the customer comes back from. */
type CallbackPurpose = 'login' | 'confirmation' | 'authorisation';

/** The result of the step. `refused` is OAuth's `access_denied`, `failed` any other error. */
type CallbackOutcome = 'done' | 'refused' | 'failed';

/** The status of the answer to any other request than the expected callback. */
type CallbackRefusal = 400 | 403 | 404 | 405 | 410 | 421;

const BACK = 'You can close this window and go back to the terminal.';

type OutcomePages = Record<CallbackOutcome, [title: string, text: string]>;

const AUTHORISATION: OutcomePages = {
  done: ['Thank you, you are back from the bank', 'psd2 now asks the bank what you decided.'],
  refused: ['You did not authorise', 'psd2 now asks the bank what it recorded.'],
  failed: ['The authorisation was not completed', 'The bank reported an error. The terminal shows more.'],
};

const OUTCOMES: Record<CallbackPurpose, OutcomePages> = {
  login: {
    done: ['Thank you, your answer has arrived', 'psd2 now completes the login at the bank.'],
    refused: ['You did not allow the access', 'psd2 has no access to your accounts.'],
    failed: ['The login was not completed', 'The bank reported an error. The terminal shows more.'],
  },
  confirmation: AUTHORISATION,
  authorisation: AUTHORISATION,
};

const REFUSALS: Record<CallbackRefusal, [title: string, text: string]> = {
  400: [
    'Not the answer that psd2 waits for',
    'This address does not belong to the step that this psd2 waits for. If another psd2 sent you to the bank, it asks the bank for your decision.',
  ],
  403: ['Not the answer that psd2 waits for', 'It was requested from inside another page.'],
  404: ['Nothing here', 'psd2 waits at another address for the bank to send you back.'],
  405: ['Nothing to send here', 'psd2 accepts only the bank’s redirect.'],
  410: ['Already done', 'psd2 already has the bank’s answer.'],
  421: ['Nothing here', 'psd2 does not answer under this host name.'],
};

const STYLE = `
:root { color-scheme: light dark; --ink: #17202b; --soft: #4b5866; --paper: #f4f6f8; --card: #fff; --edge: #d9dfe5;
  --done: #0b6b4f; --refused: #8a5300; --failed: #a3231f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9eef3; --soft: #a9b5c1; --paper: #10161d; --card: #19222c; --edge: #2d3945;
    --done: #5fd0a8; --refused: #f0b65a; --failed: #ff9a92; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100svh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { width: 100%; max-width: 30rem; padding: clamp(1.75rem, 6vw, 3rem); background: var(--card);
  border: 1px solid var(--edge); border-radius: 1rem; }
svg { display: block; width: 3rem; height: 3rem; margin-bottom: 1.5rem; fill: none; stroke: currentColor;
  stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
.done svg { color: var(--done); } .refused svg { color: var(--refused); } .failed svg { color: var(--failed); }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
p { margin: 0 0 .75rem; color: var(--soft); }
p:last-child { margin: 0; color: var(--ink); }
`;

const MARKS: Record<CallbackOutcome, string> = {
  done: '<circle cx="24" cy="24" r="21"/><path d="m15 24.5 6.5 6.5L34 18"/>',
  refused: '<circle cx="24" cy="24" r="21"/><path d="M15 24h18"/>',
  failed: '<circle cx="24" cy="24" r="21"/><path d="M24 14v13M24 33.5v.5"/>',
};

/** The headers of every page. They forbid loading, scripts, frames, caching and referrers. */
const CALLBACK_PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The page for the expected callback. It repeats nothing from the request. */
function callbackPage(purpose: CallbackPurpose, outcome: CallbackOutcome): string {
  return page(outcome, ...OUTCOMES[purpose][outcome], BACK);
}

/** The page for any other request. It repeats nothing from the request. */
function refusalPage(status: CallbackRefusal): string {
  const next = status === 410 ? BACK : 'Go back to the terminal and open the address that it shows.';
  return page('failed', ...REFUSALS[status], next);
}

function page(outcome: CallbackOutcome, title: string, text: string, next: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · psd2</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main class="${outcome}">
<svg viewBox="0 0 48 48" aria-hidden="true">${MARKS[outcome]}</svg>
<h1>${title}</h1>
<p>${text}</p>
<p>${next}</p>
</main>
</body>
</html>
`;
}
