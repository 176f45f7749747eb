import type { Identity } from '../../bank/ports/bank.ts';
import {
  isPkcs12,
  type KeyPair,
  type PairName,
  readKeyPair,
  readValidCertificate,
  WrongPassphrase,
} from '../../certificates/key-pair.ts';
import { Psd2Error } from '../../errors.ts';
import { keySigner } from '../../signature/http-signature.ts';
import { refuseUnsafe } from '../../store/disk/permissions.ts';
import type { PemSource } from '../../store/machine/profiles.ts';
import {
  missingSetting,
  type Profile,
  readPemSource,
  readSource,
  requireSource,
} from '../../store/machine/settings.ts';
import type { KeyRing, Surroundings } from '../context.ts';

/** The settings of each pair. */
export const PAIR_SETTINGS = {
  QWAC: { certificate: 'qwacCertificate', key: 'qwacKey' },
  QSealC: { certificate: 'qsealCertificate', key: 'qsealKey' },
} as const;

/** How often psd2 asks for a passphrase. */
const TRIES = 3;

/** The certificates and keys of a profile. It reads each on demand. */
export function openKeyRing(surroundings: Surroundings, profile: Profile): KeyRing {
  const { world } = surroundings;
  const opening = openPassphrases(surroundings);
  const read: KeyRing['read'] = async (name) => {
    const { certificate, key } = PAIR_SETTINGS[name];
    const source = requireSource(profile, certificate);
    const keySource = profile.settings[key];
    const content = readSource(source, certificate);
    if (isPkcs12(content)) {
      refuseKeyFile(source);
      const opened = await readPkcs12Pair(opening, content, source, name);
      return {
        certificate: opened.certificates.join(''),
        key: () => opened.key ?? (keySource && readPemSource(keySource, key)),
      };
    }
    const pem = content.toString('utf8');
    if (keySource) return { certificate: pem, key: () => readPemSource(keySource, key) };
    if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) return { certificate: pem, key: () => undefined };
    refuseKeyFile(source);
    return { certificate: pem, key: () => pem };
  };

  return {
    read,
    opening,
    async pair(name) {
      const { certificate, key: keyOf } = await read(name);
      const key = keyOf() ?? missingSetting(profile, PAIR_SETTINGS[name].key);
      return opening(`the ${name} key`, (passphrase) =>
        readKeyPair({ name, certificate, key, passphrase: passphrase, now: world.now() }),
      );
    },
    async certificate(name) {
      return readValidCertificate(name, (await read(name)).certificate, world.now());
    },
  };
}

/** Uses one passphrase for everything: the one in the environment, or the one that the operator enters. */
function openPassphrases({ env, terminal }: Surroundings): KeyRing['opening'] {
  let passphrase = env.PSD2_KEY_PASSPHRASE || undefined;
  return async (what, open) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await open(passphrase);
      } catch (error) {
        if (!(error instanceof WrongPassphrase)) throw error;
        if (env.PSD2_KEY_PASSPHRASE || !terminal.canAsk || tries === TRIES) throw error;
        if (tries > 0) terminal.warn(error.message);
        passphrase = await terminal.askSecret(`Passphrase of ${what}`);
      }
    }
  };
}

async function readPkcs12Pair(
  opening: KeyRing['opening'],
  content: Buffer,
  source: PemSource,
  pair: PairName,
) {
  const { readPkcs12 } = await import('../../certificates/pkcs12.ts');
  const path = 'path' in source ? source.path : undefined;
  const name = path ?? `of the ${pair}`;
  const opened = await opening(`the PKCS#12 file ${name}`, (passphrase) =>
    readPkcs12(content, passphrase, { name, path }),
  );
  if (opened.certificates.length === 0)
    throw new Psd2Error('certificate', `The PKCS#12 file ${name} contains no certificate`);
  return opened;
}

function refuseKeyFile(source: PemSource): void {
  if ('path' in source) refuseUnsafe(source.path, 'secret');
}

/** The signer: the operator's command if one is set, else the key of the QSealC, else the key of the QWAC. */
export async function openSigner(
  context: Surroundings,
  { settings }: Profile,
  keys: KeyRing,
  qwac: KeyPair,
): Promise<Pick<Identity, 'signer' | 'signingCertificate'>> {
  const sealed = settings.qsealCertificate ?? settings.qsealKey;
  if (settings.signer !== undefined) {
    const { outsideSigner } = await import('./outside-signer.ts');
    const certificate = sealed ? await keys.certificate('QSealC') : qwac.certificate;
    return { signer: outsideSigner(context, settings.signer, certificate), signingCertificate: certificate };
  }
  const { key, certificate } = sealed ? await keys.pair('QSealC') : qwac;
  return { signer: keySigner(key), signingCertificate: certificate };
}
