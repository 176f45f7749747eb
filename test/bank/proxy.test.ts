import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/bank/transport/connection.ts';
import { EC, withOpenssl } from '../certificates/openssl.ts';
import { type ConnectProxy, openProxy, type ProxyOptions } from '../e2e/support/proxy.ts';
import { freePort } from '../support/free-port.ts';
import { closed, never, PUT, portOf, TIMEOUT_MS, useRawBank } from './raw-bank.ts';

// Tests which proxy psd2 uses, and what it does and says if the proxy does not open a tunnel (command contract, "Proxies").

const bank = useRawBank();
const NAMES = ['https_proxy', 'all_proxy', 'http_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
const before = new Map(NAMES.map((name) => [name, process.env[name]]));

/** Sets the variables about proxies, and removes all others of them. */
function setEnvironment(variables: Record<string, string>): void {
  for (const name of NAMES) delete process.env[name];
  Object.assign(process.env, variables);
}

beforeEach(() => setEnvironment({}));
afterEach(() => {
  setEnvironment({});
  for (const [name, value] of before) if (value !== undefined) process.env[name] = value;
});

describe('the proxy that the environment names', () => {
  const chosen = async (variables: Record<string, string>, origin = 'https://bank.example') => {
    setEnvironment(variables);
    return (await proxyFor(new URL(origin)))?.href;
  };

  it.each([
    [{}, undefined],
    [{ HTTPS_PROXY: '' }, undefined],
    [{ HTTPS_PROXY: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ https_proxy: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ ALL_PROXY: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ all_proxy: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ HTTP_PROXY: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ http_proxy: 'http://a.example:1' }, 'http://a.example:1/'],
    [{ HTTPS_PROXY: 'https://a.example:1' }, 'https://a.example:1/'],
    [{ HTTPS_PROXY: 'http://u:p@a.example:1' }, 'http://u:p@a.example:1/'],
    // Without a scheme, as in curl.
    [{ HTTPS_PROXY: 'a.example:1' }, 'http://a.example:1/'],
    // The most specific variable counts, and lower case comes first.
    [{ HTTPS_PROXY: 'http://a.example', ALL_PROXY: 'http://b.example' }, 'http://a.example/'],
    [{ ALL_PROXY: 'http://b.example', HTTP_PROXY: 'http://c.example' }, 'http://b.example/'],
    [{ HTTPS_PROXY: '', HTTP_PROXY: 'http://c.example' }, 'http://c.example/'],
    [{ HTTPS_PROXY: 'http://a.example', http_proxy: 'http://c.example' }, 'http://a.example/'],
    [{ HTTPS_PROXY: 'http://a.example', https_proxy: 'http://d.example' }, 'http://d.example/'],
  ])('for %j psd2 uses %s', async (variables, proxy) => {
    expect(await chosen(variables)).toBe(proxy);
  });

  it.each([
    ['bank.example', 'https://bank.example', false],
    ['*', 'https://bank.example', false],
    ['.example', 'https://bank.example', false],
    ['other.example, bank.example', 'https://bank.example', false],
    ['other.example', 'https://bank.example', true],
    ['bank.example:443', 'https://bank.example', false],
    ['bank.example:8443', 'https://bank.example:8443', false],
    ['bank.example:8443', 'https://bank.example', true],
  ])(
    'with NO_PROXY=%s, the answer for %s whether psd2 uses the proxy is %s',
    async (hosts, origin, isUsed) => {
      for (const name of ['HTTPS_PROXY', 'HTTP_PROXY']) {
        expect(await chosen({ [name]: 'http://a.example:1', NO_PROXY: hosts }, origin)).toBe(
          isUsed ? 'http://a.example:1/' : undefined,
        );
      }
    },
  );

  it.each(['socks5://a.example:1', 'http://', 'http://a b', 'ftps+https://a.example', 'httpsx://a.example'])(
    'psd2 refuses the proxy %j and does not go around it',
    async (address) => {
      await expect(chosen({ HTTPS_PROXY: address })).rejects.toMatchObject({
        code: 'config',
        message: 'The proxy that the environment names is not an http or https URL',
        hint: 'Check HTTPS_PROXY. NO_PROXY names the hosts that need no proxy.',
      });
    },
  );

  it('an odd address does not matter for a host that needs no proxy', async () => {
    expect(await chosen({ HTTPS_PROXY: 'socks5://a.example:1', NO_PROXY: '*' })).toBeUndefined();
  });
});

/** Sends the request through the proxy at an address. Counts how often psd2 is about to write it. */
async function sendThrough(address: string, origin = bank.origin, timeoutMs = TIMEOUT_MS, signal = never) {
  setEnvironment({ HTTPS_PROXY: address });
  let begun = 0;
  const beforeFirstByte = async () => {
    begun += 1;
  };
  const answer = await bank
    .connect(origin)
    .send(PUT, timeoutMs, signal, { beforeFirstByte })
    .catch((error: unknown) => error);
  return { answer, begun };
}

describe('a request through a proxy', () => {
  const proxies: ConnectProxy[] = [];
  const proxyWith = async (options?: ProxyOptions) => {
    const proxy = await openProxy(options);
    proxies.push(proxy);
    return proxy;
  };
  const withUser = (proxy: ConnectProxy, user: string) => proxy.url.replace('//', `//${user}@`);
  afterEach(async () => {
    // The tunnels must end before their proxy.
    await bank.requests();
    for (const proxy of proxies.splice(0)) await proxy.close();
  });

  it('psd2 asks the proxy only for a tunnel to the bank, and sends each request once', async () => {
    const proxy = await proxyWith();
    expect(await sendThrough(proxy.url)).toMatchObject({ answer: { status: 200 }, begun: 1 });
    const { host } = bank.origin;
    expect(proxy.asked).toEqual([`CONNECT ${host}\nhost\n${host}\nconnection\nclose`]);
    // The tunnel shows the proxy neither the request nor its secret.
    expect(proxy.passed().toString('latin1')).not.toMatch(/PUT|secret/);
    expect(await bank.requests()).toEqual([1]);
  });

  it.each([
    ['user:secret', 'user:secret'],
    ['user', 'user:'],
    [':secret', ':secret'],
    ['us%40er:p%3Ass%20w%C3%B6rd', 'us@er:p:ss wörd'],
    ['100%:secret', '100%:secret'],
  ])('for the credentials %s of its address, the proxy gets %j', async (user, credentials) => {
    const proxy = await proxyWith();
    expect(await sendThrough(withUser(proxy, user))).toMatchObject({ answer: { status: 200 } });
    expect(proxy.asked[0]?.split('\n')).toContain(`Basic ${Buffer.from(credentials).toString('base64')}`);
    expect(proxy.asked[0]?.split('\n')).toContain('proxy-authorization');
    expect(bank.heard.join('')).not.toMatch(/proxy-authorization/i);
  });

  it.each([407, 502])(
    'if the proxy answers %i, nothing leaves and psd2 does not try again',
    async (status) => {
      const proxy = await proxyWith({ status });
      const { answer, begun } = await sendThrough(withUser(proxy, 'user:secret'));
      expect(answer).toMatchObject({
        message: `the proxy ${new URL(proxy.url).host} refused the connection (HTTP ${status})`,
        hint: expect.stringContaining('HTTPS_PROXY'),
        neverSent: true,
        passing: false,
        cause: { message: `HTTP ${status}` },
      });
      expect(String(answer)).not.toContain('secret');
      expect(begun).toBe(0);
      expect(proxy.asked).toHaveLength(1);
      expect(bank.heard).toEqual([]);
    },
  );

  it('the tunnel to a bank without a port in its address goes to port 443', async () => {
    const proxy = await proxyWith({ status: 502 });
    await sendThrough(proxy.url, new URL('https://bank.example'));
    expect(proxy.asked[0]).toMatch(/^CONNECT bank\.example:443\n/);
  });

  it('psd2 does not ask a proxy that it does not trust', async () => {
    const pair = withOpenssl((openssl) =>
      openssl.issued(openssl.authority('Proxies'), 'proxy', EC, ['IP:127.0.0.1']),
    );
    const proxy = await proxyWith({ pem: pair });
    const { answer, begun } = await sendThrough(withUser(proxy, 'user:secret'));
    expect(answer).toMatchObject({
      message: expect.stringContaining('an authority that psd2 does not know'),
      neverSent: true,
      passing: false,
    });
    expect([begun, proxy.asked, proxy.certificates]).toEqual([0, [], []]);
  });

  it('psd2 says that the proxy does not listen, and that a second try may succeed', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    expect(await sendThrough(`http://${host}`)).toMatchObject({
      answer: {
        message: `nothing listens at ${host}, the proxy`,
        neverSent: true,
        passing: true,
        cause: { code: 'ECONNREFUSED' },
      },
      begun: 0,
    });
  });
});

describe('a proxy that misbehaves', () => {
  /** Opens a proxy that does `work` with each connection, after the whole CONNECT has arrived. */
  const openOdd = async (work: (socket: Socket) => void) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      let heard = '';
      socket
        .on('error', () => {})
        .on('data', (bytes) => {
          heard += bytes;
          if (heard.endsWith('\r\n\r\n')) work(socket);
        });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return {
      url: `http://127.0.0.1:${portOf(server)}`,
      /** Resolves when psd2 has closed all its connections. */
      left: async () => {
        await Promise.all(sockets.map(closed));
        server.close();
      },
    };
  };

  it('after a refusal psd2 closes the connection to the proxy, even if the proxy keeps it open', async () => {
    const proxy = await openOdd((socket) => socket.write('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const { answer } = await sendThrough(proxy.url);
    expect(answer).toMatchObject({ message: expect.stringContaining('(HTTP 403)'), neverSent: true });
    await proxy.left();
  });

  it('an interim answer of the proxy is skipped', async () => {
    const interim = ['100 Continue', '103 Early Hints']
      .map((status) => `HTTP/1.1 ${status}\r\n\r\n`)
      .join('');
    const proxy = await openOdd((socket) => socket.write(`${interim}HTTP/1.1 403 Forbidden\r\n\r\n`));
    const { answer } = await sendThrough(proxy.url);
    expect(answer).toMatchObject({ message: expect.stringContaining('(HTTP 403)'), neverSent: true });
    await proxy.left();
  });

  const ssh = (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n');
  const endless = (socket: Socket) => socket.write(`HTTP/1.1 200 ${'a'.repeat(128 * 1024)}`);
  const noTls = (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n');
  it.each([
    ['closes the connection', (socket: Socket) => socket.destroy(), 'the connection could not be made', true],
    ['answers with something else than HTTP', ssh, 'its answer is not valid HTTP', false],
    ['answers with an endless head', endless, 'its answer has more than 16 KiB of headers', false],
    ['opens a tunnel to something that speaks no TLS', noTls, 'does not speak TLS', false],
  ] as const)('if the proxy %s, nothing leaves', async (_, work, message, passing) => {
    const proxy = await openOdd(work);
    expect(await sendThrough(proxy.url)).toMatchObject({
      answer: { message: expect.stringContaining(message), neverSent: true, passing },
      begun: 0,
    });
    await proxy.left();
  });

  it('psd2 does not wait longer than the time limit for a tunnel, and then gives up the connection', async () => {
    const proxy = await openOdd(() => {});
    expect(await sendThrough(proxy.url, bank.origin, 200)).toMatchObject({
      answer: { message: 'it did not answer within 0.2 s', neverSent: true, passing: true },
      begun: 0,
    });
    await proxy.left();
  });

  it('Ctrl-C ends the wait for a tunnel and the connection to the proxy', async () => {
    const controller = new AbortController();
    const proxy = await openOdd(() => controller.abort());
    expect(await sendThrough(proxy.url, bank.origin, TIMEOUT_MS, controller.signal)).toMatchObject({
      answer: { message: 'interrupted', neverSent: true, passing: false },
      begun: 0,
    });
    await proxy.left();
  });

  it('psd2 gives up a handshake within the tunnel at the time limit', async () => {
    const proxy = await openOdd((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    expect(await sendThrough(proxy.url, bank.origin, 200)).toMatchObject({
      answer: { message: 'it did not answer within 0.2 s', neverSent: true },
      begun: 0,
    });
    await proxy.left();
  });
});
