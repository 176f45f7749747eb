import { createServer } from 'node:net';
import { isBlockedPort } from '../../src/domain/local-address.ts';

/**
 * The ports of this worker of the test runner. They are below the system's ephemeral ports, and no other worker uses
 * them: otherwise another process could take a free port before it is used. Where they begin depends on the seed of the
 * run, as two runs may be on one machine.
 */
const PORTS_OF_A_WORKER = 200;
const WORKER = Number(process.env.TEST_SEED ?? 0) + Number(process.env.VITEST_POOL_ID ?? 1);
const FIRST_PORT = 10_000 + (WORKER % 100) * PORTS_OF_A_WORKER;
let given = 2 * Math.floor((Math.random() * PORTS_OF_A_WORKER) / 2);

/**
 * Returns a free port on loopback whose next port is free too, because a sandbox uses both. Each call returns another
 * one. Browsers block neither.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    given += 2;
    const port = FIRST_PORT + (given % PORTS_OF_A_WORKER);
    if (isBlockedPort(port) || isBlockedPort(port + 1)) continue;
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
}

/** Whether a program could listen on a port of loopback. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
