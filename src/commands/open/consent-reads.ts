import { hash } from 'node:crypto';
import type { AccountReads } from '../context.ts';
import type { KeptConsents } from './kept-customer.ts';

/**
 * Counts reads by account and consent, as the bank does where readings name their consent: without the customer, a consent
 * allows `frequencyPerDay` of them (the standard, section 2, "Consent"). The operator's own limit can only lower that.
 */
export function countingByConsent(
  reads: AccountReads,
  consents: Pick<KeptConsents, 'for' | 'instead'>,
): AccountReads {
  const readOf = (productId: string | null) => (productId === null ? 'list' : { account: productId });
  const nameOf = (productId: string | null, { consentId }: { consentId: string }) =>
    // The bank chooses the id of a consent. It may be longer than what the store takes.
    `${productId ?? '*'}@${hash('sha256', consentId, 'hex').slice(0, 12)}`;
  return {
    begin: () => reads.begin(),
    giveBack: (customerId) => reads.giveBack(customerId),
    async take(customerId, productId, allowance) {
      const what = readOf(productId);
      const consent = await consents.for(what);
      const takeWith = ({ frequencyPerDay, ...other }: typeof consent) => {
        const name = nameOf(productId, other);
        if (!allowance) return reads.take(customerId, name);
        const { budget, isOperators } = allowance;
        const allowed = isOperators ? Math.min(budget, frequencyPerDay) : frequencyPerDay;
        return reads.take(customerId, name, { ...allowance, budget: allowed });
      };
      const turn = await takeWith(consent);
      const other = turn === 'used-up' ? await consents.instead(consent.consentId, what) : undefined;
      return other ? takeWith(other) : turn;
    },
    async during(read) {
      const consent = await consents.for(readOf(read.productId));
      return reads.during({ ...read, productId: nameOf(read.productId, consent) });
    },
  };
}
