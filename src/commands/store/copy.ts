import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { openSide } from './homes.ts';
import { storeCopied } from './shape.ts';

export interface StoreCopyOptions {
  from: string;
  to: string;
}

/** `psd2 store copy`: copies a store to another home, and compares both (store page, "Commands"). */
export async function storeCopy(context: Context, options: StoreCopyOptions): Promise<void> {
  const { output, terminal, world } = context;
  const from = await openSide(context, '--from', options.from);
  const to = await openSide(context, '--to', options.to);
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

function writeCompared(newer: number): string {
  return newer === 0
    ? 'the same on both sides'
    : `the same on both sides, except ${newer} that are newer in the destination`;
}
