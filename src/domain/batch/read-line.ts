import { Psd2Error } from '../../errors.ts';
import type { IsoDate } from '../calendar.ts';
import type { AccountId } from '../identifiers.ts';
import { type CreditorReference, parseCreditorReference } from '../order/creditor-reference.ts';
import { isIban, parseSepaIban } from '../order/iban.ts';
import { parsePaymentAmount } from '../order/payment-amount.ts';
import { compactIban, parseDescription, parsePayeeName, parseReference } from '../order/sepa-text.ts';
import { parseExecutionDate, parseSepaCurrency } from '../order/terms.ts';
import { transliterated } from '../order/transliterate.ts';
import type { BatchLine } from './line.ts';

// The rules of `psd2 transfer create`, for a line of a file: all its problems, and not only the first.

/** What a file says about the payee. */
export interface WrittenPayment {
  name: string;
  iban: string;
  amount: string;
  currency: string;
  description: string;
  creditorReference: CreditorReference | null;
  reference: string | null;
}

/** What a file says about the payer. In CSV each line says it, in pain.001 each `PmtInf`. Null: nothing. */
export interface WrittenDebit {
  customer: string | null;
  from: string | null;
  date: string | null;
}

/** What the checks of a line depend on. */
export interface LineRules {
  /** The day at the bank. */
  today: IsoDate;
  /** @throws Psd2Error `invalid_product_id` */
  readAccountId(text: string): AccountId;
  /** @throws Psd2Error `usage` */
  readCustomerId(text: string): string;
}

export type Payment = Pick<BatchLine, keyof WrittenPayment>;

export type Debit = Pick<BatchLine, 'customer' | 'from' | 'fromIban' | 'executionDate'>;

/**
 * Reads what a file says about the payee.
 *
 * @param replaced told of each text that is paid in the characters of SEPA. Undefined: a text with others is wrong
 * @returns null if something is wrong, which it has reported
 */
export function readLineOfBatch(
  written: WrittenPayment,
  report: ReportField<keyof WrittenPayment>,
  replaced?: ReportField<keyof WrittenPayment>,
): Payment | null {
  const spelled = (field: 'name' | 'description') => {
    const text = written[field];
    const other = replaced ? transliterated(text) : text;
    if (other !== text)
      replaced?.(field, `The ${field} ${JSON.stringify(text)} is paid as ${JSON.stringify(other)}`);
    return other;
  };
  const name = readField('name', report, () => parsePayeeName(spelled('name'), 'The name'));
  const iban = readField('iban', report, () => parseSepaIban(written.iban));
  const amount = readField('amount', report, () => parsePaymentAmount(written.amount));
  const currency = readField('currency', report, () => parseSepaCurrency(written.currency));
  const description = readField('description', report, () =>
    parseDescription(spelled('description'), 'The description'),
  );
  const creditorReference = readField('creditorReference', report, () => readCreditorReference(written));
  const reference = readField('reference', report, () =>
    written.reference === null ? null : parseReference(written.reference, 'The reference'),
  );
  if (name === undefined || iban === undefined || amount === undefined) return null;
  if (currency === undefined || description === undefined || reference === undefined) return null;
  if (creditorReference === undefined) return null;
  return {
    name,
    iban,
    amount,
    currency,
    description,
    reference,
    ...(creditorReference && { creditorReference }),
  };
}

/** @throws Psd2Error `usage`, `invalid_text` */
function readCreditorReference({ creditorReference, description }: WrittenPayment): CreditorReference | null {
  if (creditorReference && description !== '')
    throw new Psd2Error('usage', "SEPA carries a text or the payee's reference, and not both");
  return creditorReference && parseCreditorReference(creditorReference, "The payee's reference");
}

/**
 * Reads what a file says about the payer. An IBAN is taken as the IBAN of the account, anything else as its id at the bank.
 *
 * @returns null if something is wrong, which it has reported
 */
export function readDebit(
  written: WrittenDebit,
  { today, readAccountId, readCustomerId }: LineRules,
  report: ReportField<keyof WrittenDebit>,
): Debit | null {
  const customer = readField('customer', report, () =>
    written.customer === null ? null : readCustomerId(written.customer),
  );
  const debited = readField('from', report, () => readDebited(written.from, readAccountId));
  const executionDate = readField('date', report, () =>
    written.date === null ? null : parseExecutionDate(written.date, today, 'The date'),
  );
  if (customer === undefined || debited === undefined || executionDate === undefined) return null;
  return { customer, ...debited, executionDate };
}

/** Letters and digits as an IBAN begins, longer than an account id. */
const IBAN_FORM = /^[A-Z]{2}\d{2}[A-Z\d]{10,}$/;

/** The account to debit in a text. @throws Psd2Error `invalid_iban` if it is a wrong IBAN, or what `readAccountId` throws */
export function readDebited(
  text: string | null,
  readAccountId: LineRules['readAccountId'],
): Pick<Debit, 'from' | 'fromIban'> {
  if (text === null) return { from: null, fromIban: null };
  const compact = compactIban(text);
  if (isIban(compact)) return { from: null, fromIban: compact };
  try {
    return { from: readAccountId(text), fromIban: null };
  } catch (error) {
    // A bank's own ids may look like an IBAN, so only a text that is no id either is one with a slip.
    if (IBAN_FORM.test(compact)) parseSepaIban(text);
    throw error;
  }
}

/** What `read` gives; undefined if it throws what it has reported then. */
function readField<Field extends string, T>(
  field: Field,
  report: ReportField<Field>,
  read: () => T,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    report(field, error.message);
    return undefined;
  }
}

/** What is wrong with a file of payments, or what a person should know about it. */
export interface BatchProblem {
  /** An error stops the batch. A warning does not. */
  severity: 'error' | 'warning';
  /** The line's number in the batch. Null: it is about no line alone. */
  line: number | null;
  /** Where it is in the file: `line 7` in CSV, the path of the element in XML. Empty: the file as a whole. */
  place: string;
  /** The line of the file, from 1. Null: it is about the file as a whole, or about an option. */
  fileLine: number | null;
  /** A sentence without a full stop. */
  message: string;
}

/** A problem of a payment, for those who do not know the file. */
export type PaymentProblem = Omit<BatchProblem, 'fileLine'>;

/** Reports what is wrong with a field of a line. */
export type ReportField<Field extends string> = (field: Field, message: string) => void;
