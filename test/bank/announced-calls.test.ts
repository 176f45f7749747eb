import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../src/bank/call/call.ts';
import type { Announced, Turns } from '../../src/bank/ports/call.ts';
import { Psd2Error } from '../../src/errors.ts';
import { withOpenssl } from '../certificates/openssl.ts';
import { freePort } from '../support/free-port.ts';
import { refusal, scaRequired, success } from './answers.ts';
import { PLAIN_FACTS, useClients } from './client.ts';
import { useRecordedBank, type WrittenAnswer } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const put: BankCall = { method: 'PUT', path: '/x', facts: PLAIN_FACTS, body: {}, transactionId };

/** What an announced call reports of itself. */
class Journal implements Announced {
  readonly steps: string[] = [];

  async beforeFirstByte() {
    this.steps.push(`first byte after ${recorded.received.length} requests`);
  }

  async notBegun() {
    this.steps.push('not begun');
  }

  async turnedAway() {
    this.steps.push('turned away');
  }
}

/** Sends a call that is announced to a journal. @returns what the journal was told */
async function stepsOf(answer: WrittenAnswer | 'cut before the answer'): Promise<string[]> {
  recorded.expect('PUT', '/x', answer);
  const journal = new Journal();
  const call = openClient().exchange({ ...put, beforeSend: async () => journal });
  if (answer === 'cut before the answer') await expect(call).rejects.toThrow('the connection was lost');
  else expect((await call).status).toBe(answer.status);
  return journal.steps;
}

const LEFT = 'first byte after 0 requests';

describe('a call that is announced', () => {
  it.each([401, 420, 429])(
    'the journal learns that the bank turned the call away with %i',
    async (status) => {
      expect(await stepsOf(refusal(status))).toEqual([LEFT, 'turned away']);
    },
  );

  it.each<[string, WrittenAnswer | 'cut before the answer']>([
    ['the bank did it', success()],
    ['the bank refused it after a look', refusal(400)],
    ['the bank failed', refusal(500)],
    ['something else answered 401', { status: 401, body: '<html>' }],
    ['the bank asks for SCA with 401', scaRequired(401, 'r-1')],
    ['the answer was lost', 'cut before the answer'],
  ])('the journal is not told that the call had no effect if %s', async (_what, answer) => {
    expect(await stepsOf(answer)).toEqual([LEFT]);
  });

  it('the journal learns that nothing left if nothing listens at the bank', async () => {
    const baseUrl = `https://127.0.0.1:${await freePort()}`;
    const journal = new Journal();
    const call = openClient({ baseUrl }).exchange({ ...put, once: true, beforeSend: async () => journal });
    await expect(call).rejects.toMatchObject({ code: 'bank_unreachable' });
    expect(journal.steps).toEqual(['not begun']);
  });

  it.each([
    [undefined, false],
    ['bbbbbbbb-cccc-4ddd-8eee-ffffffffffff', true],
  ])('with the id of an earlier attempt (%j) it may have left before: %s', async (requestId, mayHaveLeft) => {
    const { exchange, observations } = openClient({ baseUrl: `https://127.0.0.1:${await freePort()}` });
    const call = exchange({ ...put, once: true, ...(requestId !== undefined && { requestId }) });
    await expect(call).rejects.toMatchObject({ code: 'bank_unreachable' });
    expect(observations).toMatchObject([{ mayHaveLeft }]);
    expect(observations[0]).not.toHaveProperty('begun');
  });

  it('a journal that wants to know nothing more is asked for nothing', async () => {
    recorded.expect('PUT', '/x', refusal(401));
    const { exchange } = openClient();
    expect((await exchange({ ...put, beforeSend: async () => ({}) })).status).toBe(401);
    const away = openClient({ baseUrl: `https://127.0.0.1:${await freePort()}` });
    const call = away.exchange({ ...put, once: true, beforeSend: async () => ({}) });
    await expect(call).rejects.toMatchObject({ code: 'bank_unreachable' });
  });

  const CONFIG = new Psd2Error('config', 'The stored payment is another one');
  const OVERTAKEN = new Psd2Error('overtaken', 'Another one works on it');
  it.each<[string, Error, string[]]>([
    ['if the journal cannot be written, it learns that nothing left', new RangeError('full'), ['not begun']],
    ['if psd2 refuses to send it, the journal learns that nothing left', CONFIG, ['not begun']],
    ['if another psd2 has taken over the flow, its journal is left alone', OVERTAKEN, []],
  ])('%s', async (_what, error, steps) => {
    const journal = new Journal();
    journal.beforeFirstByte = () => Promise.reject(error);
    const call = openClient().exchange({ ...put, beforeSend: async () => journal });
    await expect(call).rejects.toBe(error);
    expect([journal.steps, recorded.received]).toEqual([steps, []]);
  });
});

describe("the operator's Ctrl-C", () => {
  it('a call that Ctrl-C ends is observed as interrupted', async () => {
    const stop = new AbortController();
    const { exchange, observations } = openClient({ signal: stop.signal });
    const beforeFirstByte = async () => stop.abort(new Error('Ctrl-C'));
    const call = exchange({ ...put, beforeSend: async () => ({ beforeFirstByte }) });
    await expect(call).rejects.toThrow('Ctrl-C');
    expect(observations).toMatchObject([{ outcome: 'interrupted' }]);
    expect(recorded.received).toEqual([]);
  });

  it('a call whose turn does not come is not sent, unless it is always made', async () => {
    const ended = new Error('no turn any more');
    const pace: Turns = {
      turn: () => Promise.reject(ended),
      slowDown: async () => {},
      goOn: async () => {},
    };
    const { exchange } = openClient({ pace });
    await expect(exchange(put)).rejects.toBe(ended);
    expect(recorded.received).toEqual([]);
    recorded.expect('PUT', '/x', success());
    expect((await exchange({ ...put, interruptible: 'never' })).status).toBe(200);
  });
});

describe('the pace of all calls', () => {
  it.each<[string, WrittenAnswer, string]>([
    ['420', { status: 420 }, 'slower: null'],
    ['429 with a delay', { status: 429, headers: { 'retry-after': '2' } }, 'slower: 2000'],
    ['429 with a long delay', { status: 429, headers: { 'retry-after': '3600' } }, 'slower: 30000'],
    ['503', { status: 503 }, 'on'],
    ['200', success(), 'on'],
  ])('after %s the pace is told', async (_what, answer, told) => {
    recorded.expect('PUT', '/x', answer);
    const heard: string[] = [];
    const pace: Turns = {
      turn: async () => {},
      slowDown: async (asked) => void heard.push(`slower: ${asked}`),
      goOn: async () => void heard.push('on'),
    };
    await openClient({ pace }).exchange(put);
    expect(heard).toEqual([told]);
  });
});

describe('what is observed of a call', () => {
  it('the time that a call took is from its start to its end', async () => {
    recorded.expect('PUT', '/x', success());
    let time = Date.now();
    const now = () => {
      time += 5;
      return new Date(time);
    };
    const { exchange, observations } = openClient({ now });
    await exchange(put);
    const [{ milliseconds = 0 } = {}] = observations;
    expect(milliseconds).toBeGreaterThan(0);
    expect(milliseconds).toBeLessThan(100);
  });

  it('a call that moves money, without a token: it is not private, is irrevocable, and may have left', async () => {
    recorded.expect('PUT', '/x', success());
    const { exchange, observations } = openClient();
    await exchange({ ...put, irrevocable: true });
    expect(observations).toMatchObject([{ isPrivate: false, irrevocable: true, mayHaveLeft: true }]);
  });

  it.each([
    ['no answer comes', 'cut before the answer', 'no reply'],
    [
      'the answer has an unknown encoding',
      { status: 200, headers: { 'content-encoding': 'lost' } },
      'unusable',
    ],
  ] as const)('if %s, the call has left, and whose fault it is', async (_, answer, failureKind) => {
    recorded.expect('PUT', '/x', answer);
    const { exchange, observations } = openClient();
    await exchange(put).catch(() => undefined);
    expect(observations).toMatchObject([{ mayHaveLeft: true, failureKind }]);
  });

  it.each<[string, Error, string]>([
    ['what psd2 could not do', new RangeError('full'), 'own'],
    ['what psd2 refuses', new Psd2Error('config', 'The stored payment is another one'), 'own'],
    ['what the bank answered before', new Psd2Error('bank_answer', 'No JSON'), 'unusable'],
  ])('a call did not leave because of %s, and that is told', async (_, error, failureKind) => {
    const { exchange, observations } = openClient();
    const beforeFirstByte = () => Promise.reject(error);
    await exchange({ ...put, beforeSend: async () => ({ beforeFirstByte }) }).catch(() => undefined);
    expect(observations).toMatchObject([{ mayHaveLeft: false, failureKind }]);
  });

  it('a call that ends well has no fault', async () => {
    recorded.expect('PUT', '/x', success());
    const { exchange, observations } = openClient();
    await exchange(put);
    expect(observations).toEqual([expect.not.objectContaining({ failureKind: expect.anything() })]);
  });
});

describe('the advice when the bank cannot be reached', () => {
  it('psd2 advises to try again after what may pass', async () => {
    const nobody = openClient({ baseUrl: `https://127.0.0.1:${await freePort()}` });
    await expect(nobody.exchange({ ...put, once: true })).rejects.toMatchObject({
      hint: 'Try again later. Check the base URL and the network.',
    });
  });

  it('psd2 advises the doctor after a lost connection, because the bank may have refused the certificate without a word', async () => {
    recorded.expect('PUT', '/x', 'cut before the answer');
    await expect(openClient().exchange(put)).rejects.toMatchObject({
      hint: 'Try again later. If that does not help, psd2 doctor finds out whether the bank refuses the QWAC.',
    });
  });

  it('psd2 advises to name the authority that it does not know', async () => {
    const stranger = withOpenssl((openssl) => openssl.authority('An authority that the bank does not use'));
    await expect(openClient({ ca: stranger.cert }).exchange(put)).rejects.toMatchObject({
      message: 'The bank cannot be trusted: its certificate comes from an authority that psd2 does not know',
      hint: expect.stringContaining('psd2 profile set --ca'),
    });
  });
});
