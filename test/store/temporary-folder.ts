import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type StoreFolder, storeFolder } from '../../src/store/machine/folder.ts';

/** Makes a folder, and removes it after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file, and makes the folders above it, as psd2 does: for its owner alone. */
export function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

/** A new configuration folder under `parent`, which does not exist yet. */
export function newConfigFolder(parent: string): StoreFolder {
  return storeFolder(join(mkdtempSync(join(parent, 'config-')), 'psd2'));
}
