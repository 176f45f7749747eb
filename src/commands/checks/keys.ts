import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { chainOf } from '../../certificates/key-pair.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { Context, KeyRing } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Check } from './check.ts';
import type { Finding } from './diagnosis.ts';

/** What psd2 sends with a certificate, and whether the operator's signer can be used. */
export const keys: Check = {
  id: 'keys',
  needs: ['settings'],
  names: async () => ['chain', 'signer'],
  async run({ context, diagnosis }) {
    const profile = await context.unsealed();
    const ring = await context.keys();
    await diagnosis.make('chain', () => checkChains(context, profile, ring));
    await diagnosis.make('signer', () => checkSigner(context, profile, ring));
    return undefined;
  },
};

/** How long the chain of each certificate is, and whether its file has others. */
export async function checkChains({ world }: Context, profile: Profile, keys: KeyRing): Promise<Finding> {
  const lengths: string[] = [];
  for (const name of ['QWAC', 'QSealC'] as const) {
    if (name === 'QSealC' && !profile.settings.qsealCertificate) continue;
    const { certificate } = await keys.read(name);
    const { certificates } = await readCertificateFile(Buffer.from(certificate), undefined, name);
    const chain = chainOf(certificates, world.now());
    const others = certificates.filter((each) => !chain.includes(each) && !each.checkIssued(each)).length;
    if (others > 0)
      return finding(
        'warn',
        `the file of the ${name} has ${others} ${others === 1 ? 'certificate that does' : 'certificates that do'} not belong to its chain. psd2 does not send ${others === 1 ? 'it' : 'them'}`,
        { hint: 'If a bank misses an issuer, put the certificate of that issuer into the file.' },
      );
    lengths.push(`${name}: sent ${withIssuers(chain.length - 1)}`);
  }
  return finding('ok', lengths.join('; '));
}

/** Banks know the authorities, so a certificate without its issuers is no fault. */
function withIssuers(count: number): string {
  if (count === 0) return 'alone, since its file has no issuers';
  return `with ${count} ${count === 1 ? 'issuer' : 'issuers'}`;
}

/** Whether the operator's signer makes signatures that match the certificate. */
export async function checkSigner(context: Context, { settings }: Profile, keys: KeyRing): Promise<Finding> {
  if (settings.signer === undefined) return finding('skip', 'psd2 signs itself: no PSD2_SIGNER');
  const { outsideSigner } = await import('../open/outside-signer.ts');
  const certificate = await keys.certificate(settings.qsealCertificate ? 'QSealC' : 'QWAC');
  const algorithm = certificate.publicKey.asymmetricKeyType === 'ec' ? 'ecdsa-sha256' : 'rsa-sha256';
  await outsideSigner(context, settings.signer, certificate)('psd2 doctor', algorithm);
  return finding('ok', 'the signer command makes signatures that match the certificate');
}
