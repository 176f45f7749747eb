import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../errors.ts';
import { listFolder, removeStored } from './files.ts';
import type { StoreFolder } from './folder.ts';
import { type Notice, readJsonFile, removeHalfWritten, writeJsonFile } from './json-file.ts';
import { LONGEST_RENEWAL_MS, withLock } from './lock.ts';
import { reserveSpace } from './reserve-space.ts';
import { type Place, sealed } from './sealed.ts';
import { type ProfileKey, Vault } from './vault.ts';

export type GrantType = 'authorization_code' | 'client_credentials';

/** What may stand in a header. */
const headerText = z.string().check(z.regex(/^[\t\x20-\x7e\x80-\xff]*$/));

const lifetimes = {
  /** The bank that granted them. */
  baseUrl: z.string(),
  /** ISO 8601 with zone. */
  accessTokenExpiresAt: z.nullable(z.string()),
  refreshTokenExpiresAt: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  /** The bank's session id, sent back as `cb-apitrack-id` with all calls made with these tokens. */
  apiTrackId: z.optional(headerText),
};
const secrets = { accessToken: z.nullable(headerText), refreshToken: z.nullable(z.string()) };
const tokenSecrets = z.object(secrets);
/** Of a protected profile the tokens themselves are encrypted. */
const tokenFile = z.union([z.object({ ...lifetimes, ...secrets }), z.object({ ...lifetimes, sealed })]);
type TokenFile = z.infer<typeof tokenFile>;

/** What is known of a login without its tokens. */
export type StoredLogin = Omit<z.infer<z.ZodMiniObject<typeof lifetimes>>, 'baseUrl'>;

/** The tokens of one customer, or of the `client_credentials` application. */
export type StoredTokens = StoredLogin & z.infer<typeof tokenSecrets>;

/** More than a file of tokens has, in bytes, with some for the folder. */
const LARGEST_TOKENS = 16_384;

const lastLogin = z.object({ customerId: z.string() });

/**
 * The tokens of one profile at one bank: a file for each customer, so that none waits for another. Tokens that
 * another base URL granted count as none, so they never go to a bank that is not theirs.
 */
export class TokenStore {
  readonly #folder: string;
  readonly #interrupted: AbortSignal | undefined;
  readonly #baseUrl: string;
  readonly #notice: Notice;
  readonly #vault: Vault;
  /** The keys of those who hold a lock, by the file that it is for. */
  readonly #keys = new Map<string, ProfileKey | undefined>();

  /**
   * @param baseUrl of the bank that the profile means now
   * @param notice is told where a damaged file is kept that new tokens take the place of
   * @param vault of the profile; without it a passphrase can't be had
   */
  constructor(
    folder: StoreFolder,
    profile: string,
    baseUrl: URL,
    notice: Notice = () => {},
    vault: Vault = new Vault(folder, profile),
  ) {
    this.#folder = folder.tokens(profile);
    this.#interrupted = folder.interrupted;
    this.#baseUrl = baseUrl.href;
    this.#notice = notice;
    this.#vault = vault;
  }

  /**
   * @param customerId null for the `client_credentials` application, which has no customer of its own
   * @throws Psd2Error `config` when they are damaged, or the key of a protected profile can't be had
   */
  async read(customerId: string | null): Promise<StoredTokens | undefined> {
    const stored = this.#readFile(customerId);
    return stored?.baseUrl === this.#baseUrl ? this.#open(customerId, stored) : undefined;
  }

  /** What is known of a login without opening its tokens. @throws Psd2Error `config` when the file is damaged */
  readLogin(customerId: string | null): StoredLogin | undefined {
    const stored = this.#readFile(customerId);
    return stored?.baseUrl === this.#baseUrl ? stored : undefined;
  }

  /** Encrypted where the profile is protected. To be called by who holds the lock: see {@link locked}. */
  async write(customerId: string | null, tokens: StoredTokens): Promise<void> {
    await this.#write(customerId, { ...tokens, baseUrl: this.#baseUrl });
  }

  remove(customerId: string | null): void {
    removeStored(this.#path(customerId));
  }

  /** One process at a time, for what changes the tokens: they must not be those of before when written. */
  exclusively<T>(customerId: string | null, work: () => Promise<T>): Promise<T> {
    const what = customerId === null ? 'The login of the application' : `The login of customer ${customerId}`;
    return withLock(this.#path(customerId), what, work, LONGEST_RENEWAL_MS, this.#interrupted);
  }

  /** The same for what writes tokens: before it begins it is certain that they can be encrypted, if they have to be. */
  locked<T>(customerId: string | null, work: () => Promise<T>): Promise<T> {
    const path = this.#path(customerId);
    return this.exclusively(customerId, async () => {
      this.#keys.set(path, await this.#vault.key());
      try {
        return await work();
      } finally {
        this.#keys.delete(path);
      }
    });
  }

  /**
   * Makes sure that tokens can be stored, before the bank is asked for them: what it gives for a code or a
   * refresh token, it gives once.
   *
   * @returns what gives the space back, to be called before they are written
   * @throws Psd2Error `config` when there is no room, or the folder can't be written
   */
  reserve(): () => void {
    return reserveSpace(this.#folder, LARGEST_TOKENS);
  }

  /**
   * Writes all tokens of the profile, whatever bank granted them, as its protection wants it now. Those who were
   * about to write otherwise are waited for.
   */
  async rewrite(): Promise<void> {
    // A lock without a file is a login that is about to write it.
    const holders = this.#files(/^(?:customer-(.+)|client-credentials)\.json(?:\.lock)?$/);
    for (const customerId of new Set(holders.map(([, id]) => id ?? null))) {
      await this.locked(customerId, async () => {
        removeHalfWritten(this.#path(customerId));
        const stored = this.#readFile(customerId);
        if (stored) await this.#write(customerId, await this.#open(customerId, stored));
      });
    }
  }

  /** Customers whose tokens are kept, sorted. */
  customers(): string[] {
    return this.#files(/^customer-(\d{1,20})\.json$/)
      .flatMap(([, customerId]) => customerId ?? [])
      .sort();
  }

  /** The customer who logged in last. */
  lastCustomer(): string | undefined {
    return readJsonFile(this.#lastLoginPath, lastLogin)?.customerId;
  }

  async rememberCustomer(customerId: string): Promise<void> {
    await writeJsonFile(this.#lastLoginPath, { customerId }, lastLogin, this.#notice);
  }

  get #lastLoginPath(): string {
    return join(this.#folder, 'last-login.json');
  }

  #readFile(customerId: string | null): TokenFile | undefined {
    return readJsonFile(this.#path(customerId), tokenFile);
  }

  async #open(customerId: string | null, stored: TokenFile): Promise<StoredTokens & { baseUrl: string }> {
    if (!('sealed' in stored)) return stored;
    const { sealed: content, ...login } = stored;
    const path = this.#path(customerId);
    const key = await this.#vault.key();
    if (!key) throw keyIsGone(path);
    return { ...login, ...key.open(path, placeOf(customerId, login.baseUrl), content, tokenSecrets) };
  }

  async #write(customerId: string | null, tokens: StoredTokens & { baseUrl: string }): Promise<void> {
    const path = this.#path(customerId);
    const key = this.#keys.has(path) ? this.#keys.get(path) : await this.#vault.key();
    if (!key && this.#isSealed(customerId)) throw keyIsGone(path);
    if (!key?.sealsNew) return writeJsonFile(path, tokens, tokenFile, this.#notice);
    const { accessToken, refreshToken, ...login } = tokens;
    const place = placeOf(customerId, tokens.baseUrl);
    const content = key.seal(place, { accessToken, refreshToken });
    await writeJsonFile(path, { ...login, sealed: content }, tokenFile, this.#notice);
  }

  #isSealed(customerId: string | null): boolean {
    try {
      const stored = this.#readFile(customerId);
      return stored !== undefined && 'sealed' in stored;
    } catch {
      // What is damaged may be replaced.
      return false;
    }
  }

  #files(pattern: RegExp): RegExpExecArray[] {
    return listFolder(this.#folder)
      .map((file) => pattern.exec(file))
      .filter((match) => match !== null);
  }

  #path(customerId: string | null): string {
    return join(
      this.#folder,
      customerId === null ? 'client-credentials.json' : `customer-${customerId}.json`,
    );
  }
}

/** Tokens open only as those of this customer, at the bank that granted them. */
function placeOf(customerId: string | null, baseUrl: string): Place {
  return ['tokens', customerId === null ? 'client-credentials' : `customer-${customerId}`, baseUrl];
}

function keyIsGone(path: string): Psd2Error {
  return new Psd2Error('config', `${path} is encrypted, and the profile's key is gone`, {
    hint: `Restore the folder protection, or log in again: rm ${path}, then psd2 auth login.`,
  });
}
