import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Saves a picture in a folder that only this user can read, for a program that shows it. The runtime folder of the system is in memory,
 * and is gone with the login.
 */
export function savePicture(
  { XDG_RUNTIME_DIR: runtime }: Readonly<Record<string, string | undefined>>,
  png: Buffer,
): { path: string; remove(): void } {
  const folder = makeFolder(runtime);
  const path = join(folder, 'challenge.png');
  writeFileSync(path, png, { mode: 0o600, flag: 'wx' });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function makeFolder(runtime: string | undefined): string {
  try {
    if (runtime) return mkdtempSync(join(runtime, 'psd2-'));
  } catch {
    // The variable of another session names a folder that is gone.
  }
  return mkdtempSync(join(tmpdir(), 'psd2-'));
}
