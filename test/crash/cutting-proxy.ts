import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A proxy in front of PostgreSQL that can lose a statement, or the answer to a commit. */
export interface CuttingProxy {
  /** The folder of the proxy's socket, for the `host` of a connection. */
  folder: string;
  /**
   * Loses the answer to the next commit, and closes the connection. The server has done what the client asked for.
   *
   * @param statement only such a statement
   */
  cutNext(statement?: RegExp): void;
  /** Loses the next such statement before the server gets it. @param lost called at that moment */
  dropNext(lost?: () => void, statement?: RegExp): void;
  /** Closes each connection that is made from now on. @param onAttempt called for each. Undefined ends it */
  refuse(onAttempt: (() => void) | undefined): void;
  /** How many answers and statements the proxy has lost. */
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
  let made = 0;
  /** Statements whose answers to lose, and statements to lose. */
  const cuts: RegExp[] = [];
  const drops: { statement: RegExp; lost: () => void }[] = [];
  let refused: (() => void) | undefined;
  const listener = createServer((client) => {
    if (refused) {
      client.destroy();
      refused();
      return;
    }
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
      const text = sent.toString('latin1');
      if (drops[0]?.statement.test(text)) {
        made += 1;
        drops.shift()?.lost();
        hangUp();
        return;
      }
      if (!isDoomed && cuts[0]?.test(text)) {
        cuts.shift();
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
    cutNext: (statement = COMMIT) => {
      cuts.push(statement);
    },
    dropNext: (lost = () => {}, statement = COMMIT) => {
      drops.push({ statement, lost });
    },
    refuse: (onAttempt) => {
      refused = onAttempt;
      if (onAttempt) for (const socket of sockets) socket.destroy();
    },
    cuts: () => made,
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
