import { randomBytes } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './process-alive.ts';

/** A name in `folder` for what is being written, which tells the process that writes it. */
export function temporaryPath(folder: string, name: string): string {
  return join(folder, `.${name}.${process.pid}.${randomBytes(4).toString('hex')}`);
}

/** Removes from `folder` what a process that no longer runs left half done. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const writer = /^\.[a-z.]+\.(\d+)\.[0-9a-f]{8}$/.exec(name)?.[1];
    if (writer !== undefined && !isAlive(Number(writer))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Writes a new file, for its user alone, and waits until it is on the disk. */
export async function writeDurably(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until what was made, renamed or removed in `folder` is on the disk. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows can't open a folder, and flushes renames itself.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
