import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Another process may remove a folder above in the meantime. */
const TRIES = 3;

/**
 * Makes a folder that only its owner can use, and those above it. A folder that exists stays as it is. Node's own `recursive` never
 * ends where the system makes no folder and says that the one above is missing (`/proc`).
 *
 * @throws the system's error
 */
export function makeFolder(path: string): void {
  for (let tries = 1; ; tries += 1) {
    try {
      for (const missing of missingFolders(resolve(path))) makeOne(missing);
      return;
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT' || tries === TRIES) throw error;
    }
  }
}

/** The folders that do not exist, the highest first. */
function missingFolders(path: string): string[] {
  const above = dirname(path);
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry?.isDirectory()) return [];
  return entry || above === path ? [path] : [...missingFolders(above), path];
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process has made it.
    if (systemCodeOf(error) === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    throw error;
  }
}

function systemCodeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
