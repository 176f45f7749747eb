// Runs the built psd2 again and again in one process, each time with its own arguments, environment and streams, for
// tests that need thousands of runs. Its parent sends what to run, and gets how it ended.
import fs from 'node:fs';
import { Readable } from 'node:stream';
import '../support/scrypt-once.js';
import compiledCode from '../../bin/compiled-code.js';

compiledCode.keepCompiledCode();
const {
  default: { main },
} = await import('../../dist/main.js');
/** What psd2 listens to. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The output of the current run. */
let printed = { stdout: '', stderr: '' };
/** What the run threw and nothing caught. */
let crash;
/** What to do when the run prints for the first time. */
let onPrint = () => {};

for (const name of ['stdout', 'stderr']) {
  process[name].write = (chunk, encoding, done) => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (name === 'stdout') onPrint();
    const callback = typeof encoding === 'function' ? encoding : done;
    if (callback) queueMicrotask(() => callback());
    return true;
  };
}
// psd2 writes to the descriptor of stdout, and asks it whether it is a terminal, so as not to open the stream.
const { fstatSync, writeSync } = fs;
fs.writeSync = (descriptor, data, ...rest) => {
  if (descriptor !== 1) return writeSync(descriptor, data, ...rest);
  process.stdout.write(data);
  return data.length;
};
fs.fstatSync = (descriptor, ...rest) =>
  descriptor === 1
    ? {
        isFile: () => !process.stdout.isTTY,
        isCharacterDevice: () => process.stdout.isTTY,
        isSocket: () => false,
        rdev: -1,
      }
    : fstatSync(descriptor, ...rest);
const exit = process.exit.bind(process);
process.exit = (code) => {
  throw new Error(`process.exit(${code}) was called`);
};
const crashed = (error) => {
  crash ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
};
process.on('uncaughtException', crashed).on('unhandledRejection', crashed);

/** The working directory between the runs, which outlives the folder of a run. */
const home = process.cwd();

/**
 * @param isHosted the command runs until it is interrupted; tells when it prints for the first time. A signal ends this process,
 *   as it ends the command's own process
 */
async function run({ args, env, cwd = home, columns, input = '', isHosted = false }) {
  printed = { stdout: '', stderr: '' };
  crash = undefined;
  process.exitCode = undefined;
  process.chdir(cwd);
  process.argv = [process.execPath, 'psd2', ...args];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  process.stdout.isTTY = columns !== undefined;
  process.stdout.columns = columns;
  if (isHosted) tellFirstPrint();
  let exits = false;
  process.once('SIGTERM', (_name, number) => {
    exits = isHosted && number !== undefined;
  });
  try {
    await main();
  } catch (error) {
    crashed(error);
  }
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  process.chdir(home);
  const code = crash === undefined ? (process.exitCode ?? 0) : 1;
  process.send({ code, ...printed, crash, exits }, () => {
    if (exits) exit(code);
  });
}

function tellFirstPrint() {
  onPrint = () => {
    onPrint = () => {};
    process.send('printed');
  };
}

process.on('message', (message) => {
  if (message !== 'interrupt') void run(message);
  else process.emit('SIGTERM', 'SIGTERM');
});
// The tests have ended. Nothing is written at the end, because the folders are being removed.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send('ready');
