import { type Consent, consentEnd } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { collect } from '../flow/rules.ts';
import type { LastingConsent } from './certificate-checks.ts';

/** The last consent of the profile to end; undefined if none is in force or psd2 cannot read the journals. */
export async function lastConsentOf(context: Context): Promise<LastingConsent | undefined> {
  try {
    const { flows } = await context.store();
    return lastToEnd(await collect(flows.list('consent')), context.world.now());
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return undefined;
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
