import type { ProfileSettings, StoredProfile } from '../../store/machine/profiles.ts';
import {
  environmentSettings,
  PEM_VARIABLES,
  parseBaseUrl,
  TEXT_VARIABLES,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { confirmOtherBank } from './confirm-bank.ts';
import { noSuchProfile } from './no-such-profile.ts';
import { describeSetting, profileShow, SHOWN_SETTINGS } from './show.ts';

/** A stored profile before a change. */
export interface StoredSettings {
  /** The contents of its file. */
  stored: StoredProfile;
  /** All settings, also the encrypted ones. */
  settings: ProfileSettings;
}

/** @throws Psd2Error `no_profile`, `config` if psd2 cannot read it or get its key */
export async function readStored({ profiles }: Context, name: string): Promise<StoredSettings> {
  const stored = profiles.read(name);
  if (!stored) throw noSuchProfile(name, profiles.list());
  const { sealed: _, ...clear } = stored;
  return { stored, settings: { ...clear, ...(await profiles.readSealed(name)) } };
}

/**
 * Stores the new settings of a profile and reports what has changed.
 *
 * @returns false if another process has changed the profile meanwhile: nothing is stored then
 * @throws Psd2Error `config`; as {@link confirmOtherBank}
 */
export async function storeChange(
  context: Context,
  name: string,
  { stored, settings: before }: StoredSettings,
  wanted: ProfileSettings,
): Promise<boolean> {
  const sameBank = parseBaseUrl(before.baseUrl).href === parseBaseUrl(wanted.baseUrl).href;
  const settings = { ...wanted, ...(sameBank && { baseUrl: before.baseUrl }) };
  const changes = changesBetween(before, settings);
  await confirmOtherBank(context, name, { before: before.baseUrl, after: settings.baseUrl });
  if (changes.length > 0 && !(await context.profiles.replace(name, stored, settings))) return false;
  if (context.output.format === 'table') reportChanges(context, name, changes, !sameBank);
  else await profileShow(context, name);
  return true;
}

interface Change {
  key: (typeof SHOWN_SETTINGS)[number];
  text: string;
}

/** The differences, each as `maxAmount: 250.00 → 500.00`. For a secret it says only that it has changed. */
function changesBetween(before: ProfileSettings, after: ProfileSettings): Change[] {
  return SHOWN_SETTINGS.flatMap((key): Change[] => {
    const [was, is] = [before[key], after[key]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const shown = is === undefined ? 'not set' : describeSetting(key, is);
    const shownBefore = was === undefined ? 'not set' : describeSetting(key, was);
    return [{ key, text: shown === shownBefore ? `${key}: changed` : `${key}: ${shownBefore} → ${shown}` }];
  });
}

function reportChanges(
  { terminal, env }: Context,
  name: string,
  changes: readonly Change[],
  hasOtherBank: boolean,
): void {
  if (changes.length === 0) {
    terminal.say(`The profile ${name} is unchanged.`);
    return;
  }
  terminal.say([`The profile ${name} has changed:`, ...changes.map(({ text }) => `  ${text}`)].join('\n'));
  const variables: Partial<Record<string, string>> = { ...TEXT_VARIABLES, ...PEM_VARIABLES };
  const given = environmentSettings(env);
  for (const { key } of changes) {
    if (key in given)
      terminal.warn(`${variables[key] ?? 'PSD2_ENVIRONMENT'} is set and overrides the stored value.`);
  }
  if (hasOtherBank)
    terminal.say(
      `A login is valid only for its own base URL. Log in again: psd2 --profile ${name} auth login`,
    );
}
