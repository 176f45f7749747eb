import type { Decimal } from './decimal.ts';

/** What kind of value a fact is. `payments`: a list of {@link PaymentOfEntry}. */
type FactKind = 'text' | 'decimal' | 'payments';

export interface Fact {
  kind: FactKind;
  /** What it is, for the docs and schemas of output. */
  means: string;
  /** A bank that has nothing to say of it has null there. Without this, it has no such field. */
  isNullable?: true;
}

/**
 * What a bank may say of a transaction, beside what every bank says. One row is a fact: its type, its column in both tables of
 * PostgreSQL, its place in the store, its field of output, its column of CSV and its line in `docs/store.md` come from here. What is
 * left to write are its readers (`bank/interfaces/`), its element in camt.053 and OFX if they have one, and its name in
 * `docs/exports.md`; `test/domain/transaction-facts.test.ts` names what was forgotten.
 */
export const TRANSACTION_FACTS = {
  transactionId: {
    kind: 'text',
    isNullable: true,
    means: "the bank's id of it; as the fields from here on, of banks that say it",
  },
  entryReference: { kind: 'text', isNullable: true, means: "the bank's id of it for reading on from there" },
  endToEndId: { kind: 'text', isNullable: true, means: 'the reference that the payer gave' },
  counterpartyName: { kind: 'text', isNullable: true, means: 'name of the other side' },
  counterpartyIban: { kind: 'text', isNullable: true, means: 'IBAN of the other side' },
  counterpartyAccount: {
    kind: 'text',
    means: 'account of the other side, if the bank names it otherwise than by its IBAN',
  },
  remittance: { kind: 'text', isNullable: true, means: 'what it is for, in the words of the payer' },
  remittanceStructured: { kind: 'text', means: 'the reference that the payee gave' },
  bankTransactionCode: {
    kind: 'text',
    isNullable: true,
    means: 'ISO 20022 code for this kind of transaction',
  },
  ultimateDebtor: { kind: 'text', means: 'for whom the debtor paid' },
  ultimateCreditor: { kind: 'text', means: 'for whom the creditor received' },
  mandateId: { kind: 'text', means: 'mandate of a direct debit' },
  creditorId: { kind: 'text', means: 'creditor identifier of a direct debit' },
  purposeCode: { kind: 'text', means: 'ISO 20022 code for what it is for' },
  originalCurrency: { kind: 'text', means: 'currency of the original amount, ISO 4217 code' },
  feeCurrency: { kind: 'text', means: 'currency of the fee, ISO 4217 code' },
  originalAmount: { kind: 'decimal', means: 'what was paid in another currency' },
  exchangeRate: { kind: 'decimal', means: 'rate between the two currencies' },
  feeAmount: { kind: 'decimal', means: 'what the bank took for it' },
  customerReference: { kind: 'text', means: "the customer's own reference of the payment or of its batch" },
  additionalInformation: { kind: 'text', means: "the bank's own words on it" },
  returnReason: { kind: 'text', means: "why it was returned: ISO 20022 code, and the bank's words" },
  entryDetails: { kind: 'payments', means: 'the payments of a batch that is one row' },
} as const satisfies Readonly<Record<string, Fact>>;

type Facts = typeof TRANSACTION_FACTS;
export type FactName = keyof Facts;
/** The names of the facts of one kind. */
type Of<Kind extends FactKind> = {
  [Name in FactName]: Facts[Name]['kind'] extends Kind ? Name : never;
}[FactName];
export type NullableFact = {
  [Name in FactName]: Facts[Name] extends { isNullable: true } ? Name : never;
}[FactName];

/** A payment of a batch that the bank booked as one row: its amount, and what the bank says of it. Absent: it does not. */
export interface PaymentOfEntry
  extends Partial<Record<TextFact, string>>,
    Partial<Record<DecimalFact, Decimal>> {
  amount?: Decimal;
  currency?: string;
}

type TextFact = Of<'text'>;
type DecimalFact = Of<'decimal'>;
type ValueOf<Name extends FactName> = Name extends TextFact
  ? string
  : Name extends DecimalFact
    ? Decimal
    : readonly PaymentOfEntry[];

/** What a bank may say of a transaction. Absent or null: it does not. */
export type TransactionFacts = { [Name in FactName]?: ValueOf<Name> | null | undefined };

/** The same, as a bank has just said it: null if it says nothing of what is nullable, absent of the others. */
export type SaidFacts = { [Name in NullableFact]?: ValueOf<Name> | null | undefined } & {
  [Name in Exclude<FactName, NullableFact>]?: ValueOf<Name> | undefined;
};

function isOf<Kind extends FactKind>(kind: Kind) {
  return (name: FactName): name is Of<Kind> => TRANSACTION_FACTS[name].kind === kind;
}

function isFactName(name: string): name is FactName {
  return name in TRANSACTION_FACTS;
}

export const FACT_NAMES: readonly FactName[] = Object.keys(TRANSACTION_FACTS).filter(isFactName);
export const TEXT_FACTS = FACT_NAMES.filter(isOf('text'));
export const DECIMAL_FACTS = FACT_NAMES.filter(isOf('decimal'));
export const PAYMENTS_FACTS = FACT_NAMES.filter(isOf('payments'));
