import { dayOfRow } from '../../src/domain/booked-ids.ts';
import type { StoredRows } from '../../src/store/known-rows.ts';
import type { SyncedRow } from '../../src/store/ports/sync.ts';

/** The stored rows of a product. @param rows they are kept there */
export function rowsInMemory(rows: SyncedRow[]): StoredRows {
  return {
    find: async (days, from) =>
      rows.filter((row) => {
        const day = dayOfRow(row) ?? '';
        return days.has(day) || (from !== undefined && day >= from);
      }),
    add: async (more) => void rows.push(...more),
    mark: async (marked, mark) => {
      for (const row of marked) row[mark] = true;
    },
    recall: async () => {},
    lastDay: async () => undefined,
  };
}
