import { X509Certificate } from 'node:crypto';
import type { Profile } from '../../store/machine/settings.ts';
import { checkProfileCertificates, lastConsentOf } from '../cert/profile-certificates.ts';
import type { Context, KeyRing } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Finding } from './diagnosis.ts';

/** A certificate with fewer days left is worth a warning. */
const SOON_DAYS = 30;

/** Whether the profile's certificates suit their use, and for how long. */
export async function checkCertificates(context: Context, profile: Profile, keys: KeyRing) {
  const lastConsent = await lastConsentOf(context);
  const limits = { now: context.world.now(), days: SOON_DAYS, soon: 'warn' as const, lastConsent };
  const checks = await checkProfileCertificates(context, profile, limits, keys);
  return checks.map(({ name, status, detail, fix }): Finding & { name: string } => ({
    ...{ name, status, detail, fix },
    code: 'certificate',
  }));
}

/** Whether each certificate in a file was issued by the one after it. */
export async function checkChains(profile: Profile, keys: KeyRing): Promise<Finding> {
  const lengths: string[] = [];
  for (const name of ['QWAC', 'QSealC'] as const) {
    if (name === 'QSealC' && !profile.settings.qsealCertificate) continue;
    const { certificate } = await keys.read(name);
    const pems = certificate.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const chain = pems.map((pem) => new X509Certificate(pem));
    const broken = chain.findIndex((each, index) => {
      const issuer = chain[index + 1];
      return issuer && !(each.checkIssued(issuer) && each.verify(issuer.publicKey));
    });
    if (broken !== -1) {
      return {
        status: 'fail',
        code: 'certificate',
        detail: `in the file of the ${name} certificate ${broken + 2} did not issue certificate ${broken + 1}`,
        fix: { hint: 'Put the certificate first, then its issuer, then the issuer of that.' },
      };
    }
    lengths.push(`${name}: ${chain.length === 1 ? 'no issuers' : `${chain.length - 1} issuers`} in the file`);
  }
  return finding('ok', lengths.join('; '));
}

/** Whether the operator's signer makes signatures that match the certificate. */
export async function checkSigner(context: Context, { settings }: Profile, keys: KeyRing): Promise<Finding> {
  if (settings.signer === undefined) return finding('skip', 'psd2 signs itself: no PSD2_SIGNER');
  const { outsideSigner } = await import('../open/outside-signer.ts');
  const certificate = await keys.certificate(settings.qsealCertificate ? 'QSealC' : 'QWAC');
  await outsideSigner(context, settings.signer, certificate)('psd2 doctor');
  return finding('ok', 'the signer command makes signatures that match the certificate');
}
