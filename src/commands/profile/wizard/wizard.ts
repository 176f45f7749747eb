import { parsePaymentAmount } from '../../../domain/payment-amount.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankEnvironment, ProfileSettings } from '../../../store/machine/profiles.ts';
import {
  applicationNameOf,
  DEFAULT_REDIRECT_URI,
  environmentSettings,
  parseBaseUrl,
  redirectUriOf,
} from '../../../store/machine/settings.ts';
import type { Context } from '../../context.ts';
import { sandboxFolderOf } from '../../sandbox/folder.ts';
import type { Keep } from '../settings/kept-files.ts';
import { askForFile, askForPair } from './ask-for-files.ts';
import { tryConnection } from './try-connection.ts';

/** What the wizard works on. */
export interface Wizard {
  context: Context;
  name: string;
  /** What was answered so far. */
  settings: ProfileSettings;
  /** What is offered as the answer. */
  offered: Partial<ProfileSettings>;
  keep: Keep;
}

/**
 * `psd2 profile add <name>` without options: asks for all that a profile needs, checks certificates and keys as
 * they are entered, and tries the connection at the end. Nothing is stored here. What the environment gives is
 * offered as the answer.
 *
 * @throws Psd2Error `cancelled` when the operator does not want the profile after the connection failed
 */
export async function askForProfile(context: Context, name: string, keep: Keep): Promise<ProfileSettings> {
  const environment = await context.terminal.choose('Which bank is it?', [
    { value: 'production', name: 'a bank, with real money' },
    { value: 'sandbox', name: "a bank's sandbox" },
    { value: 'own', name: "psd2's own sandbox on this computer" },
  ] as const);
  if (environment === 'own') return ownSandbox(context);
  return askForBank(context, name, keep, environment);
}

async function askForBank(
  context: Context,
  name: string,
  keep: Keep,
  environment: BankEnvironment,
): Promise<ProfileSettings> {
  const { terminal } = context;
  if (environment === 'production') terminal.mark(`PRODUCTION ${name}`);
  const offered = environmentSettings(context.env);
  const baseUrl = parseBaseUrl(
    await terminal.ask('Base URL of the bank', {
      initial: offered.baseUrl,
      check: (text) => void parseBaseUrl(text),
    }),
  );
  const settings: ProfileSettings = { environment, baseUrl: baseUrl.href };
  const wizard: Wizard = { context, name, settings, offered, keep };
  await askForApplications(wizard);

  const trial = context.forProfile({ name, settings });
  const keys = await trial.keys();
  await askForPair(wizard, keys, 'QWAC');
  if (await terminal.confirm('Does a QSealC sign? Without one the QWAC does', true))
    await askForPair(wizard, keys, 'QSealC');
  settings.ca = await askForFile(wizard, 'ca', "CA bundle of the bank's server (empty: the system's)");
  settings.bankSigningCertificate = await askForFile(
    wizard,
    'bankSigningCertificate',
    'Signing certificate of the bank (empty: its signatures are not checked)',
  );
  await askForRules(wizard);
  await tryConnection(trial);
  return settings;
}

/** What the bank knows the application by, and that for client credentials where there is one. */
async function askForApplications({ context, name, settings, offered }: Wizard): Promise<void> {
  const { terminal } = context;
  const needed = (text: string) => {
    if (text.trim() === '') throw new Psd2Error('usage', 'It is needed');
  };
  const askName = (question: string, key: 'applicationName' | 'ccApplicationName') =>
    terminal.ask(question, {
      initial: offered[key],
      check: (text) => void applicationNameOf({ name, settings: { [key]: text } }, key),
    });
  settings.clientId = await terminal.ask('Client id', { initial: offered.clientId, check: needed });
  settings.clientSecret = offered.clientSecret ?? (await askSecret(context, 'Client secret'));
  settings.applicationName = await askName('Application name (the keyId of signatures)', 'applicationName');
  if (!(await terminal.confirm('Is there an application for client credentials too?'))) return;
  settings.ccClientId = await terminal.ask('Its client id', { initial: offered.ccClientId, check: needed });
  settings.ccClientSecret = offered.ccClientSecret ?? (await askSecret(context, 'Its client secret'));
  settings.ccApplicationName = await askName('Its application name', 'ccApplicationName');
}

/** Where the customer returns to, and how much may be paid. */
async function askForRules({ context, name, settings, offered }: Wizard): Promise<void> {
  const { terminal } = context;
  settings.redirectUri = await terminal.ask('Redirect URI, as it is registered at the bank', {
    initial: offered.redirectUri ?? DEFAULT_REDIRECT_URI,
    check: (redirectUri) => void redirectUriOf({ name, settings: { redirectUri } }),
  });
  const maxAmount = await terminal.ask('Largest amount of one transfer (empty: no limit)', {
    initial: offered.maxAmount,
    check: (text) => {
      if (text !== '') parsePaymentAmount(text);
    },
  });
  if (maxAmount !== '') settings.maxAmount = maxAmount;
}

async function askSecret({ terminal }: Context, question: string): Promise<string> {
  for (;;) {
    const secret = (await terminal.askSecret(question)).trim();
    if (secret !== '') return secret;
  }
}

/** The settings of psd2's own sandbox, which has to run. */
async function ownSandbox(context: Context): Promise<ProfileSettings> {
  const { runningSandbox } = await import('../../../sandbox/folder/running.ts');
  const { loadOrCreateRegistration } = await import('../../../sandbox/folder/registration.ts');
  const { sandboxSettings } = await import('../../sandbox/start.ts');
  const folder = sandboxFolderOf(context);
  const running = await runningSandbox(folder);
  if (running) return sandboxSettings(running.baseUrl, await loadOrCreateRegistration(folder));
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it, which stores a profile of its own too:',
    next: [['sandbox', 'start', '--detach']],
  });
}
