import { randomUUID } from 'node:crypto';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
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

/**
 * Replaces a file atomically: a reader finds the old text or the new one. Others may read it, since who collects metrics or
 * reports is another user. The temporary file ends in `.tmp`, so no collector reads it.
 *
 * @throws Psd2Error `config`
 */
export function replaceReadable(path: string, text: string): void {
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(beside, text, { mode: 0o644 });
    // The umask may have removed these bits.
    chmodSync(beside, 0o644);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw new Psd2Error('config', `The file ${path} cannot be written (${reason})`, {
      hint: 'Give a file in an existing folder that this user can write to.',
      cause,
    });
  }
}
