import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Vault } from '../../store/secrets/vault.ts';
import type { Context } from '../context.ts';
import { protection } from './shape.ts';

export type NamedProfile = Pick<ProfileData, 'tokens'> & { profile: Profile; vault: Vault };

/** The profile with what protects it. @throws Psd2Error `config` when what it has encrypted can't be read */
export async function openNamed(context: Context, name: string | undefined): Promise<NamedProfile> {
  const { profiles } = context;
  const named = name === undefined ? context : context.forProfile(name);
  const { tokens } = await named.store();
  const profile = named.profile();
  const vault = profiles.vault(profile.name);
  // What was encrypted before can't be, where the key is gone.
  if (vault.kind === undefined && profile.settings.sealed) await profiles.readSealed(profile.name);
  return { tokens, profile, vault };
}

/** Writes what is stored of a profile anew, as its protection wants it now. */
export async function rewriteSecrets(
  { profiles }: Context,
  { profile, tokens }: NamedProfile,
): Promise<void> {
  if (profile.name !== ENVIRONMENT_PROFILE) await profiles.rewrite(profile.name);
  await tokens.rewrite();
}

/** Says how the profile is stored now. @param what `is encrypted` */
export function tellProtection(
  { output, terminal }: Context,
  { profile, vault }: NamedProfile,
  what: string,
): void {
  const { kind } = vault;
  const by = { keyring: "the system's keyring has its key", passphrase: 'the passphrase opens it' };
  if (output.format === 'table')
    terminal.say(`What is stored of the profile ${profile.name} ${what}${kind ? `; ${by[kind]}` : ''}.`);
  else output.record({ name: profile.name, protected: kind ?? 'no' }, [], protection);
}
