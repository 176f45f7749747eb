import { EventEmitter, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveOnLoopback } from '../../src/callback/loopback-server.ts';
import { makeLoopbackCertificate } from '../../src/certificates/loopback.ts';
import { freePort } from '../support/free-port.ts';
import { askAt, openAt, openTlsAt, sayAt } from './requests.ts';

const GET = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';
const hello: RequestListener = (_, response) =>
  response.writeHead(200, { Connection: 'close', 'Content-Length': 5 }).end('hello');

function serve(uri: string, answer = hello): Promise<() => Promise<void>> {
  const url = new URL(uri);
  return serveOnLoopback(url, () => makeLoopbackCertificate([url.hostname]), answer);
}

/**
 * Lets the operating system refuse to listen: `refuse` gives the error for an address, or undefined to really listen there.
 * Returns the ports and addresses that the server asked for.
 */
function refuseToListen(refuse: (address: string) => Error | undefined): unknown[][] {
  const asked: unknown[][] = [];
  const listen = Server.prototype.listen;
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]) {
    asked.push(given);
    const error = refuse(String(given[1]));
    if (error === undefined) return Reflect.apply(listen, this, given);
    process.nextTick(() => this.emit('error', error));
    return this;
  });
  return asked;
}

const systemError = (code: string) => Object.assign(new Error(`listen ${code}`), { code });

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a server that cannot listen', () => {
  const busy = (port: number) => ({
    code: 'callback_port_busy',
    message: `Port ${port} of the redirect URI is in use by another psd2 or another program`,
  });

  it('the error for a busy port says how to choose another one', async () => {
    const port = await freePort();
    const stop = await serve(`http://127.0.0.1:${port}/callback`);
    await expect(serve(`http://127.0.0.1:${port}/callback`)).rejects.toMatchObject({
      ...busy(port),
      hint: `Choose another one that is registered at the bank, for example PSD2_REDIRECT_URI=http://127.0.0.1:${port + 1}/callback`,
      cause: expect.objectContaining({ code: 'EADDRINUSE' }),
    });
    await stop();
  });

  it.each([
    ['the user may not use the port', systemError('EACCES'), 'this user may not listen on that port'],
    ['the computer lacks the address', systemError('EADDRNOTAVAIL'), 'the system says EADDRNOTAVAIL'],
    ['the system gives no code', new Error('listen'), 'the system says unknown'],
  ])('the error says if %s', async (_, error, why) => {
    for (const host of ['127.0.0.1', 'localhost']) {
      refuseToListen(() => error);
      await expect(serve(`http://${host}:9000/callback`)).rejects.toMatchObject({
        code: 'config',
        message: `psd2 cannot listen at the redirect URI http://${host}:9000: ${why}`,
        hint: `Choose another one that is registered at the bank, for example PSD2_REDIRECT_URI=http://${host}:9001/callback`,
        cause: error,
      });
      vi.restoreAllMocks();
    }
  });

  it.each([
    ['http://127.0.0.1/back', 80, 'http://127.0.0.1:8910/back'],
    ['https://127.0.0.1/back', 443, 'https://127.0.0.1:8910/back'],
    ['http://127.0.0.1:1023/back', 1023, 'http://127.0.0.1:8910/back'],
    ['http://127.0.0.1:1024/back', 1024, 'http://127.0.0.1:1025/back'],
    ['http://127.0.0.1:65534/back', 65_534, 'http://127.0.0.1:65535/back'],
    ['http://127.0.0.1:65535/back', 65_535, 'http://127.0.0.1:8910/back'],
    // Browsers do not open port 10080.
    ['http://127.0.0.1:10079/back', 10_079, 'http://127.0.0.1:8910/back'],
  ])('%s means port %d, and the hint names %s', async (uri, port, other) => {
    const asked = refuseToListen(() => systemError('EADDRINUSE'));
    await expect(serve(uri)).rejects.toMatchObject({
      ...busy(port),
      hint: expect.stringMatching(new RegExp(`PSD2_REDIRECT_URI=${other}$`)),
    });
    expect(asked).toEqual([[port, '127.0.0.1']]);
  });
});

describe('the addresses of a server', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.1']],
    ['127.1.2.3', ['127.1.2.3']],
    ['[::1]', ['::1']],
    ['localhost', ['127.0.0.1', '::1']],
  ])('a server at %s listens at %j', async (host, addresses) => {
    const port = await freePort();
    const asked = refuseToListen(() => undefined);
    const stop = await serve(`http://${host}:${port}/`);
    expect(asked).toEqual(addresses.map((address) => [port, address]));
    for (const address of addresses) expect(await sayAt(port, GET, address)).toMatch(/hello$/);
    await stop();
  });

  it('without IPv6 on the computer, localhost is only 127.0.0.1', async () => {
    const port = await freePort();
    refuseToListen((address) => (address === '::1' ? systemError('EADDRNOTAVAIL') : undefined));
    const stop = await serve(`http://localhost:${port}/`);
    expect((await askAt(port, '/')).body).toBe('hello');
    await stop();
  });

  it.each(['EADDRINUSE', 'EACCES'])(
    'the server frees the first address of localhost if the second gives %s',
    async (code) => {
      const port = await freePort();
      refuseToListen((address) => (address === '::1' ? systemError(code) : undefined));
      await expect(serve(`http://localhost:${port}/`)).rejects.toMatchObject({ cause: { code } });
      vi.restoreAllMocks();
      const successor = createServer().listen(port, '127.0.0.1');
      await once(successor, 'listening');
      successor.close();
    },
  );

  it('the server notices that another program has the second address of localhost', async () => {
    const port = await freePort();
    const blocker = createServer().listen({ port, host: '::1', ipv6Only: true });
    await once(blocker, 'listening');
    await expect(serve(`http://localhost:${port}/`)).rejects.toMatchObject({ code: 'callback_port_busy' });
    blocker.close();
  });
});

describe('a server and its connections', () => {
  let port: number;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    port = await freePort();
  });
  afterEach(() => stop());

  /** Opens idle connections, one after the other. */
  async function openIdle(count: number, host?: string) {
    const sockets = [];
    for (let number = 0; number < count; number++) sockets.push(await openAt(port, host));
    return sockets;
  }

  it('the server keeps 16 connections, so the oldest of them still gets its answer', async () => {
    stop = await serve(`http://127.0.0.1:${port}/`);
    const [oldest, ...others] = await openIdle(15);
    // The answer shows that the server knows all of them.
    expect(await sayAt(port, GET)).toMatch(/hello$/);
    oldest?.write(GET);
    expect(oldest && (await text(oldest))).toMatch(/hello$/);
    for (const socket of others) socket.destroy();
  });

  it.each(['http', 'https'])(
    'over %s, the 17th connection ends the oldest one, whatever came and went before',
    async (scheme) => {
      stop = await serve(`${scheme}://127.0.0.1:${port}/`);
      const [gone] = await openIdle(1);
      gone?.destroy();
      const [oldest, ...others] = await openIdle(17);
      // A connection that took too long would get status 408.
      expect(oldest && (await text(oldest))).toBe('');
      for (const socket of others) socket.destroy();
    },
  );

  it('the server counts the connections to both addresses of localhost together', async () => {
    stop = await serve(`http://localhost:${port}/`);
    const [oldest, ...others] = [...(await openIdle(10)), ...(await openIdle(7, '::1'))];
    expect(oldest && (await text(oldest))).toBe('');
    for (const socket of others) socket.destroy();
  });

  it.each(['http', 'https'])(
    'over %s, idle connections do not end one whose answer is under way',
    async (scheme) => {
      const asked = new EventEmitter();
      const answered = once(asked, 'asked');
      stop = await serve(`${scheme}://127.0.0.1:${port}/`, (_, response) => asked.emit('asked', response));
      const connect = scheme === 'http' ? openAt(port) : openTlsAt(port);
      const customer = await connect;
      customer.write(GET);
      const [response]: ServerResponse[] = await answered;
      const [oldest, ...others] = await openIdle(16);
      expect(oldest && (await text(oldest))).toBe('');
      response?.writeHead(200, { Connection: 'close' }).end('done');
      expect(await text(customer)).toMatch(/done/);
      for (const socket of others) socket.destroy();
    },
  );

  it('the server continues if the system cannot give it a connection', async () => {
    const listening = vi.spyOn(Server.prototype, 'listen');
    stop = await serve(`http://127.0.0.1:${port}/`);
    const [server] = listening.mock.results.map(({ value }) => value);
    server.emit('error', systemError('EMFILE'));
    expect((await askAt(port, '/')).body).toBe('hello');
  });
});

describe('a server that stops', () => {
  let uri: string;

  beforeEach(async () => {
    uri = `http://127.0.0.1:${await freePort()}/`;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Serves one request, and gives the response that the test must end. */
  async function serveOne() {
    const asked = new EventEmitter();
    const answered = once(asked, 'asked');
    const stop = await serve(uri, (_, response) => asked.emit('asked', response));
    const page = fetch(uri).then((response) => response.text());
    const [response]: ServerResponse[] = await answered;
    if (response === undefined) throw new TypeError('No request came');
    return { stop, page, response };
  }

  it('the server stops even if a request never gets an answer', async () => {
    const { stop, page } = await serveOne();
    const hungUp = expect(page).rejects.toThrow('fetch failed');
    await stop();
    await hungUp;
  });

  it('the server finishes an answer before it stops, and then waits no longer', async () => {
    const { stop, page, response } = await serveOne();
    response.write('first half, ');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stopped = stop();
    await setImmediate();
    response.end('second half');
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
    expect(await page).toBe('first half, second half');
  });

  it('the server stops at once if all answers are sent', async () => {
    const stop = await serve(uri);
    await (await fetch(uri)).text();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
