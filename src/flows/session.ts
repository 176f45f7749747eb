import type { TokenSource } from '../bank/ports/call.ts';
import type { ClientCredentials, GrantedTokens, Login } from '../bank/ports/customer.ts';
import { Psd2Error } from '../errors.ts';
import type { GrantType, Holder, ReadTokens, StoredTokens, TokenSlot } from '../store/ports/tokens.ts';
import type { TokenKeeper, WorldPorts } from './ports.ts';
import { isInterruption } from './refusals.ts';

/** A token with less time left than this is renewed before it is used. */
const MIN_LEFT_MS = 30_000;

export interface SessionSettings {
  /** The application gets its first token by itself. */
  begins?: boolean;
  /** Its calls have no token. */
  login: Login;
  grantType: GrantType;
  /** The customer whose tokens these are; null for the application. */
  holder: Holder;
  client: () => ClientCredentials;
  keeper: TokenKeeper;
  world: Pick<WorldPorts, 'now' | 'newId' | 'finish'>;
}

/** Converts granted tokens to the form of the store, with the times when they end. */
export function toStoredTokens(granted: GrantedTokens, now: Date, before?: StoredTokens): StoredTokens {
  const end = (seconds: number | null) =>
    seconds === null ? null : new Date(now.getTime() + seconds * 1000).toISOString();
  // If a refresh answer has no refresh token, the old one stays valid.
  const renewed = granted.refreshToken !== null || before === undefined;
  return {
    accessToken: granted.accessToken,
    accessTokenExpiresAt: end(granted.expiresIn),
    refreshToken: renewed ? granted.refreshToken : before.refreshToken,
    refreshTokenExpiresAt: renewed ? end(granted.refreshExpiresIn) : before.refreshTokenExpiresAt,
    scope: granted.scope ?? before?.scope ?? null,
    apiTrackId: before?.apiTrackId,
    ...(before?.server !== undefined && { server: before.server }),
    ...(before?.consent !== undefined && { consent: before.consent }),
  };
}

/**
 * The access tokens of one customer. psd2 renews them before they expire, or if the bank refuses one (command contract,
 * "A token"). Only one process at a time renews. The others use what it stored.
 *
 * @returns a source that throws Psd2Error `not_logged_in` if there is no token and no way to get one
 */
export function openSession(settings: SessionSettings): TokenSource {
  return new Session(settings);
}

class Session implements TokenSource {
  readonly #settings: SessionSettings;
  /** The tokens of the last call. If another process has revoked or renewed them, the bank refuses them. */
  #held: StoredTokens | undefined;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  async current(): Promise<string> {
    const { keeper, grantType } = this.#settings;
    if (!this.#isFresh(this.#held) || this.#held.unproven) this.#held = await keeper.read();
    if (!this.#held && this.#settings.begins) return this.#renew(() => true);
    if (!this.#held) throw notLoggedIn(grantType);
    if (this.#isFresh(this.#held) && !this.#held.unproven) return this.#held.accessToken;
    return this.#renew(() => true);
  }

  renewed(refused: string): Promise<string> {
    this.#held = undefined;
    return this.#renew((tokens) => tokens.accessToken !== refused);
  }

  #isFresh(tokens: StoredTokens | undefined): tokens is UsableTokens {
    return (
      tokens !== undefined &&
      tokens.accessToken !== null &&
      (tokens.accessTokenExpiresAt === null ||
        Date.parse(tokens.accessTokenExpiresAt) - this.#settings.world.now().getTime() > MIN_LEFT_MS)
    );
  }

  async #renew(isUsable: (tokens: UsableTokens) => boolean): Promise<string> {
    for (;;) {
      const accessToken = await this.#settings.keeper.change((slot) => this.#renewIn(slot, isUsable));
      if (accessToken !== undefined) return accessToken;
    }
  }

  /** Renews the stored tokens under the claim. @returns undefined if another worker has the claim now */
  async #renewIn(slot: TokenSlot, isUsable: (tokens: UsableTokens) => boolean): Promise<string | undefined> {
    const tokens = await slot.read();
    // Another process may have renewed it while this one waited for the lock.
    if (this.#isFresh(tokens) && isUsable(tokens)) {
      try {
        return await this.#proven(slot, tokens);
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
    const renewal = await this.#renewNow(slot, tokens);
    return renewal && this.#proven(slot, renewal);
  }

  /** @returns the tokens to use, or undefined if another worker has the claim now */
  async #renewNow(slot: TokenSlot, tokens: ReadTokens | undefined): Promise<UsableTokens | undefined> {
    const { keeper, world } = this.#settings;
    // The bank ends the old refresh token at once, so reserve space for the new one first.
    const giveBack = await keeper.ready();
    try {
      return await world.finish(keeper.whose, () => this.#spend(slot, tokens, giveBack));
    } catch (error) {
      await giveBack();
      if (error instanceof ClaimLost) return undefined;
      if (isInterruption(error)) throw error;
      // Another process may have used the same refresh token first, and was then stopped. Whatever the reason of the bank's
      // refusal, tokens that were stored since then are valid.
      const now = await slot.read();
      if (this.#isFresh(now) && now.accessToken !== tokens?.accessToken) return now;
      throw slot.takenOverFrom === undefined ? error : withOther(error, slot.takenOverFrom);
    }
  }

  /**
   * Asks the bank whose the stored tokens are, if it has not said so yet. They are stored first: the refresh token before
   * them is spent.
   *
   * @returns the access token
   * @throws Psd2Error `not_logged_in` if they are another customer's. psd2 has then forgotten them
   */
  async #proven(slot: TokenSlot, usable: UsableTokens): Promise<string> {
    const { login, grantType, holder, world } = this.#settings;
    if (!usable.unproven || holder === null) return usable.accessToken;
    const tokens = await slot.read();
    if (!tokens?.accessToken) throw notLoggedIn(grantType);
    if (!tokens.unproven) return tokens.accessToken;
    const owner = await ownerOf(login, tokens.accessToken, world.newId());
    const isOwn = owner === undefined || owner === holder;
    await slot.prove(tokens, isOwn);
    if (isOwn) return tokens.accessToken;
    throw new Psd2Error(
      'not_logged_in',
      `The bank gave the tokens of customer ${owner} for customer ${holder}`,
      {
        hint: 'psd2 has deleted them, and has used them for nothing else. Log the customer in again:',
        next: [['auth', 'login', '--customer', holder]],
      },
    );
  }

  /** Asks the bank for new tokens and stores them in the reserved space. @throws ClaimLost */
  async #spend(
    slot: TokenSlot,
    tokens: ReadTokens | undefined,
    giveBack: () => Promise<void>,
  ): Promise<UsableTokens> {
    const granted = await requestNew(this.#settings, slot, tokens, async () => {
      if (!(await slot.isOurs(tokens))) throw new ClaimLost();
    });
    await giveBack();
    const stored = await this.#keep(slot, tokens, granted);
    if (!stored?.accessToken) throw notLoggedIn(this.#settings.grantType);
    return { ...stored, accessToken: stored.accessToken };
  }

  /** Stores the new tokens. @returns the tokens to use: another process may have stored newer ones */
  async #keep(slot: TokenSlot, spent: ReadTokens | undefined, renewed: StoredTokens) {
    try {
      return await slot.replace(spent, renewed);
    } catch (error) {
      if (!(error instanceof Psd2Error) || this.#settings.grantType === 'client_credentials') throw error;
      const hint =
        `The bank has renewed the login, but psd2 could not store it. ${error.hint ?? ''}`.trimEnd();
      throw error.with({ hint: `${hint} Then log in again:`, next: [['auth', 'login']] });
    }
  }
}

/** Adds that another, stopped process may have used the refresh token. The login is then not lost. */
function withOther(error: unknown, other: string): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'not_logged_in') return error;
  return error.with({
    hint: `Another psd2 was renewing the login and does not respond: ${other}. If it continues, the login is valid again. ${error.hint ?? ''}`.trimEnd(),
  });
}

type UsableTokens = StoredTokens & { accessToken: string };

/** Another worker took over the claim while this one was stopped. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost';

  constructor() {
    super('another psd2 renews the login');
  }
}

/**
 * Renews the tokens now, even if they have time left.
 *
 * @param assertOurs called just before the call leaves. If it throws, the call does not leave
 * @throws Psd2Error `not_logged_in`
 */
async function requestNew(
  settings: SessionSettings,
  slot: TokenSlot,
  tokens: ReadTokens | undefined,
  assertOurs: () => Promise<void>,
): Promise<StoredTokens> {
  const { login, grantType, client, world } = settings;
  const beforeSend = async () => ({ beforeFirstByte: assertOurs });
  if (grantType === 'client_credentials') {
    const grant = { grant_type: 'client_credentials' } as const;
    return toStoredTokens(await login.tokens(client(), grant, world.newId(), beforeSend), world.now());
  }
  if (!tokens) throw notLoggedIn(grantType);
  if (!tokens.refreshToken)
    throw new Psd2Error(
      'not_logged_in',
      'The login has ended, and the bank gave no refresh token to renew it',
      { next: [['auth', 'login']] },
    );
  try {
    const granted = await login.tokens(
      ofServer(client(), tokens),
      { grant_type: 'refresh_token', refresh_token: tokens.refreshToken },
      world.newId(),
      beforeSend,
    );
    return { ...toStoredTokens(granted, world.now(), tokens), unproven: true };
  } catch (error) {
    if (!(error instanceof Psd2Error) || !isRefusal(error)) throw error;
    const ended = isInvalidGrant(error);
    if (ended) await slot.refuse(tokens);
    // After any other refusal (a wrong secret, a wrong clock) the refresh token stays valid.
    const message = ended
      ? 'The login has ended: the bank no longer accepts its refresh token'
      : `The login could not be renewed: ${error.message}`;
    // The refusal is that of the token call.
    const { hint, refusal: _refusal, isBanks: _isBanks, ...details } = error.context;
    const advice = !ended && hint !== undefined ? { hint } : { next: [['auth', 'login']] };
    throw new Psd2Error('not_logged_in', message, { ...details, ...advice, cause: error });
  }
}

/** The client for calls about tokens: where the bank named the OAuth server with a resource, only the tokens know it. */
export function ofServer(
  client: ClientCredentials,
  { server }: Pick<StoredTokens, 'server'> = {},
): ClientCredentials {
  return server === undefined ? client : { ...client, server };
}

/** @returns undefined if the bank does not disclose it to this application, or for this customer */
async function ownerOf(login: Login, bearer: string, transactionId: string): Promise<string | undefined> {
  try {
    return await login.whose(transactionId, { bearer });
  } catch (error) {
    if (error instanceof Psd2Error && isUntold(error)) return undefined;
    throw error;
  }
}

/** The bank refuses to answer, or does not have the call. The login must stay usable at such a bank. */
function isUntold({ code, isLacking }: Psd2Error): boolean {
  return isLacking === true || ['forbidden', 'sca_required', 'bank_refused'].includes(code);
}

/** The bank no longer accepts an access token. */
function isStale(error: unknown): boolean {
  return error instanceof Psd2Error && error.code === 'not_logged_in' && error.hadToken === true;
}

function isInvalidGrant(error: unknown): boolean {
  return error instanceof Psd2Error && error.bankCode === 'invalid_grant';
}

function isRefusal({ code }: Psd2Error): boolean {
  return code === 'bank_refused' || code === 'not_logged_in';
}

function notLoggedIn(grantType: GrantType): Psd2Error {
  const login = ['auth', 'login', ...(grantType === 'client_credentials' ? ['--client-credentials'] : [])];
  return new Psd2Error('not_logged_in', 'Nobody is logged in with this profile', { next: [login] });
}
