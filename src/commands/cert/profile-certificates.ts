import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { type Profile, readPem } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { type KeyRing, openKeyRing } from '../open/keys.ts';
import { type CertificateCheck, checkCertificate, type Limits } from './certificate-checks.ts';
import { PAIRS, pairOf } from './certificates.ts';

/** Checks the certificates of a profile: QWAC, QSealC, the bank's signing certificate and the CA bundle. */
export async function checkProfileCertificates(
  context: Context,
  profile: Profile,
  limits: Limits,
  keys: KeyRing = openKeyRing(context, profile),
): Promise<CertificateCheck[]> {
  const checks: CertificateCheck[] = [];
  for (const [pair, qcType] of PAIRS) {
    const found = await pairOf(context, profile, keys, pair);
    if (!found) continue;
    const use = { name: pair, qcType, isTpp: true, keyMatches: found.keyMatches };
    checks.push(checkCertificate(found.certificate, use, limits));
  }
  if (checks.length === 0) await keys.read('QWAC');
  for (const [setting, name] of OTHERS) {
    const pem = readPem(profile, setting);
    if (pem === undefined) continue;
    const { certificates } = await readCertificateFile(Buffer.from(pem), undefined, name);
    const qcType = setting === 'ca' ? undefined : 'eseal';
    const each = certificates.map((certificate) =>
      checkCertificate(certificate, { name, qcType, isTpp: false, keyMatches: null }, limits),
    );
    // Of several certificates, the last one to expire decides: an old one beside a new one does no harm.
    const [last] = each.sort((a, b) => b.daysLeft - a.daysLeft);
    if (last) checks.push(last);
  }
  return checks;
}

const OTHERS = [
  ['ca', 'CA'],
  ['bankSigningCertificate', 'bank signing certificate'],
] as const;
