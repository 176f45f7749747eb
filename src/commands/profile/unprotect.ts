import type { Context } from '../context.ts';
import { confirmed } from '../shared/confirmed.ts';
import { openNamed, reportProtection, rewriteSecrets } from './rewrite-secrets.ts';

/**
 * `psd2 profile unprotect [name]`: stores the secrets of a profile without encryption, and removes the key last.
 *
 * @throws Psd2Error `config` if psd2 cannot get the key
 */
export async function profileUnprotect(context: Context, name: string | undefined): Promise<void> {
  const opened = await openNamed(context, name);
  const { vault, profile } = opened;
  if (vault.kind === undefined) return reportProtection(context, opened, 'was not encrypted');
  await confirmed(context, {
    text: `Store the tokens, secrets and keys of ${profile.name} without encryption?`,
    unasked: 'Storing secrets without encryption needs a confirmation',
    hint: 'Add --yes.',
    declined: 'Nothing was changed',
  });
  await vault.exclusively(async () => {
    await vault.startEnding();
    await rewriteSecrets(context, opened);
    await vault.forget();
  });
  reportProtection(context, opened, 'is no longer encrypted');
}
