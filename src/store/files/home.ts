import { join } from 'node:path';
import type { StoreSettings } from '../open.ts';
import type { ProfileData, Store } from '../ports/store.ts';
import type { Sync } from '../ports/sync.ts';
import { FileAccessNotes } from './access-notes.ts';
import { FileCallCount } from './call-count.ts';
import { FileFlows } from './flows/flows.ts';
import { refuseMovedFolder } from './mark.ts';
import { FileTokens } from './tokens.ts';
import { FileUnattendedReads } from './unattended-reads.ts';

/** The home on disk: the configuration folder of one machine. It reads only on demand. */
export function openFiles({ folder, vaultOf, notice, now, random, onFlow }: StoreSettings): Store {
  const assertHere = () => refuseMovedFolder(folder.root);
  const open = (profile: string, bank?: URL): ProfileData => ({
    tokens: new FileTokens(folder, profile, bank, notice, vaultOf(profile)),
    flows: new FileFlows(folder.flows(profile), {
      now,
      random,
      interrupted: folder.interrupted,
      onFlow,
      assertHere,
    }),
    calls: new FileCallCount(folder.tokens(profile)),
    notes: new FileAccessNotes(folder, profile),
    reads: new FileUnattendedReads(folder, profile),
    // Each process keeps its own pace.
    turns: (own) => own,
    sync: (out = join(folder.root, 'sync')) => syncInto(out, assertHere),
    rounds: async () => {
      const { FileRounds } = await import('./sync/rounds.ts');
      return new FileRounds(folder.tokens(profile), () => open(profile, bank).tokens.customers(), now);
    },
  });
  return {
    place: `in ${folder.root}`,
    needsFolder: true,
    open: (profile, bank) => {
      assertHere();
      return open(profile, bank);
    },
    // The doctor checks owners and modes of the folder together with the machine's other folders.
    async *check() {},
    status: async () => (await import('./status.ts')).statusOfFolder(folder, open),
    async close() {},
  };
}

function syncInto(out: string, assertHere: () => void): Sync {
  return {
    run: async (signal, work) => {
      const { syncIntoFolder } = await import('./sync/into-folder.ts');
      return syncIntoFolder(out).run(signal, (run) =>
        work({
          customer: (customerId, ofCustomer) =>
            run.customer(customerId, (to) => {
              assertHere();
              return ofCustomer(to);
            }),
        }),
      );
    },
  };
}
