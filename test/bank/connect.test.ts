import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectToBank } from '../../src/bank/transport/connection.ts';
import { ownAddressTowards } from '../../src/bank/transport/own-address.ts';
import { freePort } from '../support/free-port.ts';
import { thrownBy } from '../support/thrown.ts';
import { closed, made, never, OK, PUT, qwac, TIMEOUT_MS, useRawBank } from './raw-bank.ts';

// Tests what psd2 checks before it connects, how a call ends that the bank never sees, and what psd2 knows about the first byte
// of a request: when it leaves, and whether it has left.

const bank = useRawBank();

/** Sends the request. @param beforeFirstByte the hook before its first byte */
const send = (beforeFirstByte?: () => Promise<void>) =>
  bank.connection.send(PUT, TIMEOUT_MS, never, { ...(beforeFirstByte && { beforeFirstByte }) });
/** How often these bytes are the request. */
const requestsIn = (text: string | undefined) => (text ?? '').split('PUT /x').length - 1;

describe('what psd2 needs for a connection', () => {
  const origin = new URL('https://127.0.0.1:1');
  afterEach(() => vi.unstubAllGlobals());

  it.each(['', 'no PEM', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', made.client.key])(
    'psd2 refuses a CA bundle without a certificate, and does not fall back to the system’s authorities',
    (ca) => {
      expect(thrownBy(() => connectToBank(origin, qwac, ca))).toMatchObject({
        code: 'certificate',
        message: 'The CA bundle is not a list of PEM certificates',
        hint: 'Check PSD2_CA or the profile. Each certificate begins with -----BEGIN CERTIFICATE-----.',
        cause: expect.any(Error),
      });
    },
  );

  it('without a CA bundle psd2 trusts the authorities of the system, which do not know the test bank', async () => {
    const connection = connectToBank(bank.origin, qwac, undefined);
    await expect(connection.send(PUT, TIMEOUT_MS, never)).rejects.toMatchObject({
      message: expect.stringContaining('an authority that psd2 does not know'),
      neverSent: true,
    });
    await connection.close();
  });

  it('who closes the connection ends those to other hosts of the bank, too', async () => {
    const sockets: Socket[] = [];
    bank.answer = (socket) => {
      sockets.push(socket);
      socket.write(OK);
    };
    const connection = bank.connect(origin);
    const answer = await connection.send({ ...PUT, origin: bank.origin.origin }, TIMEOUT_MS, never);
    expect([answer.status, sockets.length]).toEqual([200, 1]);
    await connection.close();
    await Promise.all(sockets.map(closed));
    expect(sockets.map((socket) => socket.closed)).toEqual([true]);
  });

  it('a bank with http, which is on this computer, is called without TLS and without the proxy', async () => {
    const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${await freePort()}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const connection = connectToBank(new URL(`http://127.0.0.1:${port}`), qwac, undefined);
    const answer = await connection.send(PUT, TIMEOUT_MS, never);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'PUT /x?secret=1']);
    await connection.close();
  });

  it('psd2 says before it connects that the limit on virtual memory is too small', () => {
    class Memory {
      constructor() {
        throw new RangeError('WebAssembly.Memory(): could not allocate memory');
      }
    }
    vi.stubGlobal('WebAssembly', { Memory });
    expect(thrownBy(() => connectToBank(origin, qwac, undefined))).toMatchObject({
      code: 'config',
      message: 'The limit on virtual memory (ulimit -v) is too small for WebAssembly',
      hint: 'Raise it to 16 GiB or more, or set NODE_OPTIONS=--disable-wasm-trap-handler.',
      cause: expect.any(RangeError),
    });
  });
});

describe('a call that the bank never sees', () => {
  it('a call that is interrupted before it begins opens no connection', async () => {
    const reason = new Error('Ctrl-C');
    const beforeFirstByte = vi.fn(async () => {});
    const sending = bank.connection.send(PUT, TIMEOUT_MS, AbortSignal.abort(reason), { beforeFirstByte });
    await expect(sending).rejects.toMatchObject({
      name: 'CallFailed',
      message: 'interrupted',
      neverSent: true,
      passing: false,
      cause: reason,
    });
    expect(beforeFirstByte).not.toHaveBeenCalled();
    expect(await bank.requests()).toEqual([]);
  });

  it('if nothing listens at the address of the bank, a second try may succeed', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    const sending = bank.connect(new URL(`https://${host}`)).send(PUT, TIMEOUT_MS, never);
    await expect(sending).rejects.toMatchObject({
      message: `nothing listens at ${host}`,
      neverSent: true,
      passing: true,
      hint: undefined,
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it.each([
    [{ target: '/x y' }, 'invalid request path'],
    [{ headers: { a: 'b\r\nc: d' } }, 'invalid a header'],
    [{ headers: { 'a b': 'c' } }, 'invalid header key'],
    [{ headers: { expect: '100-continue' } }, 'expect header not supported'],
  ])('psd2 says what is wrong with the request %j, which it cannot write', async (odd, reason) => {
    await expect(bank.connection.send({ ...PUT, ...odd }, TIMEOUT_MS, never)).rejects.toMatchObject({
      name: 'Psd2Error',
      code: 'usage',
      message: `The request cannot be written as HTTP: ${reason}`,
    });
    expect(await bank.requests()).toEqual([]);
  });
});

it('after its answer or its failure, a call no longer listens to the signal', async () => {
  const { signal } = new AbortController();
  await bank.connection.send(PUT, TIMEOUT_MS, signal);
  bank.answer = (socket) => socket.destroy();
  await expect(bank.connection.send(PUT, TIMEOUT_MS, signal)).rejects.toMatchObject({ neverSent: false });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('a call without a hook goes over the connection of an earlier one whose hook was called', async () => {
  const beforeFirstByte = vi.fn(async () => {});
  await send(beforeFirstByte);
  await send();
  expect(beforeFirstByte).toHaveBeenCalledTimes(1);
  expect(await bank.requests()).toEqual([2]);
});

it('the hook for a new connection is called again if the bank has closed the old one in the meantime', async () => {
  await send();
  const beforeFirstByte = vi.fn(async () => {}).mockImplementationOnce(() => bank.hangUp());
  expect(await send(beforeFirstByte)).toMatchObject({ status: 200 });
  expect(beforeFirstByte).toHaveBeenCalledTimes(2);
  expect(await bank.requests()).toEqual([1, 1]);
});

describe('the hook before the first byte', () => {
  const stop = new Error('not now');

  it('an error in the hook stops a request on a new connection, and nothing leaves', async () => {
    await expect(send(() => Promise.reject(stop))).rejects.toBe(stop);
    await bank.requests();
    expect(bank.heard.join('')).toBe('');
  });

  it('an error in the hook stops a request on a reused connection, and the next request succeeds', async () => {
    await send();
    await expect(send(() => Promise.reject(stop))).rejects.toBe(stop);
    expect(bank.heard.map(requestsIn)).toEqual([1]);
    expect(await send()).toMatchObject({ status: 200 });
    expect((await bank.requests()).reduce((sum, each) => sum + each)).toBe(2);
  });

  it('psd2 calls the hook once per request, after the handshake and before any byte', async () => {
    const before: number[] = [];
    for (let call = 0; call < 2; call += 1)
      await send(async () => void before.push(requestsIn(bank.heard[0])));
    expect(before).toEqual([0, 1]);
    expect(bank.heard.map(requestsIn)).toEqual([2]);
  });

  it('psd2 does not call the hook if it does not trust the bank', async () => {
    const stranger = connectToBank(bank.origin, qwac, made.stranger);
    const beforeFirstByte = vi.fn(async () => {});
    const sending = stranger.send(PUT, TIMEOUT_MS, never, { beforeFirstByte });
    await expect(sending).rejects.toMatchObject({ neverSent: true, passing: false });
    expect(beforeFirstByte).not.toHaveBeenCalled();
    await stranger.close();
  });

  it('an interruption in the hook stops the request before it leaves', async () => {
    const controller = new AbortController();
    const sending = bank.connection.send(PUT, TIMEOUT_MS, controller.signal, {
      beforeFirstByte: async () => controller.abort(),
    });
    await expect(sending).rejects.toMatchObject({ message: 'interrupted', neverSent: true });
    await bank.requests();
    expect(bank.heard.join('')).toBe('');
  });
});

describe('whether a byte has left', () => {
  it('if the bank has closed the connection, psd2 knows that nothing left and opens a new one', async () => {
    await send();
    await bank.hangUp();
    await send();
    expect(await bank.requests()).toEqual([1, 1]);
  });
});

it('a call that times out closes its connection, and the next call does not wait for it', async () => {
  // On a busy machine, to connect may take longer than the time of the call.
  await send();
  const silent: Socket[] = [];
  bank.answer = (socket) => silent.push(socket);
  const sending = bank.connection.send(PUT, 300, never);
  const late = { message: 'it did not answer within 0.3 s', neverSent: false, passing: true };
  await expect(sending).rejects.toMatchObject(late);
  bank.answer = (socket) => socket.write(OK);
  await send();
  const [first] = silent;
  if (first) await closed(first);
  expect(await bank.requests()).toEqual([2, 1]);
});

it('99 simultaneous calls have their own connections and get their own answers', async () => {
  bank.answer = (socket) => {
    const [, own = ''] = /PUT \/x\?(\d+) /.exec(bank.heardOn(socket)) ?? [];
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${own.length}\r\n\r\n${own}`);
  };
  const numbers = Array.from({ length: 99 }, (_, number) => String(number));
  const answers = await Promise.all(
    numbers.map((number) => bank.connection.send({ ...PUT, target: `/x?${number}` }, TIMEOUT_MS, never)),
  );
  expect(answers.map(({ body }) => body.toString())).toEqual(numbers);
});

it('the address towards a bank is the one of the route to it', async () => {
  expect(await ownAddressTowards(new URL('https://127.0.0.1:8443/x'))).toBe('127.0.0.1');
  expect(isIPv4(await ownAddressTowards(new URL('https://localhost')))).toBe(true);
});

it('a bank whose name is not known could not be reached', async () => {
  await expect(ownAddressTowards(new URL('https://nowhere.invalid'))).rejects.toMatchObject({
    code: 'bank_unreachable',
    message: 'The bank could not be reached: the host name nowhere.invalid is not known',
  });
});

it('without a way over IPv4, the bank file must name it', async () => {
  await expect(ownAddressTowards(new URL('https://[::1]:8443'))).rejects.toMatchObject({
    code: 'config',
    hint: 'Name it in the bank file, as psu.ip.',
  });
});
