import { Psd2Error } from '../../errors.ts';
import type { StoredLogin, Tokens } from '../../store/ports/tokens.ts';
import { flag, list as listOf, object, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import {
  areNamed,
  describeConsent,
  describeKnown,
  describeLogin,
  LOGIN,
  type LoginStatus,
  NO_TOKENS,
} from './stored-login.ts';

export const list = bareVerb(
  { what: 'logins', shape: listOf(LOGIN.shape) },
  examples('psd2 auth list'),
  authList,
);

/** What people see besides: whether it is that of the last login, and whether psd2 can use it: now, after a renewal, or after a new login. */
const listed = object({
  ...LOGIN.shape.fields,
  isLast: flag()
    .as('')
    .written((isLast) => (isLast ? '*' : ' ')),
  validity: text().as('Token', { kind: 'state' }),
}).inList('isLast customerId grantType validity accessTokenExpiresAt consent refreshTokenExpiresAt');

/** The customers with stored tokens or, at a bank where the operator names them, with a consent or a name. */
export async function authList(context: Context): Promise<void> {
  const { output, world } = context;
  const store = await context.store();
  const { tokens } = store;
  const last = await tokens.last();
  const logins = await allLogins(context);
  const elsewhere = logins.length === 0 ? await describeElsewhere(store) : undefined;
  if (elsewhere !== undefined) context.terminal.warn(`${elsewhere}.`);
  if (output.format !== 'table') return output.table(logins.map(withoutLogin), LOGIN.shape, '');
  const rows = [];
  for (const { login, ...status } of logins)
    rows.push({
      ...status,
      isLast: status.customerId !== null && status.customerId === last,
      validity: login ? await validityOf(tokens, status, world.now()) : 'none',
    });
  await output.table(rows, listed, 'Nobody is logged in with this profile.');
}

/** A status, and the login that it is of. Undefined: a customer with a record only. */
type Found = LoginStatus & { login: StoredLogin | undefined };

function withoutLogin({ login: _login, ...status }: Found): LoginStatus {
  return status;
}

/** The customers, sorted, and the application. A profile may have a hundred thousand: each kind of data is read in one pass. */
async function allLogins(context: Context): Promise<Found[]> {
  const { tokens, customers } = await context.store();
  const { name } = context.profile();
  const stored = new Map((await tokens.logins()).map(({ customerId, login }) => [customerId, login]));
  const records = (await areNamed(context))
    ? new Map((await customers.all()).map((each) => [each.customer, each.kept]))
    : undefined;
  const notes = await openAccessNotes(context);
  const noted = new Set(await notes.holders());
  const logins: Found[] = [];
  for (const customerId of [...new Set([...stored.keys(), ...(records?.keys() ?? [])])].sort()) {
    const login = stored.get(customerId);
    const holder = {
      grantType: 'authorization_code' as const,
      customerId,
      ...(records && describeConsent(records.get(customerId))),
    };
    const refused = noted.has(customerId) ? await notes.read(customerId, login ?? NO_TOKENS) : {};
    logins.push({ ...describeKnown(name, holder, login ?? NO_TOKENS, refused), login });
  }
  const own = await tokens.login(null);
  if (own) logins.push({ ...(await describeLogin(context, 'client_credentials', null, own)), login: own });
  return logins;
}

async function validityOf(
  tokens: Tokens,
  { customerId, accessTokenExpiresAt, refreshTokenExpiresAt, refused }: LoginStatus,
  now: Date,
): Promise<string> {
  if (refused) return refused.what === 'refresh' ? 'renewal refused' : 'call refused';
  const isGood = (until: string | null) => until !== null && new Date(until) > now;
  if (isGood(accessTokenExpiresAt)) return 'good';
  if (isGood(refreshTokenExpiresAt)) return 'to be renewed';
  if (accessTokenExpiresAt === null) return 'not known';
  if (refreshTokenExpiresAt !== null) return 'expired';
  return mayBeRenewed(tokens, customerId);
}

/** Of a login whose refresh token, if there is one, ends at a time that the bank has not named. */
async function mayBeRenewed(tokens: Tokens, customerId: string | null): Promise<string> {
  try {
    return (await tokens.read(customerId))?.refreshToken ? 'to be renewed' : 'expired';
  } catch (error) {
    // Without the key of the profile psd2 cannot see whether there is a refresh token.
    if (error instanceof Psd2Error && error.code === 'config') return 'not known';
    throw error;
  }
}
