import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { Verification } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';

/**
 * The refusal of a payment that takes more from the account than the profile allows: its amount, and the fees that the bank has named.
 * Fees in another currency count by their number alone, because psd2 knows no rates.
 *
 * @param order without an amount: psd2 does not look into what other operations pay
 * @returns null: the profile allows it, or the bank has said nothing
 */
export function costAboveLimit(
  profile: Profile,
  { amount, currency }: { amount?: string; currency?: string },
  said: Pick<Verification, 'commissions' | 'totalAmount'> | null,
): Psd2Error | null {
  const limit = maxAmountOf(profile);
  if (limit === null || !said || amount === undefined) return null;
  const { commissions: fees, totalAmount: total } = said;
  const fee = new Big(fees?.amount ?? 0).abs();
  const costs = [fees?.currency === currency ? fee.plus(amount) : fee];
  if (total?.currency === currency) costs.push(new Big(total?.amount ?? 0));
  const cost = costs.find((each) => each.gt(limit));
  if (!cost) return null;
  const named = fees ? `, fees of the bank ${written(fee)} ${fees.currency}` : '';
  return new Psd2Error(
    'invalid_amount',
    `The payment takes ${written(cost)} from the account (amount ${amount} ${currency}${named}), more than the ${limit} that the profile ${profile.name} allows`,
    { hint: 'The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.' },
  );
}
