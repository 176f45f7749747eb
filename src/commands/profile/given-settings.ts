import { resolve } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import { isPkcs12, type PairName, readCertificates } from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import { isMissing, readNamedFile } from '../../store/disk/files.ts';
import { refuseUnsafe } from '../../store/disk/permissions.ts';
import type { PemSource, ProfileSettings } from '../../store/machine/profiles.ts';
import {
  attributeOf,
  isPemSetting,
  type OptionalSetting,
  type PemSetting,
  SETTINGS,
  type SettingOption,
  type SettingOptions,
  type SettingRow,
  settingKeys,
} from '../../store/machine/setting-table.ts';
import {
  applicationNameOf,
  dailyLimitOf,
  embeddedOf,
  maxAmountOf,
  type Profile,
  parseBaseUrl,
  readSource,
  redirectUriOf,
  staleAfterOf,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';

/** Adds the options that set settings. A secret is never the value of an option. */
export function withSettingOptions<Args extends unknown[]>(
  command: Command<Args>,
  options: SettingOption[],
): Command<Args, SettingOptions> {
  for (const { flags, help, choices } of options) {
    const option = new Option(flags, help);
    command.addOption(choices ? option.choices(choices) : option);
  }
  return command;
}

/**
 * Reads the settings that the options give: the paths of certificates and keys, and the contents of secrets. Leaves out
 * the others, so that they do not overwrite any when both are merged.
 *
 * @throws Psd2Error `usage`, `config`
 */
export async function readSettingOptions(
  context: Context,
  options: SettingOptions,
): Promise<Partial<ProfileSettings>> {
  const entries: unknown[][] = [];
  for (const key of settingKeys()) {
    const { kind, option } = SETTINGS[key];
    const value =
      kind === 'secret' ? await readSecret(context, options, SETTINGS[key]) : optionIn(options, option);
    if (value !== undefined) entries.push([key, kind === 'file' ? { path: value } : value]);
  }
  return Object.fromEntries(entries);
}

/** What an option gives in a wrong form is wrong use. In a profile it is a wrong configuration. @throws Psd2Error `usage` */
export function refuseWrongTexts(settings: Partial<ProfileSettings>): void {
  const profile = { name: '', settings };
  try {
    if (settings.baseUrl !== undefined) parseBaseUrl(settings.baseUrl);
    checkOptionalTexts(profile);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    throw new Psd2Error('usage', error.message, error.context);
  }
}

function optionIn(options: SettingOptions, option: string): string | true | undefined {
  const values: Partial<Record<string, string | true>> = options;
  return values[attributeOf(option)];
}

async function readSecret(
  { env, readStdin }: Context,
  options: SettingOptions,
  { option, variable }: SettingRow,
): Promise<string | undefined> {
  const ways = ['stdin', 'file', 'env'].filter((way) => optionIn(options, `${option}-${way}`) !== undefined);
  const [way, other] = ways.map((each) => `--${option}-${each}`);
  if (other !== undefined) throw new Psd2Error('usage', `${way} and ${other} cannot be used together`);
  const file = optionIn(options, `${option}-file`);
  if (typeof file === 'string') return readSecretFile(file);
  if (ways.includes('stdin')) return requireSecret((await readStdin()).trim(), 'standard input');
  if (!ways.includes('env') || variable === null) return undefined;
  const inVariable = env[variable]?.trim();
  if (inVariable) return inVariable;
  throw new Psd2Error('usage', `${variable} is not set, so psd2 cannot read the secret from it`);
}

function readSecretFile(path: string): string {
  const secret = readNamedFile(path, `The secret file ${path}`, 'config').toString('utf8').trim();
  refuseUnsafe(path, 'secret');
  return requireSecret(secret, path);
}

/** @throws Psd2Error `usage` if it is empty */
export function requireSecret(secret: string, source: string): string {
  if (secret === '') throw new Psd2Error('usage', `The client secret from ${source} is empty`);
  return secret;
}

/** The content of a file that an option names. @throws Psd2Error `usage` if it does not exist, and as {@link readSource} */
function readGiven(source: PemSource, key: PemSetting): Buffer {
  try {
    return readSource(source, key);
  } catch (error) {
    if (error instanceof Psd2Error && isMissing(error.cause)) throw new Psd2Error('usage', error.message);
    throw error;
  }
}

/** Turns a file into a setting: its contents or its path. @throws Psd2Error `certificate`, `config` */
export type PemSourceOf = (path: string, key: PemSetting) => PemSource;

/** @param byReference store paths instead of the contents of certificates and keys */
export function keeping(byReference: boolean): PemSourceOf {
  return (path, key) => {
    const content = readGiven({ path }, key);
    const isCertificate = SETTINGS[key].sealed !== true && !isPkcs12(content);
    if (isCertificate) readCertificates(path, content.toString('utf8'));
    if (byReference) return { path: resolve(path) };
    return isPkcs12(content) ? { pkcs12: content.toString('base64') } : { pem: content.toString('utf8') };
  };
}

/** Applies `keep` to all files that the settings name. @throws as {@link PemSourceOf} */
export function keepFiles(settings: Partial<ProfileSettings>, keep: PemSourceOf): Partial<ProfileSettings> {
  const stored = { ...settings };
  for (const key of settingKeys().filter(isPemSetting)) {
    const source = settings[key];
    if (source && 'path' in source) stored[key] = keep(source.path, key);
  }
  return stored;
}

/** Checks the format of the texts before psd2 stores them. @throws Psd2Error `config` */
export function checkTexts(profile: Profile): void {
  if (profile.settings.bank === undefined) applicationNameOf(profile, 'applicationName');
  checkOptionalTexts(profile);
  embeddedOf(profile);
}

/** As {@link checkTexts}, for what a profile need not have. */
function checkOptionalTexts(profile: Profile): void {
  const { ccApplicationName } = profile.settings;
  if (ccApplicationName !== undefined) applicationNameOf(profile, 'ccApplicationName');
  redirectUriOf(profile);
  dailyLimitOf(profile);
  maxAmountOf(profile);
  staleAfterOf(profile);
}

/** Opens certificates and keys as a call to the bank would. @throws Psd2Error `usage`, `config`, `certificate` */
export async function checkKeys(context: Context, profile: Profile): Promise<void> {
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
  const { option, value, variable } = SETTINGS[PAIR_SETTINGS[name][what]];
  return new Psd2Error('usage', `The ${name} ${what} is missing`, {
    hint: `Add --${option} <${value}>, or set ${variable}.`,
  });
}

/** The stored keys to remove, because the new certificate's file has its own key. */
export function replacedKeys(newSettings: Partial<ProfileSettings>): OptionalSetting[] {
  return Object.values(PAIR_SETTINGS).flatMap(({ certificate, key }) => {
    const source = newSettings[certificate];
    if (!source || newSettings[key]) return [];
    const content = readGiven(source, certificate);
    return isPkcs12(content) || content.includes('PRIVATE KEY-----') ? [key] : [];
  });
}
