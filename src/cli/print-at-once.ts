import { fstatSync, writeSync } from 'node:fs';

/** From then on all of it goes through `process.stdout`, in its order. */
let isStuck = false;

/**
 * Prints a text that is ready, and is all that is printed. It goes past `process.stdout` where it can, which loads streams
 * and sockets first: longer than all else that `psd2 --version` does.
 */
export function printAtOnce(text: string): void {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0 && !isStuck) rest = rest.subarray(writeSync(1, rest));
  } catch {
    // A pipe that is full for now or has no reader, or a full disk: process.stdout knows what to do.
    isStuck = true;
    process.stdout.on('error', (error) => {
      void import('./lost-output.ts').then(({ endOverLostOutput }) => endOverLostOutput(error));
    });
  }
  if (rest.length > 0) process.stdout.write(rest);
}

/** Whether stdout may be a terminal; to know it, `process.stdout` would have to be loaded. */
export function isTerminalOnStdout(): boolean {
  return fstatSync(1).isCharacterDevice();
}

/** How wide the terminal is. Where stdout can't be one, `process.stdout` is not asked either. */
export function columnsOfStdout(): number | undefined {
  return isTerminalOnStdout() ? process.stdout.columns : undefined;
}
