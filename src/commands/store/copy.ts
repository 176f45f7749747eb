import { StoreMemory } from '../../store/machine/store-memory.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { type OpenedSide, openSide } from './homes.ts';
import { storeCopied } from './shape.ts';

export interface StoreCopyOptions {
  from: string;
  to: string;
}

/** `psd2 store copy`: copies a store to another home, and compares both (store page, "Commands"). */
export async function storeCopy(context: Context, options: StoreCopyOptions): Promise<void> {
  const { output, terminal, world } = context;
  const source = await openSide(context, '--from', options.from);
  const target = await openSide(context, '--to', options.to);
  const [from, to] = [source.side, target.side];
  const { copyStore } = await import('../../store/copy/copy.ts');
  let looked = 0;
  const copied = await terminal.whileWaiting(
    () => `${looked} records`,
    copyStore(from, to, {
      signal: world.signal,
      sleep: world.sleep,
      say: terminal.say,
      onRecord: (count) => {
        looked = count;
      },
    }),
  );
  await follow(context, source, target);
  output.record<Printed<typeof storeCopied>>(
    { from: from.place, to: to.place, ...copied, isSame: true },
    [
      { title: 'From', value: (copy) => copy.from },
      { title: 'To', value: (copy) => copy.to },
      { title: 'Profiles', value: ({ profiles }) => `${profiles}` },
      { title: 'Logins', value: ({ logins }) => `${logins}` },
      { title: 'Flows', value: ({ flows, events }) => `${flows}, with ${events} events` },
      { title: 'Counts and notes', value: ({ others }) => `${others}` },
      { title: 'Written now', value: ({ written }) => `${written}` },
      { title: 'Compared', value: ({ newer }) => writeCompared(newer) },
    ],
    storeCopied,
  );
  terminal.say(`Use ${to.place} from now on. ${from.place} is unchanged, and refuses workers.`);
}

/**
 * Remembers the destination as the store of each copied profile, if this machine had its data in the source. A setting of
 * the profile then names the destination.
 */
async function follow({ folder }: Context, from: OpenedSide, { side, store }: OpenedSide): Promise<void> {
  if (from.store === undefined || store === undefined) return;
  const [{ id: source }, { id }] = [await from.side.mark(), await side.mark()];
  for (const profile of await from.side.profiles()) {
    const memory = new StoreMemory(folder, profile);
    const before = memory.read();
    const wasInSource =
      before?.home === 'postgres'
        ? before.id === source || before.id === id
        : [from.store.home, store.home].includes('files') && (!before || from.store.home === 'files');
    if (!wasInSource) continue;
    const isSet = before?.isSet ?? false;
    memory.replace(store.home === 'files' ? { ...store, isSet } : { ...store, id, isSet });
  }
}

function writeCompared(newer: number): string {
  return newer === 0
    ? 'the same on both sides'
    : `the same on both sides, except ${newer} that are newer in the destination`;
}
