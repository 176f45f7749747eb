import { X509Certificate } from 'node:crypto';
import { holdsNone } from '../../certificates/certificate-file.ts';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import { chainOf, type PairName, readCertificates } from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import { type SettingKey, type SettingOptions, shownSettings } from '../../store/machine/setting-table.ts';
import { examine, openSubject } from '../checks/check.ts';
import { connection } from '../checks/connection.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import { signature } from '../checks/signature.ts';
import type { Context } from '../context.ts';
import { openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';
import { type ChangedProfile, changedProfile, readStored, type StoredSettings } from './change.ts';
import { checkKeys, keepFiles, keeping, readSettingOptions, replacedKeys } from './given-settings.ts';

const PAIRS: readonly PairName[] = ['QWAC', 'QSealC'];

/** The certificates of a profile, by their SHA-256. A profile need not have both. */
type Prints = Partial<Record<PairName, string | undefined>>;

/** A stored profile, or why it could not be read. */
interface Found {
  name: string;
  prints: Prints;
  /** The organization identifiers in its certificates. */
  organizations: Prints;
  failure?: Psd2Error;
}

/**
 * Gives the new certificates to all profiles that have the old ones. Before a profile changes, psd2 makes one call to its bank
 * with the new certificate. If that fails, the profile keeps the old one, and the others go on.
 *
 * @throws Psd2Error `usage` if no certificate is given, or it is unclear which one is the old one. `config`, `certificate`. After
 *   the output: the kind of the first failure
 */
export async function setAll(
  context: Context,
  { reference, ...options }: SettingOptions & { reference: boolean },
): Promise<void> {
  const newSettings = keepFiles(await readSettingOptions(context, options), keeping(reference));
  const pairs = PAIRS.filter((pair) => newSettings[PAIR_SETTINGS[pair].certificate]);
  const allowed: SettingKey[] = pairs.flatMap((pair) => Object.values(PAIR_SETTINGS[pair]));
  if (pairs.length === 0 || shownSettings().some((key) => key in newSettings && !allowed.includes(key)))
    throw new Psd2Error('usage', '--all changes certificates and their keys, and nothing else', {
      hint: 'Give at least one certificate:',
      next: [['profile', 'set', '--all', '--qwac-cert', 'new-qwac.pem', '--qwac-key', 'new-qwac.key']],
    });
  const next: Prints = {};
  const old: Prints = {};
  const profiles = await Promise.all(context.profiles.list().map((name) => read(context, name)));
  for (const pair of pairs) {
    const certificate = await certificateOf(context, newSettings, pair);
    next[pair] = certificate?.fingerprint256;
    old[pair] = certificate && (await oldOf(context, profiles, pair, certificate));
  }
  const rows: ChangedProfile[] = [];
  const failures: Psd2Error[] = [];
  for (const profile of profiles) {
    const wanted = pairs.filter((pair) => old[pair] !== undefined && profile.prints[pair] === old[pair]);
    try {
      if (profile.failure) throw profile.failure;
      if (wanted.length > 0) await change(context, profile.name, settingsOf(newSettings, wanted));
      rows.push(rowOf(profile, wanted, pairs, next));
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      failures.push(error);
      rows.push({ profile: profile.name, result: 'failed', detail: error.message });
    }
  }
  await printChanges(context, rows, failures);
}

async function printChanges(
  context: Context,
  rows: ChangedProfile[],
  [failure, ...more]: Psd2Error[],
): Promise<void> {
  await context.output.table(rows, changedProfile, 'There is no profile.');
  if (!failure) return;
  const count = more.length + 1;
  throw new Psd2Error(
    failure.code,
    `${count} of ${rows.length} profiles ${count === 1 ? 'was' : 'were'} not changed: ${failure.message}`,
    failure.context,
  );
}

async function read(context: Context, name: string): Promise<Found> {
  try {
    const { settings } = await readStored(context, name);
    const profile: Found = { name, prints: {}, organizations: {} };
    for (const pair of PAIRS) {
      const certificate = await certificateOf(context, settings, pair);
      if (!certificate) continue;
      profile.prints[pair] = certificate.fingerprint256;
      profile.organizations[pair] = organizationOf(certificate);
    }
    return profile;
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return { name, prints: {}, organizations: {}, failure: error };
  }
}

/** The certificate of a pair that psd2 uses, wherever it stands in its file. */
async function certificateOf(
  context: Context,
  settings: Partial<ProfileSettings>,
  pair: PairName,
): Promise<X509Certificate | undefined> {
  if (!settings[PAIR_SETTINGS[pair].certificate]) return undefined;
  const { certificate } = await openKeyRing(context, { name: '', settings }).read(pair);
  const first = firstOf(settings, pair, certificate);
  const [used] = chainOf(readCertificates(`The ${pair} certificate`, certificate), context.world.now());
  return used ?? first;
}

/** The first certificate of a file, which shows whether it has any. @throws Psd2Error `certificate` */
function firstOf(settings: Partial<ProfileSettings>, pair: PairName, certificate: string): X509Certificate {
  try {
    return new X509Certificate(certificate);
  } catch (cause) {
    const source = settings[PAIR_SETTINGS[pair].certificate];
    if (source && 'path' in source) throw holdsNone(source.path, cause, certificate);
    throw new Psd2Error('certificate', `The ${pair} certificate cannot be read`, { cause });
  }
}

function organizationOf({ raw }: X509Certificate): string | undefined {
  return readEidasCertificate(raw).organizationIdentifier;
}

/**
 * The certificate that the new one replaces: the one of the profile in use, if it may be that one, or else the only one. If profiles
 * have certificates of the same organization as the new one, it is among these.
 *
 * @returns undefined if all profiles have the new one already
 * @throws Psd2Error `usage` if there are several, or no profile has one
 */
async function oldOf(
  context: Context,
  profiles: readonly Found[],
  pair: PairName,
  certificate: X509Certificate,
): Promise<string | undefined> {
  const organization = organizationOf(certificate);
  const hasNew = profiles.some(({ prints }) => prints[pair] === certificate.fingerprint256);
  const olds = profiles.filter(
    ({ prints }) => ![undefined, certificate.fingerprint256].includes(prints[pair]),
  );
  const ofSame = olds.filter(({ organizations }) => organizations[pair] === organization);
  const owners = new Map<string, string[]>();
  for (const { name, prints } of ofSame.length > 0 || hasNew ? ofSame : olds) {
    const print = prints[pair] ?? '';
    owners.set(print, [...(owners.get(print) ?? []), name]);
  }
  const current = context.globals.profile ?? context.profiles.current();
  const own = profiles.find(({ name }) => name === current)?.prints[pair];
  if (own !== undefined && owners.has(own)) return own;
  const [first, ...more] = owners.keys();
  if (more.length === 0 && (first !== undefined || hasNew)) return first;
  const who = [...owners.values()].map((names) => names.join(', ')).join('; ');
  throw new Psd2Error(
    'usage',
    first === undefined
      ? `No profile has a ${pair}`
      : `It is unclear which ${pair} is the old one: profiles with the same one: ${who}`,
    {
      hint:
        first === undefined
          ? 'Give the certificate to a profile by its name.'
          : 'Name a profile that has it with --profile.',
    },
  );
}

/** The settings of some pairs. */
function settingsOf(
  newSettings: Partial<ProfileSettings>,
  pairs: readonly PairName[],
): Partial<ProfileSettings> {
  const keys: SettingKey[] = pairs.flatMap((pair) => Object.values(PAIR_SETTINGS[pair]));
  return Object.fromEntries(Object.entries(newSettings).filter(([key]) => keys.some((each) => each === key)));
}

/** Changes a profile after a check at its bank. @throws Psd2Error if the check fails, or the profile cannot be written */
async function change(context: Context, name: string, newSettings: Partial<ProfileSettings>): Promise<void> {
  for (;;) {
    const { stored, settings: before }: StoredSettings = await readStored(context, name);
    const settings = { ...before, ...newSettings };
    for (const key of replacedKeys(newSettings)) delete settings[key];
    await checkKeys(context, { name, settings });
    const diagnosis = new Diagnosis();
    await examine(openSubject(context.forProfile({ name, settings }), diagnosis), [connection, signature]);
    if (diagnosis.failure) throw diagnosis.failure;
    await recordProfileChange(context, name, Object.keys(newSettings).join(' '));
    if (await context.profiles.replace(name, stored, settings)) return;
  }
}

function rowOf(
  { name, prints }: Found,
  changed: readonly PairName[],
  pairs: readonly PairName[],
  next: Prints,
): ChangedProfile {
  if (changed.length > 0)
    return { profile: name, result: 'changed', detail: `${changed.join(' and ')}; its bank accepts it` };
  const [has, lacks]: [PairName[], PairName[]] = [[], []];
  for (const pair of pairs)
    (prints[pair] !== undefined && prints[pair] === next[pair] ? has : lacks).push(pair);
  const another = `another ${lacks.join(' and ')}, or none`;
  if (has.length === 0) return { profile: name, result: 'unchanged', detail: `it has ${another}` };
  const detail =
    lacks.length === 0
      ? 'it has the new one already'
      : `it has the new ${has.join(' and ')} already, and ${another}`;
  return { profile: name, result: 'unchanged', detail };
}
