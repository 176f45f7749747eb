import { Psd2Error } from '../../errors.ts';
import { type ProfileSettings, parseProfileName } from '../../store/machine/profiles.ts';
import {
  isNeeded,
  isTextSetting,
  optionsFor,
  SETTINGS,
  type SettingOptions,
  settingKeys,
  settingOptions,
  type TextSetting,
} from '../../store/machine/setting-table.ts';
import { environmentSettings, parseBaseUrl } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { verb } from '../declare.ts';
import { confirmed } from '../shared/confirmed.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';
import { confirmOtherBank, firstCommand } from './change.ts';
import {
  checkKeys,
  checkTexts,
  keepFiles,
  keeping,
  type PemSourceOf,
  readSettingOptions,
  refuseWrongTexts,
  requireSecret,
  withSettingOptions,
} from './given-settings.ts';
import { PROFILE } from './list.ts';

export const add = verb(
  {
    prints: PROFILE,
    help: `
At a terminal and without --qwac-cert, psd2 asks you for every setting that no option gives. A secret is never the value of an option,
because the list of processes would show it. The profile stores the content of a bank file: a later change of the file
changes nothing.

Examples:
  $ psd2 profile add myothers --bank mybank.json --qwac-cert qwac.pem --qwac-key qwac.key
  $ psd2 profile add mybank --base-url https://psd2.bank.example/api \\
      --client-id 3f6c... --client-secret-file secret.txt --app-name my-app \\
      --qwac-cert qwac.pem --qwac-key qwac.key --qseal-cert qseal.pem --qseal-key qseal.key`,
  },
  (command) =>
    withSettingOptions(command.argument('[name]'), settingOptions())
      .option('--reference', 'store the paths of certificates and keys instead of their contents')
      .option('--protect', 'encrypt the stored profile from the start: see psd2 profile protect'),
  (context, name, { reference, protect, ...settings }) =>
    profileAdd(context, name, {
      ...settings,
      reference: reference === true,
      protect: protect === true,
    }),
);

/** The options of `profile add` that are not settings. */
interface AddOptions {
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
  /** Encrypt the profile from the start. psd2 writes no secret before it can encrypt it. */
  protect: boolean;
}

/**
 * Takes settings from options, then from the environment, and asks for the rest. At a terminal and without a QWAC, it asks for all
 * of them that no option gives. psd2 checks the settings before it stores anything.
 */
export async function profileAdd(
  context: Context,
  givenName: string | undefined,
  { reference, protect, ...options }: AddOptions & SettingOptions,
): Promise<void> {
  const { profiles, terminal, output } = context;
  const name = parseProfileName(givenName ?? (await askName(context)));
  if (profiles.list().includes(name))
    await confirmed(context, {
      text: `The profile ${name} already exists. Replace it?`,
      unasked: `The profile ${name} already exists`,
      hint: 'Add --yes to replace it, or choose another name.',
      declined: 'Nothing was stored',
    });
  const keep = keeping(reference);
  const fromOptions = await readSettingOptions(context, options);
  refuseWrongTexts(fromOptions);
  const isWizards = terminal.canAsk && fromOptions.qwacCertificate === undefined;
  const settings = isWizards
    ? await (await import('./wizard.ts')).askForProfile(context, name, keep, fromOptions)
    : await readSettings(context, name, fromOptions, keep);

  const before = readable(context, name);
  if (before) await confirmOtherBank(context, name, { before: before.baseUrl, after: settings.baseUrl });
  const first = profiles.current() === undefined;
  if (protect) await protectNew(context, name);
  await recordProfileChange(context, name, 'added');
  await profiles.write(name, settings);
  if (protect) {
    // A replaced profile may have left tokens.
    const baseUrl = new URL(settings.baseUrl);
    await (await context.forProfile(name).wholeStore()).open(name, baseUrl).tokens.rewrite();
    await profiles.vault(name).settle();
  }
  if (first) await profiles.use(name);
  if (output.format === 'table')
    terminal.say(`The profile ${name} is stored. ${await firstCommand(context, name)}`);
  else
    output.record({ name, baseUrl: settings.baseUrl, current: profiles.current() === name }, PROFILE.shape);
}

/** The profile that is replaced. A damaged one may be replaced too. */
function readable({ profiles }: Context, name: string): { baseUrl: string } | undefined {
  try {
    const stored = profiles.read(name);
    return stored && { baseUrl: parseBaseUrl(stored.baseUrl).href };
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return undefined;
  }
}

async function askName({ terminal }: Context): Promise<string> {
  if (terminal.canAsk)
    return terminal.ask('Name of the profile', { check: (text) => void parseProfileName(text) });
  throw new Psd2Error('usage', 'The name of the profile is missing, and psd2 cannot ask for it', {
    hint: 'Give a name and the settings. See the options with:',
    next: [['profile', 'add', '--help']],
  });
}

/** Makes and stores the key, before psd2 writes the first secret. */
async function protectNew(context: Context, name: string): Promise<void> {
  const { chooseProtector } = await import('./protect.ts');
  const vault = context.profiles.vault(name);
  const protector = await chooseProtector(context, name, {
    keyring: false,
    passphrase: false,
    passphraseStdin: false,
  });
  await vault.exclusively(() => vault.protect(protector));
}

/** Reads settings from options, then from the environment, and asks for required ones that are missing. */
async function readSettings(
  context: Context,
  name: string,
  fromOptions: Partial<ProfileSettings>,
  keep: PemSourceOf,
): Promise<ProfileSettings> {
  const offered = { ...environmentSettings(context.env), ...fromOptions };
  const { contentOfBank, needsClientSecret } = await import('../open/bank-file.ts');
  const bank = offered.bank === undefined ? undefined : await contentOfBank(offered.bank);
  const baseUrl = parseBaseUrl(
    offered.baseUrl || bank?.description.api.baseUrl || (await askFor(context, 'baseUrl')),
  ).href;
  const settings: ProfileSettings = {
    ...keepFiles(offered, keep),
    ...(bank && { bank: bank.content }),
    baseUrl,
  };
  for (const key of settingKeys().filter(isTextSetting))
    if (isNeeded(key, settings)) settings[key] ||= await askFor(context, key);
  if (bank && needsClientSecret(bank.description))
    settings.clientSecret ||= await askFor(context, 'clientSecret');
  checkTexts({ name, settings });
  await checkKeys(context, { name, settings });
  return settings;
}

/** @throws Psd2Error for an answer that cannot be right, so that psd2 asks again */
function checkAnswer(key: TextSetting, text: string): void {
  if (text.trim() === '') throw new Psd2Error('usage', 'A value is required');
  if (key === 'baseUrl') parseBaseUrl(text);
}

/** Asks for a required setting that is missing. @throws Psd2Error `usage` if psd2 cannot ask */
async function askFor({ terminal }: Context, key: TextSetting): Promise<string> {
  const { kind, prompt, option, label, variable } = SETTINGS[key];
  const isSecret = kind === 'secret';
  if (terminal.canAsk && prompt !== undefined)
    return isSecret
      ? requireSecret((await terminal.askSecret(prompt)).trim(), 'the prompt')
      : terminal.ask(prompt, { check: (text) => void checkAnswer(key, text) });
  const missing = isSecret ? `The ${label}` : `--${option}`;
  const ways = optionsFor(key).map(({ flags }) => flags);
  throw new Psd2Error('usage', `${missing} is missing, and psd2 cannot ask for it`, {
    hint: isSecret
      ? `Use ${ways.join(', ')} or ${variable}.`
      : `Add --${option}, or set it in the environment.`,
  });
}
