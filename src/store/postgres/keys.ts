import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { KEY_BYTES, type Place, type Sealed, seal, sealed, unseal } from '../secrets/sealed.ts';
import { deriveKey, type KeySources } from '../secrets/vault.ts';
import type { Database } from './database.ts';

const wrapped = z.object({ v: z.literal(1), id: z.string(), salt: z.string(), key: sealed });
type Wrapped = z.infer<typeof wrapped>;

/** Encrypts the tokens of a profile, unless the store was created with `store init --plain-tokens`. */
export interface TokenKey {
  /** Null if the store keeps tokens in clear text. */
  seal: ((place: Place, value: object) => Sealed) | null;
  /** @throws Psd2Error `config` if the content was not sealed for this place */
  open<T>(place: Place, content: Sealed, schema: z.ZodMiniType<T>): T;
}

/**
 * The random key that encrypts the tokens of a profile. The database stores it, encrypted with a passphrase that the database
 * never gets. All machines that share the store need the same passphrase.
 */
export class Keys {
  readonly #database: Database;
  readonly #profile: string;
  readonly #sources: KeySources;
  #opened: Promise<TokenKey> | undefined;

  constructor(database: Database, profile: string, sources: KeySources) {
    this.#database = database;
    this.#profile = profile;
    this.#sources = sources;
  }

  /** @throws Psd2Error `config` if the key is not available */
  key(): Promise<TokenKey> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<TokenKey> {
    const store = await this.#database.lookOne(
      z.object({ plain_tokens: z.boolean() }),
      'select plain_tokens from psd2.store',
    );
    const stored = await this.#stored();
    if (!stored && store?.plain_tokens) return { seal: null, open: () => this.#unopened() };
    const passphrase = await this.#sources.passphrase(this.#profile);
    if (!passphrase) {
      throw new Psd2Error(
        'config',
        `The tokens of ${this.#profile} in a database are encrypted with a passphrase`,
        {
          hint: 'Set PSD2_CONFIG_PASSPHRASE, the same on all machines. Without one:',
          next: [['store', 'init', '--plain-tokens']],
        },
      );
    }
    const current = stored ?? (await this.#make(passphrase));
    const text = unseal(await deriveKey(passphrase, current.salt), this.#place(current.id), current.key);
    if (text === undefined) {
      throw new Psd2Error(
        'config',
        `The passphrase does not open the tokens of ${this.#profile} in the database`,
        {
          hint: 'Check PSD2_CONFIG_PASSPHRASE. It must be the same on all machines that share the store.',
        },
      );
    }
    const key = Buffer.from(text, 'base64');
    const whole = (place: Place) => [this.#profile, current.id, ...place];
    return {
      seal: store?.plain_tokens ? null : (place, value) => seal(key, whole(place), JSON.stringify(value)),
      open: (place, content, schema) => {
        const opened = unseal(key, whole(place), content);
        const value = opened === undefined ? undefined : schema.safeParse(JSON.parse(opened)).data;
        return value ?? this.#unopened();
      },
    };
  }

  /** Creates the key. If several workers do so at once, the database keeps one. */
  async #make(passphrase: string): Promise<Wrapped> {
    const id = randomBytes(12).toString('base64url');
    const salt = randomBytes(16).toString('base64');
    const key = seal(
      await deriveKey(passphrase, salt),
      this.#place(id),
      randomBytes(KEY_BYTES).toString('base64'),
    );
    await this.#database.look(
      z.unknown(),
      'insert into psd2.keys (profile, key) values ($1, $2) on conflict do nothing',
      [this.#profile, JSON.stringify({ v: 1, id, salt, key } satisfies Wrapped)],
    );
    return (await this.#stored()) ?? this.#unopened();
  }

  async #stored(): Promise<Wrapped | undefined> {
    const row = await this.#database.lookOne(
      z.object({ key: wrapped }),
      'select key from psd2.keys where profile = $1',
      [this.#profile],
    );
    return row?.key;
  }

  #place(id: string): Place {
    return [this.#profile, id, 'key'];
  }

  #unopened(): never {
    throw new Psd2Error(
      'config',
      `The tokens of ${this.#profile} at ${this.#database.shown} are damaged: what is encrypted in them was changed`,
      { hint: 'Restore them, or log in again:', next: [['auth', 'login']] },
    );
  }
}
