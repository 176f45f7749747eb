import { consentEnd, DAYS_OF_CONSENT } from '../../domain/consent.ts';
import type { Context } from '../context.ts';
import { allEndings } from '../expiring/endings.ts';
import { describeSoon, SOON_DAYS } from '../expiring/warn.ts';
import { openAccessNotes } from '../open/access-notes.ts';
import { describeOtherLogins } from '../open/other-logins.ts';
import type { Finding } from './diagnosis.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether the customer is logged in, and for how long; nothing is renewed. */
export async function checkToken(context: Context): Promise<Finding> {
  const { globals, world } = context;
  const { tokens } = await context.store();
  const customerId = globals.customer ?? (await tokens.last());
  const kept = customerId === undefined ? undefined : await tokens.read(customerId);
  const fix = { next: [['auth', 'login']] };
  if (!kept) {
    const elsewhere = await describeOtherLogins(tokens);
    return { status: 'warn', detail: `nobody is logged in${elsewhere ? `; ${elsewhere}` : ''}`, fix };
  }
  const now = world.now().getTime();
  const holds = (until: string | null) => until === null || Date.parse(until) > now;
  const access = kept.accessToken !== null && holds(kept.accessTokenExpiresAt);
  const refused = await (await openAccessNotes(context)).read(customerId ?? null, kept);
  const refresh = kept.refreshToken !== null && holds(kept.refreshTokenExpiresAt);
  const who = `customer ${customerId}`;
  const { writeTime } = context.output;
  const end = (until: string | null) => (until === null ? 'the bank says no' : writeTime(until));
  const accessUntil = `access token until ${end(kept.accessTokenExpiresAt)}`;
  if (refused.refresh) {
    const detail = `${who}: the bank refused to renew the login at ${writeTime(refused.refresh.at)}: ${refused.refresh.message}`;
    return { status: 'fail', code: 'not_logged_in', detail, fix };
  }
  if (refused.call) {
    const detail = `${who}: the bank did not allow a call at ${writeTime(refused.call.at)}: ${refused.call.message}`;
    return { status: 'warn', detail, fix: { next: [['consent', 'request']] } };
  }
  if (refresh) {
    const until = kept.refreshTokenExpiresAt;
    const detail = `${who}: ${accessUntil}, refresh token until ${end(until)}`;
    const soon = until !== null && Date.parse(until) - now < SOON_DAYS * DAY_MS;
    return soon ? { status: 'warn', detail, fix } : { status: 'ok', detail, fix: null };
  }
  if (access) return { status: 'warn', detail: `${who}: ${accessUntil}, and no way to renew it`, fix };
  return { status: 'fail', code: 'not_logged_in', detail: `${who}: the login has ended`, fix };
}

/** What of the profile ends soon, of whatever customer. */
export async function checkEndings(context: Context): Promise<Finding> {
  const endings = await allEndings(context);
  const soon = describeSoon(endings, context.world.now(), SOON_DAYS, context.output.writeTime);
  return soon
    ? { status: 'warn', detail: soon, fix: { next: [['expiring']] } }
    : { status: 'ok', detail: `nothing ends within ${SOON_DAYS} days`, fix: null };
}

/** How long ago the customer consented, as far as this profile's journal knows. */
export async function checkConsents(context: Context): Promise<Finding> {
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
    return {
      status: 'skip',
      detail: 'no consent of this customer was requested with this profile',
      fix: null,
    };
  const ending = [...daysLeft].filter(([, days]) => days <= SOON_DAYS).map(([name]) => ['--category', name]);
  const detail = [...daysLeft].map(([name, days]) =>
    days > 0 ? `${name} for ${days} more days` : `${name} is older than ${DAYS_OF_CONSENT} days`,
  );
  return ending.length === 0
    ? { status: 'ok', detail: detail.join(', '), fix: null }
    : {
        status: 'warn',
        detail: detail.join(', '),
        fix: { next: [['consent', 'request', '--all-products', ...ending.flat()]] },
      };
}
