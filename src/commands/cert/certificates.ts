import type { KeyObject, X509Certificate } from 'node:crypto';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import type { EidasCertificate } from '../../certificates/eidas.ts';
import { chainOf, type PairName, readPrivateKey, WrongPassphrase } from '../../certificates/key-pair.ts';
import type { QcType } from '../../certificates/qc-statements.ts';
import { Psd2Error } from '../../errors.ts';
import { readNamedFile } from '../../store/disk/files.ts';
import { type Profile, readPem } from '../../store/machine/settings.ts';
import { list, oneOf, orNull, text } from '../../terminal/output/fields.ts';
import type { Context, KeyRing } from '../context.ts';
import { openKeyRing, PAIR_SETTINGS } from '../open/keys.ts';

/** The pairs of a profile, with the kind of certificate that each needs. */
export const PAIRS = [
  ['QWAC', 'web'],
  ['QSealC', 'eseal'],
] as const;

/** A certificate, and whether its key matches; null if the key is not known. */
interface Found {
  certificate: X509Certificate;
  keyMatches: boolean | null;
}

/** The QWAC and the QSealC of the profile. @throws Psd2Error `config` if it has none */
export async function certificatesOfProfile(context: Context): Promise<Found[]> {
  const profile = await context.unsealed();
  const keys = await context.keys();
  const certificates: Found[] = [];
  for (const [pair] of PAIRS) {
    const each = await pairOf(context, profile, keys, pair);
    if (each) certificates.push(each);
  }
  if (certificates.length === 0) await keys.read('QWAC');
  return certificates;
}

/** A certificate of the profile, checked against its key; undefined if the profile has none. */
export async function pairOf(
  { env, world }: Context,
  profile: Profile,
  keys: KeyRing,
  pair: PairName,
): Promise<Found | undefined> {
  if (!profile.settings[PAIR_SETTINGS[pair].certificate]) return undefined;
  const { certificate: pem, key } = await keys.read(pair);
  const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, `The ${pair} certificate`);
  // psd2 cannot read the key of an outside signer. psd2 doctor asks the signer for a signature.
  const isOutside = pair === 'QSealC' && profile.settings.signer !== undefined;
  const opened = isOutside ? null : openKey(pair, key(), env.PSD2_KEY_PASSPHRASE);
  const [certificate] = chainOf(certificates, world.now(), opened ?? undefined);
  if (!certificate) return undefined;
  return { certificate, keyMatches: opened && certificate.checkPrivateKey(opened) };
}

/**
 * The certificates of a profile that have no key: the CA bundle and the bank's signing certificate. Of several in a file, the
 * last one to expire decides: an old one beside a new one does no harm.
 */
export async function keylessOf(
  profile: Profile,
): Promise<{ name: string; certificate: X509Certificate; qcType: QcType | undefined }[]> {
  const keyless = [];
  for (const [setting, name, qcType] of KEYLESS) {
    const pem = readPem(profile, setting);
    if (pem === undefined) continue;
    const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, name);
    const [certificate] = certificates.sort((a, b) => Date.parse(b.validTo) - Date.parse(a.validTo));
    if (certificate) keyless.push({ name, certificate, qcType });
  }
  return keyless;
}

const KEYLESS = [
  ['ca', 'CA', undefined],
  ['bankSigningCertificate', 'bank signing certificate', 'eseal'],
] as const;

/** The certificates of a file, each checked against its key, which is in the file, the option or the profile. */
export async function certificatesOfFile(
  context: Context,
  file: string,
  keyFile: string | undefined,
): Promise<Found[]> {
  const { env } = context;
  const { certificates, key } = await openCertificateFile(context, file);
  const keyText = keyFile === undefined ? key : readBytes(keyFile).toString('utf8');
  const keys =
    keyText === undefined ? await keysOfProfile(context) : [openKey(file, keyText, env.PSD2_KEY_PASSPHRASE)];
  return certificates.map((certificate) => {
    const fits = keys.some((each) => each !== null && certificate.checkPrivateKey(each));
    // The file may contain the issuer's certificate too. Its key is not expected here.
    const isExpected = !certificate.ca || keyFile !== undefined;
    // A key that psd2 could not open may be the right one.
    const isKnown = fits || (isExpected && keys.length > 0 && !keys.includes(null));
    return { certificate, keyMatches: isKnown ? fits : null };
  });
}

/** The contents of a certificate file. It asks for the passphrase of a PKCS#12 file. @throws Psd2Error `certificate` */
export function openCertificateFile(context: Context, file: string): ReturnType<typeof readCertificateFile> {
  const bytes = readBytes(file);
  return openKeyRing(context, { name: '', settings: {} }).opening(`the PKCS#12 file ${file}`, (passphrase) =>
    readCertificateFile(bytes, passphrase, file),
  );
}

/** The keys of the profile, if there is one. A key that cannot be opened is null: the check is about another file. */
async function keysOfProfile(context: Context): Promise<(KeyObject | null)[]> {
  const { env, terminal } = context;
  const silent = { ...context, terminal: { ...terminal, canAsk: false } };
  const keys: (KeyObject | null)[] = [];
  for (const [pair] of PAIRS) {
    try {
      const profile = await context.unsealed();
      const { certificate, key } = PAIR_SETTINGS[pair];
      if (!profile.settings[certificate] && !profile.settings[key]) continue;
      const opened = await openKeyRing(silent, profile).read(pair);
      keys.push(openKey(pair, opened.key(), env.PSD2_KEY_PASSPHRASE));
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      keys.push(null);
    }
  }
  return keys;
}

/**
 * Opens a private key.
 *
 * @param name of the certificate, for messages
 * @param pem undefined if there is none
 * @returns null if there is no key, or it is encrypted and the passphrase does not open it
 * @throws Psd2Error `certificate` if it is not a key
 */
function openKey(name: string, pem: string | undefined, passphrase: string | undefined): KeyObject | null {
  if (pem === undefined) return null;
  try {
    return readPrivateKey(name, pem, passphrase);
  } catch (error) {
    if (error instanceof WrongPassphrase) return null;
    throw error;
  }
}

function readBytes(path: string): Buffer {
  return readNamedFile(path, `The file ${path}`, 'certificate');
}

/** What eIDAS statements say, as it is printed. */
export const eidasFields = () => ({
  organizationIdentifier: orNull(text('PSD<country>-<authority>-<number>')).as('Organization'),
  qcType: orNull(oneOf(['web', 'eseal', 'esign'], 'web: a QWAC; eseal: a QSealC')).as('QcType'),
  roles: list(
    text(),
    'PSP_AI, PSP_PI, PSP_IC, PSP_AS, PSP_CB, PSP_PA, VOP_RS, VOP_VS; a role that psd2 does not know has its number',
  ).as('Roles'),
  ncaName: orNull(text('name of the competent authority'))
    .as('Authority')
    .shown(
      ({ ncaName, ncaId }: Record<'ncaName' | 'ncaId', string | null>) => ncaName && `${ncaName} (${ncaId})`,
    ),
  ncaId: orNull(text('id of the competent authority')),
});

/** The values of {@link eidasFields}. */
export function eidasData({
  organizationIdentifier,
  qcType,
  roles,
  ncaName,
  ncaId,
}: Omit<EidasCertificate, 'isForClients'>) {
  return {
    organizationIdentifier: organizationIdentifier ?? null,
    qcType: qcType ?? null,
    roles,
    ncaName: ncaName ?? null,
    ncaId: ncaId ?? null,
  };
}
