import { createHash, type X509Certificate } from 'node:crypto';
import { getEventListeners, once } from 'node:events';
import { Server as HttpsServer, request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CallbackListener, listenForCallback } from '../../src/callback/listener.ts';
import { makeLoopbackCertificate } from '../../src/certificates/loopback.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, type Asked, askAt, hungUpOn, openAt, sayAt } from './requests.ts';

const STATE = 'n3Zr0hI9cQ0v8e7WbW0m1A';
/** A callback with the right state. In a wrong request, the listener must not take it. */
const STOLEN = `/callback?code=stolen&state=${STATE}`;
const never = new AbortController().signal;
const CLOSE = 'You can close this window and go back to the terminal.';
const OPEN_AGAIN = 'Go back to the terminal and open the address that it shows.';
const BANK_ERROR = 'The bank reported an error. The terminal shows more.';

let port: number;
let listener: CallbackListener;

const ask = (path: string, asked?: Asked) => askAt(port, path, asked);
const open = () => openAt(port);
const raw = (bytes: string) => sayAt(port, bytes);

/** What the customer reads on a page, from top to bottom. */
function readIn({ body }: Answer): string[] {
  return [...body.matchAll(/<(?:h1|p)>([^<]*)<\/(?:h1|p)>/g)].map(([, text = '']) => text);
}

const pictureIn = ({ body }: Answer) => /<svg [^>]*>(.*)<\/svg>/.exec(body)?.[1];

const REFUSALS = {
  400: [
    'Not the answer that psd2 waits for',
    'This address does not belong to the step that this psd2 waits for. If another psd2 sent you to the bank, it asks the bank for your decision.',
  ],
  403: ['Not the answer that psd2 waits for', 'It was requested from inside another page.'],
  404: ['Nothing here', 'psd2 waits at another address for the bank to send you back.'],
  405: ['Nothing to send here', 'psd2 accepts only the bank’s redirect.'],
  421: ['Nothing here', 'psd2 does not answer under this host name.'],
};

/** Checks that the listener has not accepted a callback yet and accepts the right one. */
async function expectStillWaiting(): Promise<void> {
  const received = listener.received(never);
  const answer = await ask(`/callback?code=right&state=${STATE}`);
  expect(answer.status).toBe(200);
  expect((await received).get('code')).toBe('right');
}

/** Checks that a request gets a page that says why it is refused, and that the listener keeps waiting. */
async function expectRefusal(status: keyof typeof REFUSALS, path: string, asked?: Asked): Promise<void> {
  const answer = await ask(path, asked);
  expect(answer.status).toBe(status);
  expect(readIn(answer)).toEqual(asked?.method === 'HEAD' ? [] : [...REFUSALS[status], OPEN_AGAIN]);
  expect(answer.headers.allow).toBe(status === 405 ? 'GET' : undefined);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  await expectStillWaiting();
}

async function listen(purpose: 'login' | 'confirmation' | 'authorisation' = 'login'): Promise<void> {
  port = await freePort();
  listener = await listenForCallback({
    redirectUri: new URL(`http://127.0.0.1:${port}/callback`),
    state: STATE,
    purpose,
  });
}

describe('listenForCallback', () => {
  beforeEach(() => listen());
  afterEach(() => listener.close());

  it('the listener delivers the callback and asks the customer to go back', async () => {
    expect(listener.url).toBe(`http://127.0.0.1:${port}/callback`);
    const received = listener.received(never);
    const answer = await ask(`/callback?code=c%2Bd&state=${STATE}`, {
      headers: { 'Sec-Fetch-Dest': 'document' },
    });
    expect(answer.status).toBe(200);
    expect([...(await received)]).toEqual([
      ['code', 'c+d'],
      ['state', STATE],
    ]);
  });

  it('the listener delivers a callback that came before anyone waited', async () => {
    await ask(`/callback?code=early&state=${STATE}`);
    expect((await listener.received(never)).get('code')).toBe('early');
  });

  it('the listener delivers a refusal with the right state', async () => {
    await ask(`/callback?error=access_denied&state=${STATE}`);
    expect((await listener.received(never)).get('error')).toBe('access_denied');
  });

  it.each([
    ['a missing state', '/callback?code=stolen'],
    ['a missing query', '/callback'],
    ['an empty state', '/callback?code=stolen&state='],
    ['a wrong state', '/callback?code=stolen&state=n3Zr0hI9cQ0v8e7WbW0m1B'],
    ['the state in another case', `/callback?code=stolen&state=${STATE.toLowerCase()}`],
    ['a longer state', `/callback?code=stolen&state=${STATE}x`],
    ['two states, one of them right', `/callback?code=stolen&state=${STATE}&state=other`],
    ['a repeated right state', `/callback?code=stolen&state=${STATE}&state=${STATE}`],
    ['two codes', `/callback?code=stolen&code=right&state=${STATE}`],
    ['two errors', `/callback?error=access_denied&error=server_error&state=${STATE}`],
    ['a repeated error', `/callback?error=access_denied&error=access_denied&state=${STATE}`],
    ['an error without a state, but with a code', '/callback?error=access_denied&code=stolen'],
    ['an error with a wrong state', '/callback?error=access_denied&state=wrong'],
  ])('the listener refuses %s and keeps waiting', (_, path) => expectRefusal(400, path));

  it.each([
    '/',
    '/callback/',
    '/Callback',
    '//callback',
    '/x/../callback',
    '/%63allback',
    '/callback;a',
    '/callbackk',
  ])('the listener answers 404 at %s, even with the right state', (path) =>
    expectRefusal(404, `${path}?code=stolen&state=${STATE}`),
  );

  it('the listener delivers an error without a state, which ends a login', async () => {
    const received = listener.received(never);
    const answer = await ask('/callback?error=server_error');
    expect(answer.status).toBe(200);
    expect(readIn(answer)[0]).toBe('The login was not completed');
    expect(Object.fromEntries(await received)).toEqual({ error: 'server_error' });
  });

  it.each(['confirmation', 'authorisation'] as const)(
    'the listener refuses an error without a state where the customer authorises (%s), and keeps waiting',
    async (purpose) => {
      await listener.close();
      await listen(purpose);
      await expectRefusal(400, '/callback?error=access_denied');
    },
  );

  it('the listener answers 404 to an absolute request target', async () => {
    const host = `127.0.0.1:${port}`;
    const answer = await raw(
      `GET http://${host}/callback?code=stolen&state=${STATE} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    await expectStillWaiting();
  });

  it('the listener answers a request for an icon with an empty 204', async () => {
    const answer = await ask('/favicon.ico');
    expect([answer.status, answer.body]).toEqual([204, '']);
    await expectStillWaiting();
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'])('the listener answers 405 to %s', (method) =>
    expectRefusal(405, STOLEN, { method }),
  );

  it.each(['bank.example', 'localhost', '127.0.0.1', '127.0.0.1:1', '[::1]', 'evil.example:8910'])(
    'the listener answers 421 to the host %j',
    (host) => expectRefusal(421, STOLEN, { headers: { Host: host } }),
  );

  it('the listener refuses a request without a host, with an empty one or with two', async () => {
    const target = `GET ${STOLEN}`;
    expect(await raw(`${target} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(`${target} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw(`${target} HTTP/1.1\r\nHost: \r\n\r\n`)).toMatch(/^HTTP\/1\.1 421 /);
    const two = `Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`;
    expect(await raw(`${target} HTTP/1.1\r\n${two}\r\n`)).toMatch(/^HTTP\/1\.1 421 /);
    await expectStillWaiting();
  });

  it.each(['empty', 'iframe', 'image', 'script'])(
    "the listener refuses requests that another origin's page embeds or fetches (%s)",
    (destination) =>
      expectRefusal(403, STOLEN, {
        headers: {
          'Sec-Fetch-Dest': destination,
          'Sec-Fetch-Site': 'cross-site',
          Origin: 'https://evil.example',
        },
      }),
  );

  it('the listener answers 410 to a second callback and keeps the first', async () => {
    await ask(`/callback?code=first&state=${STATE}`);
    const second = await ask(`/callback?code=second&state=${STATE}`);
    expect(second.status).toBe(410);
    expect(readIn(second)).toEqual(['Already done', 'psd2 already has the bank’s answer.', CLOSE]);
    expect((await listener.received(never)).get('code')).toBe('first');
  });

  it('the listener accepts only one request per connection', async () => {
    const line = (query: string) => `GET /callback?${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    const answer = await raw(line('state=wrong') + line(`code=stolen&state=${STATE}`));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain(' 200 ');
    await expectStillWaiting();
  });

  it('no answer repeats anything from the request', async () => {
    const mark = '<b>mark</b>"\'';
    const query = `code=${encodeURIComponent(mark)}&error_description=${encodeURIComponent(mark)}`;
    for (const path of [
      `/mark?${query}`,
      `/callback?${query}`,
      `/callback?error=mark&state=${STATE}&${query}`,
    ]) {
      const answer = await ask(path, { headers: { 'User-Agent': 'mark', Cookie: 'mark=mark' } });
      expect(JSON.stringify(answer)).not.toContain('mark');
    }
  });

  it('the listener refuses junk and huge headers', async () => {
    expect(await raw('\x16\x03\x01junk\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(`GET /callback?state=${'x'.repeat(20_000)} HTTP/1.1\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    await expectStillWaiting();
  });

  it('the listener does not read a body', async () => {
    const socket = await open();
    socket.write(
      `POST /callback HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000000000\r\n\r\nxxx`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 405 /);
    await expectStillWaiting();
  });

  it('the listener hangs up on slow requests', async () => {
    expect(await raw(`GET /callback?code=stolen&state=${STATE} HTTP/1.1\r\nHost: 127`)).toMatch(
      /^HTTP\/1\.1 408 /,
    );
    await expectStillWaiting();
  }, 10_000);

  it('closing ends slow and idle connections and frees the port', async () => {
    const slow = await Promise.all([open(), open(), open()]);
    slow[1]?.write('GET /callback');
    slow[2]?.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 9\r\n\r\n`);
    const hungUp = Promise.all(slow.map(hungUpOn));
    // From now on no timeout ends them: Node checks slow requests only while the server listens.
    await Promise.all([listener.close(), listener.close()]);
    expect(await hungUp).toHaveLength(3);
    const successor = createServer().listen(port, '127.0.0.1');
    await once(successor, 'listening');
    successor.close();
  });

  it('the page is complete before the listener delivers or closes', async () => {
    for (let round = 0; round < 10; round++) {
      const page = ask(`/callback?code=1&state=${STATE}`);
      await listener.received(never);
      await listener.close();
      const { headers, body } = await page;
      expect(Buffer.byteLength(body)).toBe(Number(headers['content-length']));
      await listen();
    }
  });

  it('the listener delivers a callback even if the browser hangs up immediately', async () => {
    const socket = await open();
    socket.write(`GET /callback?code=gone&state=${STATE} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`, () =>
      socket.resetAndDestroy(),
    );
    expect((await listener.received(never)).get('code')).toBe('gone');
  });

  it("waiting for the callback leaves nothing on the caller's signal", async () => {
    const { signal } = new AbortController();
    const received = listener.received(signal);
    expect(getEventListeners(signal, 'abort')).not.toEqual([]);
    await ask(`/callback?code=1&state=${STATE}`);
    await received;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it("waiting for the callback rejects with the signal's reason", async () => {
    const abort = new AbortController();
    const received = listener.received(abort.signal);
    const reason = new Error('interrupted');
    abort.abort(reason);
    await expect(received).rejects.toBe(reason);
    await expect(listener.received(abort.signal)).rejects.toBe(reason);
    await expectStillWaiting();
  });

  it('a page that refuses a request looks like a failure', async () => {
    const refusal = await ask('/other');
    const failure = await ask(`/callback?error=server_error&state=${STATE}`);
    expect(pictureIn(refusal)).toBe(pictureIn(failure));
    expect(refusal.body).toContain('<main class="failed">');
  });

  it('a header whose value is "Host" does not count as a host', async () => {
    expect((await ask(STOLEN, { headers: { 'X-Forwarded': 'Host' } })).status).toBe(200);
  });

  it('every page has headers that forbid loading, scripts, frames, caching and the referrer', async () => {
    for (const path of [`/callback?state=${STATE}&code=1`, '/other']) {
      const { headers, body } = await ask(path);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const [, style = ''] = /<style>(.*)<\/style>/s.exec(body) ?? [];
      const hash = createHash('sha256').update(style).digest('base64');
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(body).not.toMatch(/<script|https?:/);
    }
  });

  it('every answer ends its connection, and no browser stores it', async () => {
    for (const path of ['/favicon.ico', '/other', `/callback?state=${STATE}&code=1`]) {
      const { headers } = await ask(path, { headers: { Connection: 'keep-alive' } });
      expect(headers.connection).toBe('close');
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});

describe('listenForCallback with other addresses', () => {
  it("the redirect URI's own query does not count", async () => {
    port = await freePort();
    const redirectUri = new URL(`http://127.0.0.1:${port}/callback?state=${STATE}`);
    listener = await listenForCallback({ redirectUri, state: STATE, purpose: 'authorisation' });
    expect((await ask(`/callback?state=${STATE}`)).status).toBe(200);
    expect((await listener.received(never)).get('state')).toBe(STATE);
    await listener.close();
  });

  it('at localhost, the listener answers at both loopback addresses', async () => {
    port = await freePort();
    const redirectUri = new URL(`http://localhost:${port}/callback`);
    listener = await listenForCallback({ redirectUri, state: STATE, purpose: 'login' });
    for (const host of ['127.0.0.1', '::1']) {
      const answer = await sayAt(port, `GET /callback HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`, host);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
    await listener.close();
  });

  it.each(['https://tpp.example/callback', 'http://192.0.2.1:8910/callback', 'http://127.0.0.1:0/callback'])(
    'psd2 does not listen at %s',
    async (uri) => {
      const redirectUri = new URL(uri);
      await expect(listenForCallback({ redirectUri, state: STATE, purpose: 'login' })).rejects.toMatchObject({
        code: 'config',
        message: `psd2 cannot listen at the redirect URI ${redirectUri.origin}`,
        hint: 'Use one on 127.0.0.1 with a fixed port, or log in with --paste.',
      });
    },
  );

  describe('listenForCallback with an https redirect URI', () => {
    let redirectUri: URL;

    beforeEach(async () => {
      port = await freePort();
      redirectUri = new URL(`https://127.0.0.1:${port}/callback`);
    });
    afterEach(() => listener.close());

    /** Returns the status and the server's certificate. */
    function askTls(query: string, tls: { ca?: string; rejectUnauthorized?: boolean }) {
      return new Promise<[number | undefined, X509Certificate | undefined]>((resolve, reject) => {
        httpsRequest(`${redirectUri.href}?${query}`, { ...tls, agent: false }, (response) => {
          const { socket } = response;
          const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
          text(response).then(() => resolve([response.statusCode, certificate]), reject);
        })
          .on('error', reject)
          .end();
      });
    }

    it('the listener uses the given certificate', async () => {
      const pair = await makeLoopbackCertificate(['127.0.0.1']);
      listener = await listenForCallback({
        redirectUri,
        state: STATE,
        purpose: 'login',
        certificate: async () => pair,
      });
      const [status] = await askTls(`code=tls&state=${STATE}`, { ca: pair.cert });
      expect(status).toBe(200);
      expect((await listener.received(never)).get('code')).toBe('tls');
    });

    it('the listener makes a certificate for its host', async () => {
      listener = await listenForCallback({ redirectUri, state: STATE, purpose: 'login' });
      const [status, certificate] = await askTls('state=wrong', { rejectUnauthorized: false });
      expect(status).toBe(400);
      expect(certificate?.checkIP('127.0.0.1')).toBe('127.0.0.1');
    });

    it('closing ends an unfinished handshake before the handshake timeout does', async () => {
      listener = await listenForCallback({ redirectUri, state: STATE, purpose: 'login' });
      const said = vi.spyOn(HttpsServer.prototype, 'emit');
      const hungUp = hungUpOn(await open());
      await listener.close();
      await hungUp;
      const events: unknown[][] = said.mock.calls;
      said.mockRestore();
      const reasons = events.filter(([event]) => event === 'tlsClientError').map(([, error]) => error);
      expect(reasons).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
    });
  });
});

describe('the page after the bank', () => {
  const DECIDED = 'psd2 now asks the bank what you decided.';
  const RECORDED = 'psd2 now asks the bank what it recorded.';
  afterEach(() => listener.close());

  it.each([
    ['login', 'code=1', 'Thank you, your answer has arrived', 'psd2 now completes the login at the bank.'],
    ['login', 'error=access_denied', 'You did not allow the access', 'psd2 has no access to your accounts.'],
    ['login', 'error=server_error', 'The login was not completed', BANK_ERROR],
    ['login', '', 'The login was not completed', BANK_ERROR],
    ['login', 'code=', 'The login was not completed', BANK_ERROR],
    ['authorisation', '', 'Thank you, you are back from the bank', DECIDED],
    ['authorisation', 'error=access_denied', 'You did not authorise', RECORDED],
    ['authorisation', 'error=server_error', 'The authorisation was not completed', BANK_ERROR],
  ] as const)('after %s with "%s" the customer reads "%s"', async (purpose, query, title, text) => {
    await listen(purpose);
    const answer = await ask(`/callback?state=${STATE}&${query}`);
    expect(answer.status).toBe(200);
    expect(readIn(answer)).toEqual([title, text, CLOSE]);
    expect(answer.body).toContain(`<title>${title} · psd2</title>`);
  });

  it('the pages of success, refusal and failure have different pictures', async () => {
    const pictures = [];
    for (const query of ['code=1', 'error=access_denied', 'error=server_error']) {
      await listen('login');
      pictures.push(pictureIn(await ask(`/callback?state=${STATE}&${query}`)));
      await listener.close();
    }
    for (const picture of pictures) expect(picture).toMatch(/^(<(circle|path) [^<>]+\/>){2}$/);
    expect(new Set(pictures)).toHaveProperty('size', 3);
  });
});
