import type { Bank, TokenSource } from '../bank/bank.ts';
import { type ClientCredentials, type GrantedTokens, requestTokens } from '../bank/oauth.ts';
import { Psd2Error } from '../errors.ts';
import type { GrantType, StoredTokens } from '../store/tokens.ts';
import type { TokenKeeper, WorldPorts } from './ports.ts';

/** A token with less than this left is renewed before it is used. */
const LEAST_LEFT_MS = 30_000;

export interface SessionSettings {
  /** The bank without tokens, for the token calls. */
  bank: Bank;
  grantType: GrantType;
  client: () => ClientCredentials;
  keeper: TokenKeeper;
  world: Pick<WorldPorts, 'now' | 'newId'>;
}

/** Tokens as the bank granted them, with the times they end, as the store keeps them. */
export function toStoredTokens(granted: GrantedTokens, now: Date, before?: StoredTokens): StoredTokens {
  const end = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  // A refresh answer may leave the refresh token out: the one that was spent stays good.
  const renewed = granted.refreshToken !== null || before === undefined;
  return {
    accessToken: granted.accessToken,
    accessTokenExpiresAt: end(granted.expiresIn),
    refreshToken: renewed ? granted.refreshToken : before.refreshToken,
    refreshTokenExpiresAt: renewed
      ? granted.refreshExpiresIn === null
        ? null
        : end(granted.refreshExpiresIn)
      : before.refreshTokenExpiresAt,
    scope: granted.scope ?? before?.scope ?? null,
    apiTrackId: before?.apiTrackId,
  };
}

/**
 * The access tokens of one customer, renewed when they are about to end or when the bank refuses one
 * (command contract, "A token"). Only one process at a time renews; the others take what it stored.
 *
 * @returns a source that throws Psd2Error `not_logged_in` when there is no token and no way to a new one
 */
export function openSession(settings: SessionSettings): TokenSource {
  const { keeper, world } = settings;

  const isFresh = (tokens: StoredTokens | undefined): tokens is StoredTokens & { accessToken: string } =>
    tokens !== undefined &&
    tokens.accessToken !== null &&
    (tokens.accessTokenExpiresAt === null ||
      Date.parse(tokens.accessTokenExpiresAt) - world.now().getTime() > LEAST_LEFT_MS);

  const keep = async (renewed: StoredTokens) => {
    try {
      await keeper.write(renewed);
    } catch (error) {
      if (!(error instanceof Psd2Error) || settings.grantType === 'client_credentials') throw error;
      const hint = `The bank has renewed the login, and it is lost: then run psd2 auth login. ${error.hint ?? ''}`;
      throw error.with({ hint: hint.trimEnd() });
    }
  };

  const renew = (isUsable: (tokens: StoredTokens & { accessToken: string }) => boolean) =>
    keeper.locked(async () => {
      const tokens = await keeper.read();
      // Another process may have renewed it while this one waited for the lock.
      if (isFresh(tokens) && isUsable(tokens)) return tokens.accessToken;
      // The bank spends the refresh token at once: what it gives instead must find its place.
      const giveBack = keeper.reserve();
      try {
        const renewed = await requestNew(settings, tokens);
        giveBack();
        await keep(renewed);
        return renewed.accessToken;
      } catch (error) {
        giveBack();
        // A process whose lock was taken over while it slept may have been first with this refresh token.
        const now = await keeper.read();
        if (isInvalidGrant(error) && isFresh(now) && now.accessToken !== tokens?.accessToken)
          return now.accessToken;
        throw error;
      }
    });

  /** What the calls before went with. Where another process has ended or renewed it, the bank refuses it. */
  let held: StoredTokens | undefined;
  return {
    async current() {
      if (!isFresh(held)) held = await keeper.read();
      if (!held) throw notLoggedIn(settings.grantType);
      return isFresh(held) ? held.accessToken : renew(() => true);
    },
    renewed(refused) {
      held = undefined;
      return renew((tokens) => tokens.accessToken !== refused);
    },
  };
}

/** Renews the tokens now, whatever time they have left. @throws Psd2Error `not_logged_in` */
async function requestNew(
  settings: SessionSettings,
  tokens: StoredTokens | undefined,
): Promise<StoredTokens & { accessToken: string }> {
  const { bank, grantType, client, keeper, world } = settings;
  if (grantType === 'client_credentials') {
    const granted = await requestTokens(bank, client(), { grant_type: 'client_credentials' }, world.newId());
    return { ...toStoredTokens(granted, world.now()), accessToken: granted.accessToken };
  }
  if (!tokens) throw notLoggedIn(grantType);
  if (!tokens.refreshToken) {
    throw new Psd2Error('not_logged_in', 'The login has ended, and the bank gave no way to renew it', {
      hint: 'Run psd2 auth login.',
    });
  }
  try {
    const granted = await requestTokens(
      bank,
      client(),
      { grant_type: 'refresh_token', refresh_token: tokens.refreshToken },
      world.newId(),
    );
    return { ...toStoredTokens(granted, world.now(), tokens), accessToken: granted.accessToken };
  } catch (error) {
    if (!(error instanceof Psd2Error) || !isRefusal(error)) throw error;
    const ended = isInvalidGrant(error);
    // Only the token that was refused: another may have been stored since.
    if (ended && (await keeper.read())?.refreshToken === tokens.refreshToken)
      await keeper.write({ ...tokens, refreshToken: null, refreshTokenExpiresAt: null });
    // Any other refusal (a wrong secret, a wrong clock) says nothing against the refresh token: it stays.
    const message = ended
      ? 'The login has ended: the bank no longer accepts its refresh token'
      : `The login could not be renewed: ${error.message}`;
    throw new Psd2Error('not_logged_in', message, {
      ...error.context,
      hint: (!ended && error.hint) || 'Run psd2 auth login.',
      cause: error,
    });
  }
}

function isInvalidGrant(error: unknown): boolean {
  return error instanceof Psd2Error && error.bankCode === 'invalid_grant';
}

function isRefusal({ code }: Psd2Error): boolean {
  return code === 'bank_refused' || code === 'not_logged_in';
}

function notLoggedIn(grantType: GrantType): Psd2Error {
  const command =
    grantType === 'client_credentials' ? 'psd2 auth login --client-credentials' : 'psd2 auth login';
  return new Psd2Error('not_logged_in', 'Nobody is logged in with this profile', { hint: `Run ${command}.` });
}
