import type { ProfileSettings } from '../../store/machine/profiles.ts';
import {
  DEFAULT_REDIRECT_URI,
  DEFAULT_TPP_CERTIFICATE,
  environmentSettings,
  openProfile,
} from '../../store/machine/settings.ts';
import { chooseStore, hidePassword } from '../../store/machine/store-choice.ts';
import { StoreMemory } from '../../store/machine/store-memory.ts';
import type { Context, Source } from '../context.ts';
import { profileSettings } from './shape.ts';

/** A value that a command would use, and where it comes from. */
interface ShownValue {
  value: string;
  source: Source;
}

/**
 * `psd2 profile show [name]`: shows every value that a command would use, with its source: option, environment, profile
 * or default. It shows no secrets and no keys.
 */
export async function profileShow(context: Context, name: string | undefined): Promise<void> {
  const { profiles, folder, env, globals, output, sourceOf } = context;
  const profile = openProfile(profiles, name ?? globals.profile, env);
  const given = environmentSettings(env);
  const sealed = profile.settings.sealed?.names ?? [];
  const settings: Record<string, ShownValue> = {};
  for (const key of SHOWN_SETTINGS) {
    const value = profile.settings[key];
    const isSealed = value === undefined && sealed.includes(key);
    const shown = isSealed ? 'encrypted' : value === undefined ? DEFAULTS[key] : describeSetting(key, value);
    if (shown === undefined) continue;
    const source = isSealed
      ? 'profile'
      : value === undefined
        ? 'default'
        : key in given
          ? 'environment'
          : 'profile';
    settings[key] = { value: shown, source };
  }
  const chosen = chooseStore(env, new StoreMemory(folder, profile.name).read());
  settings.store = {
    value: chosen.address === undefined ? `files in ${folder.root}` : hidePassword(chosen.address),
    source: chosen.source,
  };
  const passphrase = env.PSD2_KEY_PASSPHRASE ? 'set' : undefined;
  if (passphrase) settings.keyPassphrase = { value: passphrase, source: 'environment' };
  const options = [
    ['timeout', 'timeout', `${globals.timeoutMs / 1000} s`],
    ['scaTimeout', 'scaTimeout', `${globals.scaTimeoutMs / 1000} s`],
    ['psuIpAddress', 'psuIp', globals.psuIpAddress],
    ['language', 'lang', globals.language],
    ['traceComponent', 'trace', globals.traceComponent],
  ] as const;
  for (const [key, option, value] of options) {
    if (value !== undefined) settings[key] = { value, source: sourceOf(option) };
  }
  const source = name === undefined ? sourceOf('profile') : 'option';
  const data = { name: profile.name, source, protected: profiles.vault(profile.name).kind ?? 'no', settings };
  output.record(
    data,
    [
      { title: 'Profile', value: () => `${profile.name} (${source})` },
      { title: 'Protected', value: () => data.protected },
      ...Object.entries(settings).map(([key, { value, source }]) => ({
        title: key,
        value: () => `${value} (${source})`,
      })),
    ],
    profileSettings,
  );
}

/** All settings, in the order of display. */
export const SHOWN_SETTINGS = [
  'baseUrl',
  'clientId',
  'clientSecret',
  'applicationName',
  'ccClientId',
  'ccClientSecret',
  'ccApplicationName',
  'ccDailyLimit',
  'environment',
  'redirectUri',
  'maxAmount',
  'payeeCheck',
  'signer',
  'tppCertificate',
  'qwacCertificate',
  'qwacKey',
  'qsealCertificate',
  'qsealKey',
  'ca',
  'bankSigningCertificate',
] as const satisfies (keyof ProfileSettings)[];

/** The values of settings that are not set. */
const DEFAULTS: Partial<Record<(typeof SHOWN_SETTINGS)[number], string>> = {
  redirectUri: DEFAULT_REDIRECT_URI,
  tppCertificate: DEFAULT_TPP_CERTIFICATE,
  qsealCertificate: 'none: the QWAC signs',
  ca: "the system's",
};

/** Writes a setting for display. For a secret it says only that it is set. */
export function describeSetting(
  key: (typeof SHOWN_SETTINGS)[number],
  value: NonNullable<ProfileSettings[keyof ProfileSettings]>,
): string {
  if (key === 'clientSecret' || key === 'ccClientSecret') return 'set';
  // A command's arguments may hold secrets.
  if (key === 'signer' || key === 'payeeCheck') return String(value).trim().replace(/\s.*$/s, ' …');
  if (typeof value === 'string') return value;
  return 'path' in value ? value.path : 'stored in the profile';
}
