import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { playCustomer } from '../../../src/sandbox/player/play-customer.ts';

/** The sandbox's customer in the tests' own process: a browser that needs no other Node.js process. */
export interface ResidentCustomer {
  /** A `PSD2_BROWSER`. It takes the options of `psd2 sandbox customer`: `--refuse` and `--user`. */
  browser: string;
  open(): Promise<void>;
  close(): void;
}

/** @param script where to put the program of the browser */
export function residentCustomer(script: string): ResidentCustomer {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    let line = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      line += text;
      if (line.endsWith('\n'))
        walk(line.trimEnd().split('\t')).then(
          (walked) => socket.end(`${walked}\n`),
          () => socket.destroy(),
        );
    });
  });
  return {
    browser: `bash "${script}"`,
    open: async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      writeFileSync(script, handingOverTo(server.address()), { mode: 0o755 });
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(script, { force: true });
    },
  };
}

/** A program that sends its arguments to a port and waits until the customer has come back from the bank. */
function handingOverTo(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return `IFS=$'\\t'
exec 3<>/dev/tcp/127.0.0.1/${address.port} && printf '%s\\n' "$*" >&3 && read -r how <&3 && [ "$how" = done ]
`;
}

async function walk(args: string[]): Promise<'done' | 'failed'> {
  const options = { refuse: { type: 'boolean' }, user: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  return playCustomer(positionals[0] ?? '', values).then(
    () => 'done',
    () => 'failed',
  );
}
