import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { listFolder, removeStored, syncFolder } from '../disk/files.ts';
import {
  makePrivateFolder,
  type Notice,
  readJsonFile,
  removeHalfWritten,
  setAsideIfDamaged,
  writeJsonFile,
} from '../disk/json-file.ts';
import { type HeldLock, LONGEST_RENEWAL_MS, withLock } from '../disk/lock.ts';
import { refuseUnsafeFolder } from '../disk/permissions.ts';
import { reserveSpace } from '../disk/reserve-space.ts';
import type { StoreFolder } from '../machine/folder.ts';
import { type Place, sealed } from '../secrets/sealed.ts';
import { type ProfileKey, Vault } from '../secrets/vault.ts';
import { Generations } from './generations.ts';

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
  /**
   * The generation that the refresh token came with, where this one only says more of it: that the bank refused it, or
   * how it is encrypted.
   */
  origin: z.optional(z.int()),
};
const secrets = { accessToken: z.nullable(headerText), refreshToken: z.nullable(z.string()) };
const tokenSecrets = z.object(secrets);
/** Of a protected profile the tokens themselves are encrypted. */
const tokenFile = z.union([z.object({ ...lifetimes, ...secrets }), z.object({ ...lifetimes, sealed })]);
type TokenFile = z.infer<typeof tokenFile>;
/** Null where the operator logged out. */
const tokenGeneration = z.nullable(tokenFile);

/** What is known of a login without its tokens. */
export type StoredLogin = Omit<z.infer<z.ZodMiniObject<typeof lifetimes>>, 'baseUrl'>;

/** The tokens of one customer, or of the `client_credentials` application. */
export type StoredTokens = StoredLogin & z.infer<typeof tokenSecrets>;

/** Tokens as they were read: newer ones have a higher generation. */
export type ReadTokens = StoredTokens & { generation: number };

/** More than a file of tokens has, in bytes, with some for the folder. */
const LARGEST_TOKENS = 16_384;

const lastLogin = z.object({ customerId: z.string() });

/**
 * The tokens of one profile at one bank: a folder for each customer, so that none waits for another, with a file for
 * each generation of tokens ({@link Generations}), so that older ones never replace newer ones. Tokens that another base
 * URL granted count as none, so they never go to a bank that is not theirs.
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
  async read(customerId: string | null): Promise<ReadTokens | undefined> {
    const { generation, file } = this.#readNewest(customerId);
    if (file?.baseUrl !== this.#baseUrl) return undefined;
    return { ...(await this.#open(customerId, generation, file)), generation };
  }

  /** What is known of a login without opening its tokens. @throws Psd2Error `config` when the file is damaged */
  readLogin(customerId: string | null): StoredLogin | undefined {
    const { file } = this.#readNewest(customerId);
    return file?.baseUrl === this.#baseUrl ? file : undefined;
  }

  /**
   * Writes the tokens of a new login, in the place of all before. Encrypted where the profile is protected. To be called
   * by who holds the lock: see {@link locked}.
   */
  async write(customerId: string | null, tokens: StoredTokens): Promise<void> {
    await this.#write(customerId, { ...tokens, origin: undefined, baseUrl: this.#baseUrl });
  }

  /**
   * Writes what the bank gave for a refresh token, unless tokens that are newer than the spent ones are stored: those of
   * a new login, or of another process that was given some as well.
   *
   * @param spent the tokens that were read before; undefined for an application that had none
   * @returns the tokens that are stored now; undefined when the operator has logged out in the meantime
   */
  async replace(
    customerId: string | null,
    spent: ReadTokens | undefined,
    tokens: StoredTokens,
  ): Promise<StoredTokens | undefined> {
    for (;;) {
      const { generation, file } = this.#readNewest(customerId);
      // That another process was refused the token that this one has spent says nothing against what it was given.
      const isSpent = file && (file.origin ?? generation) === (spent?.origin ?? spent?.generation);
      if (spent && !isSpent) return this.read(customerId);
      const content = await this.#toFile(customerId, {
        ...tokens,
        origin: undefined,
        baseUrl: this.#baseUrl,
      });
      if (this.#add(customerId, generation + 1, content, spent === undefined || generation === 0))
        return tokens;
    }
  }

  /** Notes that the bank no longer accepts a refresh token; nothing where newer tokens are stored. */
  async refuse(customerId: string | null, { generation, ...tokens }: ReadTokens): Promise<void> {
    const ended = { ...tokens, refreshToken: null, refreshTokenExpiresAt: null };
    const content = await this.#toFile(customerId, {
      ...ended,
      origin: tokens.origin ?? generation,
      baseUrl: this.#baseUrl,
    });
    this.#add(customerId, generation + 1, content, generation === 0);
  }

  /** Whether no newer tokens are stored than these. */
  isNewest(customerId: string | null, { generation }: ReadTokens): boolean {
    return this.#generations(customerId).newest() === generation;
  }

  /** Forgets tokens. What a renewal that was stopped has in hand is not stored after that. */
  remove(customerId: string | null): void {
    const generations = this.#generations(customerId);
    const isKept = () => {
      const { generation, file } = this.#newestOrDamaged(customerId);
      return generation > 0 ? file !== null : file !== undefined;
    };
    while (isKept()) this.#add(customerId, generations.newest() + 1, 'null', true);
  }

  /**
   * One process at a time, for what changes the tokens.
   *
   * @param signal ends the wait for another process; that of Ctrl-C unless another is given
   */
  exclusively<T>(
    customerId: string | null,
    work: (lock: HeldLock) => Promise<T>,
    signal: AbortSignal | undefined = this.#interrupted,
  ): Promise<T> {
    const what = customerId === null ? 'The login of the application' : `The login of customer ${customerId}`;
    return withLock(this.#path(customerId), what, work, LONGEST_RENEWAL_MS, signal);
  }

  /** The same for what writes tokens: before it begins it is certain that they can be encrypted, if they have to be. */
  locked<T>(
    customerId: string | null,
    work: (lock: HeldLock) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const path = this.#path(customerId);
    const prepared = async (lock: HeldLock) => {
      this.#keys.set(path, await this.#vault.key());
      try {
        return await work(lock);
      } finally {
        this.#keys.delete(path);
      }
    };
    return this.exclusively(customerId, prepared, signal);
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
    // A lock without a folder is a login that is about to make it.
    const holders = this.#names(/^(?:customer-(.+?)|client-credentials)(?:\.json(?:\.lock)?)?$/);
    for (const customerId of new Set(holders.map(([, id]) => id ?? null))) {
      await this.locked(customerId, async () => {
        removeHalfWritten(this.#path(customerId));
        const { generation, file } = this.#readNewest(customerId);
        if (!file) return;
        const tokens = await this.#open(customerId, generation, file);
        await this.#write(customerId, { ...tokens, origin: file.origin ?? generation });
      });
    }
  }

  /** Customers whose tokens are kept, sorted. */
  customers(): string[] {
    const found = this.#names(/^customer-(\d{1,20})(?:\.json)?$/).flatMap(
      ([, customerId]) => customerId ?? [],
    );
    // What is damaged is kept, too: who needs it is told.
    return [...new Set(found)].filter((customerId) => this.#newestOrDamaged(customerId).file).sort();
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

  /** The generation that counts, and what it holds: null where the operator logged out, undefined without any. */
  #readNewest(customerId: string | null): { generation: number; file: TokenFile | null | undefined } {
    const generations = this.#generations(customerId);
    refuseUnsafeFolder(this.#folderOf(customerId));
    for (;;) {
      const generation = generations.newest();
      // psd2 0.1 kept one file for each customer.
      if (generation === 0) return { generation, file: readJsonFile(this.#path(customerId), tokenFile) };
      const file = readJsonFile(generations.pathOf(generation), tokenGeneration);
      // A newer one has taken its place in the meantime.
      if (file !== undefined) return { generation, file };
    }
  }

  /** The same; what is damaged stands for itself. */
  #newestOrDamaged(customerId: string | null): { generation: number; file: unknown } {
    try {
      return this.#readNewest(customerId);
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      return { generation: this.#generations(customerId).newest(), file: error };
    }
  }

  async #open(
    customerId: string | null,
    generation: number,
    stored: TokenFile,
  ): Promise<StoredTokens & { baseUrl: string }> {
    if (!('sealed' in stored)) return stored;
    const { sealed: content, ...login } = stored;
    const path = this.#pathOf(customerId, generation);
    const key = await this.#vault.key();
    if (!key) throw keyIsGone(path);
    return { ...login, ...key.open(path, placeOf(customerId, login.baseUrl), content, tokenSecrets) };
  }

  async #write(customerId: string | null, tokens: StoredTokens & { baseUrl: string }): Promise<void> {
    for (;;) {
      const content = await this.#toFile(customerId, tokens);
      const generation = this.#generations(customerId).newest();
      setAsideIfDamaged(this.#pathOf(customerId, generation), tokenGeneration, this.#notice);
      if (this.#add(customerId, generation + 1, content, true)) return;
    }
  }

  /** What stands in the file of tokens: encrypted, where the profile is protected. */
  async #toFile(customerId: string | null, tokens: StoredTokens & { baseUrl: string }): Promise<string> {
    const path = this.#path(customerId);
    const key = this.#keys.has(path) ? this.#keys.get(path) : await this.#vault.key();
    if (!key && this.#isSealed(customerId)) throw keyIsGone(path);
    if (!key?.sealsNew) return JSON.stringify(tokens, null, '\t');
    const { accessToken, refreshToken, ...login } = tokens;
    const place = placeOf(customerId, tokens.baseUrl);
    return JSON.stringify({ ...login, sealed: key.seal(place, { accessToken, refreshToken }) }, null, '\t');
  }

  /** @param mayBegin the customer's folder is made where it is missing */
  #add(customerId: string | null, generation: number, content: string, mayBegin: boolean): boolean {
    const folder = this.#folderOf(customerId);
    if (mayBegin) makePrivateFolder(folder);
    if (!this.#generations(customerId).add(generation, content)) return false;
    if (generation > 1) return true;
    syncFolder(this.#folder);
    removeStored(this.#path(customerId));
    return true;
  }

  #isSealed(customerId: string | null): boolean {
    try {
      const { file } = this.#readNewest(customerId);
      return file != null && 'sealed' in file;
    } catch {
      // What is damaged may be replaced.
      return false;
    }
  }

  #names(pattern: RegExp): RegExpExecArray[] {
    return listFolder(this.#folder)
      .map((name) => pattern.exec(name))
      .filter((match) => match !== null);
  }

  #generations(customerId: string | null): Generations {
    return new Generations(this.#folderOf(customerId));
  }

  #pathOf(customerId: string | null, generation: number): string {
    return generation === 0 ? this.#path(customerId) : this.#generations(customerId).pathOf(generation);
  }

  #folderOf(customerId: string | null): string {
    return join(this.#folder, customerId === null ? 'client-credentials' : `customer-${customerId}`);
  }

  /** What the lock stands beside, and where psd2 0.1 kept the tokens. */
  #path(customerId: string | null): string {
    return `${this.#folderOf(customerId)}.json`;
  }
}

/** Tokens open only as those of this customer, at the bank that granted them. */
function placeOf(customerId: string | null, baseUrl: string): Place {
  return ['tokens', customerId === null ? 'client-credentials' : `customer-${customerId}`, baseUrl];
}

function keyIsGone(path: string): Psd2Error {
  return new Psd2Error('config', `${path} is encrypted, and the profile's key is gone`, {
    hint: `Restore the folder protection, or remove the file (rm ${path}) and log in again:`,
    next: [['auth', 'login']],
  });
}
