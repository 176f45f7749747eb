import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { jsonIn } from '../../../domain/json.ts';
import { entriesBelow, readPlainFile, removeStored, syncFolder } from '../../disk/files.ts';
import type { StoredRows, SyncedFolder } from '../../ports/personal.ts';
import { nameOfCustomer } from '../file-names.ts';
import { SyncRun } from './folder.ts';

/** What syncs have written about a customer in the folder of `--out`. */
export function syncedInto(out: string): SyncedFolder {
  const folderOf = (customerId: string) => join(out, nameOfCustomer(customerId));
  return {
    rows: async (customerId) => {
      const folder = folderOf(customerId);
      return filesIn(folder).map((path) => ({ name: relative(out, path), rows: rowsIn(path) }));
    },
    remove: async (customerId) => {
      const folder = folderOf(customerId);
      if (!existsSync(folder)) return 0;
      const files = filesIn(folder).length;
      // A sync that works on the customer ends first, or loses its claim.
      await SyncRun.within(out, new AbortController().signal, (run) =>
        run.customer(customerId, async () => {}),
      );
      removeStored(folder);
      syncFolder(out);
      return files;
    },
  };
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return entriesBelow(folder)
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

/** The lines of a file. One that a crash has cut short is no row. */
function rowsIn(path: string): StoredRows['rows'] {
  return (readPlainFile(path)?.toString('utf8') ?? '')
    .split('\n')
    .map(jsonIn)
    .filter((row) => row !== undefined);
}
