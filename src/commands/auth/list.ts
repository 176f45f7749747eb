import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { describeOtherLogins } from '../open/other-logins.ts';
import { list as listOf } from '../shared/fields.ts';
import {
  describeLogin,
  knownCustomers,
  LOGIN,
  type LoginStatus,
  NO_TOKENS,
  writeConsent,
} from './stored-login.ts';

const logins = () => listOf(LOGIN.shape());

export const list = bareVerb({ what: 'logins', shape: logins }, examples('psd2 auth list'), authList);

/** The customers with stored tokens or, at a bank where the operator names them, with a consent or a name. */
export async function authList(context: Context): Promise<void> {
  const { tokens } = await context.store();
  const last = await tokens.last();
  const loggedIn = new Set(await tokens.customers());
  const kept: LoginStatus[] = [];
  for (const customerId of [...(await knownCustomers(context)), null]) {
    const isNoted = customerId !== null && !loggedIn.has(customerId);
    const login = (await tokens.login(customerId)) ?? (isNoted ? NO_TOKENS : undefined);
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
      {
        title: 'TOKEN',
        value: (login) =>
          login.customerId !== null && !loggedIn.has(login.customerId)
            ? 'none'
            : validityOf(login, context.world.now()),
        kind: 'state',
      },
      {
        title: 'ACCESS TOKEN UNTIL',
        value: ({ accessTokenExpiresAt }) => accessTokenExpiresAt,
        kind: 'time',
        dispensable: 1,
      },
      ...(kept.some(({ consent }) => consent)
        ? [{ title: 'CONSENT', value: writeConsent, dispensable: 1 as const }]
        : []),
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
