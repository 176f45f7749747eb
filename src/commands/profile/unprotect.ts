import { examples, verb } from '../declare.ts';
import { confirmed } from '../shared/confirmed.ts';
import { openNamed, PROTECTION, reportProtection, rewriteSecrets } from './protect.ts';

/**
 * Stores the secrets of a profile without encryption, and removes the key last.
 *
 * @throws Psd2Error `config` if psd2 cannot get the key
 */
export const unprotect = verb(
  { prints: PROTECTION, help: examples('psd2 profile unprotect mybank') },
  (command) => command.argument('[profile]'),
  async (context, name) => {
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
      await rewriteSecrets(context, opened, 'none');
      await vault.forget();
    });
    reportProtection(context, opened, 'is no longer encrypted');
  },
);
