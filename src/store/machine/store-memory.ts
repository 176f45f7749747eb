import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { appendDurably, removeStored, syncFolder, takeName } from '../disk/files.ts';
import { makePrivateFolder, readJsonFile } from '../disk/json-file.ts';
import { reasonOf, systemCode } from '../disk/system-error.ts';
import type { StoreFolder } from './folder.ts';

/** Whether the operator chose the store with `profile set --store`. Otherwise a command has used it. */
const isSet = z.boolean();

const rememberedStore = z.discriminatedUnion('home', [
  z.object({ home: z.literal('files'), isSet }),
  z.object({
    home: z.literal('postgres'),
    /** The random id of the database's store. Null if it had no tables yet when the operator chose it. */
    id: z.nullable(z.string()),
    /** Host, port and database. */
    shown: z.string(),
    /** How to reach it. Never contains a password. */
    address: z.string(),
    isSet,
  }),
]);

/** The store that has the data of a profile, as this machine remembers it. */
export type RememberedStore = z.infer<typeof rememberedStore>;

/**
 * Which store has the data of a profile. It is in two files, so that no command silently uses another store if one of them
 * is lost.
 */
export class StoreMemory {
  readonly #path: string;
  readonly #copy: string;

  constructor({ root }: StoreFolder, profile: string) {
    this.#path = join(root, 'stores', `${profile}.json`);
    this.#copy = join(root, 'stores', 'copies', `${profile}.json`);
  }

  /** @returns undefined if nothing is remembered. @throws Psd2Error `config` if the file is damaged */
  read(): RememberedStore | undefined {
    return readJsonFile(this.#path, rememberedStore) ?? readJsonFile(this.#copy, rememberedStore);
  }

  /**
   * Remembers a store, durably, unless the machine remembers one already. If two processes do this at once, both get the
   * same result. Restores a lost file.
   *
   * @returns the store that is remembered now. If the folder is read-only, nothing is remembered
   * @throws Psd2Error `config` if it cannot be written for another reason, for example because the disk is full
   */
  add(store: RememberedStore): RememberedStore {
    const before = this.read();
    if (before && existsSync(this.#path) && existsSync(this.#copy)) return before;
    try {
      take(this.#path, before ?? store);
      // Another process may have been faster.
      const now = this.read() ?? store;
      take(this.#copy, now);
      return now;
    } catch (error) {
      if (!isReadOnly(error)) throw error;
      return before ?? store;
    }
  }

  /** Remembers a store in place of the earlier one, durably. @throws Psd2Error `config` if it cannot be written */
  replace(store: RememberedStore): void {
    for (const path of [this.#copy, this.#path]) write(path, store, (beside) => renameSync(beside, path));
  }
}

function take(path: string, store: RememberedStore): void {
  write(path, store, (beside) => {
    try {
      takeName(beside, path);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  });
}

/** @param name gives the complete file its name */
function write(path: string, store: RememberedStore, name: (beside: string) => void): void {
  const folder = dirname(path);
  const beside = join(folder, `.${randomUUID()}`);
  makePrivateFolder(folder);
  try {
    appendDurably(beside, 'wx', JSON.stringify(store, null, '\t'));
    name(beside);
    syncFolder(folder);
  } catch (cause) {
    throw new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
      hint: 'Check the free space, and who owns the folder.',
      cause,
    });
  } finally {
    if (existsSync(beside)) removeStored(beside);
  }
}

function isReadOnly(error: unknown): boolean {
  const code = systemCode(error instanceof Psd2Error ? error.cause : error) ?? '';
  // Node's mkdir says ENOENT on a read-only file system.
  return ['EROFS', 'EACCES', 'EPERM', 'ENOENT'].includes(code);
}
