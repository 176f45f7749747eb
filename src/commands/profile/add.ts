import { Psd2Error } from '../../errors.ts';
import { type ProfileSettings, parseProfileName } from '../../store/machine/profiles.ts';
import { environmentSettings, parseBaseUrl } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { confirmed } from '../shared/confirmed.ts';
import { confirmOtherBank } from './confirm-bank.ts';
import { checkSettings } from './settings/check-settings.ts';
import { keepFiles, keeping, type PemSourceOf } from './settings/kept-files.ts';
import { readSettingOptions, requireSecret } from './settings/read-options.ts';
import type { SettingOptions } from './settings/setting-options.ts';
import { profile } from './shape.ts';

/** The options of `profile add` that are not settings. */
export interface AddOptions {
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
  /** Encrypt the profile from the start. psd2 writes no secret before it can encrypt it. */
  protect: boolean;
}

/**
 * `psd2 profile add <name>`: takes settings from options, then from the environment, and asks for the rest. At a terminal
 * and without options, it asks for all of them. psd2 checks the settings before it stores anything.
 */
export async function profileAdd(
  context: Context,
  givenName: string | undefined,
  { reference, protect, ...options }: AddOptions & SettingOptions,
): Promise<void> {
  const { profiles, terminal, output } = context;
  const name = parseProfileName(givenName ?? (await askName(context)));
  if (profiles.list().includes(name)) {
    await confirmed(context, {
      text: `The profile ${name} already exists. Replace it?`,
      unasked: `The profile ${name} already exists`,
      hint: 'Add --yes to replace it, or choose another name.',
      declined: 'Nothing was stored',
    });
  }
  const keep = keeping(reference);
  const settings =
    terminal.canAsk && Object.keys(options).length === 0
      ? await (await import('./wizard/wizard.ts')).askForProfile(context, name, keep)
      : await readSettings(context, name, options, keep);

  const before = readable(context, name);
  if (before) await confirmOtherBank(context, name, { before: before.baseUrl, after: settings.baseUrl });
  const first = profiles.current() === undefined;
  if (protect) await protectNew(context, name);
  await profiles.write(name, settings);
  if (protect) {
    // A replaced profile may have left tokens.
    const baseUrl = new URL(settings.baseUrl);
    await (await context.forProfile(name).home()).open(name, baseUrl).tokens.rewrite();
  }
  if (first) await profiles.use(name);
  if (output.format === 'table')
    terminal.say(`The profile ${name} is stored. Log in with: psd2 --profile ${name} auth login`);
  else output.record({ name, baseUrl: settings.baseUrl, current: profiles.current() === name }, [], profile);
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
  const { chooseProtector } = await import('./protector.ts');
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
  options: SettingOptions,
  keep: PemSourceOf,
): Promise<ProfileSettings> {
  const { env, terminal } = context;
  const found = { ...environmentSettings(env), ...(await readSettingOptions(context, options)) };
  const required = async (value: string | undefined, question: string, option: string) => {
    if (value !== undefined && value !== '') return value;
    if (terminal.canAsk) return terminal.ask(question);
    throw new Psd2Error('usage', `${option} is missing, and psd2 cannot ask for it`, {
      hint: `Add ${option}, or set it in the environment.`,
    });
  };
  const needed = {
    baseUrl: parseBaseUrl(await required(found.baseUrl, 'Base URL of the bank', '--base-url')).href,
    clientId: await required(found.clientId, 'Client id', '--client-id'),
    clientSecret: found.clientSecret ?? (await askSecret(context)),
    applicationName: await required(
      found.applicationName,
      'Application name (the keyId of signatures)',
      '--app-name',
    ),
  };
  const settings = { ...keepFiles(found, keep), ...needed };
  await checkSettings(context, { name, settings });
  return settings;
}

async function askSecret({ terminal }: Context): Promise<string> {
  if (terminal.canAsk) return requireSecret(await terminal.askSecret('Client secret'), 'the prompt');
  throw new Psd2Error('usage', 'The client secret is missing, and psd2 cannot ask for it', {
    hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
  });
}
