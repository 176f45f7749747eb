import type { Context } from '../context.ts';
import { chooseProtector, type ProtectOptions } from './protector.ts';
import { type NamedProfile, openNamed, reportProtection, rewriteSecrets } from './rewrite-secrets.ts';

/**
 * `psd2 profile protect [name]`: encrypts the stored secrets of a profile, now and from now on. psd2 stores the key first,
 * then marks the profile as protected, then replaces each file. If psd2 is killed at any point, everything stays readable,
 * and the next run finishes the work.
 *
 * @throws Psd2Error `config` if psd2 cannot store the key: it has changed nothing then
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
  reportProtection(context, opened, 'is encrypted');
}

/** psd2 keeps a damaged file unchanged beside its replacement, so its secrets are not encrypted. */
async function warnOfDamaged(
  { profiles, terminal }: Context,
  { profile, tokens }: NamedProfile,
): Promise<void> {
  const kept = [...profiles.damaged(profile.name), ...(await tokens.damaged())];
  if (kept.length > 0)
    terminal.warn(`Damaged files may contain unencrypted secrets. Remove them: rm ${kept.join(' ')}`);
}
