/** What SEPA allows in an order, at both doors. */

import { isValidIBAN } from 'ibantools';
import { type Cents, readCents } from '../ledger/cents.ts';

/** The IBAN country codes of the SEPA countries and territories (EPC409-09). */
export const sepaCountryCodes: readonly string[] =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO CH GB GI MC SM AD VA AL ME MK MD RS'.split(
    ' ',
  );

/** The first character that SEPA does not allow in a text. */
export function foreignCharacter(text: string): string | undefined {
  return /[^a-zA-Z0-9/\-?:().,'+ ]/u.exec(text)?.[0];
}

/** The allowed characters, for messages. */
export const SEPA_CHARACTERS = "a-z A-Z 0-9 / - ? : ( ) . , ' + and space";

/** Whether an IBAN is of a SEPA country. */
export function isSepaIban(iban: string): boolean {
  return isValidIBAN(iban) && sepaCountryCodes.includes(iban.slice(0, 2));
}

/** The amounts that {@link readSepaAmount} takes, for messages. */
export const SEPA_AMOUNTS = 'a decimal from 0.01 to 999999999.99 with a point and at most two decimals';

/** Reads an amount above zero within SEPA's limits. Undefined for any other text. */
export function readSepaAmount(amount: string): Cents | undefined {
  return (/^(?:0|[1-9]\d{0,8})(?:\.\d{1,2})?$/.test(amount) && readCents(amount)) || undefined;
}
