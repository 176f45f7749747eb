import { hash } from 'node:crypto';
import type { AccountReads } from '../context.ts';
import type { KeptConsents } from './kept-customer.ts';

/**
 * Counts reads by account and consent, as the bank does where readings name their consent: without the customer, a consent
 * allows `frequencyPerDay` of them (NextGenPSD2, section 2, "Consent"). The operator's own limit can only lower that.
 */
export function countingByConsent(reads: AccountReads, consents: KeptConsents): AccountReads {
  const counted = async (productId: string | null) => {
    const what = productId === null ? 'list' : { account: productId };
    const { consentId, frequencyPerDay } = await consents.for(what);
    // The bank chooses the id of a consent. It may be longer than what the store takes.
    const name = `${productId ?? '*'}@${hash('sha256', consentId, 'hex').slice(0, 12)}`;
    return { name, frequencyPerDay };
  };
  return {
    begin: () => reads.begin(),
    giveBack: (customerId) => reads.giveBack(customerId),
    async take(customerId, productId, allowance) {
      const { name, frequencyPerDay } = await counted(productId);
      if (!allowance) return reads.take(customerId, name);
      const { budget, isOperators } = allowance;
      const allowed = isOperators ? Math.min(budget, frequencyPerDay) : frequencyPerDay;
      return reads.take(customerId, name, { ...allowance, budget: allowed });
    },
    async during(read) {
      const { name } = await counted(read.productId);
      return reads.during({ ...read, productId: name });
    },
  };
}
