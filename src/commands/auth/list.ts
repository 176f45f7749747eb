import type { Context } from '../context.ts';
import { describeOtherLogins } from '../open/other-logins.ts';
import { logins } from './shape.ts';
import { describeLogin, type LoginStatus } from './stored-login.ts';

/** `psd2 auth list`: the customers with stored tokens. */
export async function authList(context: Context): Promise<void> {
  const { tokens } = await context.store();
  const last = await tokens.last();
  const kept: LoginStatus[] = [];
  for (const customerId of [...(await tokens.customers()), null]) {
    const login = await tokens.login(customerId);
    const grant = customerId === null ? 'client_credentials' : 'authorization_code';
    if (login) kept.push(await describeLogin(context, grant, customerId, login));
  }
  const elsewhere = kept.length === 0 ? await describeOtherLogins(tokens) : undefined;
  if (elsewhere !== undefined) context.terminal.warn(`${elsewhere}.`);
  await context.output.table(
    kept,
    [
      { title: '', value: ({ customerId }) => (customerId !== null && customerId === last ? '*' : ' ') },
      { title: 'CUSTOMER', value: ({ customerId }) => customerId, whole: true },
      { title: 'GRANT', value: ({ grantType }) => grantType, whole: true, dispensable: 2 },
      { title: 'TOKEN', value: (login) => validityOf(login, context.world.now()), kind: 'state' },
      {
        title: 'ACCESS TOKEN UNTIL',
        value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt,
        kind: 'time',
        dispensable: 1,
      },
      {
        title: 'REFRESH TOKEN UNTIL',
        value: ({ refreshTokenExpiresAt }) => refreshTokenExpiresAt,
        kind: 'time',
      },
    ],
    'Nobody is logged in with this profile.',
    logins,
  );
}

/** Whether psd2 can use a login for calls: now, after a renewal, or only after a new login. */
function validityOf(
  { accessTokenExpiresAt, refreshTokenExpiresAt, refused }: LoginStatus,
  now: Date,
): string {
  if (refused) return refused.what === 'refresh' ? 'renewal refused' : 'call refused';
  const isGood = (until: string | null) => until !== null && new Date(until) > now;
  if (isGood(accessTokenExpiresAt)) return 'good';
  if (isGood(refreshTokenExpiresAt)) return 'to be renewed';
  return accessTokenExpiresAt === null ? 'not known' : 'expired';
}
