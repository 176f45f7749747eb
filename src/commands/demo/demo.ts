import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { Psd2Error } from '../../errors.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import type { Context } from '../context.ts';
import { demoTransfer } from './shape.ts';

const IBAN = 'DE89370400440532013000';
/** Where the steps print when stdout is for one document. */
const STDERR = 2;

/**
 * `psd2 demo`: the whole way against a sandbox bank of its own in a temporary folder. Each step is the real
 * command in a process of its own, shown with what it prints.
 *
 * @throws Psd2Error `sandbox` when a step fails
 */
export async function demo({ terminal, world, output }: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-demo-'));
  const program = process.argv[1] ?? '';
  const env = {
    ...environmentFor('demo'),
    PSD2_CONFIG_DIR: folder,
    PSD2_PROFILE: 'sandbox',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback`,
    PSD2_BROWSER: `"${process.execPath}" "${program}" sandbox customer`,
  };
  const start = (words: string[], stdout: 'inherit' | 'pipe' | typeof STDERR) =>
    spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', stdout, 'inherit'] });
  /** Waits for a step, which ends with the demo when that is interrupted. @returns its exit code */
  const end = async (child: ChildProcess): Promise<unknown> => {
    const stop = () => child.kill();
    world.signal.addEventListener('abort', stop);
    const [code] = await once(child, 'close');
    world.signal.removeEventListener('abort', stop);
    world.signal.throwIfAborted();
    return code;
  };

  /** Runs a step in front of the reader's eyes. */
  const show = async (...words: string[]) => {
    terminal.warn(
      `\n$ psd2 ${words.map((word) => (/^[\w./:-]+$/.test(word) ? word : `"${word}"`)).join(' ')}`,
    );
    const code = await end(start(words, output.format === 'table' ? 'inherit' : STDERR));
    if (code !== 0)
      throw new Psd2Error('sandbox', `psd2 ${words.slice(0, 2).join(' ')} ended with exit code ${code}`);
  };
  /** What a command says, for the demo itself to check. */
  const read = async <T>(schema: z.ZodMiniType<T>, ...words: string[]): Promise<T> => {
    const child = start([...words, '--json'], 'pipe');
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    const code = await end(child);
    if (code !== 0) throw new Psd2Error('sandbox', `psd2 ${words.join(' ')} ended with exit code ${code}`);
    return schema.parse(JSON.parse(text));
  };

  try {
    await show('sandbox', 'start', '--detach', '--port', '0');
    await show('auth', 'login');
    await show(
      'consent',
      'request',
      '--category',
      'ACCOUNT_INFO',
      '--category',
      'PAYMENTS',
      '--all-products',
    );
    await show('accounts', 'list');
    const [account] = await read(z.array(z.object({ productId: z.string() })), 'accounts', 'list');
    if (!account) throw new Psd2Error('sandbox', 'The sandbox customer has no account');
    const balance = z.object({ availableBalance: z.object({ amount: z.string() }) });
    const before = await read(balance, 'accounts', 'balance', account.productId);
    await show('accounts', 'balance', account.productId);
    await show('accounts', 'transactions', account.productId, '--limit', '5');
    await show(
      ...['transfer', '--instant', '--from', account.productId, '--to', IBAN, '--name', 'Ada Lovelace'],
      ...['--amount', '12.50', '--description', 'Invoice 1', '--payee-verified', '--yes'],
    );
    const [transfer] = await read(z.array(demoTransfer()), 'transfer', 'list');
    await show('accounts', 'balance', account.productId);
    const after = await read(balance, 'accounts', 'balance', account.productId);
    if (transfer?.state !== 'settled' || !transfer.cro) {
      throw new Psd2Error('sandbox', `The transfer is ${transfer?.state ?? 'not there'} instead of settled`);
    }
    const { default: Big } = await import('big.js');
    const expected = new Big(before.availableBalance.amount).minus(transfer.totalAmount.amount);
    if (!expected.eq(after.availableBalance.amount)) {
      throw new Psd2Error('sandbox', 'The balance did not move by what the transfer cost');
    }
    terminal.warn(`\nThe instant transfer is settled with the reference ${transfer.cro}.`);
    if (output.format !== 'table') output.record(transfer, [], demoTransfer);
  } finally {
    await once(
      spawn(process.execPath, [program, 'sandbox', 'stop', '--quiet'], { env, stdio: 'ignore' }),
      'exit',
    );
    rmSync(folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new TypeError('A TCP listener has no port');
  return isBlockedPort(address.port) ? freePort() : address.port;
}
