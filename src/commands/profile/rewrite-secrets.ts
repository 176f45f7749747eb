import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Vault } from '../../store/secrets/vault.ts';
import type { Context } from '../context.ts';
import { protection } from './shape.ts';

export type NamedProfile = Pick<ProfileData, 'tokens'> & { profile: Profile; vault: Vault };

/** Opens a profile and its vault. @throws Psd2Error `config` if psd2 cannot decrypt its settings */
export async function openNamed(context: Context, name: string | undefined): Promise<NamedProfile> {
  const { profiles } = context;
  const named = name === undefined ? context : context.forProfile(name);
  const { tokens } = await named.store();
  const profile = named.profile();
  const vault = profiles.vault(profile.name);
  // The profile is encrypted but its key is gone: this read throws the error that says so.
  if (vault.kind === undefined && profile.settings.sealed) await profiles.readSealed(profile.name);
  return { tokens, profile, vault };
}

/** Rewrites the stored settings and tokens of a profile, encrypted or in clear as its protection now requires. */
export async function rewriteSecrets(
  { profiles }: Context,
  { profile, tokens }: NamedProfile,
): Promise<void> {
  if (profile.name !== ENVIRONMENT_PROFILE) await profiles.rewrite(profile.name);
  await tokens.rewrite();
}

/** Reports how the profile is stored now. @param what for example `is encrypted` */
export function reportProtection(
  { output, terminal }: Context,
  { profile, vault }: NamedProfile,
  what: string,
): void {
  const { kind } = vault;
  const by = {
    keyring: "The system's keyring holds the key.",
    passphrase: 'The key comes from the passphrase.',
  };
  if (output.format === 'table')
    terminal.say(`The stored data of the profile ${profile.name} ${what}.${kind ? ` ${by[kind]}` : ''}`);
  else output.record({ name: profile.name, protected: kind ?? 'no' }, [], protection);
}
