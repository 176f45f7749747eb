import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import {
  appendDurably,
  cannotWrite,
  makePrivateFolder,
  type QuickShape,
  readJsonFile,
  removeStored,
  syncFolder,
  systemCode,
  takeName,
} from '../disk/files.ts';
import type { KeySources, Vault } from '../secrets/vault.ts';
import type { StoreFolder } from './folder.ts';
import type { Environment } from './settings.ts';

/** What a backend needs to be opened. */
export interface StoreSettings {
  /** `PSD2_STORE` chooses a database. The variables of libpq (`PGPASSWORD` and others) complete its address. */
  env: Environment;
  /** The profile whose setting chooses the store if `PSD2_STORE` does not. */
  profile?: string | undefined;
  /** Where the files are, and the signal that stops waiting for other workers. */
  folder: StoreFolder;
  /** The key of a profile's secrets. It stays on this machine. */
  vaultOf: (profile: string) => Vault;
  /** Gives the passphrase that encrypts tokens in a database. */
  keySources: KeySources;
  /** Waits this many milliseconds. Rejects if the operator interrupts. */
  sleep: (milliseconds: number) => Promise<void>;
  /** Tells the operator where psd2 kept a damaged file. */
  notice: (text: string) => void;
  now: () => Date;
  /** Gives a number from 0 to 1. */
  random: () => number;
  /** Called with each flow that begins or is read, and with its `TPP-Transaction-ID`. */
  onFlow?: ((transactionId: string, flow: string) => void) | undefined;
}

/** How a store was chosen, and what keeps the data of each profile in it. */
export interface ChosenStore {
  source: StoreSource;
  guardOf(profile: string): StoreGuard;
}

/** Where the choice of a store comes from (command contract, "Precedence"). */
export type StoreSource = 'environment' | 'profile' | 'default';

/** A chosen store. Without an address it is the configuration folder. */
export interface StoreChoice {
  source: StoreSource;
  /** Of the database. In the environment it may contain a password. */
  address: string | undefined;
}

/**
 * Chooses the store: `PSD2_STORE`, else the setting of the profile, else the configuration folder.
 *
 * @param remembered what this machine remembers of the profile
 * @throws Psd2Error `config` if `PSD2_STORE` is not the address of a database
 */
export function chooseStore(env: Environment, remembered: RememberedStore | undefined): StoreChoice {
  const { PSD2_STORE: address } = env;
  if (address) {
    if (isDatabaseAddress(address)) return { source: 'environment', address };
    throw new Psd2Error('config', 'PSD2_STORE is not the address of a database', {
      hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
    });
  }
  if (!remembered?.isSet) return { source: 'default', address: undefined };
  return { source: 'profile', address: remembered.home === 'postgres' ? remembered.address : undefined };
}

/** For the operator: where the choice comes from, and whether the machine remembers the store. */
export function describeChoice(source: StoreSource, isRemembered: boolean): string {
  const from = { environment: 'PSD2_STORE', profile: 'setting of the profile', default: 'default' }[source];
  return isRemembered ? `${from}; remembered` : from;
}

/** Whether a text is meant as the address of a database. */
export function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Refuses an address with a password in an argument, and does not repeat it. The user and password of an address end at its
 * last @. The password begins after the first colon, and may contain anything.
 *
 * @param option that has the address, for example `--store`
 * @throws Psd2Error `usage`
 */
export function refusePassword(option: string, address: string): void {
  if (!containsPassword(address)) return;
  throw new Psd2Error(
    'usage',
    `${option} contains a password, which others can read in the list of processes`,
    { hint: 'Leave it out, and set PGPASSWORD or PGPASSFILE. Or set the address in PSD2_STORE.' },
  );
}

/** The address of a database, without its passwords. */
export function hidePassword(address: string): string {
  if (!containsPassword(address)) return address;
  return address
    .replace(/^([^:]*:\/\/)([^:]*).*@/s, '$1$2@')
    .replace(/([?&](?:password|sslpassword)=)[^&]*/gi, '$1…');
}

/** Whether the address of a database contains a password. */
export function containsPassword(address: string): boolean {
  const [, user = ''] = /^[^:]*:\/\/(.*)@/s.exec(address) ?? [];
  return user.includes(':') || /[?&](?:password|sslpassword)=/i.test(address);
}

/** The store that has the data of a profile, as this machine remembers it. */
export type RememberedStore = { home: 'files'; isSet: boolean } | RememberedDatabase;

interface RememberedDatabase {
  home: 'postgres';
  /** The random id of the database's store. Null if it had no tables yet when the operator chose it. */
  id: string | null;
  /** Host, port and database. */
  shown: string;
  /** How to reach it. Never contains a password. */
  address: string;
  /** Whether the operator chose the store with `profile set --store`. Otherwise a command has used it. */
  isSet: boolean;
}

/** That of the files needs no schema. */
export const rememberedStore: QuickShape<RememberedStore> = {
  isCertainly: (value): value is RememberedStore => {
    if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
    return 'home' in value && value.home === 'files' && 'isSet' in value && typeof value.isSet === 'boolean';
  },
  schema: () => {
    const isSet = z.boolean();
    const [id, shown, address] = [z.nullable(z.string()), z.string(), z.string()];
    return z.discriminatedUnion('home', [
      z.object({ home: z.literal('files'), isSet }),
      z.object({ home: z.literal('postgres'), id, shown, address, isSet }),
    ]);
  },
};

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
      takeStore(this.#path, before ?? store);
      // Another process may have been faster.
      const now = this.read() ?? store;
      takeStore(this.#copy, now);
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

function takeStore(path: string, store: RememberedStore): void {
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
    throw cannotWrite(path, cause);
  } finally {
    if (existsSync(beside)) removeStored(beside);
  }
}

function isReadOnly(error: unknown): boolean {
  const code = systemCode(error instanceof Psd2Error ? error.cause : error) ?? '';
  // Node's mkdir says ENOENT on a read-only file system.
  return ['EROFS', 'EACCES', 'EPERM', 'ENOENT'].includes(code);
}

/** A database as a command names it. */
export interface NamedDatabase {
  /** Host, port and database. */
  shown: string;
  /** How to reach it. Never contains a password. */
  address: string;
}

interface FoundDatabase extends NamedDatabase {
  /** The random id of its store. */
  id: string;
  /** Whether it has flows or tokens of the profile. */
  hasData: boolean;
}

type UsedStore = { home: 'files' } | ({ home: 'postgres' } & NamedDatabase);

/**
 * Keeps the data of a profile in one store ("One home" in the command contract): it remembers which store has the data, and
 * refuses a command that would use another one.
 */
export class StoreGuard {
  readonly #folder: StoreFolder;
  readonly #profile: string;
  readonly #memory: StoreMemory;
  readonly #hasDataInFiles: () => boolean;
  #known: RememberedStore | undefined;
  #isRead = false;

  /** @param hasDataInFiles whether the configuration folder has flows or tokens of the profile */
  constructor(folder: StoreFolder, profile: string, hasDataInFiles: () => boolean) {
    this.#folder = folder;
    this.#profile = profile;
    this.#memory = new StoreMemory(folder, profile);
    this.#hasDataInFiles = hasDataInFiles;
  }

  /** The store that is remembered; undefined if none is. It is read once. @throws Psd2Error `config` */
  get remembered(): RememberedStore | undefined {
    if (!this.#isRead) this.#known = this.#memory.read();
    this.#isRead = true;
    return this.#known;
  }

  /** Checks that a command may use the files. Remembers them if they have data. @throws Psd2Error `config` */
  checkFiles(): void {
    const { remembered } = this;
    if (remembered?.home === 'postgres') throw this.#refusal(remembered, FILES);
    if (!remembered && this.#hasDataInFiles()) this.rememberFiles();
  }

  /**
   * Remembers the files, before the first data is written to them, and checks again that they are still the store.
   *
   * @throws Psd2Error `config`
   */
  rememberFiles(): void {
    this.#know(this.#memory.add({ ...FILES, isSet: false }));
    if (this.#known?.home === 'postgres') throw this.#refusal(this.#known, FILES);
  }

  /**
   * Checks that a command may use a database, before psd2 connects to it. It cannot know the database's id yet.
   *
   * @throws Psd2Error `config`
   */
  checkNamed(named: NamedDatabase): void {
    const { remembered } = this;
    if (remembered && this.#isElsewhere(remembered, named)) throw this.#refusal(remembered, toUsed(named));
  }

  /** Whether {@link checkFound} needs to know if the database has data of the profile. */
  get needsToKnowData(): boolean {
    return this.remembered?.home !== 'postgres';
  }

  /** Checks the database that was found. Remembers it if it has data. @throws Psd2Error `config` */
  checkFound(database: FoundDatabase): void {
    const { remembered } = this;
    // Files without data of the profile do not count. If both have data, nobody knows which is right, except the operator.
    if (!remembered && !database.hasData && this.#hasDataInFiles())
      throw this.#refusal({ ...FILES, isSet: false }, toUsed(database));
    if (remembered?.home === 'postgres' && remembered.id !== null && remembered.id !== database.id)
      throw this.#refusal(remembered, toUsed(database));
    if (database.hasData || remembered?.home === 'postgres') this.rememberFound(database);
  }

  /** Remembers a database, before the first data is written to it. @throws Psd2Error `config` */
  rememberFound({ id, shown, address }: NamedDatabase & { id: string }): void {
    const database = { home: 'postgres', id, shown, address, isSet: false } as const;
    const now = this.#memory.add(database);
    if (this.#isElsewhere(now, database)) throw this.#refusal(now, toUsed(database));
    const isFree = now.home === 'files' || now.id === null;
    if (isFree) this.#memory.replace({ ...database, isSet: now.home === 'postgres' && now.isSet });
    this.#know(isFree ? database : now);
  }

  #know(remembered: RememberedStore): void {
    this.#known = remembered;
    this.#isRead = true;
  }

  /** Whether the data is in another store than this database. Files that nobody chose count only if they have data. */
  #isElsewhere(remembered: RememberedStore, database: NamedDatabase & { id?: string }): boolean {
    if (remembered.home === 'files') return remembered.isSet || this.#hasDataInFiles();
    if (remembered.id === null) return remembered.shown !== database.shown;
    return database.id !== undefined && remembered.id !== database.id;
  }

  #refusal(remembered: RememberedStore, used: UsedStore): Psd2Error {
    const profile = JSON.stringify(this.#profile);
    const isReplaced =
      remembered.home === 'postgres' && used.home === 'postgres' && remembered.shown === used.shown;
    const message = isReplaced
      ? `PostgreSQL at ${used.shown} is not the database with the data of the profile ${profile}`
      : `The data of the profile ${profile} is in ${this.#nameOf(remembered)}, but this command would use ${this.#nameOf(used)}`;
    const [dataAddress, other] = [addressOf(remembered), addressOf(used)];
    const copy = ['store', 'copy', '--from', dataAddress, '--to', other];
    const set = (address: string) => ['profile', 'set', this.#profile, '--store', address];
    if (isReplaced)
      return new Psd2Error('config', message, {
        hint: 'Was it recreated? Then restore the earlier one from its backup. Or start in this one, without the earlier data:',
        next: [set(other)],
      });
    if (used.home === 'files')
      return new Psd2Error('config', message, {
        hint: 'Is PSD2_STORE missing here? Set it, or store the address in the profile. Or copy the data to the files:',
        next: [set(dataAddress), copy],
      });
    return new Psd2Error('config', message, {
      hint:
        remembered.home === 'files'
          ? 'To continue with the files, unset PSD2_STORE. To use the database, copy the data to it, or begin there without it:'
          : 'To continue with the first one, name it in PSD2_STORE. To use the other one, copy the data to it, or begin there without it:',
      next: [copy, set(other)],
    });
  }

  #nameOf(store: UsedStore): string {
    return store.home === 'files' ? `the files in ${this.#folder.root}` : `PostgreSQL at ${store.shown}`;
  }
}

const FILES = { home: 'files' } as const;

function toUsed({ shown, address }: NamedDatabase): UsedStore {
  return { home: 'postgres', shown, address };
}

/** The store as `--store`, `--from` and `--to` name it. */
function addressOf(store: UsedStore): string {
  return store.home === 'files' ? 'files' : store.address;
}
