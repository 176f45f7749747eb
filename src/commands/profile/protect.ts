import { Psd2Error } from '../../errors.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import { type Profile, passphraseIn } from '../../store/machine/settings.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { Protector, Vault } from '../../store/secrets/vault.ts';
import { object, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';

const protection = object({
  name: text('name of the profile'),
  protected: text('where the key of a protected profile comes from; no if it is not protected'),
});

/** What `profile protect` and `profile unprotect` print. */
export const PROTECTION = { what: 'whether a profile is protected', shape: protection };

export const protect = verb(
  {
    prints: PROTECTION,
    help: `
Commands that use the profile get the key from the keyring or from PSD2_CONFIG_PASSPHRASE, or ask you for the passphrase.
${examples('psd2 profile protect mybank', 'psd2 profile protect mybank --passphrase')}`,
  },
  (command) =>
    command
      .argument('[profile]')
      .option('--keyring', "keep the key in the system's keyring; the default if no passphrase is set")
      .option(
        '--passphrase',
        'derive the key from a passphrase: from PSD2_CONFIG_PASSPHRASE, or psd2 asks you',
      )
      .option('--passphrase-stdin', 'read the passphrase, or a new one, from standard input'),
  (context, name, { keyring = false, passphrase = false, passphraseStdin = false }) =>
    profileProtect(context, name, { keyring, passphrase, passphraseStdin }),
);

interface ProtectOptions {
  keyring: boolean;
  passphrase: boolean;
  passphraseStdin: boolean;
}

/**
 * Encrypts the stored secrets of a profile, now and from now on. psd2 stores the key first,
 * then marks the profile as protected, then replaces each file. If psd2 is killed at any point, everything stays readable,
 * and the next run finishes the work.
 *
 * @throws Psd2Error `config` if psd2 cannot store the key: it has changed nothing then
 */
export async function profileProtect(
  context: Context,
  name: string | undefined,
  options: ProtectOptions,
): Promise<void> {
  const opened = await openNamed(context, name);
  const protector = await chooseProtector(context, opened.profile.name, options);
  await opened.vault.exclusively(async () => {
    await opened.vault.protect(protector);
    await rewriteSecrets(context, opened);
    await opened.vault.settle();
  });
  await warnOfDamaged(context, opened);
  reportProtection(context, opened, 'is encrypted');
}

/** psd2 keeps a damaged file unchanged beside its replacement, so its secrets are not encrypted. */
async function warnOfDamaged(
  { profiles, terminal }: Context,
  { profile, tokens }: NamedProfile,
): Promise<void> {
  const damaged = [...profiles.damaged(profile.name), ...(await tokens.damaged())];
  if (damaged.length > 0)
    terminal.warn(`Damaged files may contain unencrypted secrets. Remove them: rm ${damaged.join(' ')}`);
}

/**
 * Chooses what protects the profile. Without an option: its current protection, else the passphrase in the environment,
 * else the keyring.
 *
 * @returns undefined if the protection stays as it is
 * @throws Psd2Error `usage` if a required passphrase is missing
 */
export async function chooseProtector(
  context: Context,
  profile: string,
  { keyring, passphrase, passphraseStdin }: ProtectOptions,
): Promise<Protector | undefined> {
  const { env, terminal } = context;
  const fromEnvironment = passphraseIn(env);
  if (keyring && (passphrase || passphraseStdin))
    throw new Psd2Error('usage', '--keyring and a passphrase cannot be used together');
  const before = context.profiles.vault(profile).kind;
  if (passphraseStdin) return byPassphrase((await context.readStdin()).replace(/\r?\n$/, ''));
  if (passphrase && terminal.canAsk && (before === 'passphrase' || !fromEnvironment))
    return byPassphrase(await askTwice(context, profile));
  const kind = keyring ? 'keyring' : passphrase ? 'passphrase' : undefined;
  if (before !== undefined && (kind ?? before) === before) return undefined;
  if (kind !== 'keyring' && fromEnvironment) return byPassphrase(fromEnvironment);
  if (kind === 'passphrase')
    throw new Psd2Error('usage', 'The passphrase is missing, and psd2 cannot ask for it', {
      hint: 'Set PSD2_CONFIG_PASSPHRASE, or use --passphrase-stdin.',
    });
  return { kind: 'keyring' };
}

function byPassphrase(passphrase: string): Protector {
  if (passphrase !== '') return { kind: 'passphrase', passphrase };
  throw new Psd2Error('usage', 'The passphrase is empty');
}

async function askTwice({ terminal }: Context, profile: string): Promise<string> {
  const passphrase = await terminal.askSecret(`New passphrase of the profile ${profile}`);
  if ((await terminal.askSecret('Repeat the passphrase')) === passphrase) return passphrase;
  throw new Psd2Error('usage', 'The two passphrases are different', { hint: 'Nothing was changed.' });
}

export type NamedProfile = Pick<ProfileData, 'tokens'> & { profile: Profile; vault: Vault };

/** Opens a profile and its vault. @throws Psd2Error `config` if psd2 cannot decrypt its settings */
export async function openNamed(context: Context, name: string | undefined): Promise<NamedProfile> {
  const { profiles } = context;
  const named = name === undefined ? context : context.forProfile(name);
  const { tokens } = await named.store();
  const profile = named.profile();
  const vault = profiles.vault(profile.name);
  // The profile is encrypted but its key is gone: this read throws the error that says so.
  if (vault.kind === undefined && profile.settings.sealed) await profiles.readSealed(profile.name);
  return { tokens, profile, vault };
}

/**
 * Rewrites the stored settings and tokens of a profile, encrypted or in clear as its protection now requires.
 *
 * @param kind of protection from now on. While it ends, the vault still has the earlier one
 */
export async function rewriteSecrets(
  context: Context,
  { profile, tokens, vault }: NamedProfile,
  kind: Vault['kind'] | 'none' = vault.kind,
): Promise<void> {
  const { profiles } = context;
  await recordProfileChange(context, profile.name, `protection ${kind}`);
  if (profile.name !== ENVIRONMENT_PROFILE) await profiles.rewrite(profile.name);
  await tokens.rewrite();
}

/** Reports how the profile is stored now. @param what for example `is encrypted` */
export function reportProtection(
  { output, terminal }: Context,
  { profile, vault }: NamedProfile,
  what: string,
): void {
  const { kind } = vault;
  const by = {
    keyring: "The system's keyring holds the key.",
    passphrase: 'The key comes from the passphrase.',
  };
  if (output.format === 'table')
    terminal.say(`The stored data of the profile ${profile.name} ${what}.${kind ? ` ${by[kind]}` : ''}`);
  else output.record({ name: profile.name, protected: kind ?? 'no' }, protection);
}
