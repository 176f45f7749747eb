// Runs the built psd2 again and again in one process, each time with its own arguments, environment and streams, for
// tests that need thousands of runs. Its parent sends what to run, and gets how it ended.
import fs from 'node:fs';
import { Readable } from 'node:stream';
import '../support/scrypt-once.js';
import loader from '../../bin/loader.js';

const { main } = loader.load('main.js');
/** The output of the current run. */
let printed = { stdout: '', stderr: '' };
/** What the run threw and nothing caught. */
let crash;

for (const name of ['stdout', 'stderr']) {
  process[name].write = (chunk, encoding, done) => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
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
process.exit = (code) => {
  throw new Error(`process.exit(${code}) was called`);
};
const crashed = (error) => {
  crash ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
};
process.on('uncaughtException', crashed).on('unhandledRejection', crashed);

async function run({ args, env, columns, input = '' }) {
  printed = { stdout: '', stderr: '' };
  crash = undefined;
  process.exitCode = undefined;
  process.argv = [process.execPath, 'psd2', ...args];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  process.stdout.isTTY = columns !== undefined;
  process.stdout.columns = columns;
  try {
    await main();
  } catch (error) {
    crashed(error);
  }
  process.send({ code: crash === undefined ? (process.exitCode ?? 0) : 1, ...printed, crash });
}

process.on('message', (message) => void run(message));
process.send('ready');
