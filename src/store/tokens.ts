import { join } from 'node:path';
import * as z from 'zod/mini';
import { listFolder, removeStored } from './files.ts';
import type { StoreFolder } from './folder.ts';
import { type Notice, readJsonFile, writeJsonFile } from './json-file.ts';
import { LONGEST_RENEWAL_MS, withLock } from './lock.ts';
import { reserveSpace } from './reserve-space.ts';

export type GrantType = 'authorization_code' | 'client_credentials';

/** What may stand in a header. */
const headerText = z.string().check(z.regex(/^[\t\x20-\x7e\x80-\xff]*$/));

const storedTokens = z.object({
  /** The bank that granted them. */
  baseUrl: z.string(),
  accessToken: z.nullable(headerText),
  /** ISO 8601 with zone. */
  accessTokenExpiresAt: z.nullable(z.string()),
  refreshToken: z.nullable(z.string()),
  refreshTokenExpiresAt: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  /** The bank's session id, sent back as `cb-apitrack-id` with all calls made with these tokens. */
  apiTrackId: z.optional(headerText),
});

/** The tokens of one customer, or of the `client_credentials` application. */
export type StoredTokens = Omit<z.infer<typeof storedTokens>, 'baseUrl'>;

/** More than a file of tokens has, in bytes, with some for the folder. */
const LARGEST_TOKENS = 16_384;

const lastLogin = z.object({ customerId: z.string() });

/**
 * The tokens of one profile at one bank: a file for each customer, so that none waits for another. Tokens that
 * another base URL granted count as none, so they never go to a bank that is not theirs.
 */
export class TokenStore {
  readonly #folder: string;
  readonly #baseUrl: string;
  readonly #notice: Notice;

  /**
   * @param baseUrl of the bank that the profile means now
   * @param notice is told where a damaged file is kept that new tokens take the place of
   */
  constructor(folder: StoreFolder, profile: string, baseUrl: URL, notice: Notice = () => {}) {
    this.#folder = folder.tokens(profile);
    this.#baseUrl = baseUrl.href;
    this.#notice = notice;
  }

  /** @param customerId null for the `client_credentials` application, which has no customer of its own */
  read(customerId: string | null): StoredTokens | undefined {
    const stored = readJsonFile(this.#path(customerId), storedTokens);
    return stored?.baseUrl === this.#baseUrl ? stored : undefined;
  }

  async write(customerId: string | null, tokens: StoredTokens): Promise<void> {
    const stored = { ...tokens, baseUrl: this.#baseUrl };
    await writeJsonFile(this.#path(customerId), stored, storedTokens, this.#notice);
  }

  remove(customerId: string | null): void {
    removeStored(this.#path(customerId));
  }

  /** One process at a time, for what changes the tokens: they must not be those of before when written. */
  locked<T>(customerId: string | null, work: () => Promise<T>): Promise<T> {
    const what = customerId === null ? 'The login of the application' : `The login of customer ${customerId}`;
    return withLock(this.#path(customerId), what, work, LONGEST_RENEWAL_MS);
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

  /** Customers whose tokens are kept, sorted. */
  customers(): string[] {
    return listFolder(this.#folder)
      .flatMap((file) => /^customer-(.+)\.json$/.exec(file)?.[1] ?? [])
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

  #path(customerId: string | null): string {
    return join(
      this.#folder,
      customerId === null ? 'client-credentials.json' : `customer-${customerId}.json`,
    );
  }
}
