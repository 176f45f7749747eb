import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import { isSetting, SETTINGS, type SettingKey, shownSettings } from '../../store/machine/setting-table.ts';
import { environmentSettings, isControl, openProfile } from '../../store/machine/settings.ts';
import { chooseStore, hidePassword, StoreMemory } from '../../store/machine/store-choice.ts';
import { object, oneOf, record, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';

const SOURCES = ['option', 'environment', 'profile', 'default'] as const;

/** The settings that a command would use, without secrets. */
const profileSettings = object({
  name: text('name of the profile')
    .as('Profile')
    .shown(({ name, source }: Record<'name' | 'source', string>) => `${name} (${source})`),
  source: oneOf(SOURCES, 'what chose this profile'),
  protected: text('where the key of a protected profile comes from; no if it is not protected').as(
    'Protected',
  ),
  settings: record(
    object({ value: text('value that psd2 would use'), source: oneOf(SOURCES, 'where it comes from') }),
    'settings that have a value, by name',
  ),
});

/** What `profile show`, `profile set` and `profile edit` print. */
export const SETTINGS_OF_PROFILE = { what: 'the settings of a profile', shape: profileSettings };

export const show = verb(
  { prints: SETTINGS_OF_PROFILE, help: examples('psd2 profile show', 'psd2 profile show mybank') },
  (command) => command.argument('[profile]'),
  (context, name) => profileShow(context, name),
);

/**
 * Shows every value that a command would use, with its source: option, environment, profile
 * or default. It shows no secrets and no keys.
 */
export async function profileShow(context: Context, name: string | undefined): Promise<void> {
  const { profiles, folder, env, globals, output, sourceOf } = context;
  const profile = openProfile(profiles, name ?? globals.profile, env);
  const fromEnvironment = environmentSettings(env);
  const sealed = profile.settings.sealed?.names ?? [];
  const settings: ValueOf<typeof profileSettings>['settings'] = {};
  for (const key of shownSettings()) {
    const value = profile.settings[key];
    const isSealed = value === undefined && sealed.includes(key);
    const byDefault = isSealed ? 'encrypted' : SETTINGS[key].default;
    const shown = value === undefined ? byDefault : describeSetting(key, value);
    if (shown === undefined) continue;
    // Of what limits the operator, the stricter value counts.
    const isGiven = key in fromEnvironment && !(isControl(key) && value !== fromEnvironment[key]);
    const source = isGiven ? 'environment' : 'profile';
    settings[key] = { value: shown, source: value === undefined && !isSealed ? 'default' : source };
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
  const named = Object.entries(settings).map(([key, { value, source }]) => ({
    title: titleOf(key),
    value: () => `${value} (${source})`,
  }));
  output.record(
    data,
    profileSettings.withLines((lines) => [...lines, ...named]),
  );
}

/** What does not belong to the table of settings. */
const OTHER_TITLES: Readonly<Record<string, string>> = {
  store: 'store',
  keyPassphrase: 'key passphrase',
  timeout: 'time limit of a call',
  scaTimeout: 'time for the customer',
  psuIpAddress: 'IP address of the customer',
  language: 'language',
  traceComponent: 'component for traces',
};

/** The name of a setting as a person reads it. */
function titleOf(key: string): string {
  const title = isSetting(key) ? SETTINGS[key].label : (OTHER_TITLES[key] ?? key);
  return `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
}

/** Writes a setting for display. For a secret it says only that it is set. */
export function describeSetting(key: SettingKey, value: NonNullable<ProfileSettings[SettingKey]>): string {
  const { kind } = SETTINGS[key];
  if (kind === 'secret') return 'set';
  // A command's arguments may contain secrets.
  if (kind === 'program') return String(value).trim().replace(/\s.*$/s, ' …');
  if (typeof value !== 'string') return 'path' in value ? value.path : 'stored in the profile';
  return kind === 'bank' ? nameOfBank(value) : value;
}

/** A stored bank file has a name, or stands for one that has none. */
function nameOfBank(setting: string): string {
  if (!setting.startsWith('{')) return setting;
  const { data } = z.object({ name: z.string() }).safeParse(jsonIn(setting));
  return `${data ? `${data.name}, ` : ''}stored in the profile`;
}
