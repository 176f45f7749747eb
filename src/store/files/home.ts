import { join } from 'node:path';
import type { StoreSettings } from '../open.ts';
import type { Store } from '../ports/store.ts';
import { FileAccessNotes } from './access-notes.ts';
import { FileCallCount } from './call-count.ts';
import { FileFlows } from './flows.ts';
import { FileTokens } from './tokens.ts';
import { FileUnattendedReads } from './unattended-reads.ts';

/** The home on disk: the configuration folder of one machine. Nothing is read before it is asked for. */
export function openFiles({ folder, vaultOf, notice, now, random, onFlow }: StoreSettings): Store {
  const store: Store = {
    place: `in ${folder.root}`,
    needsFolder: true,
    open: (profile, bank) => ({
      tokens: new FileTokens(folder, profile, bank, notice, vaultOf(profile)),
      flows: new FileFlows(folder.flows(profile), { now, random, interrupted: folder.interrupted, onFlow }),
      calls: new FileCallCount(folder.tokens(profile)),
      notes: new FileAccessNotes(folder, profile),
      reads: new FileUnattendedReads(folder, profile),
      // What each process keeps by itself is all there is.
      turns: (own) => own,
      sync: (out = join(folder.root, 'sync')) => ({
        run: async (signal, work) => {
          const { syncIntoFolder } = await import('./sync/into-folder.ts');
          return syncIntoFolder(out).run(signal, work);
        },
      }),
      rounds: async () => {
        const { FileRounds } = await import('./rounds.ts');
        return new FileRounds(
          folder.tokens(profile),
          () => store.open(profile, bank).tokens.customers(),
          now,
        );
      },
    }),
    // Owners and modes of the folder are looked at with the machine's own.
    async *check() {},
    status: async () => (await import('./status.ts')).statusOfFolder(folder, store.open),
    async close() {},
  };
  return store;
}
