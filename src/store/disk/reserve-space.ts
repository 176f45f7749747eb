import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { makePrivateFolder, reasonOf } from './files.ts';

/** What a later write needs. */
interface Space {
  bytes: number;
  /** Files and links that exist at the same time. Some file systems limit their number, and tmpfs counts links too. */
  names: number;
}

/**
 * Reserves disk space for a record that must be writable after an irreversible step. Files without names hold the space, so
 * the system frees it even if the process is killed.
 *
 * @returns frees the space. Further calls do nothing
 * @throws Psd2Error `config` if the disk has too little space, or the folder is not writable
 */
export function reserveSpace(folder: string, { bytes, names }: Space): () => void {
  makePrivateFolder(folder);
  const held: number[] = [];
  const giveBack = () => {
    for (const file of held.splice(0)) closeSync(file);
  };
  try {
    for (let name = 0; name < names; name += 1) held.push(openUnnamed(folder));
    const [first] = held;
    if (first !== undefined) {
      writeFileSync(first, Buffer.alloc(bytes, '.'));
      fsyncSync(first);
    }
  } catch (cause) {
    giveBack();
    throw new Psd2Error('config', `Nothing can be stored in ${folder}: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder. Until then psd2 sends nothing more to the bank.',
      cause,
    });
  }
  return giveBack;
}

/** Opens a new file and removes its name. */
function openUnnamed(folder: string): number {
  const path = join(folder, `.space-${randomUUID()}`);
  const file = openSync(path, 'wx', 0o600);
  unlinkSync(path);
  return file;
}
