import { didYouMean } from '../../did-you-mean.ts';
import { isBlockedPort } from '../../domain/blocked-ports.ts';
import { type Decimal, isDecimal } from '../../domain/decimal.ts';
import { Psd2Error } from '../../errors.ts';
import { isMissing } from '../disk/system-error.ts';
import { readKeyFile } from './key-file.ts';
import {
  BANK_ENVIRONMENTS,
  type BankEnvironment,
  ENVIRONMENT_PROFILE,
  type PemSource,
  type ProfileSettings,
  type ProfileStore,
  type StoredProfile,
} from './profiles.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment variable of each setting that is a text. */
export const TEXT_VARIABLES = {
  baseUrl: 'PSD2_BASE_URL',
  clientId: 'PSD2_CLIENT_ID',
  clientSecret: 'PSD2_CLIENT_SECRET',
  applicationName: 'PSD2_APP_NAME',
  ccClientId: 'PSD2_CC_CLIENT_ID',
  ccClientSecret: 'PSD2_CC_CLIENT_SECRET',
  ccApplicationName: 'PSD2_CC_APP_NAME',
  ccDailyLimit: 'PSD2_CC_DAILY_LIMIT',
  redirectUri: 'PSD2_REDIRECT_URI',
  signer: 'PSD2_SIGNER',
  payeeCheck: 'PSD2_PAYEE_CHECK',
  maxAmount: 'PSD2_MAX_AMOUNT',
} as const;

/** The environment variable of each setting that is a PEM file. */
export const PEM_VARIABLES = {
  qwacCertificate: 'PSD2_QWAC_CERT',
  qwacKey: 'PSD2_QWAC_KEY',
  qsealCertificate: 'PSD2_QSEAL_CERT',
  qsealKey: 'PSD2_QSEAL_KEY',
  ca: 'PSD2_CA',
  bankSigningCertificate: 'PSD2_BANK_SIGNING_CERT',
} as const;

/** The PEM settings in the order of the table of settings. */
export const PEM_SETTINGS = [
  'qwacCertificate',
  'qwacKey',
  'qsealCertificate',
  'qsealKey',
  'ca',
  'bankSigningCertificate',
] as const satisfies (keyof typeof PEM_VARIABLES)[];

export type TextSetting = keyof typeof TEXT_VARIABLES;
export type PemSetting = keyof typeof PEM_VARIABLES;

/** The name of each setting in messages. */
export const SETTING_NAMES: Record<TextSetting | PemSetting, string> = {
  baseUrl: 'base URL',
  clientId: 'client id',
  clientSecret: 'client secret',
  applicationName: 'application name',
  ccClientId: 'client id for client credentials',
  ccClientSecret: 'client secret for client credentials',
  ccApplicationName: 'application name for client credentials',
  ccDailyLimit: 'daily limit of calls with client credentials',
  redirectUri: 'redirect URI',
  signer: 'signer',
  payeeCheck: 'payee check',
  maxAmount: 'largest amount of a transfer',
  qwacCertificate: 'QWAC certificate',
  qwacKey: 'QWAC key',
  qsealCertificate: 'QSealC certificate',
  qsealKey: 'QSealC key',
  ca: 'CA bundle',
  bankSigningCertificate: 'bank signing certificate',
};

export const DEFAULT_REDIRECT_URI = 'http://127.0.0.1:8910/callback';
/** How the `TPP-Certificate` header carries the certificate by default. */
export const DEFAULT_TPP_CERTIFICATE = 'der-base64';

/** A profile whose settings the environment may override (command contract, "Precedence"). */
export interface Profile {
  name: string;
  /** The secret settings of a protected profile may still be sealed. */
  settings: Partial<StoredProfile>;
}

/**
 * Chooses the profile, and overrides its settings with the environment (command contract, "Precedence"). The profile is
 * the one named by `--profile` or `PSD2_PROFILE`, else the one chosen with `profile use`, else the environment alone.
 *
 * @throws Psd2Error `no_profile`
 */
export function openProfile(store: ProfileStore, named: string | undefined, env: Environment): Profile {
  const fromEnvironment = environmentSettings(env);
  const name =
    named ?? store.current() ?? (fromEnvironment.baseUrl === undefined ? undefined : ENVIRONMENT_PROFILE);
  if (name === ENVIRONMENT_PROFILE && fromEnvironment.baseUrl !== undefined)
    return { name, settings: fromEnvironment };
  const stored = name === undefined || name === ENVIRONMENT_PROFILE ? undefined : store.read(name);
  if (name === undefined || stored === undefined) {
    const known = store.list();
    throw new Psd2Error(
      'no_profile',
      name === undefined
        ? 'No profile is chosen'
        : name === ENVIRONMENT_PROFILE
          ? 'The environment does not define a profile: PSD2_BASE_URL is not set'
          : `There is no profile ${JSON.stringify(name)}`,
      {
        hint:
          known.length > 0
            ? `${didYouMean(name ?? '', known)}There is: ${known.join(', ')}. Choose one with:`
            : 'Add one, or try the sandbox:',
        next:
          known.length > 0
            ? known.slice(0, 3).map((each) => ['profile', 'use', each])
            : [
                ['profile', 'add'],
                ['sandbox', 'start', '--detach'],
                ['--profile', 'sandbox', 'auth', 'login'],
              ],
      },
    );
  }
  return { name, settings: { ...stored, ...fromEnvironment } };
}

/**
 * The settings in the environment. An empty variable counts as not set. It trims blanks and line breaks, since a secret
 * that was mounted as a file often ends with one.
 *
 * @throws Psd2Error `config`
 */
export function environmentSettings(env: Environment): Partial<ProfileSettings> {
  return {
    ...Object.fromEntries(
      Object.entries(TEXT_VARIABLES).flatMap(([key, name]) => {
        const value = env[name]?.trim();
        return value ? [[key, value]] : [];
      }),
    ),
    ...Object.fromEntries(
      Object.entries(PEM_VARIABLES).flatMap(([key, name]) => (env[name] ? [[key, { path: env[name] }]] : [])),
    ),
    ...(env.PSD2_ENVIRONMENT && { environment: parseEnvironment(env.PSD2_ENVIRONMENT) }),
  };
}

function parseEnvironment(text: string): BankEnvironment {
  const environment = BANK_ENVIRONMENTS.find((known) => known === text);
  if (environment) return environment;
  throw new Psd2Error('config', `PSD2_ENVIRONMENT ${JSON.stringify(text)} is not known`, {
    hint: `Use one of ${BANK_ENVIRONMENTS.join(', ')}.`,
  });
}

/** The passphrase of protected profiles, without the line break that a mounted secret often ends with. */
export function passphraseIn(env: Environment): string | undefined {
  return env.PSD2_CONFIG_PASSPHRASE?.replace(/\r?\n$/, '') || undefined;
}

/** @throws Psd2Error `config` if the profile does not have the setting */
export function requireSetting(profile: Profile, key: TextSetting): string {
  const value = profile.settings[key] ?? missingSetting(profile, key);
  if (!/\p{Cc}/u.test(value)) return value;
  throw new Psd2Error('config', `The ${SETTING_NAMES[key]} holds a line break or another control character`, {
    hint: `Check ${TEXT_VARIABLES[key]}, or the profile.`,
  });
}

/** The largest amount of a transfer; null if the operator has not set one. @throws Psd2Error `config` */
export function maxAmountOf({ settings }: Profile): Decimal | null {
  const text = settings.maxAmount;
  if (text === undefined) return null;
  if (/^\d{1,9}(\.\d{1,2})?$/.test(text) && isDecimal(text)) return text;
  throw new Psd2Error('config', `The largest amount ${JSON.stringify(text)} is not an amount`, {
    hint: 'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.',
  });
}

/** How many calls with client credentials the bank allows a day; null if the operator has not set it. @throws Psd2Error `config` */
export function dailyLimitOf({ settings }: Profile): number | null {
  const text = settings.ccDailyLimit;
  if (text === undefined) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Psd2Error('config', `The daily limit ${JSON.stringify(text)} is not a whole number from 1`, {
    hint: 'Check PSD2_CC_DAILY_LIMIT.',
  });
}

/** The PEM text of a setting; undefined if the profile does not have it. @throws Psd2Error `certificate` */
export function readPem({ settings }: Profile, key: PemSetting): string | undefined {
  const source = settings[key];
  return source && readPemSource(source, key);
}

/** @throws Psd2Error `config` if the profile does not have the setting */
export function requireSource(profile: Profile, key: PemSetting): PemSource {
  return profile.settings[key] ?? missingSetting(profile, key);
}

/**
 * @throws Psd2Error `certificate` if the file cannot be read, `config` if it belongs to another user, or others can change
 *   it or read a key
 */
export function readPemSource(source: PemSource, key: PemSetting): string {
  return readSource(source, key).toString('utf8');
}

const IS_KEY: ReadonlySet<PemSetting> = new Set(['qwacKey', 'qsealKey']);

/** The content of a certificate or key: PEM or PKCS#12. @throws as {@link readPemSource} */
export function readSource(source: PemSource, key: PemSetting): Buffer {
  if ('pem' in source) return Buffer.from(source.pem);
  if ('pkcs12' in source) return Buffer.from(source.pkcs12, 'base64');
  try {
    return readKeyFile(source.path, SETTING_NAMES[key], IS_KEY.has(key) ? 'secret' : 'public');
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error(
      'certificate',
      `The ${SETTING_NAMES[key]} ${source.path} ${isMissing(cause) ? 'does not exist' : 'cannot be read'}`,
      {
        hint: `Check the path and the mode of the file (${PEM_VARIABLES[key]} or the profile names it).`,
        cause,
      },
    );
  }
}

/**
 * Parses the bank's address: `https`, without a query. Keeps a path prefix, without its final slash.
 *
 * @throws Psd2Error `config`
 */
export function parseBaseUrl(text: string): URL {
  const refuse = (what: string, shown = ` ${JSON.stringify(text)}`): never => {
    throw new Psd2Error('config', `The base URL${shown} ${what}`, {
      hint: 'Use the form https://host[:port][/prefix].',
    });
  };
  if (!URL.canParse(text)) return refuse('is not a URL');
  const url = new URL(text);
  if (url.username || url.password) return refuse('holds a user name or password', '');
  if (url.protocol !== 'https:') return refuse('is not https');
  if (/[?#]/.test(text)) return refuse('holds a query or a fragment');
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** The bank's address. @throws Psd2Error `config` */
export function baseUrlOf(profile: Profile): URL {
  return parseBaseUrl(requireSetting(profile, 'baseUrl'));
}

/** The redirect URI, as the operator wrote it. @throws Psd2Error `config` */
export function redirectUriOf({ name, settings }: Profile): string {
  const text =
    settings.redirectUri === undefined
      ? DEFAULT_REDIRECT_URI
      : requireSetting({ name, settings }, 'redirectUri');
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (url.port !== '' && isBlockedPort(Number(url.port))) {
      throw new Psd2Error(
        'config',
        `The redirect URI ${JSON.stringify(text)} has the port ${url.port}, which browsers refuse to open`,
        {
          hint: `Use another port, as in ${DEFAULT_REDIRECT_URI} (PSD2_REDIRECT_URI or the profile); it must be registered at the bank.`,
        },
      );
    }
    // A bare `#` is a fragment too (RFC 6749, section 3.1.2), but `hash` does not show it.
    if ((url.protocol === 'http:' || url.protocol === 'https:') && !text.includes('#')) return text;
  }
  throw new Psd2Error(
    'config',
    `The redirect URI ${JSON.stringify(text)} is not an http or https URL without a fragment`,
    {
      hint: `Set PSD2_REDIRECT_URI, for example to ${DEFAULT_REDIRECT_URI}; it must be registered at the bank.`,
    },
  );
}

/** @throws Psd2Error `config` that names the setting and its variable */
export function missingSetting({ name: profile, settings }: Profile, key: TextSetting | PemSetting): never {
  if (settings.sealed?.names.includes(key))
    throw new TypeError(`The ${SETTING_NAMES[key]} of the profile was not decrypted before it was used`);
  const variable = { ...TEXT_VARIABLES, ...PEM_VARIABLES }[key];
  throw new Psd2Error('config', `The profile ${JSON.stringify(profile)} has no ${SETTING_NAMES[key]}`, {
    ...(profile === ENVIRONMENT_PROFILE
      ? { hint: `Set ${variable}.` }
      : { hint: `Set ${variable}, or the setting of the profile:`, next: [['profile', 'edit', profile]] }),
  });
}

/** The application's name goes into the `Signature` header between quotes. @throws Psd2Error `config` */
export function applicationNameOf(profile: Profile, key: 'applicationName' | 'ccApplicationName'): string {
  const name = requireSetting(profile, key);
  if (/^[\x20-\x7e]+$/.test(name) && !/["\\]/.test(name)) return name;
  throw new Psd2Error(
    'config',
    'The application name contains a character that the Signature header cannot carry',
    {
      hint: 'Use the registered name: printable ASCII without quotes and backslashes (PSD2_APP_NAME).',
    },
  );
}
