import { Option } from '@commander-js/extra-typings';
import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import { type ProfileSettings, parseProfileName } from '../../store/machine/profiles.ts';
import {
  isOptional,
  type OptionalSetting,
  removableOptions,
  SETTINGS,
  type SettingOptions,
  secretVariableOptions,
  settingKeys,
  settingOptions,
  settingsOf,
  shownSettings,
} from '../../store/machine/setting-table.ts';
import { parseBaseUrl } from '../../store/machine/settings.ts';
import { list } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { changedProfile, profileInUse, readStored, storeChange } from './change.ts';
import {
  checkKeys,
  checkTexts,
  keepFiles,
  keeping,
  readSettingOptions,
  refuseWrongTexts,
  replacedKeys,
  withSettingOptions,
} from './given-settings.ts';

import { SETTINGS_OF_PROFILE } from './show.ts';

export const set = verb(
  {
    prints: SETTINGS_OF_PROFILE,
    printsWith: { '--all': { what: 'what became of each profile', shape: list(changedProfile) } },
    help: `
Without a name, psd2 changes the profile in use. It checks the settings as psd2 profile add does, and stores all of them or none.

With --all, psd2 gives a new certificate to every profile that has the old one: the only one of the same organization, or the one
of the profile in use (--profile). First it makes one call to the bank of each profile with the new certificate. If a bank does
not accept it, that profile keeps the old one.

Set --store in a command of its own. It also takes the profile env, whose settings come from the environment. psd2 asks
first if payments stay behind in the current store. Set the password of a database in PGPASSWORD or PGPASSFILE, not here.
${examples(
  'psd2 profile set mybank --max-amount 500.00',
  'psd2 profile set mybank --qwac-cert qwac-2027.pem --qwac-key qwac-2027.key',
  'psd2 profile set --all --qwac-cert qwac-2027.pem --qwac-key qwac-2027.key',
  'psd2 profile set mybank --client-secret-file secret.txt --unset payee-check',
  'psd2 profile set mybank --store postgres://worker@db.example:5432/bank',
)}`,
  },
  (command) =>
    withSettingOptions(command.argument('[profile]'), [...settingOptions(), ...secretVariableOptions()])
      .addOption(
        new Option('--unset <setting>', 'remove a setting, named like its option; may be repeated')
          .choices(removableOptions())
          .argParser(collect)
          .default<string[]>([]),
      )
      .option('--all', 'change the certificates of all profiles that have the old ones')
      .option('--reference', 'store the paths of certificates and keys instead of their contents')
      .option(
        '--store <store>',
        'store that the profile uses on this machine: files, or postgres://user@host:5432/database',
      ),
  (context, name, { all, reference, ...options }) => {
    const changes = { ...options, reference: reference === true };
    if (all) return setAllProfiles(context, name, changes);
    return profileSet(context, name ?? profileInUse(context), changes);
  },
);

async function setAllProfiles(
  context: Context,
  name: string | undefined,
  { store, unset, ...options }: SetOptions & SettingOptions,
): Promise<void> {
  if (name !== undefined || store !== undefined || unset.length > 0)
    throw new Psd2Error('usage', '--all takes certificates and keys, and no profile');
  await (await import('./set-all.ts')).setAll(context, options);
}

/** The options of `profile set` that `profile add` does not have. */
interface SetOptions {
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
  /** The store of the profile on this machine: `files`, or the address of a database. */
  store?: string | undefined;
  /** Settings to remove, by the names of their options. */
  unset: string[];
}

/**
 * Changes single settings of a stored profile. psd2 checks them as `profile add` does, and
 * stores all of them or none.
 *
 * @throws Psd2Error `usage` if no setting is given or one is invalid, `no_profile`, `config`, `certificate`
 */
export async function profileSet(
  context: Context,
  name: string,
  { store, ...options }: SetOptions & SettingOptions,
): Promise<void> {
  if (store === undefined) return setSettings(context, name, options);
  const { reference, unset, ...settings } = options;
  if (reference || unset.length > 0 || Object.keys(settings).length > 0)
    throw new Psd2Error('usage', '--store cannot be combined with other settings', {
      hint: 'Set the store in a command of its own.',
    });
  await (await import('./set-store.ts')).setStore(context, name, store);
}

async function setSettings(
  context: Context,
  name: string,
  { reference, unset, ...options }: SetOptions & SettingOptions,
): Promise<void> {
  parseProfileName(name);
  await readStored(context, name);
  const named = await readSettingOptions(context, options);
  const removed = new Set(unset.flatMap(parseUnset));
  refuseUnclear(name, named, removed);
  refuseWrongTexts(named);
  if (named.baseUrl !== undefined) named.baseUrl = parseBaseUrl(named.baseUrl).href;
  if (named.bank !== undefined)
    named.bank = (await (await import('../open/bank-file.ts')).contentOfBank(named.bank)).content;
  const newSettings = keepFiles(named, keeping(reference));
  for (const key of replacedKeys(newSettings)) removed.add(key);
  // If a setting for TLS or signatures changes, psd2 opens all certificates and keys again.
  const changed = [...Object.keys(newSettings), ...removed];
  const touchesKeys = settingsOf('pairs', 'signer').some((key) => changed.includes(key));
  for (;;) {
    const before = await readStored(context, name);
    const settings = { ...before.settings, ...newSettings };
    for (const key of removed) delete settings[key];
    checkTexts({ name, settings });
    if (touchesKeys) await checkKeys(context, { name, settings });
    if (await storeChange(context, name, before, settings)) return;
  }
}

/** The settings that `--unset <name>` removes: a certificate and its key go together. @throws Psd2Error `usage` */
function parseUnset(name: string): OptionalSetting[] {
  const setting = settingKeys().find((key) => SETTINGS[key].option === name || key === name);
  if (setting === undefined) {
    const removable = removableOptions();
    throw new Psd2Error('usage', `Unknown setting ${JSON.stringify(name)}`, {
      hint: `${didYouMean(name, removable)}Settings that can be removed: ${removable.join(', ')}.`,
    });
  }
  if (!isOptional(setting))
    throw new Psd2Error('usage', `A profile needs the setting ${SETTINGS[setting].option}`, {
      hint: 'Give it another value, or remove the whole profile with psd2 profile remove.',
    });
  return setting === 'qsealCertificate' ? [setting, 'qsealKey'] : [setting];
}

/** @throws Psd2Error `usage` if no setting is given, a value is empty, or a setting is both given and removed */
function refuseUnclear(
  name: string,
  settings: Partial<ProfileSettings>,
  removed: ReadonlySet<OptionalSetting>,
): void {
  const keys = shownSettings().filter((key) => key in settings);
  if (keys.length === 0 && removed.size === 0)
    throw new Psd2Error('usage', 'No setting is given', {
      hint: 'Give at least one, or let psd2 ask for each:',
      next: [
        ['profile', 'set', name, '--max-amount', '500.00'],
        ['profile', 'edit', name],
      ],
    });
  for (const key of keys) {
    const { option } = SETTINGS[key];
    if (isOptional(key) && removed.has(key))
      throw new Psd2Error('usage', `--${option} and --unset ${option} cannot be used together`);
    if (settings[key] === '')
      throw new Psd2Error('usage', `The value of --${option} is empty`, {
        ...(isOptional(key) && { hint: `To remove the setting: --unset ${option}.` }),
      });
  }
}
