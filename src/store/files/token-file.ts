import { join } from 'node:path';
import * as z from 'zod/mini';
import { isPaymentHolder } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { cannotWrite, listFolder, removeStored, syncFolder, systemCode } from '../disk/files.ts';
import { takeNumber } from '../disk/take-number.ts';
import type { Holder, StoredLogin, StoredTokens } from '../ports/tokens.ts';
import { sealed } from '../secrets/sealed.ts';
import { holderOfName } from './file-names.ts';

// The content of a token file.

/** A text that a header may carry. */
const headerText = z.string().check(z.regex(/^[\t\x20-\x7e\x80-\xff]*$/));

const lifetimes = {
  /** The bank that granted them. */
  baseUrl: z.string(),
  /** ISO 8601 with zone. */
  accessTokenExpiresAt: z.nullable(z.string()),
  refreshTokenExpiresAt: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  /** The bank's session id. psd2 sends it as `cb-apitrack-id` with all calls that use these tokens. */
  apiTrackId: z.optional(headerText),
  /**
   * The generation in which the bank gave the refresh token. Set if this generation only changes how that token is stored:
   * marked as refused, or encrypted in another way.
   */
  origin: z.optional(z.int()),
};
const secrets = {
  accessToken: z.nullable(headerText),
  refreshToken: z.nullable(z.string()),
  unproven: z.optional(z.literal(true)),
  server: z.optional(z.string()),
  consent: z.optional(z.string()),
};
export const tokenSecrets = z.object(secrets);
/** If the profile is protected, the tokens themselves are encrypted. */
export const tokenFile = z.union([
  z.object({ ...lifetimes, ...secrets }),
  z.object({ ...lifetimes, sealed }),
]);
export type TokenFile = z.infer<typeof tokenFile>;
/** Null after a logout. */
export const tokenGeneration = z.nullable(tokenFile);

/** Tokens with the bank that granted them and, if set, the generation that they repeat. */
export type GrantedTokens = StoredTokens & Pick<TokenFile, 'baseUrl' | 'origin'>;

export function keyIsGone(path: string): Psd2Error {
  return new Psd2Error('config', `${path} is encrypted, and the profile's key is gone`, {
    hint: `Restore the folder protection, or remove the file (rm ${path}) and log in again:`,
    next: [['auth', 'login']],
  });
}

/** The damaged files that psd2 kept in a profile's folder of tokens. */
export function damagedIn(tokens: string): string[] {
  const logins = listFolder(tokens)
    .filter((name) => holderOfName(name) !== undefined)
    .map((name) => join(tokens, name));
  return [tokens, ...logins].flatMap((folder) =>
    listFolder(folder)
      .filter((file) => file.includes('.json.damaged-'))
      .map((file) => join(folder, file)),
  );
}

/** Counts each base URL but one, the most frequent first. @param banks the base URL of each login or record, if it is known */
export function countBanks(
  banks: readonly (string | undefined)[],
  but: string | undefined,
): { baseUrl: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const bank of banks)
    if (bank !== undefined && bank !== but) counts.set(bank, (counts.get(bank) ?? 0) + 1);
  return [...counts]
    .map(([baseUrl, count]) => ({ baseUrl, count }))
    .sort((one, other) => other.count - one.count || (one.baseUrl < other.baseUrl ? -1 : 1));
}

/**
 * More than a login needs: 16 KiB, and names for the lock, the customer's folder, the new file, its second name, the note of the
 * last login, and the note of which tokens are proven.
 */
export const LOGIN_SPACE = { bytes: 16_384, names: 8 };

/** Tokens as `store copy` compares them: all times are in UTC. */
export function copied({
  accessToken,
  refreshToken,
  scope,
  apiTrackId,
  unproven,
  server,
  consent,
  ...times
}: StoredTokens): StoredTokens {
  const inUtc = (time: string | null) => time && new Date(time).toISOString();
  return {
    accessToken,
    refreshToken,
    scope,
    apiTrackId,
    ...(unproven && { unproven }),
    ...(server && { server }),
    ...(consent && { consent }),
    accessTokenExpiresAt: inUtc(times.accessTokenExpiresAt),
    refreshTokenExpiresAt: inUtc(times.refreshTokenExpiresAt),
  };
}

/**
 * A document that newer versions replace, and older ones never. Each version is a file, `<generation>.json`, whose name
 * only one process can take. The highest generation counts. If a process was stopped between reading and writing, it finds
 * that its next name is taken, or that a higher one exists.
 */
export class Generations {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The highest generation; 0 if there is none. @throws Psd2Error `config` */
  newest(): number {
    return listFolder(this.#folder).reduce((highest, name) => Math.max(highest, generationOf(name)), 0);
  }

  pathOf(generation: number): string {
    return join(this.#folder, `${generation}.json`);
  }

  /**
   * Adds a generation, durably (fsync), and removes the earlier ones. The folder must exist.
   *
   * @returns false, and changes nothing, if another process has added this generation or a later one
   * @throws Psd2Error `config` if it cannot be written
   */
  add(generation: number, content: string): boolean {
    const path = this.pathOf(generation);
    for (;;) {
      try {
        if (!takeNumber(path, content)) return false;
        break;
      } catch (cause) {
        // A process that added a generation has removed this file. If the folder is gone too, there is nothing to add to.
        if (systemCode(cause) !== 'ENOENT') throw cannotWrite(path, cause);
        if (listFolder(this.#folder).length === 0) return false;
      }
    }
    try {
      syncFolder(this.#folder);
    } catch (cause) {
      throw cannotWrite(path, cause);
    }
    if (this.newest() > generation) {
      removeStored(path);
      return false;
    }
    this.#clearUp(generation);
    return true;
  }

  /** Removes the generations before this one, and half-written files of killed processes. */
  #clearUp(newest: number): void {
    for (const name of listFolder(this.#folder)) {
      const isOld = generationOf(name) > 0 && generationOf(name) < newest;
      if (isOld || name.startsWith('.')) removeStored(join(this.#folder, name));
    }
  }
}

/** The generation in a file name; 0 if the name has none. */
function generationOf(name: string): number {
  return Number(/^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? 0);
}

/** What is known of a login without its tokens, as text. @param file null or undefined: there is none */
export function writeLogin(file: TokenFile | null | undefined): string {
  if (!file) return '[]';
  return JSON.stringify([file.baseUrl, file.accessTokenExpiresAt, file.refreshTokenExpiresAt, file.scope]);
}

/** The login in a text of {@link writeLogin}. Undefined if it is none of this bank. */
export function loginIn(text: string, baseUrl: string | undefined): StoredLogin | undefined {
  const [bank, ...fields]: unknown[] = JSON.parse(text);
  const [accessTokenExpiresAt, refreshTokenExpiresAt, scope] = fields;
  const isOf = baseUrl !== undefined && bank === baseUrl;
  if (!isOf || !isText(accessTokenExpiresAt) || !isText(refreshTokenExpiresAt) || !isText(scope))
    return undefined;
  return { accessTokenExpiresAt, refreshTokenExpiresAt, scope };
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

/** Whether the tokens of a holder are a customer's. */
export function isCustomers(holder: Holder): holder is string {
  return holder !== null && !isPaymentHolder(holder);
}

/** The holders in a folder of tokens: with a folder, or with a file whose name ends like this. @throws Psd2Error `config` */
export function holdersIn(folder: string, ending: RegExp): Holder[] {
  const holders = listFolder(folder).map((name) => holderOfName(name.replace(ending, '')));
  return [...new Set(holders.filter((holder) => holder !== undefined))];
}
