import { isLoopback } from '../../../domain/loopback.ts';
import { parsePaymentAmount } from '../../../domain/order/payment-amount.ts';
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
import type { PemSourceOf } from '../settings/kept-files.ts';
import { askForFile, askForPair } from './ask-for-files.ts';
import { tryConnection } from './try-connection.ts';

/** The state of the wizard. */
export interface Wizard {
  context: Context;
  name: string;
  /** The answers so far, and the settings that the wizard does not ask for. */
  settings: ProfileSettings;
  /** The default answers. */
  offered: Partial<ProfileSettings>;
  /** The stored settings of the profile; empty for a new one. */
  today: Partial<ProfileSettings>;
  keep: PemSourceOf;
}

const BANKS = [
  { value: 'production', name: 'a bank, with real money' },
  { value: 'sandbox', name: "a bank's sandbox" },
] as const;

/**
 * `psd2 profile add <name>` without options: asks for all settings of a profile, checks certificates and keys as the
 * operator enters them, and tries the connection at the end. It stores nothing. The environment gives default answers.
 *
 * @throws Psd2Error `cancelled` if the connection fails and the operator does not want to store the profile
 */
export async function askForProfile(
  context: Context,
  name: string,
  keep: PemSourceOf,
): Promise<ProfileSettings> {
  const environment = await context.terminal.choose('Which bank is it?', [
    ...BANKS,
    { value: 'own', name: "psd2's own sandbox on this computer" },
  ] as const);
  if (environment === 'own') return ownSandbox(context);
  const wizard = { context, name, keep, offered: environmentSettings(context.env), today: {} };
  return askForBank(wizard, environment);
}

/**
 * `psd2 profile edit`: asks the same questions, with the stored settings as default answers. All other settings stay.
 *
 * @throws Psd2Error `cancelled`
 */
export async function askForChanges(
  context: Context,
  name: string,
  keep: PemSourceOf,
  today: ProfileSettings,
): Promise<ProfileSettings> {
  const likely = isLoopback(new URL(today.baseUrl)) ? 'sandbox' : 'production';
  const environment = await context.terminal.choose('Which bank is it?', BANKS, today.environment ?? likely);
  return askForBank({ context, name, keep, offered: today, today }, environment);
}

async function askForBank(
  asked: Omit<Wizard, 'settings'>,
  environment: BankEnvironment,
): Promise<ProfileSettings> {
  const { context, name, offered, today } = asked;
  const { terminal } = context;
  if (environment === 'production') terminal.mark(`PRODUCTION ${name}`);
  const baseUrl = parseBaseUrl(
    await terminal.ask('Base URL of the bank', {
      initial: offered.baseUrl,
      check: (text) => void parseBaseUrl(text),
    }),
  );
  const settings: ProfileSettings = { ...today, environment, baseUrl: baseUrl.href };
  const wizard: Wizard = { ...asked, settings };
  await askForApplications(wizard);

  const trial = context.forProfile({ name, settings });
  const keys = await trial.keys();
  await askForPair(wizard, keys, 'QWAC');
  const sealed = today.baseUrl === undefined || today.qsealCertificate !== undefined;
  if (await terminal.confirm('Does a QSealC sign? Without one, the QWAC signs', sealed))
    await askForPair(wizard, keys, 'QSealC');
  else for (const key of ['qsealCertificate', 'qsealKey', 'signer'] as const) delete settings[key];
  await askForFile(wizard, 'ca', "CA bundle of the bank's server", "the system's");
  await askForFile(
    wizard,
    'bankSigningCertificate',
    'Signing certificate of the bank',
    'psd2 does not check its signatures',
  );
  await askForRules(wizard);
  await tryConnection(trial);
  return settings;
}

/** Asks for the ids, secrets and names of the applications; the one for client credentials is optional. */
async function askForApplications(wizard: Wizard): Promise<void> {
  const { context, name, settings, offered, today } = wizard;
  const { terminal } = context;
  const needed = (text: string) => {
    if (text.trim() === '') throw new Psd2Error('usage', 'A value is required');
  };
  const askName = (question: string, key: 'applicationName' | 'ccApplicationName') =>
    terminal.ask(question, {
      initial: offered[key],
      check: (text) => void applicationNameOf({ name, settings: { [key]: text } }, key),
    });
  settings.clientId = await terminal.ask('Client id', { initial: offered.clientId, check: needed });
  settings.clientSecret = await askSecret(wizard, 'clientSecret', 'Client secret');
  settings.applicationName = await askName('Application name (the keyId of signatures)', 'applicationName');
  const hasOther = today.ccClientId !== undefined;
  if (await terminal.confirm('Is there also an application for client credentials?', hasOther)) {
    settings.ccClientId = await terminal.ask('Its client id', { initial: offered.ccClientId, check: needed });
    settings.ccClientSecret = await askSecret(wizard, 'ccClientSecret', 'Its client secret');
    settings.ccApplicationName = await askName('Its application name', 'ccApplicationName');
  } else
    for (const key of ['ccClientId', 'ccClientSecret', 'ccApplicationName'] as const) delete settings[key];
}

/** Asks for the redirect URI and the largest amount of a transfer. */
async function askForRules({ context, name, settings, offered, today }: Wizard): Promise<void> {
  const { terminal } = context;
  const redirectUri = await terminal.ask('Redirect URI, as registered at the bank', {
    initial: offered.redirectUri ?? DEFAULT_REDIRECT_URI,
    check: (redirectUri) => void redirectUriOf({ name, settings: { redirectUri } }),
  });
  const isAsBefore =
    today.baseUrl !== undefined && redirectUri === (today.redirectUri ?? DEFAULT_REDIRECT_URI);
  if (!isAsBefore) settings.redirectUri = redirectUri;
  // An empty answer means the default. So if there is one, the operator needs a word for no limit.
  const none = today.maxAmount === undefined ? '' : 'none';
  const isNone = (text: string) => text === '' || text === none;
  const question = `Largest amount of one transfer (${none || 'empty'}: no limit)`;
  const maxAmount = await terminal.ask(question, {
    initial: offered.maxAmount,
    check: (text) => {
      if (!isNone(text)) parsePaymentAmount(text);
    },
  });
  if (isNone(maxAmount)) delete settings.maxAmount;
  else settings.maxAmount = maxAmount;
}

/** Asks for a secret, unless the environment gives it. An empty answer keeps the stored one. */
async function askSecret(
  { context, offered, today }: Wizard,
  key: 'clientSecret' | 'ccClientSecret',
  question: string,
): Promise<string> {
  const kept = today[key];
  if (kept === undefined && offered[key] !== undefined) return offered[key];
  const asked = kept === undefined ? question : `${question} (empty: keep the stored one)`;
  for (;;) {
    const secret = (await context.terminal.askSecret(asked)).trim() || kept;
    if (secret) return secret;
  }
}

/** The settings of psd2's own sandbox, which must be running. */
async function ownSandbox(context: Context): Promise<ProfileSettings> {
  const { runningSandbox } = await import('../../../sandbox/folder/running.ts');
  const { loadOrCreateRegistration } = await import('../../../sandbox/folder/registration.ts');
  const { sandboxSettings } = await import('../../sandbox/profile.ts');
  const folder = sandboxFolderOf(context);
  const running = await runningSandbox(folder);
  if (running) return sandboxSettings(running.baseUrl, await loadOrCreateRegistration(folder));
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it. This also stores a profile for it:',
    next: [['sandbox', 'start', '--detach']],
  });
}
