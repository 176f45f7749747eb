import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { control, resetSandbox } from '../../../src/sandbox/control/control-client.ts';
import type { RunningSandbox } from '../../../src/sandbox/folder/running.ts';
import { freePort } from '../../support/free-port.ts';
import { serve } from '../fake-bank.ts';

/** What a sandbox got: `POST /control/x`, its headers and its body. */
interface Got {
  call: string;
  headers: Pick<IncomingMessage['headers'], 'authorization' | 'content-type'>;
  body: string;
}

const runningAt = (customerSiteUrl: string): RunningSandbox => ({
  ...{ pid: 1, baseUrl: 'https://127.0.0.1:1', customerSiteUrl },
  ...{ startedAt: '2026-11-20T11:00:00.000Z', controlToken: 'the-token' },
});

let got: Got[];
beforeEach(() => {
  got = [];
});

/** A sandbox that gives this answer to every call. */
async function sandbox(status: number, answer: string): Promise<RunningSandbox> {
  const { origin, close } = await serve((request, response) => {
    const { authorization, 'content-type': type } = request.headers;
    const headers = { ...(authorization && { authorization }), ...(type && { 'content-type': type }) };
    void text(request).then((body) => {
      got.push({ call: `${request.method} ${request.url}`, headers, body });
      response.writeHead(status).end(answer);
    });
  });
  onTestFinished(close);
  return runningAt(origin);
}

const HEADERS = { authorization: 'Bearer the-token', 'content-type': 'application/json' };
const number = z.object({ number: z.int() });

test.each([
  ['GET', '/clock', undefined, ''],
  ['DELETE', '/faults/1', undefined, ''],
  ['POST', '/clock', { forwardSeconds: 1 }, '{"forwardSeconds":1}'],
] as const)(
  '%s %s with %j is sent with the token, and its answer is read',
  async (method, path, body, sent) => {
    const running = await sandbox(200, '{"number":7,"more":1}');
    const answer = await control(running, { method, path, ...(body && { body }) }, number);
    expect([answer, got]).toEqual([
      { number: 7 },
      [{ call: `${method} /control${path}`, headers: HEADERS, body: sent }],
    ]);
  },
);

describe('a sandbox that refuses', () => {
  test.each<[status: number, answer: string, says: string]>([
    [404, '{"error":"There is no customer x"}', 'There is no customer x'],
    [500, '{"error":"The sandbox failed"}', 'The sandbox failed'],
    [200, '{"error":"odd"}', 'odd'],
    [404, '{"number":7}', 'it answered 404'],
    [200, '{"number":"x"}', 'it answered 200'],
    [502, '<html>', 'it answered 502'],
    [204, '', 'it answered 204'],
    [400, '{"error":7}', 'it answered 400'],
  ])('%i with %s: says so', async (status, answer, says) => {
    await expect(
      control(await sandbox(status, answer), { method: 'GET', path: '/x' }, number),
    ).rejects.toMatchObject({
      ...{ name: 'Psd2Error', code: 'sandbox', message: `The sandbox refused: ${says}` },
    });
  });
});

test('where no sandbox listens, the next command says how to start one', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  await expect(control(runningAt(origin), { method: 'GET', path: '/x' }, number)).rejects.toMatchObject({
    ...{ code: 'sandbox', message: `The sandbox does not answer at ${origin}` },
    hint: 'Stop it, then start it again:',
    next: [
      ['sandbox', 'stop'],
      ['sandbox', 'start', '--detach'],
    ],
    cause: expect.any(Error),
  });
});

test('a reset is an order of its own, and done if the sandbox says so', async () => {
  await resetSandbox(await sandbox(200, '{"reset":true}'));
  expect(got).toEqual([{ call: 'POST /control/reset', headers: HEADERS, body: '' }]);
  for (const answer of ['{"reset":false}', '{}'])
    await expect(resetSandbox(await sandbox(200, answer))).rejects.toThrow(
      'The sandbox refused: it answered 200',
    );
});
