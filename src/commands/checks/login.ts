import { ACCESS } from '../../advice.ts';
import type { Context } from '../context.ts';
import { openAccessNotes } from '../open/call-records.ts';
import { describeElsewhere, describeLogins } from '../open/other-logins.ts';
import { finding } from '../shared/checks.ts';
import type { Check } from './check.ts';
import type { Finding } from './diagnosis.ts';
import { endsSoon, SOON_DAYS } from './endings.ts';

/** Whether the customer is logged in, and for how long, as far as psd2 knows. The bank is not asked, and nothing is renewed. */
export const login: Check = {
  id: 'login',
  needs: ['settings', 'store'],
  names: async () => ['token'],
  async run({ context, diagnosis }) {
    await diagnosis.make('token', () => checkToken(context));
    return undefined;
  },
};

/** The login that calls for the customer use. */
type CustomerLogin =
  | { is: 'there'; customerId: string }
  /** At this bank, customers do not log in, or not before they consent. */
  | { is: 'not needed' }
  /** `customerId` has no login. `others` says who has. Undefined: nobody. */
  | { is: 'missing'; customerId: string | undefined; others: string | undefined };

/** Whose login calls use: that of the customer of the command, or who logged in last. The bank is not asked. */
export async function findLogin(context: Context): Promise<CustomerLogin> {
  const { logsIn } = await context.bankInterface();
  if (logsIn === 'nobody' || logsIn === 'application') return { is: 'not needed' };
  const store = await context.store();
  const { tokens } = store;
  const customerId = context.globals.customer ?? (await tokens.last());
  if (customerId !== undefined && (await tokens.login(customerId))) return { is: 'there', customerId };
  if (logsIn === 'with a consent') return { is: 'not needed' };
  return { is: 'missing', customerId, others: await describeLogins(store) };
}

/** Says that there is no login, as a sentence without its full stop. */
export function describeMissing({ customerId, others }: Extract<CustomerLogin, { is: 'missing' }>): string {
  if (others === undefined) return 'nobody is logged in';
  return customerId === undefined
    ? 'psd2 has forgotten who logged in last'
    : `customer ${customerId} is not logged in`;
}

async function checkToken(context: Context): Promise<Finding> {
  const { tokens } = await context.store();
  const { logsIn } = await context.bankInterface();
  const here = await findLogin(context);
  const fix = { next: [[...ACCESS[logsIn]]] };
  if (here.is === 'missing') {
    const more = here.others ?? (await describeElsewhere(await context.store()));
    const why = describeMissing(here);
    return finding('warn', more === undefined ? why : `${why}; ${more}`, fix);
  }
  const stored = here.is === 'there' ? await tokens.read(here.customerId) : undefined;
  if (here.is === 'not needed' || !stored)
    return finding('skip', 'customers of this bank do not log in before they consent');
  const { customerId } = here;
  const now = context.world.now().getTime();
  const holds = (until: string | null) => until === null || Date.parse(until) > now;
  const access = stored.accessToken !== null && holds(stored.accessTokenExpiresAt);
  const refused = await (await openAccessNotes(context)).read(customerId, stored);
  const refresh = stored.refreshToken !== null && holds(stored.refreshTokenExpiresAt);
  const who = `customer ${customerId}`;
  const { writeTime } = context.output;
  const until = (token: string, end: string | null) =>
    end === null ? `${token}: expiry unknown` : `${token} until ${writeTime(end)}`;
  const accessUntil = until('access token', stored.accessTokenExpiresAt);
  if (refused.refresh) {
    const detail = `${who}: the bank refused to renew the login at ${writeTime(refused.refresh.at)}: ${refused.refresh.message}`;
    return { status: 'fail', code: 'not_logged_in', detail, fix };
  }
  if (refused.call) {
    const detail = `${who}: the bank did not allow a call at ${writeTime(refused.call.at)}: ${refused.call.message}`;
    return finding('warn', detail, { next: [['consent', 'request']] });
  }
  if (refresh) {
    const end = stored.refreshTokenExpiresAt;
    const detail = `${who}: ${accessUntil}, ${until('refresh token', end)}`;
    const soon = end !== null && endsSoon(end, context.world.now(), SOON_DAYS);
    return soon ? finding('warn', detail, fix) : finding('ok', detail);
  }
  if (access) return finding('warn', `${who}: ${accessUntil}, without a refresh token to renew it`, fix);
  return { status: 'fail', code: 'not_logged_in', detail: `${who}: the login has ended`, fix };
}
