import * as z from 'zod/mini';
import { bankDate, decimal, money, optionalText, text, wholeNumber } from './fields.ts';

/** `data` of `customerid-info`. The id must be a number (interface specification, "Identifiers"): file names contain it. */
export const customerIdAnswer = z.object({
  customerid: z.pipe(text, z.string().check(z.regex(/^\d{1,20}$/, 'expected a number'))),
});

/** `data` of the accounts call (interface specification, "Account record"). */
export const accountsAnswer = z.object({
  accounts: z.array(
    z.object({
      accountId: text,
      product: z.nullish(z.object({ code: optionalText, description: optionalText })),
      currency: optionalText,
      iban: optionalText,
      name: optionalText,
    }),
  ),
});

/** `data` of the balance call, with at least one amount. `hour` is `hh:mm` on the bank's clock. */
export const balanceAnswer = z
  .object({
    accountBalance: money,
    availableBalance: money,
    accountAvailability: money,
    accountAvailableCredit: money,
    date: bankDate,
    hour: optionalText,
  })
  .check(
    z.refine(
      ({ date: _date, hour: _hour, ...amounts }) => Object.values(amounts).some((amount) => amount !== null),
      'expected a balance',
    ),
  );

/** An amount of a transaction: `{amount, currency}`, or the bare decimal. */
const transactionAmount = z.union([
  z.object({ amount: decimal, currency: optionalText }),
  z.pipe(
    decimal,
    z.transform((amount) => ({ amount, currency: '' })),
  ),
]);

/** A paging cursor. 0, null and missing mean that the list has ended. */
const cursor = z.pipe(
  z.nullish(z.union([wholeNumber, z.literal('')])),
  z.transform((value) => (value ? value : null)),
);

const transaction = z.object({
  index: optionalText,
  shortDescription: optionalText,
  extendedDescription: optionalText,
  amountTransaction: transactionAmount,
  dateAccountingCurrency: bankDate,
  dateLiquidationValue: bankDate,
  codeDescription: optionalText,
  idMoneyTransfer: optionalText,
  isFeeCharge: z.nullish(z.boolean()),
});
export type WireTransaction = z.infer<typeof transaction>;

/** The number of rows of a list on all pages. Null if the answer does not say. */
const total = z.catch(
  z.pipe(
    z.nullish(wholeNumber),
    z.transform((value) => value ?? null),
  ),
  null,
);

/**
 * `data` of the transactions call: a page of the booked list and a page of the pending list. It has at least one list or one
 * total: an answer that says nothing is not an account without transactions.
 */
export const transactionsAnswer = z
  .object({
    transactionsAccounting: z.nullish(z.array(transaction)),
    transactionsNotAccounting: z.nullish(z.array(transaction)),
    numberTransactionsAccounting: total,
    numberTransactionsNotAccounting: total,
    nextAccounting: cursor,
    nextNotAccounting: cursor,
  })
  .check(
    z.refine(
      (page) =>
        (page.transactionsAccounting ??
          page.transactionsNotAccounting ??
          page.numberTransactionsAccounting ??
          page.numberTransactionsNotAccounting ??
          null) !== null,
      'expected transactions',
    ),
  );
