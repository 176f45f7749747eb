import { ACCESS, writeCommand } from '../../advice.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import type { ProfileSettings, StoredProfile } from '../../store/machine/profiles.ts';
import { SETTINGS, type SettingKey, shownSettings } from '../../store/machine/setting-table.ts';
import { environmentSettings, isControl, parseBaseUrl } from '../../store/machine/settings.ts';
import { object, oneOf, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { describeAtBank, recordsAt } from '../open/other-logins.ts';
import { confirmed } from '../shared/confirmed.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';
import { describeSetting, profileShow } from './show.ts';

/** The error for an unknown profile. It lists the profiles that exist. */
export function noSuchProfile(name: string, names: string[]): Psd2Error {
  return new Psd2Error('no_profile', `There is no profile ${JSON.stringify(name)}`, {
    ...(names.length > 0
      ? { hint: `${didYouMean(name, names)}Existing profiles: ${names.join(', ')}.` }
      : { hint: 'Add it with:', next: [['profile', 'add', name]] }),
  });
}

/** The name of the profile in use. @throws Psd2Error `no_profile` */
export function profileInUse({ profiles, globals }: Context): string {
  const name = globals.profile ?? profiles.current();
  if (name !== undefined) return name;
  const names = profiles.list();
  throw new Psd2Error('no_profile', 'No profile is chosen', {
    ...(names.length > 0 ? { hint: `Name one: ${names.join(', ')}.` } : { next: [['profile', 'add']] }),
  });
}

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
  if (changes.length > 0) await recordProfileChange(context, name, changes.map(inAudit).join(' '));
  if (changes.length > 0 && !(await context.profiles.replace(name, stored, settings))) return false;
  if (context.output.format === 'table') await reportChanges(context, name, changes, !sameBank);
  else await profileShow(context, name);
  return true;
}

interface Change {
  key: SettingKey;
  text: string;
}

/** The differences, each as `maxAmount: 250.00 → 500.00`. For a secret it says only that it has changed. */
function changesBetween(before: ProfileSettings, after: ProfileSettings): Change[] {
  return shownSettings().flatMap((key): Change[] => {
    const [was, is] = [before[key], after[key]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const shown = is === undefined ? 'not set' : describeSetting(key, is);
    const shownBefore = was === undefined ? 'not set' : describeSetting(key, was);
    return [{ key, text: shown === shownBefore ? `${key}: changed` : `${key}: ${shownBefore} → ${shown}` }];
  });
}

/** What limits the operator is recorded with its values, so that the audit says what was lowered. Of others, their names. */
function inAudit({ key, text }: Change): string {
  return isControl(key) ? `(${text})` : key;
}

async function reportChanges(
  context: Context,
  name: string,
  changes: readonly Change[],
  hasOtherBank: boolean,
): Promise<void> {
  const { terminal, env } = context;
  if (changes.length === 0) {
    terminal.say(`The profile ${name} is unchanged.`);
    return;
  }
  terminal.say([`The profile ${name} has changed:`, ...changes.map(({ text }) => `  ${text}`)].join('\n'));
  const fromEnvironment = environmentSettings(env);
  for (const { key } of changes) {
    if (key in fromEnvironment)
      terminal.warn(
        `${SETTINGS[key].variable} is set and ${isControl(key) ? 'counts where it is stricter' : 'overrides the stored value'}.`,
      );
  }
  if (hasOtherBank)
    terminal.say(
      `Logins and consents are valid only for their own base URL. ${await firstCommand(context, name)}`,
    );
}

/** What comes next with a new profile, or at another bank: a login, or the consent of a customer. */
export async function firstCommand(context: Context, name: string): Promise<string> {
  const { logsIn } = await context.forProfile(name).bankInterface();
  const what = logsIn === 'customers' ? 'Log in' : 'Ask a customer for a consent';
  const words = logsIn === 'customers' ? ACCESS.customers : ACCESS.nobody;
  return `${what} with: ${writeCommand([...words], { profile: name })}`;
}

/**
 * Asks before a profile gets another base URL, if it has logins at the current one: they are not valid at the other.
 *
 * @throws Psd2Error `confirmation_needed`, `cancelled`; `config` if the store cannot be used
 */
export async function confirmOtherBank(
  context: Context,
  name: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  const [present, next] = [parseBaseUrl(before).href, parseBaseUrl(after).href];
  if (present === next) return;
  const records = await recordsAt((await context.forProfile(name).wholeStore()).open(name), present);
  if (records.logins + records.customers === 0) return;
  const isOne = records.logins === 1 && records.customers === 0;
  const belong = `${describeAtBank(records)} of the profile ${name} ${isOne ? 'belongs' : 'belong'} to ${present}`;
  const them = isOne ? 'it' : 'them';
  const moving = writeCommand(['--profile', name, 'auth', 'move', '--from', present]);
  context.terminal.say(
    `${belong}. psd2 keeps ${them}, but cannot use ${them} at ${next}. If it is the same bank with a new address, take ${them} along afterwards: ${moving}`,
  );
  await confirmed(context, {
    text: 'Change the base URL?',
    unasked: belong,
    hint: `A login is valid only at its own base URL. Add --yes to change it, or add a profile for the other one. If it is the same bank with a new address, then take ${them} along: ${moving}`,
    declined: 'Nothing was stored',
  });
}

/** What `psd2 profile set --all` prints. */
export const changedProfile = object({
  profile: text('name of the profile').as('Profile', { whole: true }),
  result: oneOf(
    ['changed', 'unchanged', 'failed'],
    'unchanged: it did not have the old certificate; failed: it keeps the old one',
  ).as('Result', { kind: 'state' }),
  detail: text('what was changed, or why not').as('Detail'),
});

export type ChangedProfile = ValueOf<typeof changedProfile>;
