import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readError } from '../e2e/support/errors.ts';
import { PROGRAM } from '../e2e/support/psd2.ts';
import { success, useHostileBank, write } from './hostile-bank.ts';

const bank = useHostileBank();
const { operator } = bank;
const LIMIT = 'ulimit -v 8000000; exec';
const CALL = ['api', 'PUT', '/x', '--data', '{}', '--json'];

it('psd2 asks a proxy that hangs up as often as it retries a call, and no more', async () => {
  let connections = 0;
  const proxy = await bank.listenTcp((socket) => {
    connections += 1;
    socket.once('data', () => socket.end());
  });
  const ended = await operator.psd2(CALL, { env: { HTTPS_PROXY: `http://${proxy}` } });
  expect(readError(ended)).toMatchObject({
    exitCode: 11,
    message: 'The bank could not be reached: the connection could not be made',
  });
  expect(connections).toBe(4);
});

it('psd2 names an answer that begins with 100 Continue, which it did not ask for', async () => {
  bank.behave((socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    write(socket, success());
  });
  expect(readError(await operator.psd2(CALL)).message).toBe(
    'The bank could not be reached: its answer begins with 100 Continue, which psd2 did not ask for',
  );
  expect(bank.heard).toHaveLength(1);
});

describe('a limit on virtual memory that is too small for WebAssembly', () => {
  const limited = async (env: Record<string, string>) => {
    const words = ['-c', `${LIMIT} "$0" "$@"`, process.execPath, PROGRAM, ...CALL];
    const running = await operator.startProgram('bash', words, env);
    running.closeInput();
    return running.ended;
  };

  it('psd2 names the limit and its remedy before it sends anything; newer Node.js needs less memory', async () => {
    bank.behave((socket) => write(socket, success()));
    const probe = ['-c', `${LIMIT} "$0" -e 'new WebAssembly.Memory({ initial: 1 })'`, process.execPath];
    const fits = spawnSync('bash', probe).status === 0;
    const ended = await limited({});
    const error = {
      code: 'config',
      exitCode: 3,
      message: 'The limit on virtual memory (ulimit -v) is too small for WebAssembly',
      hint: 'Raise it to 16 GiB or more, or set NODE_OPTIONS=--disable-wasm-trap-handler.',
    };
    expect(ended.code).toBe(fits ? 0 : 3);
    if (!fits) expect(readError(ended)).toMatchObject(error);
    expect(bank.heard).toHaveLength(fits ? 1 : 0);
  });

  it('the remedy that the error names works', async () => {
    bank.behave((socket) => write(socket, success()));
    const ended = await limited({ NODE_OPTIONS: '--disable-wasm-trap-handler' });
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(bank.heard).toHaveLength(1);
  });
});
