import { isValidIBAN } from 'ibantools';
import * as z from 'zod/mini';
import { addMonths, bankDay, type IsoDate, readBankDate, writeBankDate } from './bank-time.ts';
import { type Cents, decimal, readCents } from './cents.ts';
import { expectedAndReceived, Refusal } from './refusal.ts';
import type { Product } from './seed-customers.ts';
import { isSepaCountry } from './sepa-countries.ts';

/** What the bank charges for a transfer, instant or not (Regulation (EU) 2024/886 wants them equal). */
const COMMISSIONS: Cents = 50;

/** A transfer that the bank found correct. */
export interface TransferOrder {
  instant: boolean;
  amount: Cents;
  commissions: Cents;
  executionDay: IsoDate;
  beneficiaryIban: string;
  beneficiaryName: string;
  description: string;
}

/** The body of the verify call (interface specification, "Bank transfer"); all fields but `type` are due. */
export const verifyBody = z.strictObject({
  data: z.strictObject({
    moneyTransferAmount: z.strictObject({ currency: z.string(), amount: z.string() }),
    flagUrgency: z.boolean(),
    type: z.optional(z.string()),
    moneyTransferExecutionDate: z.string(),
    ibanBeneficiary: z.string(),
    beneficiaryName: z.string(),
    description: z.string(),
  }),
});

type VerifyData = z.infer<typeof verifyBody>['data'];

/** The last day that a transfer may be ordered for: a year ahead. */
export function executionDateLimit(now: Date): IsoDate {
  return addMonths(bankDay(now), 12);
}

/**
 * Checks the content of a verify call: characters first, then each field.
 *
 * @throws Refusal `CHARACTER_NOT_ALLOWED`, `FIELD_INVALID`
 */
export function readTransferOrder(data: VerifyData, debited: Product, now: Date): TransferOrder {
  requireSepaCharacters('beneficiaryName', data.beneficiaryName);
  requireSepaCharacters('description', data.description);
  requireLength('beneficiaryName', data.beneficiaryName, 70);
  if (data.beneficiaryName.trim() === '') throw invalid('beneficiaryName', 'a name', 'blanks');
  requireLength('description', data.description, 140);
  if (data.type !== undefined && data.type !== 'INSTANT') {
    throw invalid('type', 'INSTANT, or no type for a transfer that is not instant', `"${data.type}"`);
  }
  const instant = data.type === 'INSTANT';
  return {
    instant,
    amount: readAmount(data.moneyTransferAmount),
    commissions: COMMISSIONS,
    executionDay: readExecutionDay(data.moneyTransferExecutionDate, instant, now),
    beneficiaryIban: readBeneficiaryIban(data.ibanBeneficiary, debited),
    beneficiaryName: data.beneficiaryName,
    description: data.description,
  };
}

/** What leaves the account. */
export function totalOf({ amount, commissions }: TransferOrder): Cents {
  return amount + commissions;
}

/**
 * @throws Refusal `FUNDS_INSUFFICIENT` when the order is for more than is available.
 */
export function requireFunds(order: TransferOrder, available: Cents): void {
  if (totalOf(order) <= available) return;
  throw new Refusal(
    'FUNDS_INSUFFICIENT',
    'The available balance does not cover the transfer',
    `Available: ${decimal(available)} EUR. Asked, with commissions: ${decimal(totalOf(order))} EUR.`,
  );
}

function requireSepaCharacters(field: string, text: string): void {
  const character = /[^a-zA-Z0-9/\-?:().,'+ ]/u.exec(text)?.[0];
  if (character === undefined) return;
  const codePoint = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new Refusal(
    'CHARACTER_NOT_ALLOWED',
    `data.${field} has a character that SEPA does not allow`,
    expectedAndReceived("a-z A-Z 0-9 / - ? : ( ) . , ' + and space", `"${character}" (U+${codePoint})`),
  );
}

function requireLength(field: string, text: string, longest: number): void {
  if (text.length > longest) throw invalid(field, `at most ${longest} characters`, `${text.length}`);
}

function readAmount({ amount, currency }: VerifyData['moneyTransferAmount']): Cents {
  if (currency !== 'EUR') throw invalid('moneyTransferAmount.currency', 'EUR', `"${currency}"`);
  const cents = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,2})?$/.test(amount) ? readCents(amount) : undefined;
  if (cents === undefined || cents === 0) {
    throw invalid(
      'moneyTransferAmount.amount',
      'a decimal from 0.01 to 999999999.99 with a point and at most two decimals',
      `"${amount}"`,
    );
  }
  return cents;
}

function readExecutionDay(text: string, instant: boolean, now: Date): IsoDate {
  const today = bankDay(now);
  const limit = instant ? today : executionDateLimit(now);
  const day = readBankDate(text);
  if (day !== undefined && today <= day && day <= limit) return day;
  throw invalid(
    'moneyTransferExecutionDate',
    instant
      ? `${writeBankDate(today)}, the only day for an instant transfer`
      : `a day (DD/MM/YYYY) from ${writeBankDate(today)} to ${writeBankDate(limit)}`,
    `"${text}"`,
  );
}

function readBeneficiaryIban(iban: string, debited: Product): string {
  if (!isValidIBAN(iban)) {
    throw invalid('ibanBeneficiary', 'a valid IBAN in capitals without blanks', `"${iban}"`);
  }
  if (!isSepaCountry(iban.slice(0, 2))) {
    throw invalid('ibanBeneficiary', 'an IBAN of a SEPA country', `"${iban}"`);
  }
  if (iban === debited.iban) {
    throw invalid('ibanBeneficiary', 'another account than the debited one', `"${iban}"`);
  }
  return iban;
}

function invalid(field: string, expected: string, received: string): Refusal {
  return new Refusal('FIELD_INVALID', `data.${field} is not valid`, expectedAndReceived(expected, received));
}
