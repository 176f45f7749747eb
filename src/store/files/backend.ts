import { dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { makePrivateFolder, readJsonFile, writeJsonFile } from '../disk/files.ts';
import { refuseForgotten } from '../flow/history.ts';
import { actorOf } from '../machine/actor.ts';
import { type ChosenStore, describeChoice, type StoreSettings } from '../machine/store-choice.ts';
import { requireBank } from '../pin-key.ts';
import type { ProfileData, Store, StoreCheck } from '../ports/store.ts';
import type { Sync } from '../ports/sync.ts';
import { FileAccessNotes, FileCallCount, FileUnattendedReads } from './access.ts';
import { FileAudit } from './audit.ts';
import { FileBatches } from './batches.ts';
import { FileCustomers } from './customers.ts';
import { refuseMovedFolder, wasCopiedInto } from './data.ts';
import { FileFlows } from './flows/flows.ts';
import { FilePersonalData } from './personal.ts';
import { FileReadResults } from './read-results.ts';
import type { SyncedFolder } from './sync/synced.ts';
import { FileTokens } from './tokens.ts';

async function openRounds(
  folder: string,
  open: () => ProfileData,
  isForgotten: (customerId: string) => boolean,
  now: () => Date,
) {
  const { FileRounds } = await import('./sync/rounds.ts');
  return new FileRounds(folder, () => readableCustomers(open()), isForgotten, now);
}

/** The backend on disk: the configuration folder of one machine. It reads only on demand. */
export function openFiles(settings: StoreSettings, chosen?: ChosenStore): Store {
  const { folder } = settings;
  const { root } = folder;
  const open = profileOpener(settings, chosen);
  return {
    place: `in ${root}`,
    home: 'files',
    source: chosen?.source ?? 'default',
    needsFolder: true,
    open: (profile, bank) => {
      chosen?.guardOf(profile).checkFiles();
      refuseMovedFolder(root);
      return open(profile, bank);
    },
    // The doctor checks owners and modes of the folder together with the machine's other folders.
    async *check(profile) {
      yield checkPlace(root, profile, chosen);
    },
    status: async () => (await import('./data.ts')).statusOfFolder(folder, open),
    async close() {},
  };
}

/** Opens the data of profiles, whether or not the guard lets a command have them. */
function profileOpener(
  { env, folder, vaultOf, notice, now, random, onFlow }: StoreSettings,
  chosen: ChosenStore | undefined,
): (profile: string, bank?: URL) => ProfileData {
  const { root, interrupted } = folder;
  const actor = actorOf(env);
  const journals = { now, random, interrupted, actor, onFlow };
  const worker = {
    actor,
    now,
    assertHere: () => refuseMovedFolder(root),
    wasCopied: () => wasCopiedInto(root),
    isForgotten: folder.forgotten.isForgotten,
  };
  const open = (profile: string, bank?: URL): ProfileData => {
    const assertHere = () => {
      refuseMovedFolder(root);
      chosen?.guardOf(profile).rememberFiles();
    };
    const audit = new FileAudit(folder.audit(profile), { profile, interrupted, worker });
    const tokens = new FileTokens(folder, profile, bank, notice, vaultOf(profile), assertHere);
    const customers = new FileCustomers(folder, profile, bank, notice, assertHere);
    const isForgotten = (customerId: string) => worker.isForgotten(profile, customerId);
    const mayBegin = (first: unknown) => refuseForgotten(profile, first, worker.isForgotten);
    return {
      tokens,
      customers,
      personal: new FilePersonalData(folder, profile, { tokens, customers, audit, assertHere }),
      flows: new FileFlows(folder.flows(profile), { ...journals, audit, assertHere, mayBegin }),
      audit,
      batches: new FileBatches(folder.flows(profile), { now, interrupted, assertHere }),
      calls: new FileCallCount(folder.tokens(profile)),
      notes: new FileAccessNotes(folder, profile),
      reads: new FileUnattendedReads(folder, profile),
      results: new FileReadResults(join(folder.tokens(profile), 'read-results.ndjson')),
      pins: async () => {
        assertHere();
        const { FileUnacceptedPins } = await import('./pins.ts');
        return new FileUnacceptedPins(folder, requireBank(bank));
      },
      // The lock of the run is beside its record, on this machine.
      smoking: (work) => work(),
      // Each process keeps its own pace.
      turns: (own) => own,
      ...syncFolders(join(root, 'sync'), join(folder.tokens(profile), 'synced-into.json'), assertHere),
      rounds: () => openRounds(folder.tokens(profile), () => open(profile, bank), isForgotten, now),
    };
  };
  return open;
}

/**
 * The folders that a profile is synced into.
 *
 * @param standard the folder if none is named
 * @param note the file that remembers the last one
 */
function syncFolders(
  standard: string,
  note: string,
  assertHere: () => void,
): Pick<ProfileData, 'sync' | 'lastSyncFolder' | 'synced'> {
  return {
    sync: (out = standard) => syncInto(out, assertHere, (path) => rememberFolder(note, path)),
    lastSyncFolder: () => readJsonFile(note, syncedInto)?.folder,
    synced: (out = standard) => syncedIn(out),
  };
}

async function syncedIn(out: string): Promise<SyncedFolder> {
  const { SyncedFolder } = await import('./sync/synced.ts');
  return new SyncedFolder(out);
}

/** Who has tokens, or at least a consent: some banks want nothing else. A damaged record counts, so that somebody learns of it. */
async function readableCustomers({ tokens, customers }: ProfileData): Promise<string[]> {
  const readable = new Set(await tokens.customers());
  for (const customer of await customers.list()) {
    if (readable.has(customer)) continue;
    try {
      const record = await customers.read(customer);
      if (!record || record.consents.length === 0) continue;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
    }
    readable.add(customer);
  }
  return [...readable].sort();
}

function checkPlace(root: string, profile: string | undefined, chosen: ChosenStore | undefined): StoreCheck {
  const guard = profile === undefined ? undefined : chosen?.guardOf(profile);
  try {
    guard?.checkFiles();
    refuseMovedFolder(root);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { name: 'store', status: 'fail', detail: error.message, fix: adviceIn(error) };
  }
  const how = describeChoice(chosen?.source ?? 'default', guard?.remembered !== undefined);
  return { name: 'store', status: 'ok', detail: `files in ${root} (${how})`, fix: null };
}

const syncedInto = z.object({ folder: z.string() });

/** Remembers where a sync writes, for the commands that read what it has stored. */
async function rememberFolder(path: string, out: string): Promise<void> {
  const folder = resolve(out);
  if (readJsonFile(path, syncedInto)?.folder === folder) return;
  makePrivateFolder(dirname(path));
  await writeJsonFile(path, { folder }, syncedInto);
}

function syncInto(out: string, assertHere: () => void, remember: (out: string) => Promise<void>): Sync {
  return {
    run: async (signal, work) => {
      await remember(out);
      const { syncIntoFolder } = await import('./sync/folder.ts');
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
