import { EventEmitter, once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { Database } from '../../../src/store/postgres/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

// Messages of PostgreSQL's protocol (PostgreSQL, "Message Formats").
const SCRAM = Buffer.from('R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'latin1');
const SCRAM_CONTINUE = Buffer.from('R\0\0\0\x19\0\0\0\x0br=x,s=AAAA,i=4096', 'latin1');
const READY = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');

const temporary = temporaryFolder();

/** A database at a server that does with each connection what the test says. */
async function databaseAt(onConnection: (socket: Socket) => void): Promise<Database> {
  const folder = mkdtempSync(join(temporary, 'server-'));
  const server = createServer(onConnection).listen(join(folder, '.s.PGSQL.5432'));
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  return new Database(parseAddress(`postgres://ada@/bank?host=${encodeURIComponent(folder)}`, {}), undefined);
}

const answerOf = (database: Database) => database.look(z.unknown(), 'select 1');

it('psd2 waits some seconds by the clock for a server, however long each attempt takes', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  let attempts = 0;
  const database = await databaseAt((socket) => {
    attempts += 1;
    now += 5_000;
    socket.destroy();
  });
  await expect(answerOf(database)).rejects.toMatchObject({ code: 'config' });
  expect(attempts).toBe(2);
  await database.close();
});

it('a command without the password ends at once, though the server keeps the connection open', async () => {
  const sockets: Socket[] = [];
  const database = await databaseAt((socket) => {
    sockets.push(socket);
    socket.once('data', () => {
      socket.write(SCRAM);
      socket.on('data', () => socket.write(SCRAM_CONTINUE));
    });
  });
  await expect(answerOf(database)).rejects.toThrow('requires a password');
  await database.close();
  expect(sockets).toHaveLength(1);
  for (const socket of sockets) await once(socket, 'end');
});

it('a server that is gone without a word is given up, and the message says that it does not answer', async () => {
  const clients = new EventEmitter();
  const database = await databaseAt((socket) => {
    socket.once('data', () => {
      socket.write(READY);
      socket.once('data', () => clients.emit('asked'));
    });
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const asked = once(clients, 'asked');
  const answer = expect(answerOf(database)).rejects.toThrow('cannot be reached: it does not answer');
  await asked;
  await vi.advanceTimersByTimeAsync(35_000);
  await answer;
  await database.close();
});
