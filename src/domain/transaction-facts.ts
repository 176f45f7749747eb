import type { Decimal } from './decimal.ts';

/** The texts that a bank may give of a transaction, beside those that every bank gives. */
export const TEXT_FACTS = [
  /** The bank's own id of it. */
  'transactionId',
  /** From here, `TransactionQuery.after` reads on. */
  'entryReference',
  'endToEndId',
  'counterpartyName',
  'counterpartyIban',
  /** The account of the other side, if the bank names it otherwise than by its IBAN. */
  'counterpartyAccount',
  'remittance',
  /** The reference that the payee has given (RF, or a national form). */
  'remittanceStructured',
  'bankTransactionCode',
  'ultimateDebtor',
  'ultimateCreditor',
  'mandateId',
  'creditorId',
  'purposeCode',
  'originalCurrency',
  'feeCurrency',
] as const;

/** The numbers: what was paid in another currency and at which rate, and what the bank took for it. */
export const DECIMAL_FACTS = ['originalAmount', 'exchangeRate', 'feeAmount'] as const;

export const FACTS = [...TEXT_FACTS, ...DECIMAL_FACTS] as const;

type FactsOr<None> = {
  [Fact in (typeof TEXT_FACTS)[number]]?: string | None | undefined;
} & { [Fact in (typeof DECIMAL_FACTS)[number]]?: Decimal | None | undefined };

/** What a bank may say of a transaction. Absent or null: it does not. */
export type TransactionFacts = FactsOr<null>;

/** Of these a bank says nothing if they are null; of the others, if they are absent. */
type Told =
  | ('transactionId' | 'entryReference' | 'endToEndId' | 'remittance' | 'bankTransactionCode')
  | ('counterpartyName' | 'counterpartyIban');

/** The same, as a bank has just said it. */
export type SaidFacts = Pick<TransactionFacts, Told> & Omit<FactsOr<never>, Told>;
