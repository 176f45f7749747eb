import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { listFolder } from '../../store/files.ts';
import { ENVIRONMENT_PROFILE } from '../../store/profiles.ts';
import type { Profile } from '../../store/settings.ts';
import { passphraseIn } from '../../store/settings.ts';
import type { Protector, Vault } from '../../store/vault.ts';
import type { Context } from '../context.ts';
import type { OpenStore } from '../open/store.ts';

export interface ProtectOptions {
  keyring: boolean;
  passphrase: boolean;
  passphraseStdin: boolean;
}

/**
 * `psd2 profile protect [name]`: from now on the secrets of a profile are written encrypted, and those that are
 * there are rewritten. Killed at any point it leaves everything readable, and run again it comes to its end: the
 * key is kept first, then what says that the profile is protected, then each file is replaced.
 *
 * @throws Psd2Error `config` when the key can't be kept: nothing is changed then
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
    await rewrite(context, opened);
  });
  warnOfDamaged(context, opened.profile.name);
  tell(context, opened, 'is encrypted');
}

/**
 * `psd2 profile unprotect [name]`: writes the secrets of a profile in clear, and forgets the key last.
 *
 * @throws Psd2Error `config` when the key can't be had
 */
export async function profileUnprotect(context: Context, name: string | undefined): Promise<void> {
  const { globals, terminal } = context;
  const opened = await openNamed(context, name);
  const { vault, profile } = opened;
  if (vault.kind === undefined) return tell(context, opened, 'was not encrypted');
  if (!globals.yes) {
    if (!terminal.canAsk) {
      throw new Psd2Error(
        'confirmation_needed',
        'Writing secrets in clear has to be confirmed, and there is no terminal to ask at',
        { hint: 'Add --yes.' },
      );
    }
    if (
      !(await terminal.confirm(`Write the tokens, secrets and keys of ${profile.name} to the disk in clear?`))
    )
      throw new Psd2Error('cancelled', 'Nothing was changed');
  }
  await vault.exclusively(async () => {
    await vault.startEnding();
    await rewrite(context, opened);
    await vault.forget();
  });
  tell(context, opened, 'is no longer encrypted');
}

/**
 * What the profile is to be protected by. Without an option: what protects it already, else the passphrase that
 * is set, else the keyring.
 *
 * @returns undefined when it stays as it is
 * @throws Psd2Error `usage` when a passphrase is to be used and is missing
 */
export async function chooseProtector(
  context: Context,
  profile: string,
  { keyring, passphrase, passphraseStdin }: ProtectOptions,
): Promise<Protector | undefined> {
  const { env, terminal } = context;
  const fromEnvironment = passphraseIn(env);
  if (keyring && (passphrase || passphraseStdin))
    throw new Psd2Error('usage', '--keyring and a passphrase exclude each other');
  const before = context.profiles.vault(profile).kind;
  if (passphraseStdin) return byPassphrase((await context.readStdin()).replace(/\r?\n$/, ''));
  if (passphrase && terminal.canAsk && (before === 'passphrase' || !fromEnvironment))
    return byPassphrase(await askTwice(context, profile));
  const kind = keyring ? 'keyring' : passphrase ? 'passphrase' : undefined;
  if (before !== undefined && (kind ?? before) === before) return undefined;
  if (kind !== 'keyring' && fromEnvironment) return byPassphrase(fromEnvironment);
  if (kind === 'passphrase') {
    throw new Psd2Error('usage', 'The passphrase is missing, and there is no terminal to ask for it', {
      hint: 'Set PSD2_CONFIG_PASSPHRASE, or use --passphrase-stdin.',
    });
  }
  return { kind: 'keyring' };
}

function byPassphrase(passphrase: string): Protector {
  if (passphrase !== '') return { kind: 'passphrase', passphrase };
  throw new Psd2Error('usage', 'The passphrase is empty');
}

async function askTwice({ terminal }: Context, profile: string): Promise<string> {
  const passphrase = await terminal.askSecret(`New passphrase of the profile ${profile}`);
  if ((await terminal.askSecret('The same once more')) === passphrase) return passphrase;
  throw new Psd2Error('usage', 'The two passphrases differ', { hint: 'Nothing was changed.' });
}

type NamedProfile = OpenStore & { profile: Profile; vault: Vault };

async function openNamed(context: Context, name: string | undefined): Promise<NamedProfile> {
  const { profiles } = context;
  const named = name === undefined ? context : context.forProfile(name);
  const store = await named.store();
  const profile = named.profile();
  const vault = profiles.vault(profile.name);
  // What was encrypted before can't be, where the key is gone.
  if (vault.kind === undefined && profile.settings.sealed) await profiles.readSealed(profile.name);
  return { ...store, profile, vault };
}

async function rewrite({ profiles }: Context, { profile, tokens }: NamedProfile): Promise<void> {
  if (profile.name !== ENVIRONMENT_PROFILE) await profiles.rewrite(profile.name);
  await tokens.rewrite();
}

/** What was damaged is kept beside what replaced it, as it was. */
function warnOfDamaged({ folder, terminal }: Context, name: string): void {
  const settings = listFolder(folder.profiles).filter((file) => file.startsWith(`${name}.json.damaged-`));
  const logins = [folder.tokens(name), ...foldersIn(folder.tokens(name))];
  const tokens = logins.flatMap((login) =>
    listFolder(login)
      .filter((file) => file.includes('.json.damaged-'))
      .map((file) => join(login, file)),
  );
  const kept = [...settings.map((file) => join(folder.profiles, file)), ...tokens];
  if (kept.length > 0)
    terminal.warn(`Damaged files that may hold secrets in clear are left: rm ${kept.join(' ')}`);
}

function foldersIn(path: string): string[] {
  return listFolder(path)
    .filter((name) => /^(?:customer-\d+|client-credentials)$/.test(name))
    .map((name) => join(path, name));
}

function tell({ output, terminal }: Context, { profile, vault }: NamedProfile, what: string): void {
  const { kind } = vault;
  const by = { keyring: "the system's keyring has its key", passphrase: 'the passphrase opens it' };
  if (output.format === 'table')
    terminal.say(`What is stored of the profile ${profile.name} ${what}${kind ? `; ${by[kind]}` : ''}.`);
  else output.record({ name: profile.name, protected: kind ?? 'no' }, []);
}
