import { Psd2Error } from '../../errors.ts';
import { parseProfileName } from '../../store/machine/profiles.ts';
import { examples, verb } from '../declare.ts';
import { profileInUse, readStored, storeChange } from './change.ts';
import { keeping } from './given-settings.ts';
import { SETTINGS_OF_PROFILE } from './show.ts';

/**
 * Asks the questions of `profile add`, with the current settings as default answers. Without a
 * name, it edits the profile in use. Secrets stay unless the operator enters new ones.
 *
 * @throws Psd2Error `usage` without a terminal, `no_profile`, `config`, `cancelled`
 */
export const edit = verb(
  { prints: SETTINGS_OF_PROFILE, help: examples('psd2 profile edit', 'psd2 profile edit mybank') },
  (command) =>
    command
      .argument('[profile]')
      .option('--reference', 'store the paths of new certificates and keys instead of their contents'),
  async (context, givenName, { reference = false }) => {
    const { terminal } = context;
    if (!terminal.canAsk)
      throw new Psd2Error(
        'usage',
        'psd2 profile edit asks for each setting, and psd2 cannot ask without a terminal',
        {
          hint: 'Change single settings instead:',
          next: [
            ['profile', 'set', ...(givenName === undefined ? [] : [givenName]), '--max-amount', '500.00'],
          ],
        },
      );
    const name = parseProfileName(givenName ?? profileInUse(context));
    const before = await readStored(context, name);
    const { askForChanges } = await import('./wizard.ts');
    const settings = await askForChanges(context, name, keeping(reference), before.settings);
    if (await storeChange(context, name, before, settings)) return;
    throw new Psd2Error(
      'config',
      `Another psd2 has changed the profile ${name} meanwhile, so nothing was stored`,
      {
        hint: 'Look at the profile, then edit it again:',
        next: [['profile', 'show', name]],
      },
    );
  },
);
