import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { Verification } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';

/** A smoke test that pays more needs a person at the terminal. */
export const UNATTENDED_LIMIT = '1.00';

/** The most that a payment may take from the account. */
interface CostLimit {
  most: string;
  /** Whose limit it is, after "more than the 500.00". */
  whose: string;
  hint: string;
}

type Cost = Pick<Verification, 'commissions' | 'totalAmount' | 'unreadFees'>;

/** As {@link costAbove}, for the limit of a profile. Null also if it has none. */
export function costAboveLimit(
  profile: Profile,
  order: { amount?: string; currency?: string },
  bankCost: Cost | null,
): Psd2Error | null {
  const most = maxAmountOf(profile);
  const hint = 'The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.';
  return most === null
    ? null
    : costAbove({ most, whose: `that the profile ${profile.name} allows`, hint }, order, bankCost);
}

/** As {@link costAbove}, for the limit that a smoke test has set for its own payment. Null also if there is none. */
export function costAboveOwnLimit(
  { maxCost: most, ...order }: { amount?: string; currency?: string; maxCost?: string },
  bankCost: Cost | null,
): Psd2Error | null {
  if (most === undefined) return null;
  const hint = `With the fees of the bank, it pays at most --pay and --max-fee, and at most ${UNATTENDED_LIMIT} without a person.`;
  return costAbove({ most, whose: 'that this smoke test may pay', hint }, order, bankCost);
}

/**
 * The refusal of a payment that takes more from the account than a limit allows: its amount, and the fees that the bank has named. Fees
 * that psd2 cannot read or add, because they are in another currency, are above every limit.
 *
 * @param order without an amount: psd2 does not look into what other operations pay
 * @returns null: the limit allows it, or the bank has said nothing
 */
function costAbove(
  { most, whose, hint }: CostLimit,
  { amount, currency }: { amount?: string; currency?: string },
  bankCost: Cost | null,
): Psd2Error | null {
  if (!bankCost || amount === undefined) return null;
  const { commissions: fees, totalAmount: total } = bankCost;
  const fee = new Big(fees?.amount ?? 0).abs();
  const isAdded = fee.eq(0) || fees?.currency === currency;
  const unknown = bankCost.unreadFees ?? (isAdded ? null : `${written(fee)} ${fees?.currency}`);
  if (unknown !== null)
    return new Psd2Error(
      'invalid_amount',
      `The bank takes fees that psd2 cannot add to ${amount} ${currency} (${unknown}), so the payment may take more than the ${most} ${whose}`,
      { hint },
    );
  const costs = [fee.plus(amount)];
  if (total?.currency === currency) costs.push(new Big(total?.amount ?? 0));
  const cost = costs.find((each) => each.gt(most));
  if (!cost) return null;
  const named = fees ? `, fees of the bank ${written(fee)} ${fees.currency}` : '';
  return new Psd2Error(
    'invalid_amount',
    `The payment takes ${written(cost)} from the account (amount ${amount} ${currency}${named}), more than the ${most} ${whose}`,
    { hint },
  );
}
