import { isPkcs12 } from '../../certificates/key-pair.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import { type ProfileSettings, parseProfileName } from '../../store/machine/profiles.ts';
import { parseBaseUrl, readSource } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { PAIR_SETTINGS } from '../open/keys.ts';
import { readStored, storeChange } from './change-profile.ts';
import { checkKeys, checkTexts } from './settings/check-settings.ts';
import { keepFiles, keeping } from './settings/kept-files.ts';
import { readSettingOptions } from './settings/read-options.ts';
import {
  isRemovable,
  type Removable,
  SETTING_OPTIONS,
  type SettingOptions,
  UNSETTABLE,
} from './settings/setting-options.ts';
import { SHOWN_SETTINGS } from './show.ts';

/** The options of `profile set` that `profile add` does not have. */
export interface SetOptions {
  /** Store paths instead of the contents of certificates and keys. */
  reference: boolean;
  /** The store of the profile on this machine: `files`, or the address of a database. */
  store?: string | undefined;
  /** Settings to remove, by the names of their options. */
  unset: string[];
  /** Read the client secret from `PSD2_CLIENT_SECRET`. */
  clientSecretEnv: boolean;
  /** Read the secret of the client_credentials application from `PSD2_CC_CLIENT_SECRET`. */
  ccClientSecretEnv: boolean;
}

/** The settings for TLS and signatures. If one changes, psd2 opens all certificates and keys again. */
const OF_KEYS = ['qwacCertificate', 'qwacKey', 'qsealCertificate', 'qsealKey', 'signer'] as const;

/**
 * `psd2 profile set <name>`: changes single settings of a stored profile. psd2 checks them as `profile add` does, and
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
  const { reference, unset, clientSecretEnv, ccClientSecretEnv, ...settings } = options;
  const isAlone = !reference && !clientSecretEnv && !ccClientSecretEnv && unset.length === 0;
  if (!isAlone || Object.keys(settings).length > 0) {
    throw new Psd2Error('usage', '--store cannot be combined with other settings', {
      hint: 'Set the store in a command of its own.',
    });
  }
  await (await import('./set-store.ts')).setStore(context, name, store);
}

async function setSettings(
  context: Context,
  name: string,
  { reference, unset, clientSecretEnv, ccClientSecretEnv, ...options }: SetOptions & SettingOptions,
): Promise<void> {
  parseProfileName(name);
  await readStored(context, name);
  const named = {
    ...(await readSettingOptions(context, options)),
    ...(clientSecretEnv && { clientSecret: secretIn(context, 'PSD2_CLIENT_SECRET') }),
    ...(ccClientSecretEnv && { ccClientSecret: secretIn(context, 'PSD2_CC_CLIENT_SECRET') }),
  };
  const removed = new Set(unset.flatMap(parseUnset));
  refuseUnclear(name, named, removed);
  if (named.baseUrl !== undefined) named.baseUrl = parseBaseUrl(named.baseUrl).href;
  const given = keepFiles(named, keeping(reference));
  for (const key of replacedKeys(given)) removed.add(key);
  const touchesKeys = OF_KEYS.some((key) => key in given || [...removed].some((each) => each === key));
  for (;;) {
    const before = await readStored(context, name);
    const settings = { ...before.settings, ...given };
    for (const key of removed) delete settings[key];
    checkTexts({ name, settings });
    if (touchesKeys) await checkKeys(context, { name, settings });
    if (await storeChange(context, name, before, settings)) return;
  }
}

function secretIn({ env }: Context, variable: string): string {
  const secret = env[variable]?.trim();
  if (secret) return secret;
  throw new Psd2Error('usage', `${variable} is not set, so psd2 cannot read the secret from it`);
}

/** The settings that `--unset <name>` removes: a certificate and its key go together. @throws Psd2Error `usage` */
function parseUnset(name: string): Removable[] {
  const setting = SHOWN_SETTINGS.find((key) => SETTING_OPTIONS[key] === name || key === name);
  if (setting === undefined) {
    throw new Psd2Error('usage', `Unknown setting ${JSON.stringify(name)}`, {
      hint: `${didYouMean(name, UNSETTABLE)}Settings that can be removed: ${UNSETTABLE.join(', ')}.`,
    });
  }
  if (!isRemovable(setting)) {
    throw new Psd2Error('usage', `A profile needs the setting ${SETTING_OPTIONS[setting]}`, {
      hint: 'Give it another value, or remove the whole profile with psd2 profile remove.',
    });
  }
  return setting === 'qsealCertificate' ? [setting, 'qsealKey'] : [setting];
}

/** @throws Psd2Error `usage` if no setting is given, a value is empty, or a setting is both given and removed */
function refuseUnclear(name: string, given: Partial<ProfileSettings>, removed: ReadonlySet<Removable>): void {
  const keys = SHOWN_SETTINGS.filter((key) => key in given);
  if (keys.length === 0 && removed.size === 0) {
    throw new Psd2Error('usage', 'No setting is given', {
      hint: 'Give at least one, or let psd2 ask for each:',
      next: [
        ['profile', 'set', name, '--max-amount', '500.00'],
        ['profile', 'edit', name],
      ],
    });
  }
  for (const key of keys) {
    const option = SETTING_OPTIONS[key];
    if (isRemovable(key) && removed.has(key))
      throw new Psd2Error('usage', `--${option} and --unset ${option} exclude each other`);
    if (given[key] === '') {
      throw new Psd2Error('usage', `The value of --${option} is empty`, {
        ...(isRemovable(key) && { hint: `To remove the setting: --unset ${option}.` }),
      });
    }
  }
}

/** The stored keys to remove, because the new certificate's file has its own key. */
function replacedKeys(given: Partial<ProfileSettings>): Removable[] {
  return Object.values(PAIR_SETTINGS).flatMap(({ certificate, key }) => {
    const source = given[certificate];
    if (!source || given[key]) return [];
    const content = readSource(source, certificate);
    return isPkcs12(content) || content.includes('PRIVATE KEY-----') ? [key] : [];
  });
}
