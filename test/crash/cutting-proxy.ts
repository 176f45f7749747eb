import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A proxy in front of PostgreSQL that can lose the answer to a commit. */
export interface CuttingProxy {
  /** The folder of the proxy's socket, for the `host` of a connection. */
  folder: string;
  /** Loses the answer to the next commit, and closes the connection. The server has done what the client asked for. */
  cutNext(): void;
  /** How many answers the proxy has lost. */
  cuts(): number;
  close(): void;
}

const SOCKET = '.s.PGSQL.5432';
/** Statements that commit: each has effects that outlive the connection. */
const COMMIT = /\bcommit\b|insert into psd2\.|update psd2\./i;

/** @param server the folder of the server's socket */
export async function startCuttingProxy(server: string): Promise<CuttingProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-cut-'));
  const sockets = new Set<Socket>();
  let wanted = 0;
  let made = 0;
  const listener = createServer((client) => {
    const upstream = connect(join(server, SOCKET));
    const hangUp = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', hangUp).on('close', () => {
        sockets.delete(socket);
        hangUp();
      });
    }
    let isDoomed = false;
    client.on('data', (sent) => {
      if (wanted > 0 && !isDoomed && COMMIT.test(sent.toString('latin1'))) {
        wanted -= 1;
        isDoomed = true;
      }
      upstream.write(sent);
    });
    upstream.on('data', (answer) => {
      if (!isDoomed) return void client.write(answer);
      made += 1;
      hangUp();
    });
  });
  await new Promise<void>((resolve) => listener.listen(join(folder, SOCKET), resolve));
  return {
    folder,
    cutNext: () => {
      wanted += 1;
    },
    cuts: () => made,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
