import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { StoreFolder } from './folder.ts';
import { isMissing, readJsonFile, writeJsonFile } from './json-file.ts';
import { withLock } from './lock.ts';

export type GrantType = 'authorization_code' | 'client_credentials';

const storedTokens = z.object({
  /** The bank that granted them. */
  baseUrl: z.string(),
  accessToken: z.nullable(z.string()),
  /** ISO 8601 with zone. */
  accessTokenExpiresAt: z.nullable(z.string()),
  refreshToken: z.nullable(z.string()),
  refreshTokenExpiresAt: z.nullable(z.string()),
  scope: z.nullable(z.string()),
  /** The bank's session id, sent back as `cb-apitrack-id` with all calls made with these tokens. */
  apiTrackId: z.optional(z.string()),
});

/** The tokens of one customer, or of the `client_credentials` application. */
export type StoredTokens = Omit<z.infer<typeof storedTokens>, 'baseUrl'>;

/** A token call may take its whole time limit, several times over. */
const LONGEST_RENEWAL_MS = 150_000;

const lastLogin = z.object({ customerId: z.string() });

/**
 * The tokens of one profile at one bank: a file for each customer, so that none waits for another. Tokens that
 * another base URL granted count as none, so they never go to a bank that is not theirs.
 */
export class TokenStore {
  readonly #folder: string;
  readonly #baseUrl: string;

  /** @param baseUrl of the bank that the profile means now */
  constructor(folder: StoreFolder, profile: string, baseUrl: URL) {
    this.#folder = folder.tokens(profile);
    this.#baseUrl = baseUrl.href;
  }

  /** @param customerId null for the `client_credentials` application, which has no customer of its own */
  read(customerId: string | null): StoredTokens | undefined {
    const stored = readJsonFile(this.#path(customerId), storedTokens);
    return stored?.baseUrl === this.#baseUrl ? stored : undefined;
  }

  async write(customerId: string | null, tokens: StoredTokens): Promise<void> {
    await writeJsonFile(this.#path(customerId), { ...tokens, baseUrl: this.#baseUrl });
  }

  remove(customerId: string | null): void {
    rmSync(this.#path(customerId), { force: true });
  }

  /** One process at a time, for spending a refresh token. */
  locked<T>(customerId: string | null, work: () => Promise<T>): Promise<T> {
    return withLock(this.#path(customerId), work, LONGEST_RENEWAL_MS);
  }

  /** Customers whose tokens are kept, sorted. */
  customers(): string[] {
    try {
      return readdirSync(this.#folder)
        .flatMap((file) => /^customer-(.+)\.json$/.exec(file)?.[1] ?? [])
        .sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** The customer who logged in last. */
  lastCustomer(): string | undefined {
    return readJsonFile(this.#lastLoginPath, lastLogin)?.customerId;
  }

  async rememberCustomer(customerId: string): Promise<void> {
    await writeJsonFile(this.#lastLoginPath, { customerId });
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
