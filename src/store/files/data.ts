import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isBatchId } from '../batch/refusals.ts';
import { refuseMoved } from '../copy/moved.ts';
import { listFolder, readJsonFile, writeJsonFile } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { isProfileName } from '../machine/profiles.ts';
import type { Mark } from '../ports/copy.ts';
import type { ProfileData, StoreStatus } from '../ports/store.ts';
import { FlowsAtRest } from './flows/at-rest.ts';
import { countStates } from './flows/list.ts';
import { FlowFolder } from './flows/lookup.ts';

/** The profiles that have tokens or flows in a configuration folder, sorted. @throws Psd2Error `config` */
export function profilesIn({ tokens, flows }: StoreFolder): string[] {
  const names = [tokens('x'), flows('x')].flatMap((path) => listFolder(dirname(path)));
  return [...new Set(names)].filter(isProfileName).sort();
}

/** What `psd2 store status` shows for the backend on disk. @param open gives the data of a profile */
export async function statusOfFolder(
  folder: StoreFolder,
  open: (profile: string) => ProfileData,
): Promise<StoreStatus> {
  const { root } = folder;
  const profiles: StoreStatus['profiles'] = [];
  const claims: StoreStatus['claims'] = [];
  for (const profile of profilesIn(folder)) {
    const data = open(profile);
    const customers = (await data.tokens.customers()).length;
    const batches = listFolder(join(folder.flows(profile), 'batches')).filter(isBatchId).length;
    profiles.push({ profile, customers, flows: countFlows(folder.flows(profile)), batches });
    for (const { flow, holder } of await data.flows.atWork())
      claims.push({ profile, kind: 'flow', name: flow, worker: holder, until: null });
  }
  const bytes = ['profiles', 'tokens', 'flows', 'protection'].reduce(
    (sum, name) => sum + sizeBelow(join(root, name)),
    0,
  );
  return { home: 'files', place: root, schema: null, profiles, claims, bytes };
}

function countFlows(journals: string): StoreStatus['profiles'][number]['flows'] {
  const [flows, atRest] = [new FlowFolder(journals), new FlowsAtRest(journals)];
  return (['transfer', 'operation', 'consent'] as const).flatMap((kind) =>
    [...countStates(flows, atRest, kind)].sort().map(([state, count]) => ({ kind, state, count })),
  );
}

/** The size of a file, or of all files below a folder, in bytes. 0 if it does not exist. */
function sizeBelow(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeBelow(join(path, name)), 0);
}

const other = { id: z.string(), place: z.string() };
const mark = z.object({
  id: z.string(),
  movedTo: z.nullable(z.object(other)),
  copiedFrom: z.nullable(z.object({ ...other, isComplete: z.boolean() })),
});

/** The path of the folder's mark, `store.json`. Most folders have none, since they were never copied. */
function markPath(root: string): string {
  return join(root, 'store.json');
}

/**
 * Refuses a worker if the folder was copied to another backend. Call it with a lock held: `store copy` sets the mark first and
 * looks for locks afterwards, so that one of both always sees the other.
 *
 * @throws Psd2Error `config`
 */
export function refuseMovedFolder(root: string): void {
  const path = markPath(root);
  if (!existsSync(path)) return;
  const copyMark = readJsonFile(path, mark);
  if (copyMark) refuseMoved(root, copyMark);
}

/** Whether `store copy` has written into the folder. @throws Psd2Error `config` */
export function wasCopiedInto(root: string): boolean {
  return Boolean(readJsonFile(markPath(root), mark)?.copiedFrom);
}

/** The mark of a folder. Creates it if it does not exist. @throws Psd2Error `config` */
export function markOf(root: string): Promise<Mark> {
  return changeMark(root, {});
}

/** Changes the mark of a folder, durably. @throws Psd2Error `config` */
export async function changeMark(root: string, change: Partial<Omit<Mark, 'id'>>): Promise<Mark> {
  const path = markPath(root);
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
