import { type Consent, type ConsentState, isForFunds } from '../../domain/consent.ts';
import type { Context } from '../context.ts';
import { fundsConsentFor } from './kept-customer.ts';

/**
 * The newest consents of customers that no consent lets psd2 read any more, because it was withdrawn or ended early. It leaves
 * out those whose journal is damaged.
 */
export async function withdrawnConsents(context: Pick<Context, 'store'>): Promise<Consent[]> {
  const { flows, customers } = await context.store();
  const onDamaged = () => {};
  const unread = new Set<string>();
  // A profile can have a hundred thousand consents, and few of these.
  for await (const consent of flows.list('consent', { states: WITHDRAWN, onDamaged })) {
    const { state, customerId } = consent;
    if (isForFunds(consent) || !isWithdrawn(state) || unread.has(customerId)) continue;
    const customer = await customers.read(customerId);
    if (customer?.consents.length === 0) unread.add(customerId);
  }
  const withdrawn: Consent[] = [];
  if (unread.size === 0) return withdrawn;
  for await (const consent of flows.list('consent', { onDamaged })) {
    if (isForFunds(consent)) continue;
    // The newest comes first.
    if (!unread.delete(consent.customerId)) continue;
    if (consent.grantedAt !== null && isWithdrawn(consent.state)) withdrawn.push(consent);
    if (unread.size === 0) break;
  }
  return withdrawn;
}

/** The newest consents for confirmations of funds of an account that were withdrawn or ended, if no other one is for that account. */
export async function withdrawnFunds(context: Pick<Context, 'store'>): Promise<Consent[]> {
  const { flows, customers } = await context.store();
  const withdrawn = new Map<string, Consent>();
  for await (const consent of flows.list('consent', { states: WITHDRAWN, onDamaged: () => {} })) {
    const { customerId, grantedAt, terms } = consent;
    if (terms?.access?.type !== 'funds' || grantedAt === null) continue;
    const { account } = terms.access;
    const key = `${customerId} ${account}`;
    if (withdrawn.has(key) || fundsConsentFor(await customers.read(customerId), account)) continue;
    withdrawn.set(key, consent);
  }
  return [...withdrawn.values()];
}

const WITHDRAWN: readonly ConsentState[] = ['revoked', 'expired'];

function isWithdrawn(state: ConsentState): boolean {
  return WITHDRAWN.includes(state);
}

/** Why such a consent does not let psd2 read, as the end of a sentence. */
export function whyWithdrawn({ state }: Pick<Consent, 'state'>): string {
  return state === 'revoked' ? 'the customer has withdrawn the consent' : 'the consent has ended';
}
