import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands before a bank and passes on what comes, byte for byte. */
export interface Tap {
  /** The base URL that leads to the bank by way of this. */
  baseUrl: string;
  /** How often the bank was connected to so far. */
  connections(): number;
  close(): Promise<void>;
}

/** Opens a way to the bank that counts. The bank's certificate holds here too, since it names the same host. */
export async function tapBank(bank: string): Promise<Tap> {
  const { hostname, port } = new URL(bank);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((inside) => {
    connections += 1;
    const outside = connect(Number(port), hostname);
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.once('error', () => other.destroy()).once('close', () => sockets.delete(socket));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return {
    baseUrl: `https://127.0.0.1:${address.port}`,
    connections: () => connections,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
