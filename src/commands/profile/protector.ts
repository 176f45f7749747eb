import { Psd2Error } from '../../errors.ts';
import { passphraseIn } from '../../store/machine/settings.ts';
import type { Protector } from '../../store/secrets/vault.ts';
import type { Context } from '../context.ts';

export interface ProtectOptions {
  keyring: boolean;
  passphrase: boolean;
  passphraseStdin: boolean;
}

/**
 * Chooses what protects the profile. Without an option: its present protection, else the passphrase in the environment,
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
    throw new Psd2Error('usage', '--keyring and a passphrase exclude each other');
  const before = context.profiles.vault(profile).kind;
  if (passphraseStdin) return byPassphrase((await context.readStdin()).replace(/\r?\n$/, ''));
  if (passphrase && terminal.canAsk && (before === 'passphrase' || !fromEnvironment))
    return byPassphrase(await askTwice(context, profile));
  const kind = keyring ? 'keyring' : passphrase ? 'passphrase' : undefined;
  if (before !== undefined && (kind ?? before) === before) return undefined;
  if (kind !== 'keyring' && fromEnvironment) return byPassphrase(fromEnvironment);
  if (kind === 'passphrase') {
    throw new Psd2Error('usage', 'The passphrase is missing, and psd2 cannot ask for it', {
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
  if ((await terminal.askSecret('The same passphrase again')) === passphrase) return passphrase;
  throw new Psd2Error('usage', 'The two passphrases differ', { hint: 'Nothing was changed.' });
}
