export type GrantType = 'authorization_code' | 'client_credentials';

/**
 * The owner of tokens: a customer's id, null for the application (`client_credentials`), or `payment:<transaction id>`: the tokens
 * that a customer's login with one payment gave, for that payment alone (the standard, section 2, "SCA").
 */
export type Holder = string | null;

/** A login without its tokens. Times are ISO 8601 with zone, or null if the bank gave none. */
export interface StoredLogin {
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  scope: string | null;
  /** The bank's session id. psd2 sends it as `cb-apitrack-id` with all calls that use these tokens. */
  apiTrackId?: string | undefined;
}

export interface StoredTokens extends StoredLogin {
  accessToken: string | null;
  refreshToken: string | null;
  /** The bank gave them for a refresh token, and has not said yet whose they are. They may be used for nothing else. */
  unproven?: true | undefined;
  /** The address of the metadata of the OAuth server that gave them, if the bank has named it with a resource. */
  server?: string | undefined;
  /** The consent that the customer granted with this login: its calls carry these tokens, too. */
  consent?: string | undefined;
}

/** Tokens as they were read from the store. */
export interface ReadTokens extends StoredTokens {
  /** Newer tokens have a higher number. It never decreases, even after a logout. */
  generation: number;
  /**
   * The generation in which the bank gave the refresh token. Set if this generation only changes how that token is stored:
   * marked as refused, or encrypted in another way.
   */
  origin?: number | undefined;
}

/**
 * The tokens of one profile at one bank. No holder waits for another. If the profile is protected, tokens are encrypted
 * before they reach the backend, and can be decrypted only for this holder at this bank.
 */
export interface Tokens {
  /** Reads the login without the profile's key. @throws Psd2Error `config` if the stored data is damaged */
  login(holder: Holder): Promise<StoredLogin | undefined>;
  /**
   * The logins of all customers, in one pass, sorted by customer. Reads them without the profile's key.
   *
   * @throws Psd2Error `config` if the stored data of one is damaged
   */
  logins(): Promise<{ customerId: string; login: StoredLogin }[]>;
  /** @throws Psd2Error `config` if they are damaged, or the key of a protected profile is not available */
  read(holder: Holder): Promise<ReadTokens | undefined>;
  /**
   * Runs `work`, which changes the tokens, one worker at a time. Before `work` begins, psd2 makes sure that it can encrypt
   * the tokens if the profile is protected. A worker that does not respond for some seconds loses its claim to the next
   * one, and can write nothing after that.
   *
   * @param signal ends the wait for another worker (default: the operator's Ctrl-C)
   * @throws Psd2Error `config` if another worker holds the claim for too long
   */
  change<T>(holder: Holder, work: (slot: TokenSlot) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Forgets tokens, one worker at a time as {@link change}. A renewal that was stopped before cannot store its tokens
   * afterwards. Needs no key.
   *
   * @param before runs first, for example to revoke the tokens at the bank. If it throws, the tokens stay
   */
  forget(holder: Holder, before?: () => Promise<void>): Promise<void>;
  /** Removes the tokens of a payment that has ended, and all that says there were any. Needs no key. */
  erase(holder: Holder): Promise<void>;
  /** Forgets the tokens of every holder at any bank. Waits for renewals that are under way. */
  forgetAll(): Promise<void>;
  /**
   * Makes sure that the backend can store tokens, before psd2 asks the bank for them: the bank gives tokens for a code or a
   * refresh token only once.
   *
   * @returns frees the reserved space. Call it before you write the tokens. Further calls do nothing
   * @throws Psd2Error `config` if there is no space, the backend is not writable, or the key of a protected profile is not available
   */
  ready(): Promise<() => Promise<void>>;
  /**
   * The other base URLs that have logins of the profile, with the number of logins, the most first. The login of the
   * application counts too. It may have to read every login.
   */
  otherBanks(): Promise<{ baseUrl: string; logins: number }[]>;
  /** Customers with stored tokens, sorted, including those with damaged tokens. Payments are none. */
  customers(): Promise<string[]>;
  /** The customer who logged in last. */
  last(): Promise<string | undefined>;
  remember(customerId: string): Promise<void>;
  /** Rewrites all tokens of the profile, of any bank, encrypted or in clear as its protection now requires. */
  rewrite(): Promise<void>;
  /**
   * Takes the logins of another base URL along to the current one: the bank has a new address. A renewal that is under way at the
   * old one ends first, and one that was stopped there stores its tokens at the new one. Can be interrupted and repeated.
   *
   * @returns the number of logins
   * @throws as {@link change}
   */
  move(from: string): Promise<number>;
  /** Paths of the damaged files that psd2 kept. The operator may remove them. */
  damaged(): Promise<string[]>;
}

/** A worker's right to change the tokens of one holder. */
export interface TokenSlot {
  /**
   * The previous holder of the claim, if it did not respond, for example
   * `process 4711 on host-1 since 2026-11-21T10:00:00.000Z`. It was killed, or it was stopped and may continue. Undefined if
   * nobody held the claim.
   */
  readonly takenOverFrom: string | undefined;
  /** As {@link Tokens.read}. */
  read(): Promise<ReadTokens | undefined>;
  /**
   * Whether no other worker has taken the claim over, and {@link read} still gives what it gave before. Either may change right
   * after the answer. The store refuses what is written then.
   *
   * @param read undefined: the store had no tokens of the holder at this bank, also because they were deleted or are another
   *   bank's
   */
  isOurs(read: ReadTokens | undefined): Promise<boolean>;
  /** Writes the tokens of a new login, in place of all earlier ones. */
  write(tokens: StoredTokens): Promise<void>;
  /**
   * Writes the tokens that the bank gave for a refresh token, unless the store has newer tokens than the spent ones: from a
   * new login, or from another worker that renewed them too.
   *
   * @param spent the tokens that were read before; undefined for an application that had none
   * @returns the tokens that are now stored; undefined if the operator has logged out in the meantime
   */
  replace(spent: ReadTokens | undefined, tokens: StoredTokens): Promise<StoredTokens | undefined>;
  /** Notes that the bank no longer accepts a refresh token. Does nothing if the store has newer tokens. */
  refuse(tokens: ReadTokens): Promise<void>;
  /**
   * Notes whose the unproven tokens are: the holder's own, which may be used from now on, or another customer's, which psd2
   * forgets. Does nothing if the store has newer tokens.
   */
  prove(tokens: ReadTokens, isOwn: boolean): Promise<void>;
}
