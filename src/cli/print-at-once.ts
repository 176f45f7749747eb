import { fstatSync, writeSync } from 'node:fs';

/**
 * Prints a text that is ready, and is all that is printed. It goes past `process.stdout` where it can, which loads streams
 * and sockets first: longer than all else that `psd2 --version` does.
 */
export async function printAtOnce(text: string): Promise<void> {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch {
    // A pipe that is full for now, or has no reader: process.stdout knows what to do.
    const { watchOutput } = await import('./lost-output.ts');
    watchOutput();
    process.stdout.write(rest);
  }
}

/** How wide the terminal is. Where stdout can't be one, `process.stdout` is not asked either. */
export function columnsOfStdout(): number | undefined {
  return fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}
