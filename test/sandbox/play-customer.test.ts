import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLoopbackCertificate } from '../../src/certificates/loopback.ts';
import { playCustomer } from '../../src/sandbox/player/play-customer.ts';
import { freePort } from '../support/free-port.ts';
import { type FakeBank, fakeBank, RESOURCE, type Served, serve, serveSite } from './fake-bank.ts';

const closing: (() => Promise<void>)[] = [];
let callbacks: string[];
let bank: FakeBank;
let site: Served;
let callback: Served;
let loginUrl: string;
let scaUrl: string;

/** The site of a bank that sends the customer to this address. */
async function siteOf(address: string): Promise<Served> {
  bank = fakeBank(address);
  const other = await serveSite(bank);
  closing.push(other.close);
  return other;
}

async function served(listener: RequestListener): Promise<Served> {
  const server = await serve(listener);
  closing.push(server.close);
  return server;
}

beforeEach(async () => {
  callbacks = [];
  callback = await served((request, response) => {
    callbacks.push(request.url ?? '');
    response.end('<title>Back</title>');
  });
  site = await siteOf(`${callback.origin}/callback`);
  loginUrl = `${site.origin}/login?request=L1`;
  scaUrl = `${site.origin}/sca-authorize/?resourceId=${RESOURCE}`;
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

describe('playCustomer on the customer site', () => {
  it('playCustomer logs in as the first customer shown, allows access, and delivers the callback once', async () => {
    const walk = await playCustomer(loginUrl);
    expect(walk).toEqual({
      finalUrl: `${callback.origin}/callback`,
      pages: ['Log in · Sandbox Bank', 'Allow access · Sandbox Bank', 'Back'],
      opened: true,
    });
    expect(bank.decisions).toEqual(['allow L1 1048262']);
    expect(callbacks).toEqual(['/callback?code=the-code&state=the-state']);
  });

  it.each([
    ['another computer', async () => 'https://tpp.example/back'],
    ['a port where nobody listens', async () => `http://127.0.0.1:${await freePort()}/back`],
  ])('playCustomer ends with the address of the browser if it is on %s', async (_, addressOf) => {
    const address = await addressOf();
    const other = await siteOf(address);
    expect(await playCustomer(`${other.origin}/login?request=L1`)).toMatchObject({
      finalUrl: `${address}?code=the-code&state=the-state`,
      opened: false,
    });
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });

  it('playCustomer does not mind a callback that fails after the decision', async () => {
    const failing = await served((_, response) => response.writeHead(500).end());
    const other = await siteOf(`${failing.origin}/back`);
    const { finalUrl } = await playCustomer(`${other.origin}/login?request=L1`);
    expect(finalUrl).toBe(`${failing.origin}/back`);
  });

  it('playCustomer refuses a login on the first page', async () => {
    const walk = await playCustomer(loginUrl, { refuse: true });
    expect(walk.pages).toEqual(['Log in · Sandbox Bank', 'Back']);
    expect(bank.decisions).toEqual(['refuse L1']);
    expect(callbacks).toEqual(['/callback?error=access_denied&state=the-state']);
  });

  it('playCustomer reports what the site says about a wrong password, without the password', async () => {
    const walk = playCustomer(loginUrl, { user: 'anna', password: 'wrong-secret' });
    const error = await walk.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'sandbox',
      message: `${site.origin}/login answered 422: User and password do not match.`,
    });
    expect(String(error)).not.toContain('wrong-secret');
  });

  it('playCustomer lists the customers when the given one does not exist', async () => {
    await expect(playCustomer(loginUrl, { user: 'nobody' })).rejects.toMatchObject({
      code: 'sandbox',
      message: 'The login page shows no password for nobody',
      hint: 'It has these users: anna, bruno.',
    });
  });

  it('playCustomer fails on an unknown request and on one that is already decided', async () => {
    await expect(playCustomer(`${site.origin}/login?request=other`)).rejects.toMatchObject({
      code: 'sandbox',
      message: `${site.origin}/login answered 404: This login is not open`,
    });
    await playCustomer(scaUrl);
    await expect(playCustomer(scaUrl)).rejects.toMatchObject({
      message: `${site.origin}/sca-authorize/ answered 410: You already decided this`,
    });
  });
});

describe('playCustomer elsewhere', () => {
  const page =
    (body: string): RequestListener =>
    (_, response) =>
      response.end(`<title>T</title>${body}`);

  it.each([
    'https://bank.example/login',
    'http://192.0.2.1/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'login',
    '',
  ])('playCustomer does not open %j', async (url) => {
    await expect(playCustomer(url)).rejects.toMatchObject({ code: 'sandbox' });
  });

  it('playCustomer does not follow a redirect to another computer, and shows nothing of its query', async () => {
    const { origin } = await served((_, response) =>
      response.writeHead(302, { Location: 'https://tpp.example/callback?code=secret' }).end(),
    );
    const error = await playCustomer(origin).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'sandbox', message: expect.stringContaining('https://tpp.example') });
    expect(String(error)).not.toContain('secret');
  });

  it('playCustomer fails on a page without a form', async () => {
    const { origin } = await served(page('<h1>Closed &amp; gone</h1>'));
    await expect(playCustomer(origin)).rejects.toMatchObject({
      code: 'sandbox',
      message: `${origin}/ has no form to continue with: Closed & gone`,
    });
  });

  it('playCustomer stops in a loop of redirects or of forms', async () => {
    const asked: string[] = [];
    const redirects = await served((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(303, { Location: '/again' }).end();
    });
    await expect(playCustomer(redirects.origin)).rejects.toMatchObject({
      code: 'sandbox',
      message: expect.stringContaining('more than 10'),
    });
    expect(asked).toHaveLength(10);
    const forms = await served(
      page('<form method=post><button name=decision value=allow>Yes</button></form>'),
    );
    await expect(playCustomer(forms.origin)).rejects.toMatchObject({
      message: expect.stringContaining('more than 10'),
    });
  });

  it('playCustomer submits what the form holds: decoded entities, the query, and GET forms too', async () => {
    const asked: string[] = [];
    const { origin } = await served((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.url?.startsWith('/go'))
        response.writeHead(303, { Location: `${callback.origin}/cb` }).end();
      else
        response.end(
          '<form action="/go"><input name=a value="1 &amp; &quot;2&quot;"><input type=submit name=no value=x>' +
            '<button name=d value=approve>Yes</button></form>',
        );
    });
    await playCustomer(origin);
    expect(asked).toEqual(['GET /', 'GET /go?a=1+%26+%222%22&d=approve']);
    expect(callbacks).toEqual(['/cb']);
  });

  it("playCustomer sends a host's cookies to that host only", async () => {
    const cookies: (string | undefined)[] = [];
    const { origin } = await served((request, response) => {
      cookies.push(request.headers.cookie);
      if (request.method === 'POST') response.writeHead(303, { Location: `${callbackSeen.origin}/` }).end();
      else {
        response.setHeader('Set-Cookie', ['a=1; HttpOnly', 'b="2"; Path=/', 'c=3; Max-Age=0']);
        response.end('<form method=post><button value=allow>Yes</button></form>');
      }
    });
    const callbackSeen = await served((request, response) => {
      cookies.push(request.headers.cookie);
      response.end();
    });
    await playCustomer(origin);
    expect(cookies).toEqual([undefined, 'a=1; b="2"', undefined]);
  });

  it('playCustomer delivers a callback over TLS with a self-signed certificate', async () => {
    const server = createTlsServer(await makeLoopbackCertificate(['127.0.0.1']), (request, response) => {
      callbacks.push(request.url ?? '');
      response.end('<title>Back</title>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const { origin } = await served((_, response) =>
      response.writeHead(303, { Location: `https://127.0.0.1:${port}/callback?code=1` }).end(),
    );
    expect((await playCustomer(origin)).finalUrl).toBe(`https://127.0.0.1:${port}/callback`);
    expect(callbacks).toEqual(['/callback?code=1']);
    server.closeAllConnections();
    server.close();
  });

  it('playCustomer fails if the callback is refused or nobody answers', async () => {
    const failing = await served((_, response) => response.writeHead(400).end('<h1>Wrong state</h1>'));
    const leads = await served((_, response) =>
      response.writeHead(303, { Location: `${failing.origin}/cb?code=secret` }).end(),
    );
    await expect(playCustomer(leads.origin)).rejects.toMatchObject({
      code: 'sandbox',
      message: `${failing.origin}/cb answered 400: Wrong state`,
    });
    await failing.close();
    closing.splice(closing.indexOf(failing.close), 1);
    await expect(playCustomer(leads.origin)).rejects.toMatchObject({
      code: 'sandbox',
      message: `${failing.origin}/cb does not answer`,
    });
  });

  it('playCustomer refuses an endless page', async () => {
    const { origin } = await served((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    await expect(playCustomer(origin)).rejects.toMatchObject({ message: expect.stringContaining('1 MiB') });
  });

  it("playCustomer stops with the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new Error('interrupted');
    const { origin } = await served(() => stop.abort(reason));
    await expect(playCustomer(origin, { signal: stop.signal })).rejects.toBe(reason);
  });
});
