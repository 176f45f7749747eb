import { closeSync, constants, copyFileSync, existsSync, fdatasyncSync, openSync, renameSync } from 'node:fs';
import { isMissing } from '../../disk/system-error.ts';

/** The right to a folder that another run may take over at any moment. */
export interface Held {
  readonly number: number;
  /** @throws Psd2Error `config` when another run has taken it over */
  assertHeld(): void;
}

/** What a run is about to give another file's name. */
export function besideOf(path: string, { number }: Held): string {
  return `${path}.new-${number}`;
}

/** Whether a name is one of {@link besideOf}. */
export function isBeside(name: string): boolean {
  return /\.ndjson\.new-\d+$/.test(name);
}

/**
 * Gives what a run has written beside a file that file's name. A run that stands still just before that, and is taken
 * over, puts nothing older in the place of what is newer: who takes a folder over first removes what others have beside
 * files, so there is nothing to be given the name.
 *
 * @throws Psd2Error `config` when the folder was taken over, Error of the file system
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
 * Puts a copy in the place of a file that a run which stands still may have open: what that one writes when it goes on,
 * nobody finds.
 *
 * @throws Psd2Error `config` when the folder was taken over, Error of the file system
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
