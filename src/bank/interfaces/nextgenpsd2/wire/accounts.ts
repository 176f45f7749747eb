import * as z from 'zod/mini';
import { amount, cleanWords, day, dayOf, id, instant, optionalWords, textOf, wordsIn } from './fields.ts';

/** An account or a card account. The bank names it in one way at least; without a `resourceId` nothing of it can be read. */
const account = z.object({
  resourceId: z.nullish(id),
  iban: optionalWords,
  bban: optionalWords,
  maskedPan: optionalWords,
  msisdn: optionalWords,
  currency: optionalWords,
  name: optionalWords,
  displayName: optionalWords,
  product: optionalWords,
  cashAccountType: optionalWords,
});
export type WireAccount = z.infer<typeof account>;

const named = account.check(
  z.refine(
    ({ resourceId, iban, bban, maskedPan, msisdn }) =>
      Boolean(resourceId ?? iban ?? bban ?? maskedPan ?? msisdn),
    'expected an account with an id',
  ),
);

/** The answer to the list of accounts. */
export const accountsAnswer = z.object({ accounts: z.array(named) });
/** The answer to the list of card accounts. */
export const cardAccountsAnswer = z.object({ cardAccounts: z.array(named) });

/** The answer to a call about one account. psd2 shows it as it is. */
export const accountAnswer = z.object({
  account: z.nullish(z.looseObject({})),
  cardAccount: z.nullish(z.looseObject({})),
});

const balance = z.object({
  balanceType: optionalWords,
  balanceAmount: amount,
  referenceDate: z.catch(day, null),
  lastChangeDateTime: instant,
});
export type WireBalance = z.infer<typeof balance>;

/** The answer to the balances of an account. It has one at least. */
export const balancesAnswer = z.object({
  balances: z.array(balance).check(z.minLength(1, 'expected a balance')),
  account: z.catch(z.nullish(z.object({ currency: optionalWords })), null),
});

/** More lines than the standard has in all forms. */
const MAX_LINES = 100;

/** Remittance information: text, `{reference}`, or a list of either. */
function remittanceIn(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const lines = Array.isArray(value) ? value.slice(0, MAX_LINES) : [value];
  const texts = lines.flatMap((line) => lineIn(line) ?? []).filter((line) => line.trim() !== '');
  return texts.length === 0 ? null : cleanWords(texts.join(' '));
}

function lineIn(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && 'reference' in value) return textOf(value.reference);
  return textOf(value);
}

/** The IBAN of the other side. */
function ibanIn(account: unknown): string | null {
  return typeof account === 'object' && account !== null && 'iban' in account ? wordsIn(account.iban) : null;
}

/**
 * A transaction of an account or a card. A card's has other names for some fields. What is only shown is read leniently, and
 * without a schema for each field: a list has many rows.
 */
const transaction = z.pipe(
  z.looseObject({ bookingDate: day, valueDate: day, transactionAmount: amount }),
  z.transform(({ bookingDate, valueDate, transactionAmount, ...row }) => ({
    bookingDate,
    valueDate: valueDate ?? (typeof row.transactionDate === 'string' ? dayOf(row.transactionDate) : null),
    transactionAmount,
    transactionId: wordsIn(row.transactionId) ?? wordsIn(row.cardTransactionId),
    entryReference: wordsIn(row.entryReference),
    endToEndId: wordsIn(row.endToEndId),
    creditor: { name: wordsIn(row.creditorName), iban: ibanIn(row.creditorAccount) },
    debtor: { name: wordsIn(row.debtorName), iban: ibanIn(row.debtorAccount) },
    remittance:
      remittanceIn(row.remittanceInformationUnstructured) ??
      remittanceIn(row.remittanceInformationUnstructuredArray) ??
      remittanceIn(row.remittanceInformationStructured) ??
      remittanceIn(row.remittanceInformationStructuredArray) ??
      wordsIn(row.transactionDetails),
    additionalInformation: wordsIn(row.additionalInformation),
    bankTransactionCode: wordsIn(row.bankTransactionCode),
    proprietaryBankTransactionCode: wordsIn(row.proprietaryBankTransactionCode),
  })),
);
export type WireTransaction = z.infer<typeof transaction>;

/** A HAL link. `href` is what the bank sent: it can lead anywhere. Anything else counts as none. */
export const link = z.catch(
  z.nullish(
    z.pipe(
      z.union([z.object({ href: z.string() }), z.string()]),
      z.transform((value) => (typeof value === 'string' ? value : value.href)),
    ),
  ),
  null,
);

const links = z.catch(z.nullish(z.object({ next: link, download: link })), null);

const report = z.object({
  booked: z.nullish(z.array(transaction)),
  pending: z.nullish(z.array(transaction)),
  _links: links,
});

/** A page of transactions of an account or a card. */
export const transactionsAnswer = z.object({
  transactions: z.nullish(report),
  cardTransactions: z.nullish(report),
  _links: links,
});

const linkedPage = z.looseObject({
  transactions: z.catch(z.nullish(z.looseObject({ _links: links })), null),
  cardTransactions: z.catch(z.nullish(z.looseObject({ _links: links })), null),
  _links: links,
});

/** The link to the page after any answer with a list: transactions have it one level deeper. Null after the last page. */
export function nextOfPage(json: unknown): string | null {
  const { data } = linkedPage.safeParse(json);
  const [found] = [data?.transactions, data?.cardTransactions, data].flatMap(
    (part) => part?._links?.next ?? [],
  );
  return found ?? null;
}
