import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../src/bank/call/call.ts';
import { freePort } from '../support/free-port.ts';
import { refusal, success } from './answers.ts';
import { PLAIN_FACTS, useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

// How an exchange makes calls again. repetition.test.ts has which calls, and after which answers.

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const get: BankCall = { method: 'GET', path: '/x', facts: PLAIN_FACTS, transactionId };
const put: BankCall = { method: 'PUT', path: '/x', facts: PLAIN_FACTS, body: {}, transactionId };

describe('a GET', () => {
  it.each([503, 420])('psd2 retries a GET after a pause if the answer is %i', async (status) => {
    recorded.expect('GET', '/x', { status });
    recorded.expect('GET', '/x', success());
    const { exchange, sleeps } = openClient();
    expect((await exchange(get)).status).toBe(200);
    expect(sleeps).toEqual([250]);
  });

  it.each(['cut before the answer', 'cut within the answer'] as const)(
    'psd2 retries a GET if the connection is %s',
    async (end) => {
      recorded.expect('GET', '/x', end);
      recorded.expect('GET', '/x', success());
      const { exchange, sleeps, observations } = openClient();
      expect((await exchange(get)).status).toBe(200);
      expect(sleeps).toHaveLength(1);
      expect(observations[0]?.outcome).toBe('the connection was lost');
    },
  );

  it('psd2 retries a GET at most three times, and doubles the pauses', async () => {
    for (let attempt = 0; attempt < 4; attempt += 1) recorded.expect('GET', '/x', { status: 503 });
    const { exchange, sleeps } = openClient();
    expect((await exchange(get)).status).toBe(503);
    expect(sleeps).toEqual([250, 500, 1000]);
  });

  it('psd2 reports each attempt of a GET with its own ids', async () => {
    recorded.expect('GET', '/x', { ...refusal(503), headers: { 'cb-apitrack-id': '0123456789' } });
    recorded.expect('GET', '/x', success());
    const { exchange, observations } = openClient();
    await exchange(get);
    const requestId = '012345678901234567890123';
    expect(observations).toMatchObject([
      { outcome: 503, requestId, apiTrackId: '0123456789', transactionId },
      { outcome: 200, requestId, apiTrackId: '0123456789', transactionId },
    ]);
    expect(observations[0]?.tppRequestId).not.toBe(observations[1]?.tppRequestId);
  });
});

describe('Retry-After', () => {
  it('Retry-After can be a date, by the clock of psd2', async () => {
    // The header has no fractions of a second.
    const now = new Date(Math.floor(Date.now() / 1000) * 1000);
    const inTenSeconds = new Date(now.getTime() + 10_000).toUTCString();
    recorded.expect('GET', '/x', { status: 503, headers: { 'retry-after': inTenSeconds } });
    recorded.expect('GET', '/x', success());
    const { exchange, sleeps } = openClient({ now: () => now });
    await exchange(get);
    expect(sleeps).toEqual([10_000]);
  });

  it('psd2 does not wait for a Retry-After of more than 30 seconds', async () => {
    recorded.expect('GET', '/x', { status: 420, headers: { 'retry-after': '31' } });
    const { exchange, sleeps } = openClient();
    expect((await exchange(get)).status).toBe(420);
    expect(sleeps).toEqual([]);
  });
});

describe('a call that changes something', () => {
  it.each(['cut before the answer', 'cut within the answer'] as const)(
    'psd2 does not retry it if the connection is %s',
    async (end) => {
      recorded.expect('PUT', '/x', end);
      const { exchange, sleeps } = openClient();
      await expect(exchange(put)).rejects.toMatchObject({
        code: 'bank_unreachable',
        message: 'The bank could not be reached: the connection was lost',
        tppRequestId: expect.any(String),
        transactionId,
        cause: { neverSent: false },
      });
      expect(sleeps).toEqual([]);
    },
  );

  it('psd2 retries it if it never left, at most three times', async () => {
    const baseUrl = `https://127.0.0.1:${await freePort()}`;
    const { exchange, sleeps, observations } = openClient({ baseUrl });
    await expect(exchange(put)).rejects.toMatchObject({
      code: 'bank_unreachable',
      message: `The bank could not be reached: nothing listens at ${new URL(baseUrl).host}`,
      cause: { neverSent: true },
    });
    expect(sleeps).toEqual([250, 500, 1000]);
    expect(new Set(observations.map(({ tppRequestId }) => tppRequestId)).size).toBe(4);
  });
});
