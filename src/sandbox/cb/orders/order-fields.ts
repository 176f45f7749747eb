import { isValidIBAN } from 'ibantools';
import * as z from 'zod/mini';
import { type Refusal, wrongValue } from '../../answers/refusal.ts';
import type { Product } from '../../customers/seed-customers.ts';
import {
  bankDay,
  type IsoDate,
  readBankDate,
  targetHolidays,
  writeBankDate,
} from '../../ledger/bank-time.ts';
import type { Cents } from '../../ledger/cents.ts';
import {
  foreignCharacter,
  isSepaIban,
  readSepaAmount,
  SEPA_AMOUNTS,
  SEPA_CHARACTERS,
  sepaCountryCodes,
} from '../../operations/sepa.ts';

/** An amount in the body of a verify call. */
export const amountField = z.strictObject({ currency: z.string(), amount: z.string() });

/** The payee, and the description of the payment, in the body of a verify call. */
export const beneficiaryFields = {
  ibanBeneficiary: z.string(),
  beneficiaryName: z.string(),
  description: z.string(),
};

/**
 * Checks the texts of an order: first the characters, then the lengths.
 *
 * @throws Refusal `CHARACTER_NOT_ALLOWED`, `FIELD_INVALID`
 */
export function checkTexts(data: { beneficiaryName: string; description: string }): void {
  requireSepaCharacters('beneficiaryName', data.beneficiaryName);
  requireSepaCharacters('description', data.description);
  requireLength('beneficiaryName', data.beneficiaryName, 70);
  if (data.beneficiaryName.trim() === '') throw invalidField('beneficiaryName', 'a name', 'blanks');
  requireLength('description', data.description, 140);
}

/**
 * Reads an amount of euros above zero, within SEPA's limits.
 *
 * @throws Refusal `FIELD_INVALID`
 */
export function readAmount(field: string, { amount, currency }: z.infer<typeof amountField>): Cents {
  if (currency !== 'EUR') throw invalidField(`${field}.currency`, 'EUR', `"${currency}"`);
  const cents = readSepaAmount(amount);
  if (cents !== undefined) return cents;
  throw invalidField(`${field}.amount`, SEPA_AMOUNTS, `"${amount}"`);
}

/**
 * Reads a day from `first` to `last` on which the bank executes orders: today, or a day that is not a holiday.
 *
 * @throws Refusal `FIELD_INVALID`
 */
export function readOrderDay(
  field: string,
  text: string,
  { first, last, now }: { first: IsoDate; last: IsoDate; now: Date },
): IsoDate {
  const day = readBankDate(text);
  if (day === undefined || day < first || day > last)
    throw invalidField(
      field,
      `a day (DD/MM/YYYY) from ${writeBankDate(first)} to ${writeBankDate(last)}`,
      `"${text}"`,
    );
  if (day !== bankDay(now) && targetHolidays(Number(day.slice(0, 4))).includes(day))
    throw invalidField(field, 'a day that is not in the holidays of the prepare answer', `"${text}"`);
  return day;
}

/**
 * Reads the IBAN of an account in a SEPA country, other than the debited account.
 *
 * @throws Refusal `FIELD_INVALID`
 */
export function readBeneficiaryIban(iban: string, debited: Product): string {
  if (!isValidIBAN(iban))
    throw invalidField('ibanBeneficiary', 'a valid IBAN in capitals without blanks', `"${iban}"`);
  if (!isSepaIban(iban)) throw invalidField('ibanBeneficiary', 'an IBAN of a SEPA country', `"${iban}"`);
  if (iban === debited.iban)
    throw invalidField('ibanBeneficiary', 'an account other than the debited one', `"${iban}"`);
  return iban;
}

/** The refusal because of a field of `data`. */
export function invalidField(field: string, expected: string, received: string): Refusal {
  return wrongValue('FIELD_INVALID', `data.${field} is not valid`, expected, received);
}

function requireSepaCharacters(field: string, text: string): void {
  const character = foreignCharacter(text);
  if (character === undefined) return;
  const codePoint = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw wrongValue(
    'CHARACTER_NOT_ALLOWED',
    `data.${field} has a character that SEPA does not allow`,
    SEPA_CHARACTERS,
    `"${character}" (U+${codePoint})`,
  );
}

function requireLength(field: string, text: string, longest: number): void {
  if (text.length > longest) throw invalidField(field, `at most ${longest} characters`, `${text.length}`);
}

/** The country list of the prepare answer, sorted by name. */
export function sepaCountries(): { label: string; value: string }[] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return sepaCountryCodes
    .map((value) => ({ label: (names.of(value) ?? value).toUpperCase(), value }))
    .sort((a, b) => a.label.localeCompare(b.label, 'en'));
}
