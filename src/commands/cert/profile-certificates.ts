import { type Consent, consentEnd, isForFunds } from '../../domain/consent.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { Context, KeyRing } from '../context.ts';
import { collect } from '../flow/list.ts';
import { openKeyRing } from '../open/keys.ts';
import {
  type CertificateCheck,
  checkCertificate,
  type LastingConsent,
  type Limits,
} from './certificate-checks.ts';
import { keylessOf, PAIRS, pairOf } from './certificates.ts';

/** Checks the certificates of a profile: QWAC, QSealC, the bank's signing certificate and the CA bundle. */
export async function checkProfileCertificates(
  context: Context,
  profile: Profile,
  limits: Limits,
  keys: KeyRing = openKeyRing(context, profile),
): Promise<CertificateCheck[]> {
  const checks: CertificateCheck[] = [];
  for (const [pair, qcType] of PAIRS) {
    const ofPair = await pairOf(context, profile, keys, pair);
    if (!ofPair) continue;
    const use = { name: pair, qcType, isTpp: true, keyMatches: ofPair.keyMatches };
    checks.push(checkCertificate(ofPair.certificate, use, limits));
  }
  if (checks.length === 0) await keys.read('QWAC');
  for (const { certificate, ...use } of await keylessOf(profile))
    checks.push(checkCertificate(certificate, { ...use, isTpp: false, keyMatches: null }, limits));
  return checks;
}

/** What the consents of the profile need of its certificates. Empty if psd2 cannot read the journals. */
export async function neededByConsents(
  context: Context,
): Promise<Pick<Limits, 'lastConsent' | 'confirmsFunds'>> {
  try {
    const { flows } = await context.store();
    const consents = await collect(flows.list('consent'));
    return {
      lastConsent: lastToEnd(consents, context.world.now()),
      confirmsFunds: consents.some((each) => isForFunds(each) && standingOf(each) !== 'refused'),
    };
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return {};
  }
}

/** Of the consents in force at `now`, the last one to end. */
export function lastToEnd(consents: Iterable<Consent>, now: Date): LastingConsent | undefined {
  const inForce = [...consents].flatMap((consent): LastingConsent[] => {
    const end = consentEnd(consent, now);
    return end && end.daysLeft > 0 ? [{ customerId: consent.customerId, expiresAt: end.expiresAt }] : [];
  });
  return inForce.sort((a, b) => (a.expiresAt < b.expiresAt ? 1 : -1))[0];
}
