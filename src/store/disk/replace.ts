import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { appendDurably, cannotWrite, removeStored, syncFolder } from './files.ts';

/**
 * Replaces the content of a file, durably: as a whole or not at all. Only the owner can read the new file.
 *
 * @throws Psd2Error `config` if it cannot be written. The old content stays then
 */
export function replaceDurably(path: string, content: string | Buffer): void {
  const beside = join(dirname(path), `.${randomUUID()}`);
  try {
    appendDurably(beside, 'wx', content);
    renameSync(beside, path);
    syncFolder(dirname(path));
  } catch (cause) {
    throw cannotWrite(path, cause);
  } finally {
    removeStored(beside);
  }
}
