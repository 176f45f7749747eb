import type { Context } from '../context.ts';
import { chooseProtector, type ProtectOptions } from './protector.ts';
import { type NamedProfile, openNamed, rewriteSecrets, tellProtection } from './rewrite-secrets.ts';

/**
 * `psd2 profile protect [name]`: from now on the secrets of a profile are written encrypted, and those that are
 * there are rewritten. Killed at any point it leaves everything readable, and run again it comes to its end: the
 * key is kept first, then what says that the profile is protected, then each file is replaced.
 *
 * @throws Psd2Error `config` when the key can't be kept: nothing is changed then
 */
export async function profileProtect(
  context: Context,
  name: string | undefined,
  options: ProtectOptions,
): Promise<void> {
  const opened = await openNamed(context, name);
  const protector = await chooseProtector(context, opened.profile.name, options);
  await opened.vault.exclusively(async () => {
    await opened.vault.protect(protector);
    await rewriteSecrets(context, opened);
  });
  await warnOfDamaged(context, opened);
  tellProtection(context, opened, 'is encrypted');
}

/** What was damaged is kept beside what replaced it, as it was. */
async function warnOfDamaged(
  { profiles, terminal }: Context,
  { profile, tokens }: NamedProfile,
): Promise<void> {
  const kept = [...profiles.damaged(profile.name), ...(await tokens.damaged())];
  if (kept.length > 0)
    terminal.warn(`Damaged files that may hold secrets in clear are left: rm ${kept.join(' ')}`);
}
