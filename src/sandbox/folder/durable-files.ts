import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether an error comes from the operating system with this code, for example `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** The path of a temporary file in `folder`. Its name contains the id of this process. */
export function temporaryPath(folder: string, name: string): string {
  return join(folder, `.${name}.${process.pid}.${randomBytes(4).toString('hex')}`);
}

/** Removes temporary files from `folder` that an ended process left there. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const writer = /^\.[a-z.]+\.(\d+)\.[0-9a-f]{8}$/.exec(name)?.[1];
    if (writer !== undefined && !isAlive(Number(writer)))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes a new file that only its user can read, and waits until it is on the disk. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes a file in the place of one that may be there: it is the old one or the new one, whatever ends the process. */
export async function replaceDurably(folder: string, name: string, content: string): Promise<void> {
  const temporary = temporaryPath(folder, name);
  await writeDurably(temporary, content);
  await rename(temporary, join(folder, name));
  await flushFolder(folder);
}

/** The text of a file. Undefined if there is none. */
export async function fileText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(ignoreMissing);
}

/** @throws `error`, unless it says that there is no such file */
export function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
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

/** Whether a process with this id runs, even if it belongs to another user. A zombie does not run. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
  return !isZombie(pid);
}

/** If a container's first process does not collect orphans, an ended process stays in the process table. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
