import { parseCustomerId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import { FlowJournal } from '../../store/files/journal.ts';
import { TokenStore } from '../../store/files/tokens.ts';
import { openProfile, type Profile, parseBaseUrl, requireSetting } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { nameInterruptedFlows } from '../flow/interrupted.ts';

/** A profile with what is stored under it. */
export interface OpenProfile {
  profile: Profile;
  baseUrl: URL;
  tokens: TokenStore;
  journal: FlowJournal;
}

/**
 * The profile that this command works with; what is encrypted of it stays so. Says which of its flows were interrupted.
 *
 * @param own the flow that the command takes up, as the operator named it
 * @throws Psd2Error `no_profile`, `config`
 */
export function openProfileOf(context: Context, own?: string): OpenProfile {
  const { folder, globals, openFlows, world } = context;
  const profile = openProfile(context.profiles, globals.profile, context.env);
  const baseUrl = parseBaseUrl(requireSetting(profile, 'baseUrl'));
  const journal = new FlowJournal(folder, profile.name, world.now, world.random, openFlows);
  nameInterruptedFlows(context, journal, own);
  markProduction(context, profile);
  return {
    profile,
    baseUrl,
    tokens: new TokenStore(
      folder,
      profile.name,
      baseUrl,
      context.terminal.warn,
      context.profiles.vault(profile.name),
    ),
    journal,
  };
}

/** From now on every question says that it is about real money. */
function markProduction({ terminal }: Context, { name, settings }: Profile): void {
  if (settings.environment === 'production') terminal.mark(`PRODUCTION ${name}`);
}

/** The profile with its secrets. @throws Psd2Error `config` when they can't be decrypted */
export async function openSecrets({ profiles }: Context, profile: Profile): Promise<Profile> {
  if (!profile.settings.sealed) return profile;
  return { ...profile, settings: { ...(await profiles.readSealed(profile.name)), ...profile.settings } };
}

/** The customer that was named, or who logged in last. @throws Psd2Error `not_logged_in` */
export function customerOf({ globals }: Context, { profile, tokens }: OpenProfile): string {
  if (globals.customer !== undefined) return parseCustomerId(globals.customer);
  const customerId = tokens.lastCustomer();
  if (customerId !== undefined) return customerId;
  if (globals.grant === 'client_credentials' && tokens.readLogin(null)) {
    throw new Psd2Error(
      'not_logged_in',
      'No customer has logged in, so it has to be said whom this is about',
      {
        hint: 'Add --customer <id>.',
      },
    );
  }
  throw notLoggedIn({ profile, tokens }, undefined);
}

/**
 * That no login is kept, and who is logged in instead.
 *
 * @param holder the customer whose login was wanted; null for the application's own, undefined for anybody's
 */
export function notLoggedIn(
  { profile, tokens }: Pick<OpenProfile, 'profile' | 'tokens'>,
  holder: string | null | undefined,
): Psd2Error {
  const command = `psd2 --profile ${profile.name} auth login${holder === null ? ' --client-credentials' : ''}`;
  const others = holder ? tokens.customers().filter((customerId) => tokens.readLogin(customerId)) : [];
  const who = others.length === 0 ? 'Nobody is' : `The customer ${holder} is not`;
  return new Psd2Error('not_logged_in', `${who} logged in with the profile ${JSON.stringify(profile.name)}`, {
    hint: others.length === 0 ? `Run ${command}.` : `Logged in: ${writeSome(others)}. Or run ${command}.`,
  });
}

/** The first few, and how many more there are. */
function writeSome(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
