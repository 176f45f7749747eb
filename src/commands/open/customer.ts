import { Psd2Error } from '../../errors.ts';
import type { GrantType, Holder, StoredLogin } from '../../store/ports/tokens.ts';
import type { Context, ProfileContext } from '../context.ts';
import { readKept } from './kept-customer.ts';
import { describeElsewhere, describeLogins } from './other-logins.ts';

/** The customer whom calls are for, as the store knows them. */
export interface OpenCustomer {
  customerId: string;
  /** The owner of the tokens that the calls carry: the customer, or null for the application. */
  holder: Holder;
  /** The holder's login. */
  login: StoredLogin | undefined;
  /** Who the customer is at the bank, and their consents. Undefined at a bank that names its customers itself. */
  kept: Awaited<ReturnType<typeof readKept>> | undefined;
}

/**
 * Reads what the store has of a customer.
 *
 * @param grant whose tokens the calls carry
 * @throws Psd2Error `config` if the record is damaged
 */
export async function openCustomer(
  context: Context,
  customerId: string,
  grant: GrantType,
): Promise<OpenCustomer> {
  const { tokens, customers } = await context.store();
  const holder = grant === 'client_credentials' ? null : customerId;
  const login = await tokens.login(holder);
  const isNamedHere = (await context.bankInterface()).customers === 'named by the operator';
  const keptConsents = isNamedHere ? await readKept(context, customers, customerId) : undefined;
  return { customerId, holder, login, kept: keptConsents };
}

/** The customer at a bank without ids of customers, if the operator names none. */
export const DEFAULT_CUSTOMER = 'default';

/** The named customer, or the one who logged in last. @throws Psd2Error `not_logged_in` */
export async function customerOf(context: Context): Promise<string> {
  const { globals } = context;
  const { tokens } = await context.store();
  if (globals.customer !== undefined) return (await context.bankInterface()).readCustomerId(globals.customer);
  const customerId = await tokens.last();
  if (customerId !== undefined) return customerId;
  if ((await context.bankInterface()).customers === 'named by the operator') return DEFAULT_CUSTOMER;
  if (globals.grant === 'client_credentials' && (await tokens.login(null)))
    throw new Psd2Error('not_logged_in', 'No customer has logged in yet', {
      hint: 'Name one with --customer <id>.',
    });
  throw await notLoggedIn(context, undefined);
}

/**
 * The error that there is no login. It names who is logged in.
 *
 * @param holder the customer whose login was wanted; null for the application's own, undefined for anybody's
 */
export async function notLoggedIn(context: ProfileContext, holder: Holder | undefined): Promise<Psd2Error> {
  const { name } = context.profile();
  const store = await context.store();
  const isWithConsent = holder !== null && (await context.bankInterface()).logsIn === 'with a consent';
  const verb = isWithConsent ? ['consent', 'request'] : ['auth', 'login'];
  const login = ['--profile', name, ...verb, ...(holder === null ? ['--client-credentials'] : [])];
  const others = holder === null ? undefined : await describeLogins(store);
  const elsewhere = others === undefined ? await describeElsewhere(store) : undefined;
  const hint =
    others !== undefined
      ? `${others}. ${holder === undefined ? 'Name one with --customer, or run:' : 'Or run:'}`
      : elsewhere &&
        `${elsewhere}. Set that base URL again, take the logins along if the same bank has a new address (psd2 auth move), or log in at this one:`;
  const message = `${whoIsMissing(holder, others)} with the profile ${JSON.stringify(name)}`;
  return new Psd2Error('not_logged_in', message, { ...(hint !== undefined && { hint }), next: [login] });
}

function whoIsMissing(holder: Holder | undefined, others: string | undefined): string {
  if (others === undefined) return 'Nobody is logged in';
  // Others have logged in, but psd2 customer forget leaves no last one.
  return holder === undefined
    ? 'psd2 has forgotten who logged in last'
    : `The customer ${holder} is not logged in`;
}
