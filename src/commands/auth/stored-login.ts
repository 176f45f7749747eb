import { bankDay } from '../../domain/calendar.ts';
import { dailyLimitOf } from '../../store/machine/settings.ts';
import type { AccessNote } from '../../store/ports/access.ts';
import type { GrantType, Holder, StoredLogin, Tokens } from '../../store/ports/tokens.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { openAccessNotes } from '../open/access-notes.ts';
import { customerOf, notLoggedIn } from '../open/store.ts';
import { login } from './shape.ts';

/** A login as `auth login` and `auth status` print it. */
export type LoginStatus = Printed<typeof login>;

const LOGIN_FIELDS: Column<LoginStatus>[] = [
  { title: 'Profile', value: ({ profile }) => profile },
  { title: 'Grant', value: ({ grantType }) => grantType },
  { title: 'Customer', value: ({ customerId }) => customerId },
  { title: 'Scope', value: ({ scope }) => scope },
  { title: 'Access token until', value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt, kind: 'time' },
  { title: 'Refresh token until', value: ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt, kind: 'time' },
  {
    title: 'Refused',
    value: ({ refused }, writeTime) => refused && `${refused.message} (${writeTime(refused.at)})`,
  },
  {
    title: 'Calls today',
    value: ({ callsToday, dailyLimit }) =>
      callsToday === undefined ? null : `${callsToday}${dailyLimit ? ` of ${dailyLimit}` : ''}`,
  },
];

/** Describes a login, without its tokens. */
export async function describeLogin(
  context: Context,
  grantType: GrantType,
  customerId: string | null,
  stored: StoredLogin,
): Promise<LoginStatus> {
  const profile = context.profile();
  const { scope, accessTokenExpiresAt, refreshTokenExpiresAt } = stored;
  const holder = grantType === 'authorization_code' ? customerId : null;
  const { refresh, call } = await (await openAccessNotes(context)).read(holder, stored);
  const status: LoginStatus = {
    profile: profile.name,
    grantType,
    customerId,
    scope,
    accessTokenExpiresAt,
    // A month of validity would be wrong.
    refreshTokenExpiresAt: refresh ? null : refreshTokenExpiresAt,
    ...(refresh
      ? { refused: { what: 'refresh', ...refusal(refresh) } }
      : call
        ? { refused: { what: 'call', ...refusal(call) } }
        : {}),
  };
  if (grantType === 'authorization_code') return status;
  const { calls } = await context.store();
  return {
    ...status,
    callsToday: await calls.on(bankDay(context.world.now())),
    dailyLimit: dailyLimitOf(profile),
  };
}

function refusal({ at, message }: AccessNote) {
  return { at, message };
}

/** Prints a login in the shape of the command contract. */
export function printLogin({ output }: Context, status: LoginStatus): void {
  output.record(status, LOGIN_FIELDS, login);
}

/** A stored login and its holder: a customer, or null for the application itself. */
export interface StoredHolder {
  tokens: Tokens;
  holder: Holder;
  login: StoredLogin;
}

/** The login of this command. @throws Psd2Error `not_logged_in` */
export async function storedLogin(context: Context): Promise<StoredHolder> {
  const { tokens } = await context.store();
  const holder = context.globals.grant === 'client_credentials' ? null : await customerOf(context);
  const login = await tokens.login(holder);
  if (!login) throw await notLoggedIn(context, holder);
  return { tokens, holder, login };
}

/** Prints a stored login. The application acts for the customer who logged in last. */
export async function printStoredLogin(
  context: Context,
  { tokens, holder, login }: StoredHolder,
): Promise<void> {
  const customerId = holder ?? (await tokens.last()) ?? null;
  printLogin(context, await describeLogin(context, context.globals.grant, customerId, login));
}
