import { getEventListeners, once } from 'node:events';
import tls from 'node:tls';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { GIVEN_KEY, withOpenssl } from '../certificates/openssl.ts';
import { success } from './answers.ts';
import { PLAIN_FACTS, useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

/** The bank does not trust its issuer, and it does not trust the bank's. */
const stranger = withOpenssl((openssl) =>
  openssl.issuedFor(openssl.authority('Nobody'), 'stranger', GIVEN_KEY),
);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const get = { method: 'GET', path: '/x', facts: PLAIN_FACTS, transactionId } as const;
const put = { method: 'PUT', path: '/x', facts: PLAIN_FACTS, body: {}, transactionId } as const;
const MIB = 1024 * 1024;
/** Includes the ciphers of TLS versions before 1.2. */
const WEAK = 'ALL:@SECLEVEL=0';

describe('TLS', () => {
  it('psd2 refuses a bank whose certificate is for another host', async () => {
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

  it("psd2 speaks no TLS before 1.2, whatever Node's settings", async () => {
    const { cert, key } = recorded.certificates.server;
    const old = tls.createServer({ cert, key, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: WEAK });
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
    try {
      // NODE_OPTIONS can set these too.
      tls.DEFAULT_MIN_VERSION = 'TLSv1';
      tls.DEFAULT_CIPHERS = WEAK;
      await once(old.listen(0, '127.0.0.1'), 'listening');
      const address = old.address();
      if (address === null || typeof address === 'string') throw new TypeError('The server has no port');
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

  it('psd2 resumes the TLS session after the bank closed the connection', async () => {
    const { bank } = openClient();
    const answer = { ...success('{"customerid":"1"}'), headers: { connection: 'close' } };
    for (const resumed of [false, true, true]) {
      recorded.expect('GET', '/private/customers/customerid-info', answer);
      await bank.login.whose(transactionId);
      expect(recorded.last.resumed).toBe(resumed);
    }
  });
});

describe('an interruption', () => {
  const interrupted = new Psd2Error('interrupted', 'Interrupted');

  describe('an interruption of a call that must not be interrupted', () => {
    const putting = (interruptible: 'until sent' | 'never') => ({ ...put, interruptible });

    it.each(['until sent', 'never'] as const)(
      'a call that has left (%s) waits for its answer, and psd2 stops listening to the signal',
      async (interruptible) => {
        const controller = new AbortController();
        const { signal } = controller;
        recorded.expect('PUT', '/x', success());
        const { exchange } = openClient({ signal });
        const beforeSend = async () => ({
          // The first byte leaves immediately after this.
          beforeFirstByte: async () => void setImmediate(() => controller.abort(interrupted)),
        });
        expect((await exchange({ ...putting(interruptible), beforeSend })).status).toBe(200);
        expect(getEventListeners(signal, 'abort')).toEqual([]);
      },
    );

    it('a call interrupted before it leaves (until sent) does not leave', async () => {
      const controller = new AbortController();
      const { exchange } = openClient({ signal: controller.signal });
      const beforeSend = async () => {
        controller.abort(interrupted);
        return undefined;
      };
      await expect(exchange({ ...putting('until sent'), beforeSend })).rejects.toBe(interrupted);
      expect(recorded.received).toEqual([]);
    });

    it('psd2 also stops listening to the signal if it cannot reach the bank', async () => {
      const { signal } = new AbortController();
      const { exchange } = openClient({ signal, ca: stranger.cert });
      await expect(exchange(putting('until sent'))).rejects.toMatchObject({ code: 'bank_unreachable' });
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });
  });

  it('psd2 neither announces nor sends a call that was already interrupted', async () => {
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

  it('psd2 sends nothing if interrupted before the connection is open', async () => {
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

  it('an interruption while the bank works ends the wait, and psd2 does not retry', async () => {
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

it('an answer can be 32 MiB long', async () => {
  recorded.expect('GET', '/x', { status: 200, body: Buffer.alloc(32 * MIB, ' ') });
  expect((await openClient().exchange(get)).body.length).toBe(32 * MIB);
});
