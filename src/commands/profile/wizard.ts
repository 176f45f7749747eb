import { adviceOf } from '../../advice.ts';
import { DESCRIPTIONS } from '../../bank/descriptions.ts';
import { type BankHead, descriptionFor } from '../../bank-file/description.ts';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { isPkcs12, type PairName } from '../../certificates/key-pair.ts';
import { isLoopback } from '../../domain/local-address.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { BankEnvironment, PemSource, ProfileSettings } from '../../store/machine/profiles.ts';
import {
  isPemSetting,
  isSecretSetting,
  isTextSetting,
  type PemSetting,
  SETTINGS,
  type SecretSetting,
  type SettingKey,
  settingKeys,
  settingsOf,
  type TextSetting,
} from '../../store/machine/setting-table.ts';
import {
  applicationNameOf,
  environmentSettings,
  parseBaseUrl,
  readSource,
  redirectUriOf,
} from '../../store/machine/settings.ts';
import { typedPath } from '../../terminal/complete-path.ts';
import { checkProfileCertificates } from '../cert/profile-certificates.ts';
import { examine, openSubject } from '../checks/check.ts';
import { connection } from '../checks/connection.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import { redirect } from '../checks/redirect.ts';
import { signature } from '../checks/signature.ts';
import type { Context, KeyRing } from '../context.ts';
import { contentOfBank, describeStored, needsClientSecret } from '../open/bank-file.ts';
import { PAIR_SETTINGS } from '../open/keys.ts';
import { sandboxFolderOf } from '../sandbox/running.ts';
import { type Check, writeFix } from '../shared/checks.ts';
import { keepFiles, type PemSourceOf } from './given-settings.ts';
import { describeSetting } from './show.ts';

/** The state of the wizard. */
interface Wizard {
  context: Context;
  /** The answers so far, and the settings that the wizard does not ask for. */
  settings: ProfileSettings;
  /** The default answers. */
  offered: Partial<ProfileSettings>;
  /** The stored settings of the profile; empty for a new one. */
  today: Partial<ProfileSettings>;
  keep: PemSourceOf;
  /** What options have answered: the wizard does not ask for it. */
  given: Partial<ProfileSettings>;
  /** What `--bank` names. Else the wizard asks. */
  bank?: Awaited<ReturnType<typeof contentOfBank>> | undefined;
}

const BANKS = [
  { value: 'production', name: 'a bank, with real money' },
  { value: 'sandbox', name: "a bank's sandbox" },
] as const;
const OWN_SANDBOX = { value: 'own', name: "psd2's own sandbox on this computer" } as const;

/**
 * `psd2 profile add <name>` without a QWAC: asks for all settings of a profile that options do not give, checks certificates and
 * keys as the operator enters them, and tries the connection at the end. It stores nothing. The environment gives default answers.
 *
 * @param fromOptions what the options say. It is checked before the first question
 * @throws Psd2Error `usage`, `config` for an option that is wrong; Psd2Error `cancelled` if the connection fails and the operator does not want to store the profile, and what is wrong with
 *   the bank file
 */
export async function askForProfile(
  context: Context,
  name: string,
  keep: PemSourceOf,
  fromOptions: Partial<ProfileSettings>,
): Promise<ProfileSettings> {
  for (const key of settingKeys().filter(isTextSetting)) {
    const text = fromOptions[key];
    if (text !== undefined) RULES[key]?.(text);
  }
  const bank = fromOptions.bank === undefined ? undefined : await contentOfBank(fromOptions.bank);
  const banks = [...BANKS, ...(Object.keys(fromOptions).length > 0 ? [] : [OWN_SANDBOX])];
  const environment =
    fromOptions.environment ?? (await context.terminal.choose(SETTINGS.environment.prompt, banks));
  if (environment === 'own') return ownSandbox(context);
  const offered = { ...environmentSettings(context.env), ...fromOptions };
  return askForBank(name, { context, keep, given: fromOptions, offered, today: {}, bank }, environment);
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
  const environment = await context.terminal.choose(
    SETTINGS.environment.prompt,
    BANKS,
    today.environment ?? likely,
  );
  return askForBank(name, { context, keep, given: {}, offered: today, today }, environment);
}

async function askForBank(
  name: string,
  start: Omit<Wizard, 'settings'>,
  environment: BankEnvironment,
): Promise<ProfileSettings> {
  const { context, today, keep } = start;
  const fromOptions = keepFiles(start.given, keep);
  const { terminal } = context;
  if (environment === 'production') terminal.mark(`PRODUCTION ${name}`);
  const baseUrl = fromOptions.baseUrl ?? today.baseUrl ?? '';
  const wizard: Wizard = {
    ...start,
    given: fromOptions,
    settings: { ...today, ...fromOptions, environment, baseUrl },
  };
  const { settings } = wizard;
  const bank = await askForBankFile(wizard);
  if (bank?.api.baseUrl !== undefined && today.baseUrl === undefined)
    wizard.offered = { baseUrl: bank.api.baseUrl, ...wizard.offered };
  await askForEach(wizard, bank ? applicationOf(bank) : settingsOf('application'));
  settings.baseUrl = parseBaseUrl(settings.baseUrl).href;
  if (!bank) await askForOther(wizard);

  const trial = context.forProfile({ name, settings });
  const keys = await trial.keys();
  await askForPair(wizard, keys, 'QWAC');
  const sealed = today.baseUrl === undefined || today.qsealCertificate !== undefined;
  const signs = bank?.signing.when !== 'never';
  if (signs && (await terminal.confirm('Does a QSealC sign? Without one, the QWAC signs', sealed)))
    await askForPair(wizard, keys, 'QSealC');
  else for (const key of ['qsealCertificate', 'qsealKey', 'signer'] as const) delete settings[key];
  await askForEach(wizard, settingsOf('trust', 'redirect', 'limit'));
  await askForEmbedded(wizard, bank, environment);
  await tryConnection(trial);
  return settings;
}

const CREDENTIALS =
  'This bank may want PIN and TAN from psd2, where it offers no other way (embedded SCA). With "ask" the customer types them here, without echo, and psd2 passes them on to the bank: it never keeps, shows or logs them. Only the person whose they are types, never staff, nor over the telephone. See docs/embedded.md.';

/** What a customer of such a bank may enter in psd2. The operator knows what it means before they choose. */
async function askForEmbedded(
  { context: { terminal }, settings, today, given: fromOptions }: Wizard,
  bank: BankHead | undefined,
  environment: BankEnvironment,
): Promise<void> {
  if (settings.embedded === 'files' && environment === 'production') delete settings.embedded;
  const takes = bank && descriptionFor(DESCRIPTIONS, bank.interface).credentials?.(bank);
  if (!takes || fromOptions.embedded !== undefined) return;
  terminal.say(CREDENTIALS);
  const choices = [
    { value: 'never', name: 'never' },
    { value: 'ask', name: 'ask: the customer types them' },
    { value: 'files', name: 'files: also from files, for test customers' },
  ] as const;
  const embedded = await terminal.choose(
    'May psd2 take them?',
    choices.filter(({ value }) => value !== 'files' || environment !== 'production'),
    settings.embedded ?? 'never',
  );
  if (embedded !== 'never' || today.embedded !== undefined) settings.embedded = embedded;
}

/** The settings of the application that a bank with a bank file needs: it knows the application by its certificates. */
function applicationOf(bank: BankHead): SettingKey[] {
  return ['baseUrl', ...(needsClientSecret(bank) ? (['clientSecret'] as const) : [])];
}

async function askForOther(wizard: Wizard): Promise<void> {
  const { context, settings, today } = wizard;
  const other = settingsOf('client credentials').filter((key) => SETTINGS[key].prompt !== undefined);
  const hasOther = today.ccClientId !== undefined;
  if (other.some((key) => wizard.given[key] !== undefined)) return askForEach(wizard, other);
  if (await context.terminal.confirm('Is there also an application for client credentials?', hasOther))
    await askForEach(wizard, other);
  else for (const key of other) delete settings[key];
}

/** Asks for the bank file of the bank, and stores the content of its file. @returns undefined for a bank without one */
async function askForBankFile({
  context: { terminal },
  settings,
  offered,
  today,
  bank,
}: Wizard): Promise<BankHead | undefined> {
  const take = ({ content, description, proof }: Awaited<ReturnType<typeof contentOfBank>>) => {
    settings.bank = content;
    for (const line of proof) terminal.say(line);
    return description;
  };
  if (bank) return take(bank);
  const { prompt, ifEmpty } = SETTINGS.bank;
  const stored = today.bank;
  if (
    stored !== undefined &&
    (await terminal.confirm(`Keep the bank file (${describeSetting('bank', stored)})?`, true))
  )
    return describeStored(stored);
  const answer = await terminal.askPath(`${prompt} (empty: ${ifEmpty})`, {
    initial: stored === undefined ? offered.bank : undefined,
    check: async (text) => {
      if (text.trim() !== '') await contentOfBank(bankIn(text));
    },
  });
  if (answer.trim() === '') {
    delete settings.bank;
    return undefined;
  }
  return take(await contentOfBank(bankIn(answer)));
}

/** A platform has a name. Any other text is a path, as in `--bank`. */
function bankIn(text: string): string {
  return text.startsWith('~') ? typedPath(text) : text.trim();
}

/** Asks for those of the settings that have a question. */
async function askForEach(wizard: Wizard, keys: readonly SettingKey[]): Promise<void> {
  for (const key of keys) {
    const { prompt } = SETTINGS[key];
    if (prompt === undefined || wizard.given[key] !== undefined) continue;
    if (isPemSetting(key)) await askForFile(wizard, key, prompt);
    else if (isSecretSetting(key)) wizard.settings[key] = await askSecret(wizard, key, prompt);
    else if (isTextSetting(key)) await askForText(wizard, key, prompt);
  }
}

/** What an answer must be. Without a rule here, it must not be empty. */
const RULES: Partial<Record<SettingKey, (text: string) => unknown>> = {
  baseUrl: parseBaseUrl,
  applicationName: (applicationName) =>
    applicationNameOf({ name: '', settings: { applicationName } }, 'applicationName'),
  ccApplicationName: (ccApplicationName) =>
    applicationNameOf({ name: '', settings: { ccApplicationName } }, 'ccApplicationName'),
  redirectUri: (redirectUri) => redirectUriOf({ name: '', settings: { redirectUri } }),
  maxAmount: parsePaymentAmount,
};

function refuseEmpty(text: string): void {
  if (text.trim() === '') throw new Psd2Error('usage', 'A value is required');
}

async function askForText(
  { context, settings, offered, today }: Wizard,
  key: TextSetting,
  prompt: string,
): Promise<void> {
  const { ifEmpty, default: otherwise } = SETTINGS[key];
  // An empty answer means the suggested one. So if there is one, the operator needs a word for none.
  const none = today[key] === undefined ? '' : 'none';
  const isNone = (text: string) => ifEmpty !== undefined && text === none;
  const question = ifEmpty === undefined ? prompt : `${prompt} (${none || 'empty'}: ${ifEmpty})`;
  const rule = RULES[key] ?? refuseEmpty;
  const answer = await context.terminal.ask(question, {
    initial: offered[key] ?? otherwise,
    check: (text) => void (isNone(text) || rule(text)),
  });
  if (isNone(answer) && key !== 'baseUrl') delete settings[key];
  // A default that stays the default is not stored.
  else if (today.baseUrl === undefined || answer !== (today[key] ?? otherwise)) settings[key] = answer;
}

/** Asks for a secret, unless the environment gives it. An empty answer keeps the stored one. */
async function askSecret(
  { context, offered, today }: Wizard,
  key: SecretSetting,
  question: string,
): Promise<string> {
  const stored = today[key];
  if (stored === undefined && offered[key] !== undefined) return offered[key];
  const prompt = stored === undefined ? question : `${question} (empty: keep the stored one)`;
  for (;;) {
    const secret = (await context.terminal.askSecret(prompt)).trim() || stored;
    if (secret) return secret;
  }
}

/** The settings of psd2's own sandbox, which must be running. */
async function ownSandbox(context: Context): Promise<ProfileSettings> {
  const { runningSandbox } = await import('../../sandbox/folder/running.ts');
  const { loadOrCreateRegistration } = await import('../../sandbox/folder/registration.ts');
  const { sandboxSettings } = await import('../sandbox/profile.ts');
  const folder = sandboxFolderOf(context);
  const running = await runningSandbox(folder);
  if (running) return sandboxSettings(running.baseUrl, await loadOrCreateRegistration(folder));
  throw new Psd2Error('sandbox', 'The sandbox is not running', {
    hint: 'Start it. This also stores a profile for it:',
    next: [['sandbox', 'start', '--detach']],
  });
}

/** Asks for a certificate and its key until they pass the checks or the operator accepts them anyway. */
async function askForPair(wizard: Wizard, keys: KeyRing, pair: PairName): Promise<void> {
  const { context, settings, today } = wizard;
  const { terminal } = context;
  const setting = PAIR_SETTINGS[pair];
  const hasStored = today[setting.certificate] !== undefined;
  if (hasStored && (await terminal.confirm(`Keep the ${pair} certificate and its key?`, true))) {
    if (await isAccepted(wizard, keys, pair, async () => {})) return;
  }
  for (;;) {
    if (pair === 'QSealC') delete settings.signer;
    delete settings[setting.key];
    await askForCertificate(wizard, pair);
    if (await isAccepted(wizard, keys, pair, () => askForKey(wizard, keys, pair))) return;
  }
}

/** Whether a pair passes the checks or the operator accepts it anyway. @param complete runs before the checks */
async function isAccepted(
  { context, settings }: Wizard,
  keys: KeyRing,
  pair: PairName,
  complete: () => Promise<void>,
): Promise<boolean> {
  const { terminal, world } = context;
  const setting = PAIR_SETTINGS[pair];
  try {
    await complete();
    const only = {
      ...(pair === 'QSealC' && { signer: settings.signer }),
      [setting.certificate]: settings[setting.certificate],
      [setting.key]: settings[setting.key],
    };
    const limits = { now: world.now(), days: 30, soon: 'warn' } as const;
    const checks = await checkProfileCertificates(context, { name: '', settings: only }, limits, keys);
    return showChecks(context, checks) || (await terminal.confirm('Use it anyway?'));
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    terminal.warn([endSentence(error.message), adviceOf(error)].filter(Boolean).join(' '));
    return false;
  }
}

async function askForCertificate(
  { context, settings, offered, keep }: Wizard,
  pair: PairName,
): Promise<void> {
  const { certificate } = PAIR_SETTINGS[pair];
  const path = await context.terminal.askPath(SETTINGS[certificate].prompt, {
    initial: sourcePath(offered[certificate]),
    check: async (text) => {
      const bytes = readSource({ path: typedPath(text) }, certificate);
      if (!isPkcs12(bytes)) await readCertificateFile(bytes, undefined, text);
    },
  });
  settings[certificate] = keep(typedPath(path), certificate);
}

/** Finds or asks for the key of a certificate: in the same file, in another file, or behind a command. */
async function askForKey(
  { context, settings, offered, keep }: Wizard,
  keys: KeyRing,
  pair: PairName,
): Promise<void> {
  const { terminal } = context;
  const { key } = PAIR_SETTINGS[pair];
  if (pair === 'QSealC' && (await terminal.confirm('Is its key elsewhere, for example in an HSM?'))) {
    settings.signer = await terminal.ask(SETTINGS.signer.prompt, { initial: offered.signer });
    await keys.certificate(pair);
    return;
  }
  if ((await keys.read(pair)).key() === undefined) {
    const path = await terminal.askPath(SETTINGS[key].prompt, {
      initial: sourcePath(offered[key]),
      check: (text) => void readSource({ path: typedPath(text) }, key),
    });
    settings[key] = keep(typedPath(path), key);
  }
  await keys.pair(pair);
}

/** Asks for an optional file with certificates. */
async function askForFile(
  { context, settings, offered, today, keep }: Wizard,
  key: PemSetting,
  prompt: string,
): Promise<void> {
  const { terminal } = context;
  if (today[key] && (await terminal.confirm(`${prompt}: keep the stored one?`, true))) return;
  const path = await terminal.askPath(`${prompt} (empty: ${SETTINGS[key].ifEmpty})`, {
    initial: today[key] ? undefined : sourcePath(offered[key]),
    check: async (text) => {
      if (text !== '') await readCertificateFile(readSource({ path: typedPath(text) }, key), undefined, text);
    },
  });
  if (path === '') delete settings[key];
  else settings[key] = keep(typedPath(path), key);
}

function sourcePath(source: PemSource | undefined): string | undefined {
  return source && 'path' in source ? source.path : undefined;
}

/**
 * Makes the connection checks of `psd2 doctor` with the profile of a context.
 *
 * @throws Psd2Error `cancelled` if a check fails and the operator does not want to store the profile
 */
async function tryConnection(context: Context): Promise<void> {
  const { terminal } = context;
  const diagnosis = new Diagnosis();
  await terminal.whileWaiting(
    'Testing the connection',
    examine(openSubject(context, diagnosis), [redirect, connection, signature]),
  );
  showChecks(context, diagnosis.checks);
  if (diagnosis.ok || (await terminal.confirm('Store the profile anyway?'))) return;
  throw new Psd2Error('cancelled', 'Nothing was stored');
}

/** Shows checks on stderr. @returns whether no check failed */
function showChecks(context: Pick<Context, 'terminal' | 'repeated'>, checks: Check[]): boolean {
  for (const check of checks) {
    const { name, status, detail } = check;
    const fix = writeFix(check, context);
    context.terminal.warn(
      `  ${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : `\n        → ${fix}`}`,
    );
  }
  return checks.every(({ status }) => status !== 'fail');
}
