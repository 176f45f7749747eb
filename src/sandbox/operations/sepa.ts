/** What SEPA allows in an order, at both doors. */

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
