import { closeSync, constants, copyFileSync, existsSync, fdatasyncSync, openSync, renameSync } from 'node:fs';
import { isMissing } from '../../disk/system-error.ts';

/** The right to a folder that another run may take over at any moment. */
export interface Held {
  readonly number: number;
  /** @throws Psd2Error `config` if another run has taken it over */
  assertHeld(): void;
}

/** The temporary name of a file that a run is about to put in place of another one. */
export function besideOf(path: string, { number }: Held): string {
  return `${path}.new-${number}`;
}

/** Whether a name comes from {@link besideOf}. */
export function isBeside(name: string): boolean {
  return /\.ndjson\.new-\d+$/.test(name);
}

/**
 * Renames a run's temporary file to its final name. A run that was stopped just before, and whose folder was taken over,
 * cannot replace newer data with older data: the run that takes a folder over first removes all temporary files, so nothing
 * is left to rename.
 *
 * @throws Psd2Error `config` if the folder was taken over, Error of the file system
 */
export function putInPlace(path: string, claim: Held): void {
  claim.assertHeld();
  try {
    renameSync(besideOf(path, claim), path);
  } catch (cause) {
    if (isMissing(cause)) claim.assertHeld();
    throw cause;
  }
}

/**
 * Replaces a file by a copy, because a stopped run may have it open. What that run writes when it continues goes to the old
 * file, which no path leads to any more.
 *
 * @throws Psd2Error `config` if the folder was taken over, Error of the file system
 */
export function takeOwnCopy(path: string, claim: Held): void {
  if (!existsSync(path)) return;
  const beside = besideOf(path, claim);
  copyFileSync(path, beside, constants.COPYFILE_FICLONE);
  const file = openSync(beside, 'r+');
  try {
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  putInPlace(path, claim);
}
