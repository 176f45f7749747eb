import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isPkcs12, type PairName, type TppCertificateEncoding } from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import { refuseUnsafe } from '../../store/disk/permissions.ts';
import { isMissing } from '../../store/disk/system-error.ts';
import { TokenStore } from '../../store/files/tokens.ts';
import {
  type BankEnvironment,
  type PemSource,
  type ProfileSettings,
  parseProfileName,
} from '../../store/machine/profiles.ts';
import {
  dailyLimitOf,
  environmentSettings,
  maxAmountOf,
  PEM_VARIABLES,
  type PemSetting,
  type Profile,
  parseBaseUrl,
  readSource,
  redirectUriOf,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';
import type { Keep } from './wizard.ts';

export interface ProfileAddOptions {
  baseUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecretFile?: string | undefined;
  clientSecretStdin: boolean;
  appName?: string | undefined;
  ccClientId?: string | undefined;
  ccClientSecretFile?: string | undefined;
  ccAppName?: string | undefined;
  qwacCert?: string | undefined;
  qwacKey?: string | undefined;
  qsealCert?: string | undefined;
  qsealKey?: string | undefined;
  ca?: string | undefined;
  bankSigningCert?: string | undefined;
  ccDailyLimit?: string | undefined;
  redirectUri?: string | undefined;
  tppCertificate?: TppCertificateEncoding | undefined;
  signer?: string | undefined;
  payeeCheck?: string | undefined;
  environment?: BankEnvironment | undefined;
  maxAmount?: string | undefined;
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
  /** Nothing secret is written before it can be encrypted. */
  protect: boolean;
}

/**
 * `psd2 profile add <name>`: settings from options, else from the environment, else asked for; without options at a
 * terminal all are asked for. They are checked before anything is stored.
 */
export async function profileAdd(
  context: Context,
  givenName: string | undefined,
  options: ProfileAddOptions,
): Promise<void> {
  const { profiles, terminal, globals, output } = context;
  const name = parseProfileName(givenName ?? (await askName(context)));
  if (profiles.list().includes(name) && !globals.yes) {
    if (!terminal.canAsk) {
      throw new Psd2Error(
        'confirmation_needed',
        `There is a profile ${name} already, and there is no terminal to ask at`,
        {
          hint: 'Add --yes to replace it, or choose another name.',
        },
      );
    }
    if (!(await terminal.confirm(`There is a profile ${name} already. Replace it?`))) {
      throw new Psd2Error('cancelled', 'Nothing was stored');
    }
  }

  const keep: Keep = (path, key) => {
    const content = readSource({ path }, key);
    if (options.reference) return { path: resolve(path) };
    return isPkcs12(content) ? { pkcs12: content.toString('base64') } : { pem: content.toString('utf8') };
  };
  const settings =
    terminal.canAsk && isEmpty(options)
      ? await (await import('./wizard.ts')).askForProfile(context, name, keep)
      : await readOptions(context, name, options, keep);

  const first = profiles.current() === undefined;
  if (options.protect) {
    const { chooseProtector } = await import('./protect.ts');
    const none = { keyring: false, passphrase: false, passphraseStdin: false };
    const vault = profiles.vault(name);
    const protector = await chooseProtector(context, name, none);
    await vault.exclusively(() => vault.protect(protector));
  }
  await profiles.write(name, settings);
  if (options.protect) {
    // Of a profile that was replaced.
    const baseUrl = new URL(settings.baseUrl);
    await new TokenStore(context.folder, name, baseUrl, terminal.warn, profiles.vault(name)).rewrite();
  }
  if (first) await profiles.use(name);
  if (output.format === 'table')
    terminal.say(`The profile ${name} is stored. Log in with: psd2 --profile ${name} auth login`);
  else output.record({ name, baseUrl: settings.baseUrl, current: profiles.current() === name }, []);
}

async function askName({ terminal }: Context): Promise<string> {
  if (terminal.canAsk)
    return terminal.ask('Name of the profile', { check: (text) => void parseProfileName(text) });
  throw new Psd2Error('usage', 'The name of the profile is missing, and there is no terminal to ask for it', {
    hint: 'For example: psd2 profile add mybank --base-url <url> ...',
  });
}

/** Whether no option says a setting. */
function isEmpty({ reference, protect, clientSecretStdin, ...settings }: ProfileAddOptions): boolean {
  return !clientSecretStdin && Object.values(settings).every((value) => value === undefined);
}

/** Settings from options, else from the environment; those that are needed and missing are asked for. */
async function readOptions(
  context: Context,
  name: string,
  options: ProfileAddOptions,
  keep: Keep,
): Promise<ProfileSettings> {
  const { env, terminal } = context;
  const given = environmentSettings(env);
  const pem = (key: PemSetting, option: string | undefined): PemSource | undefined => {
    const source = option === undefined ? given[key] : { path: option };
    return source && 'path' in source ? keep(source.path, key) : source;
  };
  const required = async (value: string | undefined, question: string, option: string) => {
    if (value !== undefined && value !== '') return value;
    if (terminal.canAsk) return terminal.ask(question);
    throw new Psd2Error('usage', `${option} is missing, and there is no terminal to ask for it`, {
      hint: `Add ${option}, or set it in the environment.`,
    });
  };

  const settings: ProfileSettings = {
    baseUrl: parseBaseUrl(
      await required(options.baseUrl ?? given.baseUrl, 'Base URL of the bank', '--base-url'),
    ).href,
    clientId: await required(options.clientId ?? given.clientId, 'Client id', '--client-id'),
    clientSecret: await readSecret(context, options, given.clientSecret),
    applicationName: await required(
      options.appName ?? given.applicationName,
      'Application name (the keyId of signatures)',
      '--app-name',
    ),
    ccClientId: options.ccClientId ?? given.ccClientId,
    ccClientSecret:
      options.ccClientSecretFile === undefined
        ? given.ccClientSecret
        : readSecretFile(options.ccClientSecretFile),
    ccApplicationName: options.ccAppName ?? given.ccApplicationName,
    ccDailyLimit: options.ccDailyLimit ?? given.ccDailyLimit,
    qwacCertificate: pem('qwacCertificate', options.qwacCert),
    qwacKey: pem('qwacKey', options.qwacKey),
    qsealCertificate: pem('qsealCertificate', options.qsealCert),
    qsealKey: pem('qsealKey', options.qsealKey),
    ca: pem('ca', options.ca),
    bankSigningCertificate: pem('bankSigningCertificate', options.bankSigningCert),
    redirectUri: options.redirectUri ?? given.redirectUri,
    tppCertificate: options.tppCertificate,
    signer: options.signer ?? given.signer,
    payeeCheck: options.payeeCheck ?? given.payeeCheck,
    environment: options.environment ?? given.environment,
    maxAmount: options.maxAmount ?? given.maxAmount,
  };
  redirectUriOf({ name, settings });
  dailyLimitOf({ name, settings });
  maxAmountOf({ name, settings });
  await checkKeys(context, { name, settings });

  return settings;
}

/**
 * Opens certificates and keys as a call to the bank would.
 *
 * @throws Psd2Error `usage` when one is missing, `certificate` or `config` when one is not right
 */
async function checkKeys(context: Context, profile: Profile): Promise<void> {
  const { qsealCertificate, qsealKey, signer } = profile.settings;
  const keys = openKeyRing(context, profile);
  const names: PairName[] = (qsealCertificate ?? qsealKey) ? ['QWAC', 'QSealC'] : ['QWAC'];
  for (const name of names) {
    const setting = PAIR_SETTINGS[name];
    if (!profile.settings[setting.certificate]) throw missingFile(name, 'certificate');
    if (name === 'QSealC' && signer !== undefined) await keys.certificate(name);
    else {
      if ((await keys.read(name)).key() === undefined) throw missingFile(name, 'key');
      await keys.pair(name);
    }
  }
}

function missingFile(name: PairName, what: 'certificate' | 'key'): Psd2Error {
  const option = `--${name === 'QWAC' ? 'qwac' : 'qseal'}-${what === 'key' ? 'key' : 'cert'}`;
  return new Psd2Error('usage', `The ${name} ${what} is missing`, {
    hint: `Add ${option} <file>, or set ${PEM_VARIABLES[PAIR_SETTINGS[name][what]]}.`,
  });
}

async function readSecret(
  context: Context,
  options: ProfileAddOptions,
  given: string | undefined,
): Promise<string> {
  const { terminal } = context;
  if (options.clientSecretStdin && options.clientSecretFile !== undefined) {
    throw new Psd2Error('usage', '--client-secret-stdin and --client-secret-file exclude each other');
  }
  if (options.clientSecretFile !== undefined) return readSecretFile(options.clientSecretFile);
  if (options.clientSecretStdin) return requireSecret((await context.readStdin()).trim(), 'standard input');
  if (given !== undefined) return given;
  if (terminal.canAsk) return requireSecret(await terminal.askSecret('Client secret'), 'the prompt');
  throw new Psd2Error('usage', 'The client secret is missing, and there is no terminal to ask for it', {
    hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
  });
}

function readSecretFile(path: string): string {
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new Psd2Error(
      'config',
      `The secret's file ${path} ${isMissing(cause) ? 'is not there' : 'cannot be read'}`,
      { cause },
    );
  }
  refuseUnsafe(path, 'secret');
  return requireSecret(secret, path);
}

function requireSecret(secret: string, source: string): string {
  if (secret === '') throw new Psd2Error('usage', `The client secret from ${source} is empty`);
  return secret;
}
