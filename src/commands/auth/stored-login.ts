import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { dailyLimitOf } from '../../store/machine/settings.ts';
import type { AccessNote } from '../../store/ports/access.ts';
import type { KeptCustomer } from '../../store/ports/customers.ts';
import type { GrantType, Holder, StoredLogin, Tokens } from '../../store/ports/tokens.ts';
import {
  day,
  flag,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { customerOf, notLoggedIn } from '../open/customer.ts';

/** A login; never its tokens. */
const login = object({
  profile: text('profile of the login').as('Profile'),
  grantType: oneOf(['authorization_code', 'client_credentials'], 'how the tokens were granted').as('Grant', {
    whole: true,
    dispensable: 2,
  }),
  customerId: orNull(text('customer of the calls; null if no customer has logged in yet')).as('Customer', {
    whole: true,
  }),
  scope: orNull(text('scope that the bank granted')).as('Scope'),
  accessTokenExpiresAt: orNull(time('null if the bank did not say')).as('Access token until', {
    dispensable: 1,
  }),
  refreshTokenExpiresAt: orNull(time('null if the bank did not say, or gave no refresh token')).as(
    'Refresh token until',
  ),
  // Only at a bank where the operator names the customers.
  consent: optional(
    orNull(
      object(
        {
          flow: text('the flow that asked for it'),
          validUntil: orNull(day('last day')),
          recurring: flag('false for one reading'),
          accounts: orNull(list(text(), 'the accounts that it names; null for all')),
        },
        'the newest consent of the customer; null if there is none',
      ),
    ),
  )
    .as('Consent', { ifAny: true, dispensable: 1 })
    .written((consent) => consent && writeConsent(consent)),
  refused: optional(
    object(
      {
        what: oneOf(['refresh', 'call'], 'the renewal of the login, or a call that the bank does not allow'),
        at: time('when'),
        message: text('in words'),
      },
      'what the bank has refused since the login, if anything',
    ),
  )
    .as('Refused')
    .written((refused, writeTime) => refused && `${refused.message} (${writeTime(refused.at)})`),
  callsToday: optional(whole('calls made today; with client credentials only'))
    .as('Calls today')
    .shown(writeCalls),
  dailyLimit: optional(orNull(whole('calls a day that the profile allows; with client credentials only'))),
}).inRecord(
  'profile grantType customerId consent scope accessTokenExpiresAt refreshTokenExpiresAt refused callsToday',
);

/** A login as `auth login` and `auth status` print it. */
export type LoginStatus = ValueOf<typeof login>;

/** What `auth login`, `auth status` and `auth refresh` print. */
export const LOGIN = { what: 'a login', shape: login };

/** A customer without tokens. */
export const NO_TOKENS: StoredLogin = {
  scope: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

/** The consent of a login and its last day, in a few words. */
function writeConsent({ flow, validUntil }: { flow: string; validUntil: string | null }): string {
  return validUntil === null ? flow : `${flow} until ${validUntil}`;
}

function writeCalls({
  callsToday,
  dailyLimit,
}: {
  callsToday?: number | undefined;
  dailyLimit?: number | null | undefined;
}): string | null {
  return callsToday === undefined ? null : `${callsToday}${dailyLimit ? ` of ${dailyLimit}` : ''}`;
}

/** The newest consent of a customer. Undefined at a bank whose customers have ids. */
async function consentOf(context: Context, customerId: string | null): Promise<Pick<LoginStatus, 'consent'>> {
  if (!(await areNamed(context))) return {};
  const { customers } = await context.store();
  return describeConsent(customerId === null ? undefined : await customers.read(customerId));
}

/** @param customer of a customer whom the operator has named */
export function describeConsent(customer: KeptCustomer | undefined): Pick<LoginStatus, 'consent'> {
  const [newest] = customer?.consents ?? [];
  if (!newest) return { consent: null };
  const { flow, validUntil, recurring, accounts } = newest;
  return { consent: { flow, validUntil, recurring, accounts: accounts && [...accounts] } };
}

/** Describes a login, without its tokens. */
export async function describeLogin(
  context: Context,
  grantType: GrantType,
  customerId: string | null,
  stored: StoredLogin,
): Promise<LoginStatus> {
  const profile = context.profile();
  const holder = grantType === 'authorization_code' ? customerId : null;
  const notes = await (await openAccessNotes(context)).read(holder, stored);
  const facts = { grantType, customerId, ...(await consentOf(context, customerId)) };
  const status = describeKnown(profile.name, facts, stored, notes);
  if (grantType === 'authorization_code') return status;
  const { calls } = await context.store();
  return {
    ...status,
    callsToday: await calls.on(bankDay(context.world.now())),
    dailyLimit: dailyLimitOf(profile),
  };
}

/** Describes a login of which everything has been read. @param notes what the bank has refused to it */
export function describeKnown(
  profile: string,
  facts: Pick<LoginStatus, 'grantType' | 'customerId' | 'consent'>,
  { scope, accessTokenExpiresAt, refreshTokenExpiresAt }: StoredLogin,
  { refresh, call }: { refresh?: AccessNote | undefined; call?: AccessNote | undefined },
): LoginStatus {
  return {
    profile,
    ...facts,
    scope,
    accessTokenExpiresAt,
    // A month of validity would be wrong.
    refreshTokenExpiresAt: refresh ? null : refreshTokenExpiresAt,
    ...(refresh
      ? { refused: { what: 'refresh', ...noteFacts(refresh) } }
      : call
        ? { refused: { what: 'call', ...noteFacts(call) } }
        : {}),
  };
}

function noteFacts({ at, message }: AccessNote) {
  return { at, message };
}

/** Prints a login in the shape of the command contract. */
export function printLogin({ output }: Context, status: LoginStatus): void {
  output.record(status, login);
}

/** A stored login and its holder: a customer, or null for the application itself. */
export interface StoredHolder {
  tokens: Tokens;
  holder: Holder;
  login: StoredLogin;
}

/** Whether the operator names the customers of the bank. */
export async function areNamed(context: Context): Promise<boolean> {
  return (await context.bankInterface()).customers === 'named by the operator';
}

/** Whether the customer has a record: they have consented, or the operator has named them. No other bank has records. */
export async function isNoted(context: Context, holder: Holder): Promise<boolean> {
  if (holder === null || !(await areNamed(context))) return false;
  const { customers } = await context.store();
  return (await customers.list()).includes(holder);
}

/** Whose login this command is about. @throws Psd2Error `not_logged_in` if no customer is known */
export async function loginHolder(context: Context): Promise<Holder> {
  return context.globals.grant === 'client_credentials' ? null : customerOf(context);
}

/**
 * A stored login.
 *
 * @param of whose; default: that of this command
 * @throws Psd2Error `not_logged_in`
 */
export async function storedLogin(context: Context, of?: Holder): Promise<StoredHolder> {
  const { tokens } = await context.store();
  const holder = of === undefined ? await loginHolder(context) : of;
  const login = await tokens.login(holder);
  if (login) return { tokens, holder, login };
  await refuseWithoutTokens(context);
  throw await notLoggedIn(context, holder);
}

/** @throws Psd2Error `not_logged_in` at a bank that gives its customers no tokens */
export async function refuseWithoutTokens(context: Context): Promise<void> {
  const holder = await loginHolder(context);
  if (holder === null || (await context.bankInterface()).logsIn !== 'nobody') return;
  const { customers } = await context.store();
  const { consent } = describeConsent(await customers.read(holder));
  throw new Psd2Error(
    'not_logged_in',
    'This bank gives no tokens, because its customers do not log in: readings need their consent alone',
    consent
      ? { hint: 'See the consent with:', next: [['auth', 'status', '--customer', holder]] }
      : { hint: 'Ask the customer for one:', next: [['consent', 'request', '--customer', holder]] },
  );
}

/** Prints a stored login. The application acts for the customer who logged in last. */
export async function printStoredLogin(
  context: Context,
  { tokens, holder, login }: StoredHolder,
): Promise<void> {
  const customerId = holder ?? (await tokens.last()) ?? null;
  const grant = holder === null ? 'client_credentials' : 'authorization_code';
  printLogin(context, await describeLogin(context, grant, customerId, login));
}
