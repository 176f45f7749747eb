import { getEventListeners, once } from 'node:events';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/bank/call/pace.ts';
import { fetchCustomerId } from '../../src/bank/endpoints/customers.ts';
import { Psd2Error } from '../../src/errors.ts';
import { RSA, withOpenssl } from '../certificates/openssl.ts';
import { success } from './answers.ts';
import { useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

/** Issued by nobody that the bank trusts, and trusting nobody. */
const stranger = withOpenssl((openssl) => openssl.issued(openssl.authority('Nobody'), 'stranger', RSA));

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const get = { method: 'GET', path: '/x', transactionId } as const;
const put = { method: 'PUT', path: '/x', body: {}, transactionId } as const;
const MIB = 1024 * 1024;
/** Those of TLS before 1.2, too. */
const WEAK = 'ALL:@SECLEVEL=0';

describe('TLS', () => {
  it('refuses a bank whose certificate does not chain to the CA bundle, once and for all', async () => {
    const { exchange, sleeps } = openClient({ ca: stranger.cert });
    await expect(exchange(get)).rejects.toMatchObject({
      code: 'bank_unreachable',
      message: expect.stringContaining('its certificate does not chain to a trusted authority'),
      hint: 'Check the base URL and the certificates of the profile.',
      cause: { neverSent: true, passing: false },
    });
    expect(sleeps).toEqual([]);
    expect(recorded.received).toEqual([]);
  });

  it('refuses a bank whose certificate is for another host', async () => {
    const baseUrl = await recorded.listen(recorded.certificates.serverElsewhere);
    const { exchange, sleeps } = openClient({ baseUrl });
    await expect(exchange(put)).rejects.toMatchObject({
      code: 'bank_unreachable',
      message: 'The bank could not be reached: its certificate is not for 127.0.0.1',
      cause: { neverSent: true, passing: false },
    });
    expect(sleeps).toEqual([]);
    expect(recorded.received).toEqual([]);
  });

  it('says when the bank refuses our certificate, and sends nothing twice', async () => {
    const { exchange } = openClient({ qwac: stranger });
    await expect(exchange(put)).rejects.toMatchObject({
      code: 'bank_unreachable',
      message: expect.stringMatching(
        /it refused the TLS handshake with our QWAC|the connection was lost|the TLS handshake failed/,
      ),
      // In TLS 1.3 the client has finished its part by then.
      cause: { neverSent: false },
    });
    expect(recorded.received).toEqual([]);
  });

  it('speaks no version before 1.2, whatever Node was told', async () => {
    const { cert, key } = recorded.certificates.server;
    const old = tls.createServer({ cert, key, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: WEAK });
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
    try {
      // As NODE_OPTIONS can do it.
      tls.DEFAULT_MIN_VERSION = 'TLSv1';
      tls.DEFAULT_CIPHERS = WEAK;
      await once(old.listen(0, '127.0.0.1'), 'listening');
      const address = old.address();
      if (address === null || typeof address === 'string') throw new TypeError('no port');
      const { exchange } = openClient({ baseUrl: `https://127.0.0.1:${address.port}` });
      await expect(exchange(put)).rejects.toMatchObject({
        code: 'bank_unreachable',
        message: expect.stringContaining('psd2 needs TLS 1.2 or newer'),
        cause: { neverSent: true, passing: false },
      });
    } finally {
      Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS });
      old.close();
    }
  });

  it('keeps one connection for many calls', async () => {
    const { bank } = openClient();
    const ports = new Set<string>();
    for (let call = 0; call < 3; call += 1) {
      recorded.expect('GET', '/private/customers/customerid-info', success('{"customerid":"1"}'));
      await fetchCustomerId(bank, transactionId);
      ports.add(String(recorded.last.clientPort));
    }
    expect(ports.size).toBe(1);
  });

  it('resumes the TLS session when the bank has closed the connection', async () => {
    const { bank } = openClient();
    const answer = { ...success('{"customerid":"1"}'), headers: { connection: 'close' } };
    for (const resumed of [false, true, true]) {
      recorded.expect('GET', '/private/customers/customerid-info', answer);
      await fetchCustomerId(bank, transactionId);
      expect(recorded.last.resumed).toBe(resumed);
    }
  });
});

describe('a bank that does not answer', () => {
  it('is given up after the timeout; a GET is made again', async () => {
    recorded.expect('GET', '/x', 'no answer');
    recorded.expect('GET', '/x', success());
    const { exchange, observations } = openClient({ timeoutMs: 1000 });
    expect((await exchange(get)).status).toBe(200);
    expect(observations[0]?.outcome).toBe('it did not answer within 1 s');
  });

  it('may have acted on a PUT', async () => {
    recorded.expect('PUT', '/x', 'no answer');
    const { exchange } = openClient({ timeoutMs: 1000 });
    await expect(exchange(put)).rejects.toMatchObject({
      code: 'bank_unreachable',
      message: 'The bank could not be reached: it did not answer within 1 s',
      cause: { neverSent: false },
    });
  });
});

describe('an interruption', () => {
  const interrupted = new Psd2Error('interrupted', 'Interrupted');

  describe('of a call that is not to be interrupted', () => {
    const putting = (interruptible: 'until sent' | 'never') => ({ ...put, interruptible });

    it.each(['until sent', 'never'] as const)(
      'once it has left (%s) waits for its answer, and the signal is listened to no longer',
      async (interruptible) => {
        const controller = new AbortController();
        const { signal } = controller;
        recorded.expect('PUT', '/x', success());
        const { exchange } = openClient({ signal });
        const beforeSend = async () => ({
          // The first byte leaves right after this.
          beforeFirstByte: async () => void setImmediate(() => controller.abort(interrupted)),
        });
        expect((await exchange({ ...putting(interruptible), beforeSend })).status).toBe(200);
        expect(getEventListeners(signal, 'abort')).toEqual([]);
      },
    );

    it('before it leaves (until sent) keeps it from leaving', async () => {
      const controller = new AbortController();
      const { exchange } = openClient({ signal: controller.signal });
      const beforeSend = async () => {
        controller.abort(interrupted);
        return undefined;
      };
      await expect(exchange({ ...putting('until sent'), beforeSend })).rejects.toBe(interrupted);
      expect(recorded.received).toEqual([]);
    });

    it('is listened to no longer either where the bank can not be reached', async () => {
      const { signal } = new AbortController();
      const { exchange } = openClient({ signal, ca: stranger.cert });
      await expect(exchange(putting('until sent'))).rejects.toMatchObject({ code: 'bank_unreachable' });
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    it('before it is made (never) does not keep it from being made, even where calls have to wait', async () => {
      const controller = new AbortController();
      controller.abort(interrupted);
      recorded.expect('PUT', '/x', success());
      const pace = new Pace({
        clock: () => 0,
        sleep: async () => controller.signal.throwIfAborted(),
        random: () => 0.5,
      });
      await pace.slowDown(1_000);
      const { exchange } = openClient({ signal: controller.signal, pace });
      expect((await exchange(putting('never'))).status).toBe(200);
    });
  });

  it('before the call neither announces nor sends it', async () => {
    const controller = new AbortController();
    controller.abort(interrupted);
    const announced: unknown[] = [];
    const { exchange, observations } = openClient({ signal: controller.signal });
    const call = exchange({ ...put, beforeSend: async (intent) => void announced.push(intent) });
    await expect(call).rejects.toBe(interrupted);
    expect({ announced, observations, received: recorded.received }).toEqual({
      announced: [],
      observations: [],
      received: [],
    });
  });

  it('before the connection stands sends nothing', async () => {
    const controller = new AbortController();
    const { exchange } = openClient({ signal: controller.signal });
    let notBegun = 0;
    const beforeSend = async () => {
      controller.abort(interrupted);
      return {
        notBegun: async () => {
          notBegun += 1;
        },
      };
    };
    await expect(exchange({ ...put, beforeSend })).rejects.toBe(interrupted);
    expect(recorded.received).toEqual([]);
    expect(notBegun).toBe(1);
  });

  it('while the bank is at it ends the wait, and nothing is made again', async () => {
    const controller = new AbortController();
    recorded.expect('GET', '/x', 'no answer');
    const { exchange, sleeps } = openClient({ signal: controller.signal });
    const call = exchange(get);
    const ended = expect(call).rejects.toBe(interrupted);
    await recorded.nextRequest();
    controller.abort(interrupted);
    await ended;
    expect(sleeps).toEqual([]);
  });
});

describe('the size of an answer', () => {
  it('may be 32 MiB', async () => {
    recorded.expect('GET', '/x', { status: 200, body: Buffer.alloc(32 * MIB, ' ') });
    expect((await openClient().exchange(get)).body.length).toBe(32 * MIB);
  });

  it('may not be more', async () => {
    recorded.expect('GET', '/x', { status: 200, body: Buffer.alloc(32 * MIB + 1, ' ') });
    const { exchange, sleeps } = openClient();
    await expect(exchange(get)).rejects.toMatchObject({
      code: 'bank_answer',
      message: "The bank's answer to GET /x is larger than 32 MiB",
    });
    expect(sleeps).toEqual([]);
  });
});

it('repeated headers of an answer are joined, names in lower case', async () => {
  recorded.expect('GET', '/x', { status: 200, headers: { 'X-Some': ['a', 'b'] } });
  expect((await openClient().exchange(get)).headers['x-some']).toBe('a, b');
});
