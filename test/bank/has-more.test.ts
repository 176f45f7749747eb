import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { hasMoreAfter } from '../../src/bank/transport/after-answer.ts';

// Who ends the use of a connection, and when, in each order. after-answer.test.ts has the same over TLS.

const forEver = new Promise<void>(() => {});
const named = (name: string, message = 'x') => Object.assign(new Error(message), { name });
/** undici does not use the connection again. */
const UNUSED = named('InformationalError');

it.each<[what: string, act: (socket: Socket) => void, more: boolean]>([
  ['more comes, and then undici lets go', (socket) => socket.push('x') && socket.destroy(UNUSED), true],
  ['undici lets go, and then more comes', (socket) => socket.destroy(UNUSED).push('x'), true],
  ['undici cannot read what comes', (socket) => socket.destroy(named('HTTPParserError')), true],
  ['undici has asked for nothing', (socket) => socket.destroy(named('Error', 'bad response')), true],
  ['undici lets go, and the other end closes', (socket) => socket.destroy(UNUSED).destroy(), false],
  ['the other end closes', (socket) => socket.destroy(), false],
  ['the connection breaks', (socket) => socket.destroy(named('Error', 'read ECONNRESET')), false],
  [
    'undici cannot read what comes, and closes once more',
    (socket) => socket.destroy(named('HTTPParserError')).destroy(),
    true,
  ],
])('it ends by itself, and then closes: %s', async (_, act, more) => {
  const socket = new Socket().on('error', () => {});
  const answer = hasMoreAfter(socket, forEver);
  act(socket);
  expect(await answer).toBe(more);
  expect(socket.destroyed).toBe(true);
});

it('the reason for which a connection was to close is the one for which it closes', async () => {
  const reasons: unknown[] = [];
  const socket = new Socket().on('error', (reason) => reasons.push(reason));
  const answer = hasMoreAfter(socket, forEver);
  const broken = named('Error', 'read ECONNRESET');
  socket.destroy(broken);
  await answer;
  await setImmediate();
  expect(reasons).toEqual([broken]);
});

it('what undici still reads is not more, and the connection stays open for the next call', async () => {
  const socket = new Socket();
  const read: unknown[] = [];
  socket.on('readable', () => read.push(socket.read()));
  let end = () => {};
  const time = new Promise<void>((resolve) => {
    end = resolve;
  });
  let isOver = false;
  const answer = hasMoreAfter(socket, time).finally(() => {
    isOver = true;
  });
  socket.push('\r\n');
  await setImmediate();
  await setImmediate();
  expect([String(read[0]), isOver]).toEqual(['\r\n', false]);
  end();
  expect(await answer).toBe(false);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
  expect(socket.destroyed).toBe(true);
});
