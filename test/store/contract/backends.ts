import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, inject, onTestFinished } from 'vitest';
import { folderSide } from '../../../src/store/files/copy/side.ts';
import { storeFolder } from '../../../src/store/machine/folder.ts';
import { openStore } from '../../../src/store/open.ts';
import type { CopySide } from '../../../src/store/ports/copy.ts';
import type { Store } from '../../../src/store/ports/store.ts';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import { Database } from '../../../src/store/postgres/database.ts';
import { openDatabases, type ReadyDatabases } from '../postgres/databases.ts';
import { settingsOf } from '../settings.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The backend that the contract's tests run for: the projects `unit` and `postgres` have one each. Undefined: all. */
    backend?: 'files' | 'PostgreSQL';
  }
}

/** An empty place for a store, and workers that share it. */
export interface Place {
  /** Opens the store as another worker. @param passphrase of a protected profile */
  worker(passphrase?: string): Promise<Store>;
  /** The place as a side of a copy. */
  side(passphrase?: string): CopySide;
  /** Protects a profile's data from now on. */
  protect(profile: string, passphrase: string): Promise<void>;
  /** All data in the place, as a thief would read it, with the names of files. */
  everything(): string;
  /** Records on the machine that psd2 forgets a customer. */
  forget(profile: string, customerId: string): Promise<void>;
  /** The workers so far have been dead for a minute. */
  killWorkers(profile: string): void;
  /** Damages the data of a flow. */
  damage(profile: string, flow: string): void;
  /** Brings back the journal of a flow from a backup that has only its first events. 0: the journal is lost. */
  restore(profile: string, flow: string, events: number): void;
  /** The folder for the rows of a sync. Undefined: they go into the store alone, so that nothing in a folder hides what it lacks. */
  out: string | undefined;
  /** A folder that an operator may name for them. */
  folder: string;
  /** Where the operator finds the records of flows. */
  records(profile: string): string;
}

/** A backend under test. `open` makes a place. */
export interface Backend {
  name: string;
  open(): Promise<Place>;
}

/** Both backends, for the tests of a file. What they open ends with the file. */
export function usePlaces(): { files: Backend; PostgreSQL: Backend } {
  const temporary = temporaryFolder();
  let databases: ReadyDatabases | undefined;
  afterAll(() => databases?.stop());
  return {
    files: { name: 'a backend on disk', open: async () => openOnDisk(newConfigFolder(temporary).root) },
    PostgreSQL: {
      name: 'a backend in PostgreSQL',
      open: () => {
        databases ??= openDatabases();
        return openInPostgres(newConfigFolder(temporary).root, databases);
      },
    },
  };
}

/** The backends that the tests of a file in test/store/contract/ run for. */
export function useBackends(): Backend[] {
  const { files, PostgreSQL } = usePlaces();
  const backend = inject('backend');
  return [...(backend === 'PostgreSQL' ? [] : [files]), ...(backend === 'files' ? [] : [PostgreSQL])];
}

function openOnDisk(root: string): Place {
  const folder = storeFolder(root);
  return {
    out: join(root, 'out'),
    folder: join(root, 'out'),
    records: (profile) => folder.flows(profile),
    // Each worker begins when it is opened.
    worker: (passphrase) => openStore(settingsOf(storeFolder(root), {}, passphrase)),
    side: (passphrase) => folderSide(folder, settingsOf(folder, {}, passphrase).vaultOf),
    protect: (profile, passphrase) =>
      settingsOf(folder).vaultOf(profile).protect({ kind: 'passphrase', passphrase }),
    forget: (profile, customerId) => folder.forgotten.add(profile, [customerId], new Date()),
    everything: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => `${name}\n${readFileSync(join(parentPath, name), 'utf8')}`)
        .join('\n'),
    killWorkers: (profile) => {
      const markers = join(folder.flows(profile), 'open');
      const then = new Date(Date.now() - 60_000);
      for (const flow of readdirSync(markers)) utimesSync(join(markers, flow), then, then);
    },
    damage: (profile, flow) => writeFileSync(join(folder.flows(profile), `${flow}.ndjson`), 'garbage'),
    restore: (profile, flow, events) => {
      const path = join(folder.flows(profile), `${flow}.ndjson`);
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, events);
      if (events === 0) rmSync(path);
      else writeFileSync(path, `${lines.join('\n')}\n`);
    },
  };
}

/** Closes a store or a database after the test. */
function closing<Opened extends { close(): Promise<void> }>(opened: Opened): Opened {
  onTestFinished(() => opened.close());
  return opened;
}

async function openInPostgres(root: string, running: ReadyDatabases): Promise<Place> {
  const database = `psd2_${randomBytes(6).toString('hex')}`;
  await running.ready(database);
  const folder = storeFolder(root);
  return {
    out: undefined,
    folder: join(root, 'out'),
    records: () => `psd2.flows at ${parseAddress(running.url(database), {}).shown}`,
    worker: async (passphrase) => {
      const env = { PSD2_STORE: running.url(database), PSD2_STORE_PLAIN_TOKENS: '1' };
      return closing(await openStore(settingsOf(storeFolder(root), env, passphrase)));
    },
    side: (passphrase) => {
      const side = closing(new Database(parseAddress(running.url(database), {}), undefined, true));
      return databaseSide(side, settingsOf(folder, {}, passphrase).keySources, passphrase === undefined);
    },
    protect: async () => {
      running.sql(database, 'update psd2.store set plain_tokens = false');
    },
    forget: (profile, customerId) => folder.forgotten.add(profile, [customerId], new Date()),
    everything: () => {
      const tables = running
        .sql(database, `select tablename from pg_tables where schemaname = 'psd2'`)
        .split('\n');
      return tables.map((table) => running.sql(database, `select * from psd2.${table}`)).join('\n');
    },
    killWorkers: () => void running.sql(database, `update psd2.claims set until = '-infinity'`),
    damage: (_, flow) => {
      running.sql(database, `update psd2.flow_events set event = '{"garbage":true}' where flow = '${flow}'`);
    },
    restore: (_, flow, events) => {
      running.sql(database, `delete from psd2.flow_events where flow = '${flow}' and n > ${events}`);
    },
  };
}
