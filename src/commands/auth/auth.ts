import { revokeToken } from '../../bank/endpoints/oauth.ts';
import { bankDay } from '../../domain/calendar.ts';
import { CallCounter } from '../../store/call-counter.ts';
import { dailyLimitOf } from '../../store/settings.ts';
import type { GrantType, StoredLogin } from '../../store/tokens.ts';
import type { Column } from '../../terminal/output.ts';
import type { Context } from '../context.ts';
import { customerOf, notLoggedIn } from '../open/store.ts';

/** What `auth login` and `auth status` tell of a login. Times are ISO 8601 with zone. */
export interface LoginStatus {
  profile: string;
  grantType: GrantType;
  customerId: string | null;
  scope: string | null;
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  /** With client credentials: how many calls were made today, and how many the operator says may be. */
  callsToday?: number;
  dailyLimit?: number | null;
}

const LOGIN_FIELDS: Column<LoginStatus>[] = [
  { title: 'Profile', value: ({ profile }) => profile },
  { title: 'Grant', value: ({ grantType }) => grantType },
  { title: 'Customer', value: ({ customerId }) => customerId },
  { title: 'Scope', value: ({ scope }) => scope },
  { title: 'Access token until', value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt, kind: 'time' },
  { title: 'Refresh token until', value: ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt, kind: 'time' },
  {
    title: 'Calls today',
    value: ({ callsToday, dailyLimit }) =>
      callsToday === undefined ? null : `${callsToday}${dailyLimit ? ` of ${dailyLimit}` : ''}`,
  },
];

const LOGIN_CSV = [
  ...['profile', 'grantType', 'customerId', 'scope', 'accessTokenExpiresAt', 'refreshTokenExpiresAt'],
  ...['callsToday', 'dailyLimit'],
];

/** What is shown of a login; never a token. */
export function describeLogin(
  context: Context,
  grantType: GrantType,
  customerId: string | null,
  { scope, accessTokenExpiresAt, refreshTokenExpiresAt }: StoredLogin,
): LoginStatus {
  const profile = context.profile();
  const login = {
    profile: profile.name,
    grantType,
    customerId,
    scope,
    accessTokenExpiresAt,
    refreshTokenExpiresAt,
  };
  if (grantType === 'authorization_code') return login;
  const counter = new CallCounter(context.folder, profile.name);
  return {
    ...login,
    callsToday: counter.callsOn(bankDay(context.world.now())),
    dailyLimit: dailyLimitOf(profile),
  };
}

/** Prints a login in the shape of the command contract. */
export function printLogin({ output }: Context, login: LoginStatus): void {
  output.record(login, LOGIN_FIELDS);
}

/** `psd2 auth list`: whose tokens are kept. */
export async function authList(context: Context): Promise<void> {
  const { tokens } = await context.store();
  const last = tokens.lastCustomer();
  const logins = [...tokens.customers(), null].flatMap((customerId) => {
    const kept = tokens.readLogin(customerId);
    const grant = customerId === null ? 'client_credentials' : 'authorization_code';
    return kept ? [describeLogin(context, grant, customerId, kept)] : [];
  });
  await context.output.table(
    logins,
    [
      { title: '', value: ({ customerId }) => (customerId !== null && customerId === last ? '*' : ' ') },
      { title: 'CUSTOMER', value: ({ customerId }) => customerId, whole: true },
      { title: 'GRANT', value: ({ grantType }) => grantType, whole: true },
      { title: 'TOKEN', value: (login) => validityOf(login, context.world.now()), whole: true },
      {
        title: 'ACCESS TOKEN UNTIL',
        value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt,
        kind: 'time',
      },
      {
        title: 'REFRESH TOKEN UNTIL',
        value: ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt,
        kind: 'time',
      },
    ],
    'Nobody is logged in with this profile.',
    LOGIN_CSV,
  );
}

/** Whether calls can be made with a login: now, after a renewal that psd2 makes by itself, or after a new login. */
function validityOf({ accessTokenExpiresAt, refreshTokenExpiresAt }: LoginStatus, now: Date): string {
  const isGood = (until: string | null) => until !== null && new Date(until) > now;
  if (isGood(accessTokenExpiresAt)) return 'good';
  if (isGood(refreshTokenExpiresAt)) return 'to be renewed';
  return accessTokenExpiresAt === null ? 'not known' : 'expired';
}

/** `psd2 auth refresh`: a new access token now, whatever time the old one has left. */
export async function authRefresh(context: Context): Promise<void> {
  const { tokens, holder, customerId, login } = await storedLogin(context);
  const bank = await context.bank();
  const kept = await tokens.read(holder);
  await bank.accessTokens.renewed(kept?.accessToken ?? '');
  const renewed = tokens.readLogin(holder) ?? login;
  printLogin(context, describeLogin(context, context.globals.grant, holder ?? customerId, renewed));
}

/** `psd2 auth status`: what is stored, without asking the bank. @throws Psd2Error `not_logged_in` */
export async function authStatus(context: Context): Promise<void> {
  const { holder, customerId, login } = await storedLogin(context);
  printLogin(context, describeLogin(context, context.globals.grant, holder ?? customerId, login));
}

/** `psd2 auth token`: a good access token, renewed first when it is about to end. */
export async function authToken(context: Context): Promise<void> {
  const bank = await context.bank();
  const accessToken = await bank.accessTokens.current();
  const expiresAt = bank.tokens.readLogin(bank.holder)?.accessTokenExpiresAt ?? null;
  if (context.output.format === 'table') context.output.text(accessToken);
  else context.output.record({ accessToken, expiresAt }, []);
}

/** `psd2 auth logout`: forgets the tokens; with `revoke` the bank forgets them first. */
export async function authLogout(context: Context, options: { revoke: boolean }): Promise<void> {
  const { world, output, terminal } = context;
  const { tokens: store, holder } = await storedLogin(context);
  const revoked: string[] = [];
  const bank = options.revoke ? await context.applicationBank() : undefined;
  // A renewal that is under way must not store tokens after they were forgotten.
  await store.exclusively(holder, async () => {
    if (bank) {
      const tokens = await store.read(holder);
      const transactionId = world.newId();
      const kinds = [
        ['refresh_token', tokens?.refreshToken],
        ['access_token', tokens?.accessToken],
      ] as const;
      for (const [kind, token] of kinds) {
        if (!token) continue;
        await revokeToken(bank.connect(), bank.client(), token, kind, transactionId);
        revoked.push(kind);
      }
    }
    store.remove(holder);
  });
  if (output.format === 'table')
    terminal.say(`Logged out${revoked.length > 0 ? `; the bank has revoked ${revoked.join(' and ')}` : ''}.`);
  else output.record({ profile: context.profile().name, revoked }, []);
}

async function storedLogin(context: Context) {
  const { tokens } = await context.store();
  const holder = context.globals.grant === 'client_credentials' ? null : await customerOf(context);
  const login = tokens.readLogin(holder);
  if (!login) throw await notLoggedIn(context, holder);
  return { tokens, holder, customerId: tokens.lastCustomer() ?? null, login };
}
