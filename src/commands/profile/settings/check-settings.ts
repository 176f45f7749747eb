import type { PairName } from '../../../certificates/key-pair.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  applicationNameOf,
  dailyLimitOf,
  maxAmountOf,
  PEM_VARIABLES,
  type Profile,
  redirectUriOf,
} from '../../../store/machine/settings.ts';
import type { Context } from '../../context.ts';
import { openKeyRing, PAIR_SETTINGS } from '../../open/keys.ts';

/**
 * Checks the settings of a profile before psd2 stores them: the format of texts, and that certificates and keys open.
 *
 * @throws Psd2Error `usage` if something is missing, `config` or `certificate` if something is invalid
 */
export async function checkSettings(context: Context, profile: Profile): Promise<void> {
  checkTexts(profile);
  await checkKeys(context, profile);
}

/** @throws Psd2Error `config` */
export function checkTexts(profile: Profile): void {
  const { ccApplicationName } = profile.settings;
  applicationNameOf(profile, 'applicationName');
  if (ccApplicationName !== undefined) applicationNameOf(profile, 'ccApplicationName');
  redirectUriOf(profile);
  dailyLimitOf(profile);
  maxAmountOf(profile);
}

/** Opens certificates and keys as a call to the bank would. */
export async function checkKeys(context: Context, profile: Profile): Promise<void> {
  const { qsealCertificate, qsealKey, signer } = profile.settings;
  const keys = openKeyRing(context, profile);
  const names: PairName[] = (qsealCertificate ?? qsealKey) ? ['QWAC', 'QSealC'] : ['QWAC'];
  for (const name of names) {
    const setting = PAIR_SETTINGS[name];
    if (!profile.settings[setting.certificate]) throw missingFile(name, 'certificate');
    if (name === 'QSealC' && signer !== undefined) await keys.certificate(name);
    else {
      if ((await keys.read(name)).key() === undefined) throw missingFile(name, 'key');
      await keys.pair(name);
    }
  }
}

function missingFile(name: PairName, what: 'certificate' | 'key'): Psd2Error {
  const option = `--${name === 'QWAC' ? 'qwac' : 'qseal'}-${what === 'key' ? 'key' : 'cert'}`;
  return new Psd2Error('usage', `The ${name} ${what} is missing`, {
    hint: `Add ${option} <file>, or set ${PEM_VARIABLES[PAIR_SETTINGS[name][what]]}.`,
  });
}
