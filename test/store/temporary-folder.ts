import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type StoreFolder, storeFolder } from '../../src/store/machine/folder.ts';

/** Makes a folder, and removes it after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new configuration folder under `parent`, which does not exist yet. */
export function newConfigFolder(parent: string): StoreFolder {
  return storeFolder(join(mkdtempSync(join(parent, 'config-')), 'psd2'));
}
