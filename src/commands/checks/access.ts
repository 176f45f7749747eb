import { ACCESS } from '../../advice.ts';
import { addDays, bankDay } from '../../domain/calendar.ts';
import { consentEnd, DAYS_OF_CONSENT, untilSca } from '../../domain/consent.ts';
import type { Context } from '../context.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { customerOf } from '../open/customer.ts';
import { describeElsewhere, describeLogins } from '../open/other-logins.ts';
import { finding } from '../shared/checks.ts';
import type { Finding } from './diagnosis.ts';
import { allEndings, DAY_MS } from './endings.ts';
import { describeSoon, SOON_DAYS } from './warn.ts';

/** Whether the customer is logged in, and for how long; nothing is renewed. */
export async function checkToken(context: Context): Promise<Finding> {
  const { globals, world } = context;
  const store = await context.store();
  const { tokens } = store;
  const customerId = globals.customer ?? (await tokens.last());
  const login = customerId === undefined ? undefined : await tokens.read(customerId);
  const { logsIn } = await context.bankInterface();
  const fix = { next: [[...ACCESS[logsIn]]] };
  if (!login && (logsIn === 'nobody' || logsIn === 'with a consent'))
    return finding('skip', 'customers of this bank do not log in before they consent');
  if (!login) {
    const others = await describeLogins(store);
    if (others !== undefined) {
      const who =
        customerId === undefined
          ? 'psd2 has forgotten who logged in last'
          : `customer ${customerId} is not logged in`;
      return finding('warn', `${who}; ${others}`, fix);
    }
    const elsewhere = await describeElsewhere(store);
    return finding('warn', `nobody is logged in${elsewhere ? `; ${elsewhere}` : ''}`, fix);
  }
  const now = world.now().getTime();
  const holds = (until: string | null) => until === null || Date.parse(until) > now;
  const access = login.accessToken !== null && holds(login.accessTokenExpiresAt);
  const refused = await (await openAccessNotes(context)).read(customerId ?? null, login);
  const refresh = login.refreshToken !== null && holds(login.refreshTokenExpiresAt);
  const who = `customer ${customerId}`;
  const { writeTime } = context.output;
  const until = (token: string, end: string | null) =>
    end === null ? `${token}: expiry unknown` : `${token} until ${writeTime(end)}`;
  const accessUntil = until('access token', login.accessTokenExpiresAt);
  if (refused.refresh) {
    const detail = `${who}: the bank refused to renew the login at ${writeTime(refused.refresh.at)}: ${refused.refresh.message}`;
    return { status: 'fail', code: 'not_logged_in', detail, fix };
  }
  if (refused.call) {
    const detail = `${who}: the bank did not allow a call at ${writeTime(refused.call.at)}: ${refused.call.message}`;
    return finding('warn', detail, { next: [['consent', 'request']] });
  }
  if (refresh) {
    const end = login.refreshTokenExpiresAt;
    const detail = `${who}: ${accessUntil}, ${until('refresh token', end)}`;
    const soon = end !== null && Date.parse(end) - now < SOON_DAYS * DAY_MS;
    return soon ? finding('warn', detail, fix) : finding('ok', detail);
  }
  if (access) return finding('warn', `${who}: ${accessUntil}, without a refresh token to renew it`, fix);
  return { status: 'fail', code: 'not_logged_in', detail: `${who}: the login has ended`, fix };
}

/** What ends soon in the profile, whoever the customer is. */
export async function checkEndings(context: Context): Promise<Finding> {
  const endings = await allEndings(context);
  const soon = describeSoon(endings, context.world.now(), SOON_DAYS, context.output.writeTime);
  return soon
    ? finding('warn', soon, { next: [['expiring']] })
    : finding('ok', `nothing ends within ${SOON_DAYS} days`);
}

/** How long the consent of the customer lasts. */
export async function checkConsents(context: Context): Promise<Finding> {
  const { customers } = await context.bankInterface();
  return customers === 'named by the operator' ? checkKeptConsents(context) : checkGrantedConsents(context);
}

/** Until when the consents of the customer hold that readings use. */
async function checkKeptConsents(context: Context): Promise<Finding> {
  const { world } = context;
  const customerId = await customerOf(context);
  const store = await context.store();
  const record = await store.customers.read(customerId);
  const { consents = [], funds = [] } = record ?? {};
  const fix = { next: [['consent', 'request', '--customer', customerId]] };
  // Who only confirms funds reads nothing.
  if (consents.length === 0 && funds.length > 0)
    return finding('ok', `for confirmations of funds: ${funds.map(({ flow }) => flow).join(', ')}`);
  if (consents.length === 0) {
    const elsewhere = await describeElsewhere(store);
    const none = `customer ${customerId} ${record ? 'has no valid consent' : 'has given no consent'}`;
    return finding('warn', elsewhere ? `${none}; ${elsewhere}` : none, fix);
  }
  const today = bankDay(world.now());
  const good = consents
    .map((each) => ({ ...each, validUntil: untilSca(each) }))
    .filter(({ validUntil }) => validUntil === null || validUntil >= today);
  if (good.length === 0) return finding('warn', `customer ${customerId}: the consent has ended`, fix);
  const detail = good
    .map(
      ({ flow, validUntil }) => `${flow} ${validUntil === null ? 'without an end' : `until ${validUntil}`}`,
    )
    .join(', ');
  const soon = addDays(today, SOON_DAYS);
  const lasts = good.some(({ validUntil, recurring }) => recurring && (validUntil ?? soon) >= soon);
  return lasts ? finding('ok', detail) : finding('warn', detail, fix);
}

/** How long ago the customer consented, as far as this profile's journal knows. */
async function checkGrantedConsents(context: Context): Promise<Finding> {
  const { globals, world } = context;
  const { tokens, flows } = await context.store();
  const customerId = globals.customer ?? (await tokens.last());
  const daysLeft = new Map<string, number>();
  for await (const consent of flows.list('consent')) {
    const end = consentEnd(consent, world.now());
    if (!end || consent.customerId !== customerId) continue;
    for (const { name, outcome } of consent.categories) {
      // Newest first: an older one of the same category was replaced.
      if (outcome !== false && !daysLeft.has(name)) daysLeft.set(name, end.daysLeft);
    }
  }
  if (daysLeft.size === 0)
    return finding('skip', 'no consent of this customer was requested with this profile');
  const ending = [...daysLeft].filter(([, days]) => days <= SOON_DAYS).map(([name]) => ['--category', name]);
  const left = [...daysLeft].map(([name, days]) =>
    days > 0 ? `${name} for ${days} more days` : `${name} is older than ${DAYS_OF_CONSENT} days`,
  );
  const fix = { next: [['consent', 'request', '--all-accounts', ...ending.flat()]] };
  return ending.length === 0 ? finding('ok', left.join(', ')) : finding('warn', left.join(', '), fix);
}
