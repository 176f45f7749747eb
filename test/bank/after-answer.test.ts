import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { never, PUT, TIMEOUT_MS, useRawBank } from './raw-bank.ts';

// A gateway that delivers a request twice may hand on two answers over one connection.

const bank = useRawBank();

const REFUSED = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}';
const CLOSED = REFUSED.replace('\r\n', '\r\nConnection: close\r\n');
const CHUNKED = 'HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
const TAKEN = 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}';

/** Sends a request, and waits for what follows a refusal until `time` ends. */
function send(write: (socket: TLSSocket) => unknown, time: () => Promise<void> | null) {
  bank.answer = write;
  return bank.connection.send(PUT, TIMEOUT_MS, never, { alone: true, lingers: time });
}

/** psd2 waits until something comes. */
const forEver = () => new Promise<void>(() => {});

/** Lets what was written arrive. */
async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await setImmediate();
}

/** Writes two answers, one after the other. */
const apart = (first: string, second: string) => async (socket: TLSSocket) => {
  socket.write(first);
  await ticks(5);
  socket.write(second);
};

it.each([
  ['in one piece', (socket: TLSSocket) => socket.write(REFUSED + TAKEN)],
  ['in one piece, chunked', (socket: TLSSocket) => socket.write(CHUNKED + TAKEN)],
  ['a moment later', apart(REFUSED, TAKEN)],
  ['in one piece, although the first says that it is the last', (socket) => socket.write(CLOSED + TAKEN)],
  ['a moment later, although the first says that it is the last', apart(CLOSED, TAKEN)],
  ['a moment later, before the end of the connection', async (socket) => socket.end(REFUSED + TAKEN)],
  ['as anything else', apart(REFUSED, 'x')],
] satisfies [string, (socket: TLSSocket) => unknown][])(
  'a second answer is noticed: %s',
  async (_, write) => {
    expect(await send(write, forEver)).toMatchObject({ status: 400, more: true });
  },
);

it.each([
  ['the connection stays open', (socket: TLSSocket) => socket.write(REFUSED)],
  ['the connection ends', (socket) => socket.end(REFUSED)],
  ['the answer says that it is the last', (socket) => socket.write(CLOSED)],
  ['the answer ends with the connection', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n{}')],
  ['empty lines follow', apart(REFUSED, '\r\n')],
] satisfies [string, (socket: TLSSocket) => unknown][])('nothing follows: %s', async (_, write) => {
  const answer = await send(write, () => ticks(100));
  expect([answer.status, answer.body.toString(), answer.more]).toEqual([400, '{}', undefined]);
});

it('psd2 does not wait after an answer that ends nothing', async () => {
  expect(
    await send(
      (socket) => socket.write(TAKEN),
      () => null,
    ),
  ).toMatchObject({ status: 201 });
});

it('a wait that is interrupted gives no answer', async () => {
  const interrupted = () => Promise.reject(new Error('interrupted'));
  await expect(send((socket) => socket.write(REFUSED), interrupted)).rejects.toMatchObject({
    cause: { message: 'interrupted' },
  });
});
