export type GrantType = 'authorization_code' | 'client_credentials';

/** Whose tokens: a customer's id, or null for the `client_credentials` application, which has no customer of its own. */
export type Holder = string | null;

/** What is known of a login without its tokens. Times are ISO 8601 with zone, null where the bank gave none. */
export interface StoredLogin {
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  scope: string | null;
  /** The bank's session id, sent back as `cb-apitrack-id` with all calls made with these tokens. */
  apiTrackId?: string | undefined;
}

export interface StoredTokens extends StoredLogin {
  accessToken: string | null;
  refreshToken: string | null;
}

/** Tokens as they were read. */
export interface ReadTokens extends StoredTokens {
  /** Newer ones have a higher one. It never goes back, also when tokens are forgotten. */
  generation: number;
  /**
   * The generation that the refresh token came with, where this one only says more of it: that the bank refused it, or
   * how it is encrypted.
   */
  origin?: number | undefined;
}

/**
 * The tokens of one profile at one bank. None waits for another's. Where the profile is protected they are encrypted
 * before they reach the home, and open only as those of this holder at this bank.
 */
export interface Tokens {
  /** Opens no key. @throws Psd2Error `config` when what is stored is damaged */
  login(holder: Holder): Promise<StoredLogin | undefined>;
  /** @throws Psd2Error `config` when they are damaged, or the key of a protected profile can't be had */
  read(holder: Holder): Promise<ReadTokens | undefined>;
  /**
   * One worker at a time, for what changes the tokens. Before `work` begins it is certain that they can be encrypted, if
   * they have to be. A worker that shows no sign of life for some seconds loses its claim to the next one, and is refused
   * whatever it is about to write after that.
   *
   * @param signal ends the wait for another worker; the operator's Ctrl-C unless another is given
   * @throws Psd2Error `config` when another worker is at it for too long
   */
  change<T>(holder: Holder, work: (slot: TokenSlot) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Forgets tokens, one worker at a time as {@link change}. What a renewal that was stopped has in hand is not stored
   * after that. Needs no key.
   *
   * @param before what is done first: the bank may be asked to revoke them. What it throws keeps them
   */
  forget(holder: Holder, before?: () => Promise<void>): Promise<void>;
  /** Forgets the tokens of every holder, at whatever bank; renewals that are under way are waited for. */
  forgetAll(): Promise<void>;
  /**
   * Makes sure that tokens can be stored, before the bank is asked for them: what it gives for a code or a refresh token,
   * it gives once.
   *
   * @returns what gives the room back, to be called before they are written; further calls do nothing
   * @throws Psd2Error `config` when there is no room, or the home can't be written
   */
  ready(): Promise<() => Promise<void>>;
  /** Customers whose tokens are kept, sorted; also those whose tokens are damaged. */
  customers(): Promise<string[]>;
  /** The customer who logged in last. */
  last(): Promise<string | undefined>;
  remember(customerId: string): Promise<void>;
  /** Writes all tokens of the profile, whatever bank granted them, as its protection wants it now. */
  rewrite(): Promise<void>;
  /** What was damaged and is kept beside what replaced it, as it was: paths that the operator may remove. */
  damaged(): Promise<string[]>;
}

/** A worker's right to change the tokens of one holder. */
export interface TokenSlot {
  /**
   * Who had the claim and showed no sign of life, for example `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`:
   * killed, or standing still and about to go on. Undefined where it was free.
   */
  readonly takenOverFrom: string | undefined;
  /** As {@link Tokens.read}. */
  read(): Promise<ReadTokens | undefined>;
  /**
   * Whether no other worker has taken the claim over since, and no newer tokens are stored than those that were read. It
   * may happen right after the answer: what is written then is refused.
   */
  isOurs(read: ReadTokens | undefined): Promise<boolean>;
  /** Writes the tokens of a new login, in the place of all before. */
  write(tokens: StoredTokens): Promise<void>;
  /**
   * Writes what the bank gave for a refresh token, unless tokens that are newer than the spent ones are stored: those of a
   * new login, or of another worker that was given some as well.
   *
   * @param spent the tokens that were read before; undefined for an application that had none
   * @returns the tokens that are stored now; undefined when the operator has logged out in the meantime
   */
  replace(spent: ReadTokens | undefined, tokens: StoredTokens): Promise<StoredTokens | undefined>;
  /** Notes that the bank no longer accepts a refresh token; nothing where newer tokens are stored. */
  refuse(tokens: ReadTokens): Promise<void>;
}
