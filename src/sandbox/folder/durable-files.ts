import { randomBytes } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './process-alive.ts';

/** The path of a temporary file in `folder`. Its name contains the id of this process. */
export function temporaryPath(folder: string, name: string): string {
  return join(folder, `.${name}.${process.pid}.${randomBytes(4).toString('hex')}`);
}

/** Removes temporary files from `folder` that an ended process left there. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const writer = /^\.[a-z.]+\.(\d+)\.[0-9a-f]{8}$/.exec(name)?.[1];
    if (writer !== undefined && !isAlive(Number(writer))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Writes a new file that only its user can read, and waits until it is on the disk. */
export async function writeDurably(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until new, renamed and removed names in `folder` are on the disk. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder, and flushes renames on its own.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
