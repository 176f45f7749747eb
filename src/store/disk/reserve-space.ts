import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder } from './json-file.ts';
import { reasonOf } from './system-error.ts';

/**
 * Takes space on the disk for what will have to be written after something that can't be taken back. It is
 * that of a file without a name, so it is given back too when the process is killed.
 *
 * @param bytes how much
 * @returns what gives it back; further calls do nothing
 * @throws Psd2Error `config` when there is not so much, or nothing can be written in the folder
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
      hint: 'Check the free space, and who owns the folder. Without it nothing more is sent to the bank.',
      cause,
    });
  }
  let reserved: number | undefined = file;
  return () => {
    if (reserved !== undefined) closeSync(reserved);
    reserved = undefined;
  };
}
