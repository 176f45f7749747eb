import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { refuseMoved } from '../copy/moved.ts';
import { readJsonFile, writeJsonFile } from '../disk/json-file.ts';
import { withLock } from '../disk/lock.ts';
import type { Mark } from '../ports/copy.ts';

const other = { id: z.string(), place: z.string() };
const mark = z.object({
  id: z.string(),
  movedTo: z.nullable(z.object(other)),
  copiedFrom: z.nullable(z.object({ ...other, isComplete: z.boolean() })),
});

/** The path of the folder's mark, `store.json`. Most folders have none, since they were never copied. */
function pathIn(root: string): string {
  return join(root, 'store.json');
}

/**
 * Refuses a worker if the folder was copied to another home. Call it with a lock held: `store copy` sets the mark first and
 * looks for locks afterwards, so that one of both always sees the other.
 *
 * @throws Psd2Error `config`
 */
export function refuseMovedFolder(root: string): void {
  const path = pathIn(root);
  if (!existsSync(path)) return;
  const found = readJsonFile(path, mark);
  if (found) refuseMoved(root, found);
}

/** The mark of a folder. Creates it if it does not exist. @throws Psd2Error `config` */
export function markOf(root: string): Promise<Mark> {
  return changeMark(root, {});
}

/** Changes the mark of a folder, durably. @throws Psd2Error `config` */
export async function changeMark(root: string, change: Partial<Omit<Mark, 'id'>>): Promise<Mark> {
  const path = pathIn(root);
  return withLock(
    path,
    'The mark of the store',
    async () => {
      const before = readJsonFile(path, mark);
      const after = { ...(before ?? { id: randomUUID(), movedTo: null, copiedFrom: null }), ...change };
      if (!before || Object.keys(change).length > 0) await writeJsonFile(path, after, mark);
      return after;
    },
    10_000,
  );
}
