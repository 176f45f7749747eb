import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreFolder } from '../machine/folder.ts';
import type { ProfileData, StoreStatus } from '../ports/store.ts';
import { profilesIn } from './profiles.ts';

/** What `psd2 store status` shows for the home on disk. @param open gives the data of a profile */
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
    profiles.push({ profile, customers, flows: await countFlows(data) });
    for (const { flow, holder } of await data.flows.atWork())
      claims.push({ profile, kind: 'flow', name: flow, worker: holder, until: null });
  }
  const bytes = ['profiles', 'tokens', 'flows', 'protection'].reduce(
    (sum, name) => sum + sizeOf(join(root, name)),
    0,
  );
  return { home: 'files', place: root, schema: null, profiles, claims, bytes };
}

async function countFlows({ flows }: ProfileData): Promise<StoreStatus['profiles'][number]['flows']> {
  const counted: StoreStatus['profiles'][number]['flows'] = [];
  for (const kind of ['transfer', 'operation', 'consent'] as const) {
    const states = new Map<string, number>();
    const onDamaged = () => states.set('damaged', (states.get('damaged') ?? 0) + 1);
    for await (const { state } of flows.list(kind, { onDamaged }))
      states.set(state, (states.get(state) ?? 0) + 1);
    for (const [state, count] of [...states].sort()) counted.push({ kind, state, count });
  }
  return counted;
}

/** The size of a file, or of all files below a folder, in bytes. 0 if it does not exist. */
function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
