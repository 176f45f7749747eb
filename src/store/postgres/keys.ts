import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { KeyringEntry } from '../secrets/keyring.ts';
import { KEY_BYTES, type Place, type Sealed, seal, sealed, unseal } from '../secrets/sealed.ts';
import { deriveKey, type KeySources } from '../secrets/vault.ts';
import type { Database } from './database.ts';

const wrapped = z.object({ v: z.literal(1), id: z.string(), salt: z.string(), key: sealed });
type Wrapped = z.infer<typeof wrapped>;
const plainRow = z.object({ plain_tokens: z.boolean() });
const keyRow = z.object({ profile: z.string(), key: wrapped });

/** The key of a profile's tokens, encrypted with a key from the passphrase. */
export type StoredKey = z.infer<typeof keyRow>;

/** The keys in the database. */
export interface StoredKeys {
  /** The store keeps new tokens in clear text. */
  isPlain: boolean;
  /** One for each profile that has stored a token. */
  keys: StoredKey[];
}

/** Looks at the keys, also in a database whose tables are older or are not there yet. @throws Psd2Error `config` */
export function storedKeys(database: Database): Promise<StoredKeys> {
  return database.transaction(async (statements) => {
    const [schema] = await statements.query(
      z.object({ exists: z.boolean() }),
      `select to_regclass('psd2.keys') is not null as exists`,
    );
    if (!schema?.exists) return { isPlain: false, keys: [] };
    const [store] = await statements.query(plainRow, 'select plain_tokens from psd2.store');
    const keys = await statements.query(keyRow, 'select profile, key from psd2.keys order by profile');
    return { isPlain: store?.plain_tokens ?? false, keys };
  }, false);
}

/** Whether a passphrase opens one of the keys. */
export async function opensOne(keys: readonly StoredKey[], passphrase: string): Promise<boolean> {
  for (const { profile, key } of keys)
    if ((await openKey(profile, key, passphrase)) !== undefined) return true;
  return false;
}

/** Where this machine's keyring keeps the passphrase of a store. Loads the keyring's package on first use. */
export async function passphraseEntry({ place }: Database, signal: AbortSignal): Promise<KeyringEntry> {
  const { keyringEntry } = await import('../secrets/keyring.ts');
  return keyringEntry(`store ${place}`, signal);
}

/** Encrypts the tokens of a profile. */
export interface TokenKey {
  seal(place: Place, value: object): Sealed;
  /** @returns undefined if the content was not sealed for this place */
  open<T>(place: Place, content: Sealed, schema: z.ZodMiniType<T>): T | undefined;
}

/**
 * The random key that encrypts the tokens of a profile. The database stores it, encrypted with a passphrase that the database
 * never gets. All machines that share the store need the same passphrase.
 */
export class Keys {
  readonly #database: Database;
  readonly #profile: string;
  readonly #sources: KeySources;
  /** As `mayKeepPlainTokens`. */
  readonly mayBePlain: boolean;
  #opened: Promise<TokenKey | null> | undefined;

  constructor(database: Database, profile: string, sources: KeySources, mayBePlain: boolean) {
    this.#database = database;
    this.#profile = profile;
    this.#sources = sources;
    this.mayBePlain = mayBePlain;
  }

  /** @returns null if this machine keeps tokens in clear text. @throws Psd2Error `config` if the key is not available */
  key(): Promise<TokenKey | null> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /**
   * A machine that has a passphrase always encrypts. Without one, both the machine and the store must have chosen clear text,
   * so that whoever changes the database cannot switch encryption off.
   */
  async #open(): Promise<TokenKey | null> {
    const found = await this.#passphrase();
    if (!found) return null;
    const { passphrase, isKept } = found;
    const current = (await this.#stored()) ?? (await this.#make(passphrase));
    const text = await openKey(this.#profile, current, passphrase);
    if (text === undefined) throw this.#wrongPassphrase(isKept);
    const key = Buffer.from(text, 'base64');
    const whole = (place: Place) => [this.#profile, current.id, ...place];
    return {
      seal: (place, value) => seal(key, whole(place), JSON.stringify(value)),
      open: (place, content, schema) => {
        const opened = unseal(key, whole(place), content);
        return opened === undefined ? undefined : schema.safeParse(JSON.parse(opened)).data;
      },
    };
  }

  /**
   * The passphrase that is set, else that of this machine's keyring, else the operator's.
   *
   * @returns undefined if there is none, and tokens stay in clear text
   * @throws Psd2Error `config`
   */
  async #passphrase(): Promise<{ passphrase: string; isKept: boolean } | undefined> {
    let isKept = false;
    let whyNotKept = "the system's keyring has none for this store";
    const isPlain = async () => this.mayBePlain && (await this.#isStorePlain());
    const passphrase = await this.#sources.passphrase(this.#profile, async () => {
      try {
        const kept = await (await passphraseEntry(this.#database, this.#sources.signal)).read();
        isKept = Boolean(kept);
        if (kept) return kept;
      } catch (error) {
        // The operator can still be asked.
        if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
        whyNotKept = error.message.replace(/^The/, 'the');
      }
      // An empty one: the operator is not asked.
      return (await isPlain()) ? '' : undefined;
    });
    if (passphrase) return { passphrase, isKept };
    if (await isPlain()) return undefined;
    const isChosen = await this.#isStorePlain();
    const plain = isChosen
      ? ' If you chose tokens in clear text with psd2 store init --plain-tokens, set PSD2_STORE_PLAIN_TOKENS=1 instead.'
      : '';
    throw new Psd2Error(
      'config',
      `The passphrase for the tokens of ${this.#profile} is missing: PSD2_CONFIG_PASSPHRASE is not set, and ${whyNotKept}`,
      {
        hint: `Set PSD2_CONFIG_PASSPHRASE, the same on all machines.${plain} Or keep the passphrase in the keyring of this machine:`,
        next: [['store', 'init', '--keyring']],
      },
    );
  }

  async #isStorePlain(): Promise<boolean> {
    const store = await this.#database.lookOne(plainRow, 'select plain_tokens from psd2.store');
    return store?.plain_tokens ?? false;
  }

  #wrongPassphrase(isKept: boolean): Psd2Error {
    const what = isKept ? "The passphrase in this machine's keyring" : 'The passphrase';
    return new Psd2Error(
      'config',
      `${what} does not open the tokens of ${this.#profile} at ${this.#database.shown}`,
      {
        hint: isKept
          ? 'Set PSD2_CONFIG_PASSPHRASE to the one that the other machines have, and replace that of the keyring:'
          : 'Check PSD2_CONFIG_PASSPHRASE. It must be the same on all machines that share the store.',
        ...(isKept && { next: [['store', 'init', '--keyring']] }),
      },
    );
  }

  /** Creates the key. If several workers do so at once, the database keeps one. */
  async #make(passphrase: string): Promise<Wrapped> {
    const id = randomBytes(12).toString('base64url');
    const salt = randomBytes(16).toString('base64');
    const key = seal(
      await deriveKey(passphrase, salt),
      placeOfKey(this.#profile, id),
      randomBytes(KEY_BYTES).toString('base64'),
    );
    await this.#database.look(
      z.unknown(),
      'insert into psd2.keys (profile, key) values ($1, $2) on conflict do nothing',
      [this.#profile, JSON.stringify({ v: 1, id, salt, key } satisfies Wrapped)],
    );
    const stored = await this.#stored();
    if (stored) return stored;
    throw new Psd2Error('config', `The key of ${this.#profile} is gone from ${this.#database.shown}`, {
      hint: 'Check whether another program writes to its tables, then run this again.',
    });
  }

  async #stored(): Promise<Wrapped | undefined> {
    const row = await this.#database.lookOne(
      z.object({ key: wrapped }),
      'select key from psd2.keys where profile = $1',
      [this.#profile],
    );
    return row?.key;
  }
}

/** @returns base64; undefined if the passphrase is not the right one */
async function openKey(profile: string, key: Wrapped, passphrase: string): Promise<string | undefined> {
  return unseal(await deriveKey(passphrase, key.salt), placeOfKey(profile, key.id), key.key);
}

function placeOfKey(profile: string, id: string): Place {
  return [profile, id, 'key'];
}
