import { fstatSync, writeSync } from 'node:fs';

/** Once true, all output goes through `process.stdout`, so the order stays right. */
let isStuck = false;

/**
 * Prints the whole output of a command. It avoids `process.stdout` where it can, because that loads streams and sockets,
 * which takes longer than the rest of `psd2 --version`.
 */
export function printAtOnce(text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0 && !isStuck) rest = rest.subarray(writeSync(1, rest));
  } catch {
    // A full pipe, a pipe without a reader, or a full disk: process.stdout handles these.
    isStuck = true;
    process.stdout.on('error', (error) => {
      void import('./report-error.ts').then(({ endOverLostOutput }) => endOverLostOutput(error));
    });
  }
  if (rest.length > 0) process.stdout.write(rest);
}

/** Whether stdout may be a terminal. Only `process.stdout` knows for certain, and it is slow to load. */
export function isTerminalOnStdout(): boolean {
  return fstatSync(1).isCharacterDevice();
}

/** The width of the terminal, or undefined. Does not load `process.stdout` if stdout can't be a terminal. */
export function columnsOfStdout(): number | undefined {
  return isTerminalOnStdout() ? process.stdout.columns : undefined;
}
