import type { Context } from '../context.ts';
import { confirmed } from '../shared/confirmed.ts';
import { openNamed, rewriteSecrets, tellProtection } from './rewrite-secrets.ts';

/**
 * `psd2 profile unprotect [name]`: writes the secrets of a profile in clear, and forgets the key last.
 *
 * @throws Psd2Error `config` when the key can't be had
 */
export async function profileUnprotect(context: Context, name: string | undefined): Promise<void> {
  const opened = await openNamed(context, name);
  const { vault, profile } = opened;
  if (vault.kind === undefined) return tellProtection(context, opened, 'was not encrypted');
  await confirmed(context, {
    text: `Write the tokens, secrets and keys of ${profile.name} to the disk in clear?`,
    unasked: 'Storing secrets without encryption needs a confirmation',
    hint: 'Add --yes.',
    declined: 'Nothing was changed',
  });
  await vault.exclusively(async () => {
    await vault.startEnding();
    await rewriteSecrets(context, opened);
    await vault.forget();
  });
  tellProtection(context, opened, 'is no longer encrypted');
}
