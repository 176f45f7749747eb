import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import * as z from 'zod';
import { keepRunning, logIn, type Operator, useSandbox } from './psd2.ts';

/** Stands before a bank and passes on all bytes. */
interface Tap {
  /** The base URL that leads to the bank through the tap. */
  baseUrl: string;
  /** The number of connections to the bank so far. */
  connections(): number;
  /** Makes new connections wait until the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

/** An operator who reaches the sandbox bank through a tap, and whose customer is logged in. */
export function useTappedBank(): { operator: Operator; tap: Pick<Tap, 'connections' | 'hold'> } {
  const operator = keepRunning(useSandbox());
  let tap: Tap | undefined;
  const opened = (): Tap => {
    if (!tap) throw new Error('The tap is opened before the first test');
    return tap;
  };
  beforeAll(async () => {
    const { baseUrl } = await operator.json(z.object({ baseUrl: z.string() }), ['sandbox', 'status']);
    tap = await tapBank(baseUrl);
    operator.env.PSD2_BASE_URL = tap.baseUrl;
    await logIn(operator);
  });
  afterAll(() => tap?.close());
  return { operator, tap: { connections: () => opened().connections(), hold: () => opened().hold() } };
}

/** Opens a tap. The bank's certificate is valid for it too, since it names the same host. */
async function tapBank(bank: string): Promise<Tap> {
  const { hostname, port } = new URL(bank);
  const sockets = new Set<Socket>();
  let connections = 0;
  let gate = Promise.resolve();
  const server = createServer((inside) => {
    connections += 1;
    keep(inside, sockets);
    void gate.then(() => {
      const outside = connect(Number(port), hostname);
      keep(outside, sockets);
      inside.pipe(outside).pipe(inside);
      inside.once('error', () => outside.destroy());
      outside.once('error', () => inside.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return {
    baseUrl: `https://127.0.0.1:${address.port}`,
    connections: () => connections,
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function keep(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('error', () => {}).once('close', () => sockets.delete(socket));
}
