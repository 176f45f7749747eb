import { parseCustomerId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { baseUrlOf } from '../../store/machine/settings.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Holder } from '../../store/ports/tokens.ts';
import type { Context, ProfileContext } from '../context.ts';
import { nameInterruptedFlows } from '../flow/interrupted.ts';
import { describeOtherLogins } from './other-logins.ts';

/**
 * Opens the profile's stored data. Names its interrupted flows.
 *
 * @param own the flow that this command continues, as the operator named it
 * @throws Psd2Error `no_profile`, `config`
 */
export async function openStore(context: ProfileContext, own?: string): Promise<ProfileData> {
  const profile = context.profile();
  const baseUrl = baseUrlOf(profile);
  const data = (await context.home()).open(profile.name, baseUrl);
  await nameInterruptedFlows(context, data.flows, own);
  return data;
}

/** The named customer, or the one who logged in last. @throws Psd2Error `not_logged_in` */
export async function customerOf(context: Context): Promise<string> {
  const { globals } = context;
  const { tokens } = await context.store();
  if (globals.customer !== undefined) return parseCustomerId(globals.customer);
  const customerId = await tokens.last();
  if (customerId !== undefined) return customerId;
  if (globals.grant === 'client_credentials' && (await tokens.login(null))) {
    throw new Psd2Error('not_logged_in', 'No customer has logged in yet', {
      hint: 'Name one with --customer <id>.',
    });
  }
  throw await notLoggedIn(context, undefined);
}

/**
 * The error that there is no login. It names who is logged in.
 *
 * @param holder the customer whose login was wanted; null for the application's own, undefined for anybody's
 */
export async function notLoggedIn(context: ProfileContext, holder: Holder | undefined): Promise<Psd2Error> {
  const { name } = context.profile();
  const { tokens } = await context.store();
  const login = ['--profile', name, 'auth', 'login', ...(holder === null ? ['--client-credentials'] : [])];
  const others: string[] = [];
  for (const customerId of holder ? await tokens.customers() : [])
    if (await tokens.login(customerId)) others.push(customerId);
  const elsewhere = others.length === 0 ? await describeOtherLogins(tokens) : undefined;
  const hint =
    others.length > 0
      ? `Logged in: ${writeSome(others)}. Or run:`
      : elsewhere && `${elsewhere}. Set that base URL again, or log in at this one:`;
  const who = others.length === 0 ? 'Nobody is' : `The customer ${holder} is not`;
  return new Psd2Error('not_logged_in', `${who} logged in with the profile ${JSON.stringify(name)}`, {
    ...(hint !== undefined && { hint }),
    next: [login],
  });
}

/** The first few, and how many more there are. */
function writeSome(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
