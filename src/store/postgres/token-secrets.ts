import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { Holder } from '../ports/tokens.ts';
import { type Place, sealed } from '../secrets/sealed.ts';
import type { Database } from './database.ts';
import type { Keys } from './keys.ts';

/** What the database may not see of the tokens. */
export const tokenSecrets = z.object({
  accessToken: z.nullable(z.string()),
  refreshToken: z.nullable(z.string()),
  unproven: z.optional(z.literal(true)),
});
export type TokenSecrets = z.infer<typeof tokenSecrets>;

/** The column `secrets`. Version 2 is sealed with its generation. psd2 0.2 wrote no version. */
export const storedSecrets = z.union([tokenSecrets, z.object({ sealed, v: z.optional(z.literal(2)) })]);

/** What a row's secrets belong to. */
export interface SecretsOf {
  holder: Holder;
  baseUrl: string;
  generation: number;
}

/** Seals the tokens of a profile for their rows, and opens them again. */
export class TokenSeals {
  readonly #database: Database;
  readonly #profile: string;
  readonly #keys: Keys;

  constructor(database: Database, profile: string, keys: Keys) {
    this.#database = database;
    this.#profile = profile;
    this.#keys = keys;
  }

  /** @returns the column `secrets`. @throws Psd2Error `config` if the key is not available */
  async close(of: SecretsOf, { accessToken, refreshToken, unproven }: TokenSecrets): Promise<string> {
    const secrets: TokenSecrets = { accessToken, refreshToken, ...(unproven && { unproven }) };
    const key = await this.#keys.key();
    return JSON.stringify(key ? { sealed: key.seal(placeOf(of), secrets), v: 2 } : secrets);
  }

  /**
   * Opens what {@link close} made. What the database says never decides whether the tokens must be sealed: a machine with a
   * key takes no others.
   *
   * @param takesPlain whether a machine with a key takes tokens in clear text all the same, to seal them
   * @throws Psd2Error `config`
   */
  async open(
    of: SecretsOf,
    stored: z.infer<typeof storedSecrets>,
    takesPlain = false,
  ): Promise<TokenSecrets> {
    const key = await this.#keys.key();
    if (!('sealed' in stored)) {
      if (key && !takesPlain) throw this.#notSealed(of.holder);
      return stored;
    }
    if (!key) throw this.#sealedElsewhere(of.holder);
    const isOld = stored.v === undefined;
    if (isOld && !(await this.#isFromBefore(of))) throw this.#changed(of.holder);
    return (
      key.open(isOld ? oldPlaceOf(of) : placeOf(of), stored.sealed, tokenSecrets) ?? this.#changed(of.holder)
    );
  }

  /** Whether the row was there when the schema was brought to version 2. No worker can write the table that says so. */
  async #isFromBefore({ holder, generation }: SecretsOf): Promise<boolean> {
    const found = await this.#database.lookOne(
      z.unknown(),
      `select 1 from psd2.tokens_of_schema_1 where profile = $1 and holder = $2 and generation = $3::bigint`,
      [this.#profile, holder ?? '', generation],
    );
    return found !== undefined;
  }

  #notSealed(holder: Holder): Psd2Error {
    return new Psd2Error(
      'config',
      `${this.#whose(holder)} are not encrypted, and this machine uses encrypted tokens only`,
      {
        hint: 'Someone without the passphrase has written them. Find out who can write to the database, then log in again. If you chose tokens in clear text, run psd2 profile protect with PSD2_STORE_PLAIN_TOKENS=1.',
        next: [loginOf(holder)],
      },
    );
  }

  #sealedElsewhere(holder: Holder): Psd2Error {
    return new Psd2Error(
      'config',
      `${this.#whose(holder)} are encrypted, and this machine has no passphrase`,
      {
        hint: 'Set PSD2_CONFIG_PASSPHRASE, the same on all machines.',
      },
    );
  }

  #changed(holder: Holder): never {
    throw new Psd2Error(
      'config',
      `${this.#whose(holder)} are damaged: someone has changed them, or has put back older ones`,
      { hint: 'Restore them, or log in again:', next: [loginOf(holder)] },
    );
  }

  #whose(holder: Holder): string {
    const who = holder === null ? 'the application' : `customer ${holder}`;
    return `The tokens of ${who} (profile ${this.#profile}) at ${this.#database.shown}`;
  }
}

function loginOf(holder: Holder): string[] {
  return ['auth', 'login', ...(holder === null ? ['--client-credentials'] : [])];
}

/** The place that tokens are sealed for: this generation of this holder, at the bank that granted them. */
function placeOf(of: SecretsOf): Place {
  return [...oldPlaceOf(of), `${of.generation}`];
}

function oldPlaceOf({ holder, baseUrl }: SecretsOf): Place {
  return ['tokens', holder === null ? 'client-credentials' : `customer-${holder}`, baseUrl];
}
