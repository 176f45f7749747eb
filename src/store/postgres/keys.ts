import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { Environment } from '../machine/settings.ts';
import type { Holder } from '../ports/tokens.ts';
import type { KeyringEntry } from '../secrets/keyring.ts';
import {
  KEY_BYTES,
  type Place,
  placeOfTokens,
  type Sealed,
  seal,
  sealed,
  type TokensOf,
  unseal,
} from '../secrets/sealed.ts';
import { deriveKey, type KeySources } from '../secrets/vault.ts';
import { type Database, ProfileRows } from './database.ts';

/** The key of a profile, encrypted with a passphrase. */
const wrap = { salt: z.string(), key: sealed };
export const wrapped = z.object({
  v: z.literal(1),
  id: z.string(),
  ...wrap,
  /** The same key, encrypted with other passphrases: while a new one is introduced (`store rekey`). */
  also: z.optional(z.array(z.object(wrap))),
});
export type Wrapped = z.infer<typeof wrapped>;
const plainRow = z.object({ plain_tokens: z.boolean() });
const keyRow = z.object({ profile: z.string(), key: wrapped });

/** The key of a profile's tokens, encrypted with a key from the passphrase. */
type StoredKey = z.infer<typeof keyRow>;

interface StoredKeys {
  /** The store keeps new tokens in clear text. */
  isPlain: boolean;
  /** One for each profile that has stored a token. */
  keys: StoredKey[];
}

/** Looks at the keys, also in a database that has no tables yet. @throws Psd2Error `config` */
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
interface TokenKey {
  seal(place: Place, value: object): Sealed;
  /** @returns undefined if the content was not sealed for this place */
  open<T>(place: Place, content: Sealed, schema: z.ZodMiniType<T>): T | undefined;
}

/**
 * The random key that encrypts the tokens of a profile. The database stores it, encrypted with a passphrase that the database
 * never gets. All machines that share the store need the same passphrase.
 */
export class Keys extends ProfileRows {
  readonly #sources: KeySources;
  /** As `mayKeepPlainTokens`. */
  readonly mayBePlain: boolean;
  #opened: Promise<TokenKey | null> | undefined;

  constructor(database: Database, profile: string, sources: KeySources, mayBePlain: boolean) {
    super(database, profile);
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
    const chosen = await this.#passphrase();
    if (!chosen) return null;
    const { passphrase, isKept } = chosen;
    const current = (await this.#stored()) ?? (await this.#make(passphrase));
    const text = await openKey(this.profile, current, passphrase);
    if (text === undefined) throw this.#wrongPassphrase(isKept);
    const key = Buffer.from(text, 'base64');
    const whole = (place: Place) => [this.profile, current.id, ...place];
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
    const passphrase = await this.#sources.passphrase(this.profile, async () => {
      try {
        const fromKeyring = await (await passphraseEntry(this.database, this.#sources.signal)).read();
        isKept = Boolean(fromKeyring);
        if (fromKeyring) return fromKeyring;
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
      `The passphrase for the tokens of ${this.profile} is missing: PSD2_CONFIG_PASSPHRASE is not set, and ${whyNotKept}`,
      {
        hint: `Set PSD2_CONFIG_PASSPHRASE, the same on all machines.${plain} Or keep the passphrase in the keyring of this machine:`,
        next: [['store', 'init', '--keyring']],
      },
    );
  }

  async #isStorePlain(): Promise<boolean> {
    const store = await this.database.lookOne(plainRow, 'select plain_tokens from psd2.store');
    return store?.plain_tokens ?? false;
  }

  #wrongPassphrase(isKept: boolean): Psd2Error {
    const what = isKept ? "The passphrase in this machine's keyring" : 'The passphrase';
    return new Psd2Error(
      'config',
      `${what} does not open the tokens of ${this.profile} at ${this.database.shown}`,
      {
        hint: isKept
          ? 'Set PSD2_CONFIG_PASSPHRASE to the one that the other machines have, and replace that of the keyring:'
          : 'Check PSD2_CONFIG_PASSPHRASE. It must be the same on all machines that share the store. If psd2 store rekey has changed it, set the new one.',
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
      placeOfKey(this.profile, id),
      randomBytes(KEY_BYTES).toString('base64'),
    );
    await this.executeAgain('insert into psd2.keys (profile, key) values ($1, $2) on conflict do nothing', [
      JSON.stringify({ v: 1, id, salt, key } satisfies Wrapped),
    ]);
    const stored = await this.#stored();
    if (stored) return stored;
    throw new Psd2Error('config', `The key of ${this.profile} is gone from ${this.database.shown}`, {
      hint: 'Check whether another program writes to its tables, then run this again.',
    });
  }

  async #stored(): Promise<Wrapped | undefined> {
    const row = await this.lookOne(
      z.object({ key: wrapped }),
      'select key from psd2.keys where profile = $1',
    );
    return row?.key;
  }
}

/** @returns base64; undefined if the passphrase is none of the right ones */
export async function openKey(
  profile: string,
  { id, also = [], ...own }: Wrapped,
  passphrase: string,
): Promise<string | undefined> {
  for (const { salt, key } of [own, ...also]) {
    const opened = unseal(await deriveKey(passphrase, salt), placeOfKey(profile, id), key);
    if (opened !== undefined) return opened;
  }
  return undefined;
}

export function placeOfKey(profile: string, id: string): Place {
  return [profile, id, 'key'];
}

/** What the database may not see of the tokens. */
const tokenSecrets = z.object({
  accessToken: z.nullable(z.string()),
  refreshToken: z.nullable(z.string()),
  unproven: z.optional(z.literal(true)),
  server: z.optional(z.string()),
  consent: z.optional(z.string()),
});
type TokenSecrets = z.infer<typeof tokenSecrets>;

/** The column `secrets`. */
export const storedSecrets = z.union([tokenSecrets, z.object({ sealed })]);

/** Seals the tokens of a profile for their rows, and opens them again. */
export class TokenSeals extends ProfileRows {
  readonly #keys: Keys;

  constructor(database: Database, profile: string, keys: Keys) {
    super(database, profile);
    this.#keys = keys;
  }

  /** @returns the column `secrets`. @throws Psd2Error `config` if the key is not available */
  async close(of: TokensOf, tokens: TokenSecrets): Promise<string> {
    const { accessToken, refreshToken, unproven, server, consent } = tokens;
    const secrets: TokenSecrets = {
      accessToken,
      refreshToken,
      ...(unproven && { unproven }),
      ...(server && { server }),
      ...(consent && { consent }),
    };
    const key = await this.#keys.key();
    return JSON.stringify(key ? { sealed: key.seal(placeOfTokens(of), secrets) } : secrets);
  }

  /**
   * Opens what {@link close} made. What the database says never decides whether the tokens must be sealed: a machine with a
   * key takes no others.
   *
   * @param takesPlain whether a machine with a key takes tokens in clear text all the same, to seal them
   * @throws Psd2Error `config`
   */
  async open(of: TokensOf, stored: z.infer<typeof storedSecrets>, takesPlain = false): Promise<TokenSecrets> {
    const key = await this.#keys.key();
    if (!('sealed' in stored)) {
      if (key && !takesPlain) throw this.#notSealed(of.holder);
      return stored;
    }
    if (!key) throw this.#sealedElsewhere(of.holder);
    return key.open(placeOfTokens(of), stored.sealed, tokenSecrets) ?? this.#changed(of.holder);
  }

  #notSealed(holder: Holder): Psd2Error {
    return new Psd2Error(
      'config',
      `${this.#whose(holder)} are not encrypted, and this machine uses encrypted tokens only`,
      {
        hint: 'Someone without the passphrase has written them. Find out who can write to the database, then log in again. If you chose tokens in clear text, run psd2 profile protect with PSD2_STORE_PLAIN_TOKENS=1.',
        next: [loginCommand(holder)],
      },
    );
  }

  #sealedElsewhere(holder: Holder): Psd2Error {
    return new Psd2Error(
      'config',
      `${this.#whose(holder)} are encrypted, and this machine has no passphrase`,
      { hint: 'Set PSD2_CONFIG_PASSPHRASE, the same on all machines.' },
    );
  }

  #changed(holder: Holder): never {
    throw new Psd2Error(
      'config',
      `${this.#whose(holder)} are damaged: someone has changed them, or has put back older ones`,
      { hint: 'Restore them, or log in again:', next: [loginCommand(holder)] },
    );
  }

  #whose(holder: Holder): string {
    const who = holder === null ? 'the application' : `customer ${holder}`;
    return `The tokens of ${who} (profile ${this.profile}) at ${this.database.shown}`;
  }
}

function loginCommand(holder: Holder): string[] {
  return ['auth', 'login', ...(holder === null ? ['--client-credentials'] : [])];
}

/**
 * Whether this machine may keep tokens in clear text if it has no key (`PSD2_STORE_PLAIN_TOKENS`). The database alone must not
 * decide this.
 *
 * @throws Psd2Error `config` for any value but yes and no
 */
export function mayKeepPlainTokens({ PSD2_STORE_PLAIN_TOKENS: value = '' }: Environment): boolean {
  if (value === '1' || value === 'true') return true;
  if (value === '0' || value === 'false' || value === '') return false;
  throw new Psd2Error('config', `PSD2_STORE_PLAIN_TOKENS is ${JSON.stringify(value)}, and must be 1 or 0`, {
    hint: 'With 1, this machine stores tokens in clear text in a database that psd2 store init --plain-tokens has prepared.',
  });
}
