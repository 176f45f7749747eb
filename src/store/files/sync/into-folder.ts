import type { Sync, SyncTarget } from '../../ports/sync.ts';
import { SyncRun as FolderRun, type SyncFolder } from './folder.ts';
import type { SyncedRows } from './rows.ts';

/** Stores what a sync reads in files, with a folder for each customer. */
export function syncIntoFolder(out: string): Sync {
  return {
    run: (signal, work) =>
      FolderRun.within(out, signal, (run) =>
        work({
          customer: (customerId, sync) => run.customer(customerId, (folder) => sync(targetOf(folder))),
        }),
      ),
  };
}

function targetOf(folder: SyncFolder): SyncTarget {
  const booked = new Map<string, SyncedRows>();
  return {
    progress: async (productId) => folder.progressOf(productId),
    booked: async (productId, readsAll) => {
      const rows = folder.booked(productId, readsAll ? 0 : (folder.progressOf(productId)?.settled ?? 0));
      booked.set(productId, rows);
      return { append: async (some) => rows.append(some), lastDay: async (most) => rows.lastDay(most) };
    },
    replace: (name, rows) => folder.replace(name, rows),
    remember: (productId, progress, settled) =>
      folder.remember(productId, { ...progress, settled: booked.get(productId)?.settle(settled) ?? 0 }),
    commit: () => folder.commit(),
  };
}
