import Big from 'big.js';
import { didYouMean } from '../../did-you-mean.ts';
import { parseDuration } from '../../domain/calendar.ts';
import { type Decimal, isDecimal } from '../../domain/decimal.ts';
import type { EmbeddedCustomers } from '../../domain/embedded.ts';
import { isBlockedPort, isLoopback } from '../../domain/local-address.ts';
import { urlFrom } from '../../domain/url.ts';
import { Psd2Error } from '../../errors.ts';
import { isMissing } from '../disk/files.ts';
import { readKeyFile } from './key-file.ts';
import {
  ENVIRONMENT_PROFILE,
  type PemSource,
  type ProfileSettings,
  type ProfileStore,
  type StoredProfile,
} from './profiles.ts';
import {
  DEFAULT_REDIRECT_URI,
  DEFAULT_STALE_AFTER,
  type PemSetting,
  SETTINGS,
  type SettingKey,
  type SettingRow,
  settingKeys,
  type TextSetting,
} from './setting-table.ts';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
    const names = store.list();
    throw new Psd2Error(
      'no_profile',
      name === undefined
        ? 'No profile is chosen'
        : name === ENVIRONMENT_PROFILE
          ? 'The environment does not define a profile: PSD2_BASE_URL is not set'
          : `There is no profile ${JSON.stringify(name)}`,
      {
        hint:
          names.length > 0
            ? `${didYouMean(name ?? '', names)}Known profiles: ${names.join(', ')}. Choose one with:`
            : 'Add one, or try the sandbox:',
        next:
          names.length > 0
            ? names.slice(0, 3).map((each) => ['profile', 'use', each])
            : [
                ['profile', 'add'],
                ['sandbox', 'start', '--detach'],
                ['--profile', 'sandbox', 'auth', 'login'],
              ],
      },
    );
  }
  return { name, settings: { ...stored, ...fromEnvironment, ...strictest(stored, fromEnvironment) } };
}

/** The settings that limit the operator. */
const CONTROLS = ['environment', 'maxAmount', 'approvals', 'embedded'] as const;
type Controls = Partial<Pick<ProfileSettings, (typeof CONTROLS)[number]>>;

/** Whether a setting limits the operator. */
export function isControl(key: SettingKey): boolean {
  return CONTROLS.some((control) => control === key);
}

/**
 * What limits the operator is a control, not a setting: the environment can only make it stricter (command contract, "A control is
 * not a setting").
 */
function strictest(stored: Controls, fromEnvironment: Controls): Controls {
  const isProduction = [stored.environment, fromEnvironment.environment].includes('production');
  const isFewer =
    fromEnvironment.approvals !== undefined && Number(fromEnvironment.approvals) < usualApprovals(stored);
  const [one, other] = [stored.maxAmount, fromEnvironment.maxAmount];
  const isLess =
    one !== undefined && other !== undefined && isAmount(one) && isAmount(other) && new Big(one).lt(other);
  return {
    ...(isProduction && { environment: 'production' as const }),
    // Without a setting of its own, a production profile needs one.
    ...(isFewer && { approvals: stored.approvals ?? ('1' as const) }),
    ...(fromEnvironment.embedded && {
      embedded: stricterEmbedded(stored.embedded ?? 'never', fromEnvironment.embedded),
    }),
    // What is no amount must not hide what is one.
    ...(one !== undefined && (isLess || !isAmount(one)) && { maxAmount: one }),
  };
}

type Embedded = NonNullable<Controls['embedded']>;

/** From the strictest: nobody, a person at the terminal, also a file. */
const EMBEDDED = ['never', 'ask', 'files'] as const satisfies readonly Embedded[];

function stricterEmbedded(one: Embedded, other: Embedded): Embedded {
  return EMBEDDED.find((how) => how === one || how === other) ?? 'never';
}

/**
 * How psd2 may take a customer's credentials (docs/embedded.md).
 *
 * @throws Psd2Error `config` for `files` where real money moves
 */
export function embeddedOf({ settings }: Profile): Embedded {
  const { embedded = 'never', environment } = settings;
  if (embedded !== 'files' || environment !== 'production') return embedded;
  throw new Psd2Error(
    'config',
    'Embedded SCA with files is only for sandboxes, and this profile is of production',
    {
      hint: 'In production the customer types PIN and TAN: set --embedded ask (PSD2_EMBEDDED).',
    },
  );
}

/**
 * What to do if customers of a bank can only give psd2 PIN and TAN, and the profile does not allow it (docs/embedded.md). Null: nothing.
 *
 * @param takes what they may have to give psd2. Null or absent: nothing
 * @throws Psd2Error as {@link embeddedOf}
 */
export function adviceOnEmbedded(
  profile: Profile,
  takes: EmbeddedCustomers | null | undefined,
): { hint: string; next: string[][] } | null {
  if (!takes?.isAlone || embeddedOf(profile) !== 'never') return null;
  return {
    hint: 'What it means is in docs/embedded.md. If customers type them at this terminal, allow it (PSD2_EMBEDDED without a profile):',
    next: [['profile', 'set', profile.name, '--embedded', 'ask']],
  };
}

/** How many other people must approve a batch, by the settings alone. */
export function usualApprovals({ approvals, environment }: Controls): number {
  return Number(approvals ?? (environment === 'production' ? 1 : 0));
}

function isAmount(text: string): text is Decimal {
  return /^\d{1,9}(\.\d{1,2})?$/.test(text) && isDecimal(text);
}

/**
 * The settings in the environment. An empty variable counts as not set. It trims spaces and line breaks, since a secret
 * that was mounted as a file often ends with one.
 *
 * @throws Psd2Error `config`
 */
export function environmentSettings(env: Environment): Partial<ProfileSettings> {
  return Object.fromEntries(
    settingKeys().flatMap((key) => {
      const value = valueIn(env, SETTINGS[key]);
      return value ? [[key, value]] : [];
    }),
  );
}

function valueIn(env: Environment, { kind, choices, variable }: SettingRow): string | PemSource | undefined {
  const text = variable === null ? undefined : env[variable];
  if (!text || kind === 'file') return text ? { path: text } : undefined;
  if (!choices) return text.trim();
  if (choices.includes(text)) return text;
  throw new Psd2Error('config', `${variable} ${JSON.stringify(text)} is not known`, {
    hint: `Use one of ${choices.join(', ')}.`,
  });
}

/** The passphrase of protected profiles, without the line break that a mounted secret often ends with. */
export function passphraseIn(env: Environment): string | undefined {
  return env.PSD2_CONFIG_PASSPHRASE?.replace(/\r?\n$/, '') || undefined;
}

/** @throws Psd2Error `config` if the profile does not have the setting */
export function requireSetting(profile: Profile, key: TextSetting): string {
  const value = profile.settings[key] ?? missingSetting(profile, key);
  if (/^[\x20-\x7e\xa0-\uffff]*$/.test(value)) return value;
  throw new Psd2Error(
    'config',
    `The ${SETTINGS[key].label} contains a line break or another control character`,
    { hint: `Check ${SETTINGS[key].variable}, or the profile.` },
  );
}

/** The largest amount of a transfer; null if the operator has not set one. @throws Psd2Error `config` */
export function maxAmountOf({ settings }: Profile): Decimal | null {
  const text = settings.maxAmount;
  if (text === undefined) return null;
  if (isAmount(text)) return text;
  throw new Psd2Error('config', `The largest amount ${JSON.stringify(text)} is not an amount`, {
    hint: 'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.',
  });
}

/** How many people must approve a batch of a profile, and above which amount one more. `limit` throws as {@link maxAmountOf}. */
export function controlsOf(profile: Profile): { usual: number; limit(): Decimal | null } {
  return { usual: usualApprovals(profile.settings), limit: () => maxAmountOf(profile) };
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

/** The age from which the data of a customer is stale, in milliseconds. @throws Psd2Error `config` */
export function staleAfterOf({ settings }: Profile): number {
  const text = settings.staleAfter ?? DEFAULT_STALE_AFTER;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new Psd2Error(
    'config',
    `The age ${JSON.stringify(text)} from which data is stale is not a duration`,
    { hint: 'Give PSD2_STALE_AFTER or --stale-after as a whole number with its unit: 36h or 2d.' },
  );
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

/** The content of a certificate or key: PEM or PKCS#12. @throws as {@link readPemSource} */
export function readSource(source: PemSource, key: PemSetting): Buffer {
  if ('pem' in source) return Buffer.from(source.pem);
  if ('pkcs12' in source) return Buffer.from(source.pkcs12, 'base64');
  try {
    return readKeyFile(source.path, SETTINGS[key].label, SETTINGS[key].sealed === true ? 'secret' : 'public');
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error(
      'certificate',
      `The ${SETTINGS[key].label} ${source.path} ${isMissing(cause) ? 'does not exist' : 'cannot be read'}`,
      {
        hint: `Check the path and the mode of the file (${SETTINGS[key].variable} or the profile names it).`,
        cause,
      },
    );
  }
}

/**
 * Parses the bank's address: `https`, or `http` on this computer (loopback), without a query. Keeps a path prefix, without its final slash.
 *
 * @throws Psd2Error `config`
 */
export function parseBaseUrl(text: string): URL {
  const refuse = (what: string, shown = ` ${JSON.stringify(text)}`): never => {
    throw new Psd2Error('config', `The base URL${shown} ${what}`, {
      hint: 'Use the form https://host[:port][/prefix].',
    });
  };
  const url = urlFrom(text);
  if (!url) return refuse('is not a URL');
  if (url.username || url.password) return refuse('contains a user name or password', '');
  if (url.protocol !== 'https:' && !isLoopback(url)) return refuse('is not https');
  if (/[?#]/.test(text)) return refuse('contains a query or a fragment');
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
  const url = urlFrom(text);
  if (url) {
    if (url.port !== '' && isBlockedPort(Number(url.port)))
      throw new Psd2Error(
        'config',
        `The redirect URI ${JSON.stringify(text)} has the port ${url.port}, which browsers refuse to open`,
        {
          hint: `Use another port, as in ${DEFAULT_REDIRECT_URI} (PSD2_REDIRECT_URI or the profile); it must be registered at the bank.`,
        },
      );
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
  const { label, variable } = SETTINGS[key];
  if (settings.sealed?.names.includes(key))
    throw new TypeError(`The ${label} of the profile was not decrypted before it was used`);
  throw new Psd2Error('config', `The profile ${JSON.stringify(profile)} has no ${label}`, {
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
    { hint: 'Use the registered name: printable ASCII without quotes and backslashes (PSD2_APP_NAME).' },
  );
}
