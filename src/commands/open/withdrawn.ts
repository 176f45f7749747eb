import type { Consent } from '../../domain/consent.ts';
import type { Context } from '../context.ts';

/** The newest consents of customers that no consent lets psd2 read any more, because it was withdrawn or ended early. */
export async function withdrawnConsents(context: Pick<Context, 'store'>): Promise<Consent[]> {
  const { flows, customers } = await context.store();
  const named = new Set(await customers.list());
  const withdrawn: Consent[] = [];
  if (named.size === 0) return withdrawn;
  for await (const consent of flows.list('consent')) {
    const { state, customerId, grantedAt } = consent;
    // The newest comes first.
    if (!named.delete(customerId) || grantedAt === null) continue;
    if (state !== 'revoked' && state !== 'expired') continue;
    if (((await customers.read(customerId))?.consents ?? []).length === 0) withdrawn.push(consent);
  }
  return withdrawn;
}

/** Why such a consent does not let psd2 read, as the end of a sentence. */
export function whyWithdrawn({ state }: Pick<Consent, 'state'>): string {
  return state === 'revoked' ? 'the customer has withdrawn the consent' : 'the consent has ended';
}
