import * as z from 'zod/mini';
import type { IsoDate } from '../../../../domain/calendar.ts';
import type { Decimal } from '../../../../domain/decimal.ts';
import { isRecord } from '../../../../domain/json.ts';
import { dayIn, decimalIn, plainIban, textOf } from '../../../../domain/odd-values.ts';
import { surelyMasked } from '../../../../domain/order/card-number.ts';
import {
  amount,
  cleanWords,
  day,
  id,
  instant,
  listOf,
  optionalStatusOf,
  optionalWords,
  wordsIn,
} from './fields.ts';

const iban = z.pipe(
  optionalWords,
  z.transform((words) => (words === null ? null : plainIban(words))),
);

/** An account or a card account. The bank names it in one way at least; without a `resourceId` nothing of it can be read. */
const account = z.object({
  resourceId: z.nullish(id),
  iban,
  bban: optionalWords,
  maskedPan: z.pipe(
    z.nullish(z.unknown()),
    z.transform((value) => maskedIn(value)),
  ),
  msisdn: optionalWords,
  currency: z.pipe(
    optionalWords,
    z.transform((word) => (/^[a-z]{3}$/i.test(word ?? '') ? (word?.toUpperCase() ?? null) : word)),
  ),
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
export const accountsAnswer = z.object({ accounts: listOf(named) });
/** The answer to the list of card accounts. */
export const cardAccountsAnswer = z.object({ cardAccounts: listOf(named) });

/** The answer to a call about one account. psd2 shows it as it is. */
export const accountAnswer = z.object({
  account: z.nullish(z.looseObject({})),
  cardAccount: z.nullish(z.looseObject({})),
});

const balanceType = optionalStatusOf([
  ...['closingBooked', 'expected', 'openingBooked', 'interimAvailable', 'interimBooked'],
  ...['forwardAvailable', 'nonInvoiced', 'authorised', 'available', 'openingAvailable', 'closingAvailable'],
]);
const balance = z.object({
  balanceType,
  balanceAmount: amount,
  referenceDate: z.catch(day, null),
  lastChangeDateTime: instant,
});
export type WireBalance = z.infer<typeof balance>;

/** A balance that cannot be read, as far as it says which it is. */
const unreadable = z.catch(z.nullish(z.object({ balanceType })), null);

/** The answer to the balances of an account. It has one at least that can be read. `unread` has the types of the others. */
export const balancesAnswer = z.object({
  balances: z.pipe(
    listOf(z.unknown()),
    z.transform((all, context): { read: WireBalance[]; unread: (string | null)[] } => {
      const read: WireBalance[] = [];
      const unread: (string | null)[] = [];
      for (const each of all) {
        const { data } = balance.safeParse(each);
        if (data) read.push(data);
        else unread.push(unreadable.parse(each)?.balanceType ?? null);
      }
      if (read.length === 0)
        context.issues.push({ code: 'custom', message: 'expected a balance', input: all });
      return { read, unread };
    }),
  ),
  account: z.catch(z.nullish(z.object({ iban, currency: optionalWords })), null),
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
  if (isRecord(value)) return textOf(value.reference);
  return textOf(value);
}

/** A party of a row: its name, and its account. */
export interface WireParty {
  name: string | null;
  iban: string | null;
  /** The account, if the bank names it otherwise than by its IBAN. */
  account: string | null;
}

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9 ]{11,40}$/i;

function accountIn(value: unknown): Pick<WireParty, 'iban' | 'account'> | null {
  const text = wordsIn(value);
  if (text !== null)
    return IBAN.test(text) ? { iban: plainIban(text), account: null } : { iban: null, account: text };
  if (!isRecord(value)) return null;
  const { bban, msisdn, maskedPan, pan, other } = value;
  const ownIban = wordsIn(value.iban);
  const account =
    numberIn(bban) ??
    maskedIn(maskedPan) ??
    numberIn(withoutCardNumber(pan)) ??
    numberIn(msisdn) ??
    numberIn(other);
  return { iban: ownIban && plainIban(ownIban), account };
}

function numberIn(value: unknown): string | null {
  return wordsIn(isRecord(value) ? value.identification : value);
}

function maskedIn(value: unknown): string | null {
  const number = numberIn(value);
  return number && surelyMasked(number);
}

/** The account in a reference to it, by its IBAN or otherwise. Null: there is none. */
export const accountReference = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const { iban = null, account = null } = accountIn(value) ?? {};
    return iban?.replace(/\s/g, '').toUpperCase() ?? account;
  }),
);

/** The number of a card stays with the bank, but for its last digits. */
export function withoutCardNumber(pan: unknown): unknown {
  return textOf(pan)?.replace(/.(?=.{4})/g, '*') ?? null;
}

/** Further facts of a row, as far as the bank gives them. */
export type WireFacts = Partial<
  Record<
    | ('mandateId' | 'creditorId' | 'purposeCode' | 'ultimateDebtor' | 'ultimateCreditor')
    | ('originalCurrency' | 'feeCurrency' | 'remittanceStructured'),
    string
  > &
    Record<'originalAmount' | 'exchangeRate' | 'feeAmount', Decimal>
>;

/** Reads the fields of a row that are only shown. One that psd2 cannot read counts as missing, and is named. */
class RowReader {
  readonly #row: Readonly<Record<string, unknown>>;
  /** The names of the fields that psd2 could not read. */
  unread: string[] | undefined;

  constructor(row: Readonly<Record<string, unknown>>) {
    this.#row = row;
  }

  /** @param read gives null for what it cannot read, and for nothing */
  read<T>(name: string, read: (value: unknown) => T | null): T | null {
    const value = this.#row[name];
    if (value === undefined || value === null) return null;
    const found = read(value);
    if (found === null && !isNothing(value)) this.unread = [...(this.unread ?? []), name];
    return found;
  }

  words(name: string): string | null {
    return this.read(name, wordsIn);
  }

  day(name: string): IsoDate | null {
    return this.read(name, (value) => {
      const found = dayIn(value);
      return found === 'unreadable' ? null : found;
    });
  }

  remittance(name: string): string | null {
    return this.read(name, remittanceIn);
  }

  party(side: 'creditor' | 'debtor'): WireParty {
    const account = this.read(`${side}Account`, accountIn) ?? NO_ACCOUNT;
    return { name: this.words(`${side}Name`), ...account };
  }

  /** @param currency of the row */
  facts(currency: string): WireFacts {
    const facts: WireFacts = {};
    for (const name of PLAIN_FACTS) {
      const value = this.words(name);
      if (value !== null) facts[name] = value;
    }
    const structured =
      this.remittance('remittanceInformationStructured') ??
      this.remittance('remittanceInformationStructuredArray');
    if (structured !== null) facts.remittanceStructured = structured;
    const exchange = this.read('currencyExchange', exchangeIn);
    const original = this.read('originalAmount', moneyIn) ?? this.read('instructedAmount', moneyIn);
    if (original) [facts.originalAmount, facts.originalCurrency] = [original.amount, original.currency];
    if (exchange) {
      facts.exchangeRate = exchange.rate;
      const foreign = exchange.currencies.find((each) => each !== currency);
      if (!original && foreign !== undefined) facts.originalCurrency = foreign;
    }
    const fee = this.read('markupFee', moneyIn) ?? this.read('transactionFees', moneyIn);
    if (fee) [facts.feeAmount, facts.feeCurrency] = [fee.amount, fee.currency];
    return facts;
  }
}

const PLAIN_FACTS = ['mandateId', 'creditorId', 'purposeCode', 'ultimateDebtor', 'ultimateCreditor'] as const;
const NO_ACCOUNT = { iban: null, account: null };

/** A bank writes an empty text, list or object for what a row does not have. */
function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((each) => each === null || isNothing(each));
}

function moneyIn(value: unknown): z.infer<typeof amount> | null {
  // Nearly all amounts are in this form.
  const { amount: text, currency } = isRecord(value) ? value : {};
  const plain = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? decimalIn(text) : null;
  if (plain !== null && typeof currency === 'string') return { amount: plain, currency };
  return amount.safeParse(value).data ?? null;
}

function exchangeIn(value: unknown): { rate: Decimal; currencies: string[] } | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (!isRecord(first)) return null;
  const rate = decimalIn(first.exchangeRate);
  const currencies = [first.sourceCurrency, first.targetCurrency, first.unitCurrency];
  return rate === null ? null : { rate, currencies: currencies.flatMap((each) => wordsIn(each) ?? []) };
}

/**
 * A transaction of an account or a card. A card's has other names for some fields. Only the amount is required, and for a booked
 * one a day. What is only shown is read leniently, and without a schema for each field: a list has many rows.
 */
const rowOf = (isBooked: boolean) =>
  z.pipe(
    z.unknown(),
    z.transform((value, context) => {
      const row = isRecord(value) ? value : {};
      const transactionAmount = moneyIn(row.transactionAmount);
      const refuse = (message: string, path: PropertyKey[]) => {
        context.issues.push({ code: 'custom', message, input: value, path });
        return z.NEVER;
      };
      if (!transactionAmount) {
        const [issue] = amount.safeParse(row.transactionAmount).error?.issues ?? [];
        return refuse(issue?.message ?? '', ['transactionAmount', ...(issue?.path ?? [])]);
      }
      const reader = new RowReader(row);
      const bookingDate = reader.day('bookingDate');
      const valueDate = reader.day('valueDate') ?? reader.day('transactionDate');
      // A day is needed to find a booked row again. One that the bank leaves out is shown as missing.
      if (isBooked && !bookingDate && !valueDate && reader.unread?.includes('bookingDate'))
        return refuse('expected a date', ['bookingDate']);
      return {
        bookingDate,
        valueDate,
        transactionAmount,
        transactionId: idIn(row.transactionId) ?? idIn(row.cardTransactionId),
        entryReference: idIn(row.entryReference),
        internalTransactionId: idIn(row.internalTransactionId),
        endToEndId: reader.words('endToEndId'),
        creditor: reader.party('creditor'),
        debtor: reader.party('debtor'),
        remittance:
          reader.remittance('remittanceInformationUnstructured') ??
          reader.remittance('remittanceInformationUnstructuredArray'),
        transactionDetails: reader.words('transactionDetails'),
        additionalInformation: reader.words('additionalInformation'),
        bankTransactionCode: reader.words('bankTransactionCode'),
        proprietaryBankTransactionCode: reader.words('proprietaryBankTransactionCode'),
        facts: reader.facts(transactionAmount.currency),
        // Evaluated last, after all fields.
        unread: reader.unread,
      };
    }),
  );
const booked = rowOf(true);
export type WireTransaction = z.infer<typeof booked>;

/** An id of a row as it is: it is compared with that of other readings. */
function idIn(value: unknown): string | null {
  const text = textOf(value);
  return text === undefined || text.trim() === '' ? null : cleanWords(text);
}

/** A HAL link: an object, a list of one, or a text. `href` is what the bank sent: it can lead anywhere. Anything else counts as none. */
export const link = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value): string | null => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const href = isRecord(first) ? first.href : first;
    return typeof href === 'string' ? href.trim() : null;
  }),
);

const links = z.catch(z.nullish(z.object({ next: link, download: link })), null);

const report = z.object({
  booked: z.optional(listOf(booked)),
  pending: z.optional(listOf(rowOf(false))),
  _links: links,
});

/** The account that an answer is about. */
const reference = z.catch(z.nullish(z.object({ iban, bban: optionalWords })), null);

/** A page of transactions of an account or a card. */
export const transactionsAnswer = z.object({
  transactions: z.nullish(report),
  cardTransactions: z.nullish(report),
  account: reference,
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
