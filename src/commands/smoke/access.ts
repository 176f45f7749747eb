import { hash } from 'node:crypto';
import { bankDay, daysApart, endOfDay, type IsoDate } from '../../domain/calendar.ts';
import { untilSca } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import { recordStatus } from '../../flows/consent/by-links.ts';
import type { KeptConsent } from '../../store/ports/customers.ts';
import type { StoredTokens } from '../../store/ports/tokens.ts';
import { logInBy } from '../auth/login.ts';
import { findConsents, findGranted } from '../checks/consent.ts';
import { endsSoon } from '../checks/endings.ts';
import { describeMissing, findLogin } from '../checks/login.ts';
import { grantPortsOf } from '../consent/grant.ts';
import { requestBy } from '../consent/request.ts';
import type { Context } from '../context.ts';
import { forFlow } from '../flow/customer.ts';
import { customerOf } from '../open/customer.ts';
import { inDays } from './local.ts';
import { type Found, missing, type Smoke } from './smoke.ts';

/** What can be told of a step before it runs. */
type Foreseen = Pick<Smoke, 'context' | 'plan'>;

/** Step 5: whether the login is valid. A token is renewed only if it is due. */
export async function testLogin(smoke: Smoke): Promise<Found> {
  const { context, plan } = smoke;
  const lack = await lackOfLogin(smoke);
  if (lack) return lack;
  if (plan.login === 'new' && (await context.bankInterface()).logsIn === 'customers')
    return logTestCustomerIn(smoke);
  const { accessTokens } = await context.unattendedBank();
  await accessTokens.current();
  return {};
}

/** Why there is no login to test. Undefined: there is one, or the run makes one. Asks no bank. */
export async function lackOfLogin({ context, plan }: Foreseen): Promise<Found | undefined> {
  const { logsIn } = await context.bankInterface();
  if (logsIn === 'nobody') return { skipped: 'this bank has no login' };
  if (logsIn === 'application' || (plan.login === 'new' && logsIn === 'customers')) return undefined;
  const login = await findLogin(context);
  if (login.is === 'there') return undefined;
  if (login.is === 'not needed') return { skipped: 'the customer logs in with the consent' };
  // A report names no customer whom the operator has not named.
  const isUnnamed = context.globals.customer === undefined && login.customerId !== undefined;
  const why =
    isUnnamed && login.others !== undefined
      ? 'the customer who logged in last is not logged in any more'
      : describeMissing(login);
  return lacking({ plan }, why, ['auth', 'login']);
}

/** The customer steps need something that is not there. They fail only if the operator wants them. */
function lacking({ plan }: Pick<Smoke, 'plan'>, why: string, next: string[]): Found {
  if (plan.isWanted) throw new Psd2Error('not_logged_in', capital(why), { next: [next] });
  return missing(why);
}

/** A reason as the beginning of a sentence. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A login of this run alone. It never takes the place of another one. */
async function logTestCustomerIn(smoke: Smoke): Promise<Found> {
  const { context } = smoke;
  await refuseOtherLogin(context);
  const keeping = (customerId: string, tokens: StoredTokens) =>
    smoke.note((made) => [...made, { kind: 'login', customerId, tokens: printsOf(tokens) }]);
  const none = { psuId: undefined, psuIdType: undefined, psuCorporateId: undefined };
  await logInBy(context, { clientCredentials: false, paste: false, keeping, ...none });
  return { detail: 'a new login, which this run ends' };
}

/** @throws Psd2Error `usage` if the new login could take the place of one that is kept */
async function refuseOtherLogin(context: Context): Promise<void> {
  const { tokens } = await context.store();
  const { customer } = context.globals;
  const loggedIn = await tokens.customers();
  if (loggedIn.length === 0) return;
  const isOther = customer !== undefined && !loggedIn.includes(customer);
  if (isOther && context.sourceOf('customer') === 'option') return;
  throw new Psd2Error('usage', '--login could take the place of a login that this profile has', {
    hint: 'psd2 has sent nothing. Name a test customer who is not logged in with --customer, use a profile of its own, or leave out --login.',
  });
}

/** Recognises tokens without keeping them. */
export function printsOf({
  accessToken,
  refreshToken,
}: Pick<StoredTokens, 'accessToken' | 'refreshToken'>): string[] {
  return [accessToken, refreshToken].flatMap((token) =>
    token ? [hash('sha256', token, 'hex').slice(0, 32)] : [],
  );
}

/** Step 6: whether the customer's consent is valid, and for how long. */
export async function testConsent(smoke: Smoke): Promise<Found> {
  if (smoke.plan.consent === 'new') return requestTestConsent(smoke);
  const { customers } = await smoke.context.bankInterface();
  return customers === 'named by the operator' ? keptConsent(smoke) : grantedConsent(smoke);
}

/** Why there is no consent to test, at a bank whose readings need one. Undefined: there is one, or the run makes one. Asks no bank. */
export async function lackOfConsent({ context, plan }: Foreseen): Promise<Found | undefined> {
  const { customers } = await context.bankInterface();
  if (plan.consent === 'new' || customers !== 'named by the operator') return undefined;
  const consent = await newestConsent(context);
  if (typeof consent === 'object') return undefined;
  return lacking({ plan }, consent, ['consent', 'request', '--customer', await customerOf(context)]);
}

/** The customer's newest valid consent, or why there is none. */
async function newestConsent(context: Context): Promise<KeptConsent | string> {
  const { customerId, record, inForce } = await findConsents(context);
  return inForce[0] ?? `customer ${customerId} has ${record ? 'no valid consent' : 'given no consent'}`;
}

/** The consent that readings use, and what the bank says of it. */
async function keptConsent(smoke: Smoke): Promise<Found> {
  const { context } = smoke;
  const newest = await newestConsent(context);
  if (typeof newest === 'string') return (await lackOfConsent(smoke)) ?? {};
  const customer = await customerOf(context);
  const { flows } = await context.store();
  const consent = await flows.find('consent', newest.flow);
  const opened = await (await forFlow(context, consent)).unattendedBank();
  const grant = await grantPortsOf(context, opened, consent);
  return opened.flows.resume('consent', consent.flow, async (open) => {
    const { means, consentStatus, validUntil } = await recordStatus(open, opened, grant);
    if (means !== 'valid')
      throw new Psd2Error('not_logged_in', `The consent ${consent.flow} is ${consentStatus} at the bank`, {
        next: [['consent', 'request', '--customer', customer]],
      });
    const day = untilSca({ ...newest, validUntil: validUntil ?? newest.validUntil });
    return untilWhen(smoke, day, day && endOfDay(day));
  });
}

/** The consent as the journal has it: such a bank does not tell. Readings need that for accounts. */
async function grantedConsent(smoke: Smoke): Promise<Found> {
  const granted = await findGranted(smoke.context);
  const end = granted.get('ACCOUNT_INFO') ?? [...granted.values()][0];
  if (end && end.daysLeft > 0) return untilWhen(smoke, end.lastDay, end.expiresAt);
  return { skipped: 'psd2 has no record of a consent that is in force' };
}

/** @param endsAt ISO 8601. Null, as the day: it has no end */
function untilWhen({ context, ends, plan }: Smoke, day: IsoDate | null, endsAt: string | null): Found {
  if (day === null || endsAt === null) return { detail: 'without an end' };
  ends.consent = `${day}T00:00:00.000Z`;
  const now = context.world.now();
  if (!endsSoon(endsAt, now, plan.withinDays)) return { detail: `until ${day}` };
  const message = `the consent ends in ${inDays(daysApart(bankDay(now), day))}`;
  return { detail: `until ${day}`, warnings: [{ code: 'consent_ends', message }] };
}

/** A consent of this run alone, for one reading or for as little as the bank takes. */
async function requestTestConsent(smoke: Smoke): Promise<Found> {
  const { context } = smoke;
  const transactionId = context.world.newId();
  smoke.note((made) => [...made, { kind: 'consent', transactionId, run: smoke.run }]);
  const isLinked = (await context.bankInterface()).customers === 'named by the operator';
  const { types = [], once = false } = (await context.bankInterface()).consentTerms ?? {};
  const listOnly = types.some((type) => type === 'list-only' || type === 'list-with-balances');
  const options = { category: isLinked ? [] : ['ACCOUNT_INFO'] };
  await requestBy(
    context,
    { ...options, allowPartial: true },
    {
      account: [],
      allAccounts: !isLinked,
      listOnly,
      balances: false,
      transactions: false,
      once,
      paste: false,
    },
    transactionId,
  );
  const { has } = await context.bankInterface();
  const end = has.has('consent deletion') ? 'this run ends' : 'stays: this bank has no call that ends it';
  return { detail: `a new consent${listOnly ? ' for the list alone' : ''}, which ${end}` };
}
