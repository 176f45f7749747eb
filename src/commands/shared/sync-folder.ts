import { existsSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';

/** Refuses a folder of `--sync-folder` that is not there: the operator has another one in mind. @throws Psd2Error `usage` */
export function requireSyncFolder(folder: string): void {
  if (folder === '') throw new Psd2Error('usage', 'The value of --sync-folder is empty');
  if (!existsSync(folder))
    throw new Psd2Error('usage', `--sync-folder names ${folder}, which does not exist`, {
      hint: 'Give the folder of psd2 sync --out.',
    });
}
