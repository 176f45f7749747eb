import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { readJsonFile, writeJsonFile } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import type { StoreFolder } from './folder.ts';

const stored = z.object({ folders: z.array(z.string()) });
/** Longer than a process needs for one write. */
const PATIENCE_MS = 10_000;

/**
 * The folders into which `psd2 sync --out` has written data of a profile's customers, so that `customer export` and `customer forget`
 * find it. Folders that do not exist any more are left out.
 *
 * @throws Psd2Error `config` if the file is damaged
 */
export function syncFoldersOf({ syncFolders }: StoreFolder, profile: string): string[] {
  const { folders = [] } = readJsonFile(syncFolders(profile), stored) ?? {};
  return folders.filter((folder) => existsSync(folder));
}

/** Remembers such a folder, before the first file is in it. @throws Psd2Error `config` */
export async function rememberSyncFolder(folder: StoreFolder, profile: string, out: string): Promise<void> {
  const path = folder.syncFolders(profile);
  const whole = resolve(out);
  if (readJsonFile(path, stored)?.folders.includes(whole)) return;
  await withLock(
    path,
    'The list of sync folders',
    async () => {
      const { folders = [] } = readJsonFile(path, stored) ?? {};
      if (!folders.includes(whole)) await writeJsonFile(path, { folders: [...folders, whole] }, stored);
    },
    PATIENCE_MS,
    folder.interrupted,
  );
}
