import type { ProfileSettings, StoredProfile } from '../../store/machine/profiles.ts';
import {
  environmentSettings,
  PEM_VARIABLES,
  parseBaseUrl,
  TEXT_VARIABLES,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { noSuchProfile } from './no-such-profile.ts';
import { describeSetting, profileShow, SHOWN_SETTINGS } from './show.ts';

/** A stored profile that is about to be changed. */
export interface StoredSettings {
  /** As its file has it. */
  stored: StoredProfile;
  /** With what is encrypted of it. */
  settings: ProfileSettings;
}

/** @throws Psd2Error `no_profile`, `config` when it can't be read or its key can't be had */
export async function readStored({ profiles }: Context, name: string): Promise<StoredSettings> {
  const stored = profiles.read(name);
  if (!stored) throw noSuchProfile(name, profiles.list());
  const { sealed: _, ...clear } = stored;
  return { stored, settings: { ...clear, ...(await profiles.readSealed(name)) } };
}

/**
 * Stores the settings that a profile is to have, and says what of it has changed.
 *
 * @returns whether they are stored: not when another process has changed the profile meanwhile
 * @throws Psd2Error `config`
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
  if (changes.length > 0 && !(await context.profiles.replace(name, stored, settings))) return false;
  if (context.output.format === 'table') tell(context, name, changes, !sameBank);
  else await profileShow(context, name);
  return true;
}

interface Change {
  key: (typeof SHOWN_SETTINGS)[number];
  text: string;
}

/** What differs, each as `maxAmount: 250.00 → 500.00`; of a secret only that it does. */
function changesBetween(before: ProfileSettings, after: ProfileSettings): Change[] {
  return SHOWN_SETTINGS.flatMap((key): Change[] => {
    const [was, is] = [before[key], after[key]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const shown = is === undefined ? 'not set' : describeSetting(key, is);
    const shownBefore = was === undefined ? 'not set' : describeSetting(key, was);
    return [
      { key, text: shown === shownBefore ? `${key}: another one` : `${key}: ${shownBefore} → ${shown}` },
    ];
  });
}

function tell(
  { terminal, env }: Context,
  name: string,
  changes: readonly Change[],
  hasOtherBank: boolean,
): void {
  if (changes.length === 0) {
    terminal.say(`The profile ${name} is as it was.`);
    return;
  }
  terminal.say([`The profile ${name} is changed.`, ...changes.map(({ text }) => `  ${text}`)].join('\n'));
  const variables: Partial<Record<string, string>> = { ...TEXT_VARIABLES, ...PEM_VARIABLES };
  const given = environmentSettings(env);
  for (const { key } of changes) {
    if (key in given)
      terminal.warn(`${variables[key] ?? 'PSD2_ENVIRONMENT'} is set, and goes before what is stored.`);
  }
  if (hasOtherBank)
    terminal.say(`A login holds for the base URL that granted it: psd2 --profile ${name} auth login`);
}
