import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CallbackListener, listenForCallback } from '../../src/callback/listener.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, type Asked, askAt } from './requests.ts';

const STATE = 'n3Zr0hI9cQ0v8e7WbW0m1A';
const CLOSE = 'You can close this window and go back to the terminal.';
const OPEN_AGAIN = 'Go back to the terminal and open the address that it shows.';
const BANK_ERROR = 'The bank reported an error. The terminal shows more.';

let port: number;
let listener: CallbackListener;

async function listen(purpose: 'login' | 'authorisation'): Promise<void> {
  port = await freePort();
  const redirectUri = new URL(`http://127.0.0.1:${port}/callback`);
  listener = await listenForCallback({ redirectUri, state: STATE, purpose });
}

const ask = (path: string, asked?: Asked) => askAt(port, path, asked);

/** What the customer reads on a page, from top to bottom. */
function readIn({ body }: Answer): string[] {
  return [...body.matchAll(/<(?:h1|p)>([^<]*)<\/(?:h1|p)>/g)].map(([, text = '']) => text);
}

const pictureIn = ({ body }: Answer) => /<svg [^>]*>(.*)<\/svg>/.exec(body)?.[1];

describe('the page after the bank', () => {
  afterEach(() => listener.close());

  it.each([
    {
      purpose: 'login' as const,
      query: 'code=1',
      title: 'Thank you, your answer has arrived',
      text: 'psd2 now completes the login at the bank.',
    },
    {
      purpose: 'login' as const,
      query: 'error=access_denied',
      title: 'You did not allow the access',
      text: 'psd2 has no access to your accounts.',
    },
    {
      purpose: 'login' as const,
      query: 'error=server_error',
      title: 'The login was not completed',
      text: BANK_ERROR,
    },
    { purpose: 'login' as const, query: '', title: 'The login was not completed', text: BANK_ERROR },
    { purpose: 'login' as const, query: 'code=', title: 'The login was not completed', text: BANK_ERROR },
    {
      purpose: 'authorisation' as const,
      query: '',
      title: 'Thank you, you are back from the bank',
      text: 'psd2 now asks the bank what you decided.',
    },
    {
      purpose: 'authorisation' as const,
      query: 'error=access_denied',
      title: 'You did not authorise',
      text: 'psd2 now asks the bank what it recorded.',
    },
    {
      purpose: 'authorisation' as const,
      query: 'error=server_error',
      title: 'The authorisation was not completed',
      text: BANK_ERROR,
    },
  ])('after $purpose with "$query" the customer reads "$title"', async ({ purpose, query, title, text }) => {
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

describe('any other request', () => {
  beforeEach(() => listen('login'));
  afterEach(() => listener.close());

  const right = `/callback?code=1&state=${STATE}`;

  it.each([
    {
      situation: 'another state',
      path: '/callback?code=1&state=other',
      status: 400,
      title: 'Not the answer that psd2 waits for',
      text: 'This address does not belong to the step that this psd2 waits for. If another psd2 sent you to the bank, it asks the bank for your decision.',
    },
    {
      situation: 'a frame',
      path: right,
      asked: { headers: { 'Sec-Fetch-Dest': 'iframe' } },
      status: 403,
      title: 'Not the answer that psd2 waits for',
      text: 'It was requested from inside another page.',
    },
    {
      situation: 'another path',
      path: '/other',
      status: 404,
      title: 'Nothing here',
      text: 'psd2 waits at another address for the bank to send you back.',
    },
    {
      situation: 'a form that is sent',
      path: right,
      asked: { method: 'POST', body: 'code=1' },
      status: 405,
      title: 'Nothing to send here',
      text: 'psd2 accepts only the bank’s redirect.',
    },
    {
      situation: 'another host',
      path: right,
      asked: { headers: { Host: 'evil.example' } },
      status: 421,
      title: 'Nothing here',
      text: 'psd2 does not answer under this host name.',
    },
  ])('$situation gets status $status and a page that says why', async ({ path, asked, ...page }) => {
    const answer = await ask(path, asked);
    expect(answer.status).toBe(page.status);
    expect(readIn(answer)).toEqual([page.title, page.text, OPEN_AGAIN]);
    expect(answer.headers.allow).toBe(page.status === 405 ? 'GET' : undefined);
  });

  it('a second callback gets status 410 and a page that says that psd2 has the answer', async () => {
    await ask(right);
    const answer = await ask(right);
    expect(answer.status).toBe(410);
    expect(readIn(answer)).toEqual(['Already done', 'psd2 already has the bank’s answer.', CLOSE]);
  });

  it('a page that refuses a request looks like a failure', async () => {
    const refusal = await ask('/other');
    const failure = await ask(`/callback?error=server_error&state=${STATE}`);
    expect(pictureIn(refusal)).toBe(pictureIn(failure));
    expect(refusal.body).toContain('<main class="failed">');
  });

  it('a header whose value is "Host" does not count as a host', async () => {
    expect((await ask(right, { headers: { 'X-Forwarded': 'Host' } })).status).toBe(200);
  });
});

describe('every answer', () => {
  beforeEach(() => listen('login'));
  afterEach(() => listener.close());

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
