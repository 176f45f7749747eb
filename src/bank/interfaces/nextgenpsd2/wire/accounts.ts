import * as z from 'zod/mini';
import type { IsoDate } from '../../../../domain/calendar.ts';
import { isCurrency } from '../../../../domain/currency.ts';
import type { Decimal } from '../../../../domain/decimal.ts';
import { isRecord } from '../../../../domain/json.ts';
import { bookingDayIn, decimalIn, plainIban, textOf } from '../../../../domain/odd-values.ts';
import { surelyMasked } from '../../../../domain/order/card-number.ts';
import type { NullableFact, SaidFacts } from '../../../../domain/transaction-facts.ts';
import {
  amount,
  cleanWords,
  day,
  id,
  instant,
  listOf,
  optionalFlag,
  optionalStatusOf,
  optionalWords,
  wordsIn,
} from './fields.ts';

const iban = z.pipe(
  optionalWords,
  z.transform((words) => (words === null ? null : plainIban(words))),
);

/** A currency, in capital letters if it can be one. */
const currencyWord = z.pipe(
  optionalWords,
  z.transform((word) => (/^[a-z]{3}$/i.test(word ?? '') ? (word?.toUpperCase() ?? null) : word)),
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
  currency: currencyWord,
  name: optionalWords,
  displayName: optionalWords,
  product: optionalWords,
  cashAccountType: optionalWords,
  status: optionalStatusOf(['enabled', 'blocked', 'deleted']),
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
  'closingBooked',
  'expected',
  'openingBooked',
  'interimAvailable',
  'interimBooked',
  'forwardAvailable',
  'nonInvoiced',
  'authorised',
  'available',
  'openingAvailable',
  'closingAvailable',
]);
const balance = z.object({
  balanceType,
  balanceAmount: amount,
  referenceDate: z.catch(day, null),
  lastChangeDateTime: instant,
  creditLimitIncluded: optionalFlag,
});
export type WireBalance = z.infer<typeof balance>;

/** A balance that cannot be read, as far as it says which it is. */
const unreadable = z.catch(
  z.object({
    balanceType,
    balanceAmount: z.catch(z.nullish(z.object({ currency: optionalWords })), null),
    referenceDate: z.catch(day, null),
    lastChangeDateTime: instant,
  }),
  { balanceType: null, balanceAmount: null, referenceDate: null, lastChangeDateTime: null },
);
export type UnreadBalance = z.infer<typeof unreadable>;

/** The answer to the balances of an account. It has one at least that can be read. `unread` has the others. */
export const balancesAnswer = z.object({
  balances: z.pipe(
    listOf(z.unknown()),
    z.transform((all, context): { read: WireBalance[]; unread: UnreadBalance[] } => {
      const read: WireBalance[] = [];
      const unread: UnreadBalance[] = [];
      for (const each of all) {
        const { data } = balance.safeParse(each);
        if (data) read.push(data);
        else unread.push(unreadable.parse(each));
      }
      if (read.length === 0)
        context.issues.push({ code: 'custom', message: 'expected a balance', input: all });
      return { read, unread };
    }),
  ),
  account: z.catch(z.nullish(z.object({ iban, currency: currencyWord })), null),
});

/** More lines than the standard has in all forms. */
const MAX_LINES = 100;

/** The lines of remittance information: text, `{reference}`, or a list of either. Null: there is none that can be read. */
function remittanceIn(value: unknown): string[] | null {
  const lines = Array.isArray(value) ? value.slice(0, MAX_LINES) : [value];
  const texts = lines.flatMap((line) => lineIn(line)?.trim() || []);
  return texts.length === 0 ? null : texts;
}

/** The lines of two places, those that are in both once. A text may also be all lines of the other place in one. */
function together(one: readonly string[], other: readonly string[]): readonly string[] {
  const whole = (lines: readonly string[]) => lines.join('').replace(/\s/g, '');
  if (whole(one) === whole(other)) return one.length > other.length ? other : one;
  // The order of the longer place is that of the lines.
  const [first, second] = one.length < other.length ? [other, one] : [one, other];
  return [...first, ...second.filter((line) => !first.includes(line))];
}

function textOfLines(lines: readonly string[]): string | null {
  return lines.length === 0 ? null : cleanWords(lines.join(' '));
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

function partyAccount(value: unknown): Pick<WireParty, 'iban' | 'account'> | null {
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
    const { iban = null, account = null } = partyAccount(value) ?? {};
    return iban?.replace(/\s/g, '').toUpperCase() ?? account;
  }),
);

/** The number of a card stays with the bank, but for its last digits. */
export function withoutCardNumber(pan: unknown): unknown {
  return textOf(pan)?.replace(/.(?=.{4})/g, '*') ?? null;
}

/** Further facts of a row, as far as the bank gives them. */
export type WireFacts = Omit<SaidFacts, NullableFact | 'counterpartyAccount' | 'entryDetails'>;

/** Reads the fields of a row that are only shown. One that psd2 cannot read counts as missing, and is named. */
class RowReader {
  readonly #row: Readonly<Record<string, unknown>>;
  readonly #zone: string;
  /** The names of the fields that psd2 could not read. */
  unread: string[] | undefined;

  /** @param zone of the bank */
  constructor(row: Readonly<Record<string, unknown>>, zone: string) {
    this.#row = row;
    this.#zone = zone;
  }

  /** @param read gives null for what it cannot read, and for nothing */
  read<T>(name: string, read: (value: unknown) => T | null): T | null {
    const value = this.#row[name];
    if (value === undefined || value === null) return null;
    const content = read(value);
    if (content === null && !isNothing(value)) this.unread = [...(this.unread ?? []), name];
    return content;
  }

  words(name: string): string | null {
    return this.read(name, wordsIn);
  }

  day(name: string): IsoDate | null {
    return this.read(name, (value) => {
      const read = bookingDayIn(value, this.#zone);
      return read === 'unreadable' ? null : read;
    });
  }

  /** What stands in a field, and in the list of the same kind: a bank may fill both. */
  #lines(name: 'remittanceInformationUnstructured' | 'remittanceInformationStructured'): readonly string[] {
    const [one, list] = [this.read(name, remittanceIn), this.read(`${name}Array`, remittanceIn)];
    return one && list ? together(one, list) : (one ?? list ?? []);
  }

  unstructured(): string | null {
    return textOfLines(this.#lines('remittanceInformationUnstructured'));
  }

  /** References, without those that say that there is none. */
  structured(): string | null {
    const lines = this.#lines('remittanceInformationStructured');
    return textOfLines(lines.filter((line) => !isNoReference(line)));
  }

  party(side: 'creditor' | 'debtor'): WireParty {
    const account = this.read(`${side}Account`, partyAccount) ?? NO_ACCOUNT;
    return { name: this.words(`${side}Name`), ...account };
  }

  /** @param currency of the row */
  facts(currency: string): WireFacts {
    const facts: WireFacts = {};
    for (const name of PLAIN_FACTS) {
      const value = this.words(name);
      if (value !== null) facts[name] = value;
    }
    for (const name of IDS) {
      const value = this.reference(name);
      if (value !== null) facts[name] = value;
    }
    const customerReference = this.reference('customerReference') ?? this.reference('paymentInformationId');
    if (customerReference !== null) facts.customerReference = customerReference;
    const returnReason = this.read('returnReason', reasonIn) ?? this.read('returnInformation', reasonIn);
    if (returnReason !== null) facts.returnReason = returnReason;
    const structured = this.structured();
    if (structured !== null) facts.remittanceStructured = structured;
    this.#readMoney(facts, currency);
    return facts;
  }

  /** What was paid in another currency, and what the bank took for it. */
  #readMoney(facts: WireFacts, currency: string): void {
    const exchange = this.read('currencyExchange', exchangeIn);
    const original =
      this.read('originalAmount', moneyIn) ??
      this.read('instructedAmount', moneyIn) ??
      (exchange?.instructed?.currency === currency ? null : exchange?.instructed);
    if (original) facts.originalAmount = original.amount;
    if (exchange?.rate) facts.exchangeRate = exchange.rate;
    const named = original && currencyIn(original.currency);
    const foreign = exchange?.currencies.find((each) => each !== currency);
    if (named) facts.originalCurrency = named;
    else if (foreign !== undefined && (original || exchange?.rate)) facts.originalCurrency = foreign;
    const fee = this.read('markupFee', moneyIn) ?? this.read('transactionFees', moneyIn);
    if (fee) {
      facts.feeAmount = fee.amount;
      facts.feeCurrency = fee.currency;
    }
  }

  id(name: string): string | null {
    return idValue(this.#row[name]);
  }

  /** A reference. Where there is none, a bank may write `NONREF` (SWIFT). */
  reference(name: string): string | null {
    const words = this.words(name);
    return words !== null && isNoReference(words) ? null : words;
  }
}

const PLAIN_FACTS = ['additionalInformation', 'purposeCode', 'ultimateDebtor', 'ultimateCreditor'] as const;
const IDS = ['mandateId', 'creditorId'] as const;
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

interface Exchange {
  rate: Decimal | null;
  /** What was paid, in the currency in which it was ordered. */
  instructed: z.infer<typeof amount> | null;
  currencies: string[];
}

function exchangeIn(value: unknown): Exchange | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (!isRecord(first)) return null;
  const rate = decimalIn(first.exchangeRate);
  const instructed = moneyIn(first.instructedAmount);
  const currencies = [first.sourceCurrency, first.targetCurrency, first.unitCurrency];
  return rate === null && instructed === null
    ? null
    : { rate, instructed, currencies: currencies.flatMap((each) => currencyIn(each) ?? []) };
}

function currencyIn(value: unknown): string | null {
  const word = wordsIn(value)?.toUpperCase() ?? '';
  return isCurrency(word) ? word : null;
}

/** Why a payment was returned: a text, or a code with words, which may be an object again. */
function reasonIn(value: unknown): string | null {
  if (!isRecord(value)) return wordsIn(value);
  const words = partsOfReason(value).map((part) => (isRecord(part) ? partsOfReason(part) : [part]));
  return words.flatMap((parts) => parts.flatMap((part) => wordsIn(part) ?? [])).join(' ') || null;
}

function partsOfReason(value: Readonly<Record<string, unknown>>): unknown[] {
  const { code, proprietary, reasonCode, returnReasonCode, reason, text, additionalInformation } = value;
  return [code ?? proprietary ?? reasonCode ?? returnReasonCode, reason, text, additionalInformation];
}

/** The details of an entry: a payment, or several that were booked as one. */
function detailsIn(value: unknown): Record<string, unknown>[] {
  return (Array.isArray(value) ? value : [value]).filter(isRecord);
}

const REMITTANCE = ['Unstructured', 'UnstructuredArray', 'Structured', 'StructuredArray'].map(
  (kind) => `remittanceInformation${kind}`,
);

/** The row, with what only its one detail says. Both may have a text. */
function withDetail(row: Record<string, unknown>, detail: Record<string, unknown>): Record<string, unknown> {
  const own = Object.entries(row).filter(
    ([name, value]) =>
      value !== null && value !== undefined && !(isNothing(value) && detail[name] !== undefined),
  );
  const whole = { ...detail, ...Object.fromEntries(own) };
  for (const name of REMITTANCE) {
    const [inRow, inDetail] = [remittanceIn(row[name]), remittanceIn(detail[name])];
    if (inRow && inDetail) whole[name] = together(inRow, inDetail);
  }
  return whole;
}

/** A payment of a batch. */
export interface WirePayment {
  amount: z.infer<typeof amount> | null;
  endToEndId: string | null;
  creditor: WireParty;
  debtor: WireParty;
  remittance: string | null;
  facts: WireFacts;
}

function paymentIn(detail: Record<string, unknown>, currency: string, zone: string): WirePayment {
  const reader = new RowReader(detail, zone);
  return {
    amount: reader.read('transactionAmount', moneyIn),
    endToEndId: reader.reference('endToEndId'),
    creditor: reader.party('creditor'),
    debtor: reader.party('debtor'),
    remittance: reader.unstructured(),
    facts: reader.facts(currency),
  };
}

/**
 * A transaction of an account or a card. A card's has other names for some fields. Only the amount is required, and for a booked
 * one a day. What is only shown is read leniently, and without a schema for each field: a list has many rows.
 */
const rowSchema = (isBooked: boolean, zone: string) =>
  z.pipe(
    z.unknown(),
    z.transform((value, context) => {
      const whole = isRecord(value) ? value : {};
      const details = whole.entryDetails ? detailsIn(whole.entryDetails) : [];
      const row = details.length === 1 && details[0] ? withDetail(whole, details[0]) : whole;
      const transactionAmount = moneyIn(row.transactionAmount);
      const refuse = (message: string, path: PropertyKey[]) => {
        context.issues.push({ code: 'custom', message, input: value, path });
        return z.NEVER;
      };
      if (!transactionAmount) {
        const [issue] = amount.safeParse(row.transactionAmount).error?.issues ?? [];
        return refuse(issue?.message ?? '', ['transactionAmount', ...(issue?.path ?? [])]);
      }
      const reader = new RowReader(row, zone);
      const bookingDate = reader.day('bookingDate');
      const valueDate = reader.day('valueDate') ?? reader.day('transactionDate');
      // A day is needed to find a booked row again. One that the bank leaves out is shown as missing.
      if (isBooked && !bookingDate && !valueDate && reader.unread?.includes('bookingDate'))
        return refuse('expected a date', ['bookingDate']);
      const { currency } = transactionAmount;
      return {
        bookingDate,
        valueDate,
        transactionAmount,
        transactionId: reader.id('transactionId') ?? reader.id('cardTransactionId'),
        entryReference: reader.id('entryReference'),
        internalTransactionId: reader.id('internalTransactionId'),
        endToEndId: reader.reference('endToEndId'),
        creditor: reader.party('creditor'),
        debtor: reader.party('debtor'),
        remittance: reader.unstructured(),
        transactionDetails: reader.words('transactionDetails'),
        bankTransactionCode: reader.words('bankTransactionCode'),
        proprietaryBankTransactionCode: reader.words('proprietaryBankTransactionCode'),
        facts: reader.facts(currency),
        payments: details.length > 1 ? details.map((each) => paymentIn(each, currency, zone)) : [],
        // Evaluated last, after all fields.
        unread: reader.unread,
      };
    }),
  );
export type WireTransaction = z.infer<ReturnType<typeof rowSchema>>;

/** An id as it is: it is compared with that of other readings. */
function idValue(value: unknown): string | null {
  const text = textOf(value);
  return text === undefined || text.trim() === '' || isNoReference(text) ? null : cleanWords(text);
}

/** Whether a text says that there is no reference (SWIFT). */
export function isNoReference(text: string): boolean {
  return /^\s*NONREF\s*$/i.test(text);
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

/** The account that an answer is about. */
const reference = z.catch(z.nullish(z.object({ iban, bban: optionalWords, currency: currencyWord })), null);

const aboutAccount = z.object({ account: reference });

/** The IBAN that an answer names. Null: none. */
export function ibanNamedIn(json: unknown): string | null {
  return aboutAccount.safeParse(json).data?.account?.iban ?? null;
}

/** A page of transactions of an account or a card. @param zone of the bank */
export function transactionsAnswerIn(zone: string) {
  const answer = answersIn.get(zone) ?? makeTransactionsAnswer(zone);
  answersIn.set(zone, answer);
  return answer;
}

const answersIn = new Map<string, ReturnType<typeof makeTransactionsAnswer>>();

function makeTransactionsAnswer(zone: string) {
  const report = z.object({
    booked: z.optional(listOf(rowSchema(true, zone))),
    pending: z.optional(listOf(rowSchema(false, zone))),
    _links: links,
  });
  return z.object({
    transactions: z.nullish(report),
    cardTransactions: z.nullish(report),
    account: reference,
    _links: links,
  });
}

export type TransactionsAnswer = z.infer<ReturnType<typeof makeTransactionsAnswer>>;

const linkedPage = z.looseObject({
  transactions: z.catch(z.nullish(z.looseObject({ _links: links })), null),
  cardTransactions: z.catch(z.nullish(z.looseObject({ _links: links })), null),
  _links: links,
});

/** The link to the page after any answer with a list: transactions have it one level deeper. Null after the last page. */
export function nextOfPage(json: unknown): string | null {
  const { data } = linkedPage.safeParse(json);
  const [link] = [data?.transactions, data?.cardTransactions, data].flatMap(
    (part) => part?._links?.next ?? [],
  );
  return link ?? null;
}
