import { revokeToken } from '../bank/oauth.ts';
import { Psd2Error } from '../errors.ts';
import type { GrantType, StoredTokens } from '../store/tokens.ts';
import type { Column } from '../terminal/output.ts';
import type { Context } from './context.ts';
import { customerOf, openBankOf, openCustomerBank, openProfileOf } from './open-bank.ts';

/** What `auth login` and `auth status` tell of a login. Times are ISO 8601 with zone. */
export interface LoginStatus {
  profile: string;
  grantType: GrantType;
  customerId: string | null;
  scope: string | null;
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
}

const LOGIN_FIELDS: Column<LoginStatus>[] = [
  { title: 'Profile', value: ({ profile }) => profile },
  { title: 'Grant', value: ({ grantType }) => grantType },
  { title: 'Customer', value: ({ customerId }) => customerId },
  { title: 'Scope', value: ({ scope }) => scope },
  { title: 'Access token until', value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt },
  { title: 'Refresh token until', value: ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt },
];

/** Prints a login; never a token. */
export function printLogin(
  { output }: Context,
  profile: string,
  grantType: GrantType,
  customerId: string | null,
  tokens: StoredTokens,
): void {
  const { scope, accessTokenExpiresAt, refreshTokenExpiresAt } = tokens;
  output.record(
    { profile, grantType, customerId, scope, accessTokenExpiresAt, refreshTokenExpiresAt },
    LOGIN_FIELDS,
  );
}

/** `psd2 auth status`: what is stored, without asking the bank. @throws Psd2Error `not_logged_in` */
export async function authStatus(context: Context): Promise<void> {
  const { profile, holder, customerId, tokens } = storedLogin(context);
  printLogin(context, profile, context.globals.grant, holder ?? customerId, tokens);
}

/** `psd2 auth token`: a good access token, renewed first when it is about to end. */
export async function authToken(context: Context): Promise<void> {
  const bank = openCustomerBank(context);
  const accessToken = await bank.accessTokens.current();
  const expiresAt = bank.tokens.read(bank.holder)?.accessTokenExpiresAt ?? null;
  if (context.output.format === 'table') context.output.text(accessToken);
  else context.output.record({ accessToken, expiresAt }, []);
}

/** `psd2 auth logout`: forgets the tokens; with `revoke` the bank forgets them first. */
export async function authLogout(context: Context, options: { revoke: boolean }): Promise<void> {
  const { globals, world, output, terminal } = context;
  const opened = openProfileOf(context);
  const { holder, tokens } = storedLogin(context);
  const revoked: string[] = [];
  if (options.revoke) {
    const bank = openBankOf(context, opened, globals.grant);
    const transactionId = world.newId();
    const kinds = [
      ['refresh_token', tokens.refreshToken],
      ['access_token', tokens.accessToken],
    ] as const;
    for (const [kind, token] of kinds) {
      if (token === null) continue;
      await revokeToken(bank.connect(), bank.client(), token, kind, transactionId);
      revoked.push(kind);
    }
  }
  opened.tokens.remove(holder);
  if (output.format === 'table')
    terminal.say(`Logged out${revoked.length > 0 ? `; the bank has revoked ${revoked.join(' and ')}` : ''}.`);
  else output.record({ profile: opened.profile.name, revoked }, []);
}

function storedLogin(context: Context) {
  const opened = openProfileOf(context);
  const { globals } = context;
  const holder = globals.grant === 'client_credentials' ? null : customerOf(context, opened);
  const tokens = opened.tokens.read(holder);
  if (!tokens) {
    throw new Psd2Error(
      'not_logged_in',
      `Nobody is logged in with the profile ${JSON.stringify(opened.profile.name)}`,
      {
        hint: `Run psd2 --profile ${opened.profile.name} auth login${holder === null ? ' --client-credentials' : ''}.`,
      },
    );
  }
  return { profile: opened.profile.name, holder, customerId: opened.tokens.lastCustomer() ?? null, tokens };
}
