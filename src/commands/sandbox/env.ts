import { Option } from '@commander-js/extra-typings';
import { quoteForShell } from '../../quote-for-shell.ts';
import { doorBankFile } from '../../sandbox/folder/door-bank-file.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import { SETTINGS, settingKeys } from '../../store/machine/setting-table.ts';
import { record, text } from '../../terminal/output/fields.ts';
import { verb } from '../declare.ts';
import { doorUrlOf, sandboxSettings } from './profile.ts';
import { requireRunning, sandboxFolderOf } from './running.ts';

const shape = record(text(), 'environment variables by name; their secrets are valid for this sandbox only');

/**
 * `psd2 sandbox env`: prints export lines for `eval`, or the variables as one object. Their secrets are valid for this
 * sandbox only. It throws Psd2Error `sandbox` if the sandbox is not running.
 */
export const env = verb(
  {
    prints: { what: 'environment variables', shape },
    help: '\nExamples:\n  $ eval "$(psd2 sandbox env)"\n  $ eval "$(psd2 sandbox env --interface nextgenpsd2)"',
  },
  (command) =>
    command.addOption(
      new Option('--interface <name>', 'door of the sandbox: cb, or nextgenpsd2 of the Berlin Group')
        .choices(['cb', 'nextgenpsd2'] as const)
        .default('cb' as const),
    ),
  async (context, { interface: door }) => {
    const { baseUrl } = await requireRunning(context);
    const { loadOrCreateRegistration } = await import('../../sandbox/folder/registration.ts');
    const folder = sandboxFolderOf(context);
    const settings = sandboxSettings(baseUrl, await loadOrCreateRegistration(folder));
    const variables = variablesOf(door === 'cb' ? settings : settingsOfDoor(settings, folder));
    if (context.output.format !== 'table') return context.output.json(variables);
    for (const [name, value] of Object.entries(variables))
      context.output.text(`export ${name}=${quoteForShell(value)}`);
  },
);

function variablesOf(settings: ProfileSettings): Record<string, string> {
  return Object.fromEntries(
    settingKeys().flatMap((key) => {
      const { variable } = SETTINGS[key];
      const value = settings[key];
      const text = typeof value === 'object' ? 'path' in value && value.path : value;
      return variable && text ? [[variable, text]] : [];
    }),
  );
}

/** The client secret counts only for banks whose bank file says so. */
function settingsOfDoor(settings: ProfileSettings, folder: string): ProfileSettings {
  const { baseUrl, clientSecret, qwacCertificate, qwacKey, qsealCertificate, qsealKey, ca } = settings;
  return {
    bank: doorBankFile(folder),
    baseUrl: doorUrlOf(baseUrl),
    clientSecret,
    qwacCertificate,
    qwacKey,
    qsealCertificate,
    qsealKey,
    ca,
  };
}
