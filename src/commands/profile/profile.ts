import { existsSync } from 'node:fs';
import { didYouMean } from '../../did-you-mean.ts';
import { isOpen } from '../../domain/flow-states.ts';
import { isOutcomeOpen } from '../../domain/operation.ts';
import { needsSettlement, type Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/flow-kinds.ts';
import { FlowJournal } from '../../store/journal.ts';
import { type ProfileSettings, type ProfileStore, parseProfileName } from '../../store/profiles.ts';
import {
  DEFAULT_REDIRECT_URI,
  DEFAULT_TPP_CERTIFICATE,
  environmentSettings,
  openProfile,
} from '../../store/settings.ts';
import type { Context, Source } from '../context.ts';

interface ListedProfile {
  name: string;
  baseUrl: string;
  current: boolean;
}

/** `psd2 profile list` */
export async function profileList({ profiles, output }: Context): Promise<void> {
  const current = profiles.current();
  const listed = profiles.list().map(
    (name): ListedProfile => ({
      name,
      baseUrl: profiles.read(name)?.baseUrl ?? '',
      current: name === current,
    }),
  );
  await output.table(
    listed,
    [
      { title: '', value: (profile) => (profile.current ? '*' : ' ') },
      { title: 'PROFILE', value: ({ name }) => name, whole: true },
      { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    ],
    'There are no profiles. Run psd2 profile add <name>, or psd2 sandbox start to try the sandbox.',
    ['name', 'baseUrl', 'current'],
  );
}

/** A value that a command would use, and where it comes from. */
interface ShownValue {
  value: string;
  source: Source;
}

/**
 * `psd2 profile show [name]`: every value that a command of this profile would use, with its source: option,
 * environment, profile or default; never a secret or a key.
 */
export async function profileShow(context: Context, name: string | undefined): Promise<void> {
  const { profiles, env, globals, output, sourceOf } = context;
  const profile = openProfile(profiles, name ?? globals.profile, env);
  const given = environmentSettings(env);
  const sealed = profile.settings.sealed?.names ?? [];
  const settings: Record<string, ShownValue> = {};
  for (const key of SHOWN_SETTINGS) {
    const value = profile.settings[key];
    const isSealed = value === undefined && sealed.includes(key);
    const shown = isSealed ? 'encrypted' : value === undefined ? DEFAULTS[key] : describe(key, value);
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
  output.record(data, [
    { title: 'Profile', value: () => `${profile.name} (${source})` },
    { title: 'Protected', value: () => data.protected },
    ...Object.entries(settings).map(([key, { value, source }]) => ({
      title: key,
      value: () => `${value} (${source})`,
    })),
  ]);
}

/** `psd2 profile use <name>` */
export async function profileUse({ profiles, terminal, output }: Context, name: string): Promise<void> {
  const chosen = profiles.read(name);
  if (!chosen) throw noSuchProfile(name, profiles.list());
  await profiles.use(name);
  if (output.format === 'table')
    terminal.say(`The profile ${name} is now the one that is used without --profile.`);
  else output.record({ name, baseUrl: chosen.baseUrl, current: true }, []);
}

/** `psd2 profile remove <name>`: its settings and tokens, after asking; the record of its payments stays. */
export async function profileRemove(context: Context, name: string): Promise<void> {
  const { profiles, terminal, output, folder, world } = context;
  if (!profiles.list().includes(parseProfileName(name))) throw noSuchProfile(name, profiles.list());
  const journal = new FlowJournal(folder, name, world.now, world.random);
  // With what is open no new transfer begins between the look and the removal.
  await journal.locked(async () => {
    const [working] = await journal.atWork();
    if (working) {
      const { flow, holder } = working;
      throw new Psd2Error('config', `psd2 is at work on ${flow} of the profile ${name}: ${holder}`, {
        hint: 'Wait for it to end, or interrupt it. Nothing was removed.',
      });
    }
    // A damaged journal ends this: its payment may be in doubt.
    const operations = [...journal.transfers(), ...journal.operations()];
    refuseInDoubt(operations, name);
    await confirmRemoval(context, operations, name);
    await profiles.remove(name);
    await forgetKey(context, name);
  });
  if (output.format === 'table')
    terminal.say(
      existsSync(folder.flows(name))
        ? `The profile ${name} is removed. The record of its flows stays in ${folder.flows(name)}.`
        : `The profile ${name} is removed.`,
    );
  else output.record({ name, removed: true }, []);
}

/** The profile is gone, whether the keyring lets go of its key or not. */
async function forgetKey({ profiles, terminal }: Context, name: string): Promise<void> {
  try {
    await profiles.vault(name).forget();
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    terminal.warn(`Its key, which opens nothing any more, stays where it was: ${error.message}.`);
  }
}

/** @throws Psd2Error `config` when it is open whether money moved, or it is about to */
function refuseInDoubt(operations: (Transfer | GenericOperation)[], name: string): void {
  const inDoubt = operations.filter(
    (operation) =>
      operation.state === 'authorized' ||
      isOutcomeOpen(operation, 'instant' in operation.order && needsSettlement(operation.order)),
  );
  if (inDoubt.length === 0) return;
  throw new Psd2Error(
    'config',
    `The profile ${name} has payments that did not come to an end: ${nameFlows(inDoubt)}`,
    {
      hint: `First: ${inDoubt
        .slice(0, 3)
        .map(({ kind, flow }) => `psd2 --profile ${name} ${kind} resume ${flow}`)
        .join('; ')}`,
    },
  );
}

/** @throws Psd2Error `cancelled`, `confirmation_needed` */
async function confirmRemoval(
  { terminal, globals, profiles }: Context,
  operations: (Transfer | GenericOperation)[],
  name: string,
): Promise<void> {
  const begun = operations.filter(isOpen);
  if (begun.length > 0) {
    terminal.warn(
      `Begun and not executed, and without the profile they can't be resumed: ${nameFlows(begun)}.`,
    );
  }
  if (globals.yes) return;
  if (!terminal.canAsk) {
    throw new Psd2Error(
      'confirmation_needed',
      'Removing a profile has to be confirmed, and there is no terminal to ask at',
      { hint: 'Add --yes.' },
    );
  }
  if (isProduction(profiles, name)) terminal.mark(`PRODUCTION ${name}`);
  if (!(await terminal.confirm(`Remove the profile ${name} with its certificates and tokens?`))) {
    throw new Psd2Error('cancelled', 'Nothing was removed');
  }
}

function nameFlows(flows: { flow: string; state: string }[]): string {
  const named = flows.slice(0, 5).map(({ flow, state }) => `${flow} (${state})`);
  return named.concat(flows.length > 5 ? [`and ${flows.length - 5} more`] : []).join(', ');
}

/** A profile whose file is damaged can be removed all the same. */
function isProduction(profiles: ProfileStore, name: string): boolean {
  try {
    return profiles.read(name)?.environment === 'production';
  } catch {
    return false;
  }
}

function noSuchProfile(name: string, known: string[]): Psd2Error {
  return new Psd2Error('no_profile', `There is no profile ${JSON.stringify(name)}`, {
    hint:
      known.length > 0
        ? `${didYouMean(name, known)}There is: ${known.join(', ')}.`
        : 'Run psd2 profile add <name>.',
  });
}

const SHOWN_SETTINGS = [
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

/** What holds where nothing is set. */
const DEFAULTS: Partial<Record<(typeof SHOWN_SETTINGS)[number], string>> = {
  redirectUri: DEFAULT_REDIRECT_URI,
  tppCertificate: DEFAULT_TPP_CERTIFICATE,
  qsealCertificate: 'none: the QWAC signs',
  ca: "the system's",
};

function describe(
  key: (typeof SHOWN_SETTINGS)[number],
  value: NonNullable<ProfileSettings[keyof ProfileSettings]>,
): string {
  if (key === 'clientSecret' || key === 'ccClientSecret') return 'set';
  // A command's arguments may hold what is nobody's business.
  if (key === 'signer' || key === 'payeeCheck') return String(value).trim().replace(/\s.*$/s, ' …');
  if (typeof value === 'string') return value;
  return 'path' in value ? value.path : 'stored in the profile';
}
