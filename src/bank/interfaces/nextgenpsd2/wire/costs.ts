import Big from 'big.js';
import * as z from 'zod/mini';
import { written } from '../../../../domain/account-history.ts';
import type { Money } from '../../../../domain/decimal.ts';
import type { Cost } from '../../../../domain/operation.ts';
import { withoutCardNumbers } from '../../../../domain/order/card-number.ts';
import { isEmpty } from '../judge/own-answer.ts';
import { amount, cleanWords, optionalFlag } from './fields.ts';

/** More than anybody needs to see what a bank has written in place of an amount. */
const LONGEST_ODD_AMOUNT = 100;

/** An amount that may be missing. What is there and is none becomes its text: nobody knows how much it is. */
const amountOrText = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value): Money | string | null => {
    if (isEmpty(value)) return null;
    const { data } = amount.safeParse(value);
    return data ?? withoutCardNumbers(cleanWords(JSON.stringify(value), LONGEST_ODD_AMOUNT));
  }),
);

/** What an answer says that a payment costs. The standard writes the fees of a conversion in the singular and in the plural. */
export const costPart = {
  transactionFees: amountOrText,
  transactionFee: amountOrText,
  currencyConversionFees: amountOrText,
  currencyConversionFee: amountOrText,
  estimatedTotalAmount: amountOrText,
  transactionFeeIndicator: optionalFlag,
};

/** What the members of {@link costPart} say. */
export type SaidOfCost = {
  [name in Exclude<keyof typeof costPart, 'transactionFeeIndicator'>]?: Money | string | null;
} & { transactionFeeIndicator?: boolean | null };

/** What a payment costs, as an answer says: the sum of the fees of one currency, and what has no place in it. Null: it says nothing. */
export function costIn(answer: SaidOfCost): Cost | null {
  const total = answer.estimatedTotalAmount ?? null;
  const charges = [
    ...eachOnce(answer.transactionFees, answer.transactionFee),
    ...eachOnce(answer.currencyConversionFees, answer.currencyConversionFee),
  ];
  const fees = charges.filter((each) => typeof each !== 'string');
  const [first] = fees;
  const alike = fees.filter(({ currency }) => currency === first?.currency);
  const others = fees.filter(({ currency }) => currency !== first?.currency);
  const unread = [
    ...[...charges, total].filter((each) => typeof each === 'string'),
    ...others.map((fee) => `${fee.amount} ${fee.currency}`),
    ...(charges.length === 0 && answer.transactionFeeIndicator === true ? ['fees without an amount'] : []),
  ];
  if (!first && unread.length === 0 && total === null) return null;
  return {
    totalAmount: typeof total === 'string' ? null : total,
    commissions: first ? feeSum(first, alike) : null,
    ...(unread.length > 0 && { unreadFees: unread.join(', ') }),
  };
}

/** What two names of one field say. */
function eachOnce(plural: Money | string | null = null, singular: typeof plural = null): (Money | string)[] {
  const isSame = JSON.stringify(plural) === JSON.stringify(singular);
  return [plural, isSame ? null : singular].filter((each) => each !== null);
}

/** A single fee stays as the bank has written it. No fee makes another one smaller. */
function feeSum(first: Money, alike: readonly Money[]): Money {
  if (alike.length === 1) return first;
  const sum = alike.reduce((all, { amount }) => all.plus(new Big(amount).abs()), new Big(0));
  return { ...first, amount: written(sum) };
}
