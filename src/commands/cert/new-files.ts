import { existsSync, rmSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { makeFolder } from '../../make-folder.ts';
import { appendDurably, reasonOf, syncFolder, systemCode } from '../../store/disk/files.ts';

/** @throws Psd2Error `usage` */
export function refuseExisting(files: readonly string[]): void {
  const existing = files.find((file) => existsSync(file));
  if (existing === undefined) return;
  throw new Psd2Error('usage', `${existing} already exists, and psd2 does not overwrite it`, {
    hint: 'Choose another folder with --out.',
  });
}

/**
 * Writes new files one after the other, or none of them.
 *
 * @param what they are, for the error
 * @throws Psd2Error `config`
 */
export function writeNewFiles(
  out: string,
  what: string,
  files: readonly (readonly [file: string, content: string])[],
): void {
  const begun: string[] = [];
  try {
    makeFolder(out);
    for (const [file, content] of files) {
      begun.push(file);
      appendDurably(file, 'wx', content);
    }
    syncFolder(out);
  } catch (cause) {
    // A file that appeared meanwhile is not ours.
    const own = systemCode(cause) === 'EEXIST' ? begun.slice(0, -1) : begun;
    for (const file of own) rmSync(file, { force: true });
    throw new Psd2Error('config', `psd2 cannot write ${what} to ${out}: ${reasonOf(cause)}`, {
      hint: 'Check the folder and the free space.',
      cause,
    });
  }
}
