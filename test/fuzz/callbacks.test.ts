import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CallbackListener, listenForCallback } from '../../src/callback/listener.ts';
import { anyCharacter } from '../support/any-character.ts';
import { freePort } from '../support/free-port.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from './runs.ts';

const STATE = 'n3Zr0hI9cQ0v8e7WbW0m1A';
let port: number;
let listener: CallbackListener;

beforeEach(async () => {
  port = await freePort();
  const redirectUri = new URL(`http://127.0.0.1:${port}/callback`);
  listener = await listenForCallback({ redirectUri, state: STATE, purpose: 'login' });
});
afterEach(() => listener.close());

/** What the listener answers to these bytes until the connection ends. */
function say(bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(said));
    socket.on('error', () => {});
    socket.end(bytes);
  });
}

const text = fc.string({ unit: anyCharacter, maxLength: 30, size: 'max' });
const host = fc.oneof(
  { weight: 3, arbitrary: fc.constant('127.0.0.1:PORT') },
  { weight: 1, arbitrary: fc.oneof(text, fc.constantFrom('localhost', 'evil.example', '')) },
);
const below = (end: string) => `/callback${end}`;
const target = fc.oneof(
  fc.webPath(),
  text,
  fc.webQueryParameters().map((query) => `/callback?${query}`),
  fc.tuple(text, text).map(([code, state]) => `/callback?${new URLSearchParams({ code, state })}`),
  fc.constantFrom('*', '/callback', ...[`?state=${STATE}x`, `#state=${STATE}`, `?State=${STATE}`].map(below)),
);
const method = fc.oneof(
  { weight: 4, arbitrary: fc.constant('GET') },
  { weight: 1, arbitrary: fc.oneof(text, fc.constantFrom('POST', 'CONNECT', 'PRI', 'get', 'OPTIONS')) },
);
const headers = fc.array(
  fc.tuple(
    fc.oneof(text, fc.constantFrom('Content-Length', 'Transfer-Encoding', 'Upgrade', 'Expect', 'Connection')),
    text,
  ),
  { maxLength: 4 },
);
const request = fc
  .tuple(
    method,
    target,
    host,
    headers,
    fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', ''),
    text,
  )
  .map(([verb, path, name, lines, version, body]) =>
    [
      `${verb} ${path} ${version}`,
      `Host: ${name}`,
      ...lines.map(([key, value]) => `${key}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  );

it('no bytes end or fool the wait for the callback', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  let delivered: URLSearchParams | undefined;
  const received = listener.received(new AbortController().signal).then((query) => {
    delivered = query;
  });
  const input = fc.oneof(
    { weight: 4, arbitrary: request.map((written) => Buffer.from(written)) },
    fc.uint8Array({ maxLength: 200, size: 'max' }).map((bytes) => Buffer.from(bytes)),
  );
  await fuzz(input, async (bytes) => {
    const sent = bytes.toString('latin1').replaceAll('PORT', String(port));
    const answer = await say(Buffer.from(sent, 'latin1'));
    expect(answer).not.toMatch(/^HTTP\/1\.1 (200|5)/);
    expect(delivered).toBeUndefined();
  });
  const right = `GET /callback?code=right&state=${STATE} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  expect(await say(Buffer.from(right))).toMatch(/^HTTP\/1\.1 200 /);
  await received;
  expect(delivered?.get('code')).toBe('right');
});
