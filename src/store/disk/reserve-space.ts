import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder } from './json-file.ts';
import { reasonOf } from './system-error.ts';

/**
 * Reserves disk space for a record that must be writable after an irreversible step. A file without a name holds the
 * space, so the system frees it even if the process is killed.
 *
 * @returns frees the space. Further calls do nothing
 * @throws Psd2Error `config` if the disk has too little space, or the folder is not writable
 */
export function reserveSpace(folder: string, bytes: number): () => void {
  makePrivateFolder(folder);
  const path = join(folder, `.space-${randomUUID()}`);
  let file: number | undefined;
  try {
    file = openSync(path, 'wx', 0o600);
    unlinkSync(path);
    writeFileSync(file, Buffer.alloc(bytes, '.'));
    fsyncSync(file);
  } catch (cause) {
    if (file !== undefined) closeSync(file);
    throw new Psd2Error('config', `Nothing can be stored in ${folder}: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder. Until then psd2 sends nothing more to the bank.',
      cause,
    });
  }
  let reserved: number | undefined = file;
  return () => {
    if (reserved !== undefined) closeSync(reserved);
    reserved = undefined;
  };
}
