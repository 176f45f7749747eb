import { type Consent, consentEnd } from '../../domain/consent.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { collect } from '../flow/rules.ts';
import type { LastingConsent } from './certificate-checks.ts';

/** The consent of the profile that holds longest; undefined where none holds, or the journals can't be read. */
export async function lastConsentOf(context: Context): Promise<LastingConsent | undefined> {
  try {
    const { flows } = await context.store();
    return lastToEnd(await collect(flows.list('consent')), context.world.now());
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return undefined;
  }
}

/** Of the consents that hold `now`, the one that does so longest. */
export function lastToEnd(consents: Iterable<Consent>, now: Date): LastingConsent | undefined {
  const holding = [...consents].flatMap((consent): LastingConsent[] => {
    const end = consentEnd(consent, now);
    return end && end.daysLeft > 0 ? [{ customerId: consent.customerId, expiresAt: end.expiresAt }] : [];
  });
  return holding.sort((a, b) => (a.expiresAt < b.expiresAt ? 1 : -1))[0];
}
