import { Psd2Error } from '../../errors.ts';
import type { StoreFolder } from './folder.ts';
import { type RememberedStore, StoreMemory } from './store-memory.ts';

/** A database as a command names it. */
export interface NamedDatabase {
  /** Host, port and database. */
  shown: string;
  /** How to reach it. Never contains a password. */
  address: string;
}

/** A database as it is found. */
export interface FoundDatabase extends NamedDatabase {
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
  checkFound(found: FoundDatabase): void {
    const { remembered } = this;
    // Files without data of the profile do not count. If both have data, nobody knows which is right, except the operator.
    if (!remembered && !found.hasData && this.#hasDataInFiles())
      throw this.#refusal({ ...FILES, isSet: false }, toUsed(found));
    if (remembered?.home === 'postgres' && remembered.id !== null && remembered.id !== found.id)
      throw this.#refusal(remembered, toUsed(found));
    if (found.hasData || remembered?.home === 'postgres') this.rememberFound(found);
  }

  /** Remembers a database, before the first data is written to it. @throws Psd2Error `config` */
  rememberFound({ id, shown, address }: NamedDatabase & { id: string }): void {
    const found = { home: 'postgres', id, shown, address, isSet: false } as const;
    const now = this.#memory.add(found);
    if (this.#isElsewhere(now, found)) throw this.#refusal(now, toUsed(found));
    const isFree = now.home === 'files' || now.id === null;
    if (isFree) this.#memory.replace({ ...found, isSet: now.home === 'postgres' && now.isSet });
    this.#know(isFree ? found : now);
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
      ? `PostgreSQL at ${used.shown} is another database than the one with the data of the profile ${profile}`
      : `The data of the profile ${profile} is in ${this.#nameOf(remembered)}, but this command would use ${this.#nameOf(used)}`;
    const [kept, other] = [addressOf(remembered), addressOf(used)];
    const copy = ['store', 'copy', '--from', kept, '--to', other];
    const set = (address: string) => ['profile', 'set', this.#profile, '--store', address];
    if (isReplaced) {
      return new Psd2Error('config', message, {
        hint: 'Was it created anew? Restore the earlier one from its backup. Or begin in this one, without the earlier data:',
        next: [set(other)],
      });
    }
    if (used.home === 'files') {
      return new Psd2Error('config', message, {
        hint: 'Is PSD2_STORE missing here? Set it, or store the address in the profile. Or copy the data to the files:',
        next: [set(kept), copy],
      });
    }
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
