import { electronicFormatIBAN, extractIBAN, ValidationErrorsIBAN, validateIBAN } from 'ibantools';
import { Psd2Error } from '../../errors.ts';
import { nameOfCharacter, UNUSUAL_BLANKS } from './sepa-text.ts';

/** A valid IBAN in compact upper case. */
export type Iban = string & { readonly __iban: unique symbol };

/**
 * The IBAN country codes of the SEPA area (EPC409-09): 41 countries, and Gibraltar with its own code. Other territories
 * use the code of their country: Jersey GB, Réunion FR, the Åland Islands FI.
 */
const SEPA_COUNTRY_CODES = new Set(
  (
    'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK ' +
    'IS LI NO CH GB GI MC SM AD VA AL ME MK MD RS'
  ).split(' '),
);

/** Whether a text is an IBAN in compact upper case, of any country. */
export function isIban(compact: string): compact is Iban {
  return validateIBAN(compact).valid;
}

/**
 * Reads the IBAN of a SEPA transfer's payee. Blanks of any kind and lower case are allowed.
 *
 * @throws Psd2Error `invalid_iban`. The message says what is wrong: a character, the country, the length or the check digits.
 */
export function parseSepaIban(text: string): Iban {
  const refuse = (what: string): never => {
    throw new Psd2Error('invalid_iban', `The IBAN ${JSON.stringify(text)} ${what}`, {
      hint: 'Check it against the invoice or ask the payee for it again.',
    });
  };
  const plain = text.replace(UNUSUAL_BLANKS, ' ');
  if (plain.trim() === '') return refuse('is empty');
  const odd = /[^A-Za-z0-9 ]/u.exec(plain);
  if (odd)
    return refuse(
      `contains the character ${nameOfCharacter(odd[0])}: only letters, digits and spaces are allowed`,
    );
  const compact = electronicFormatIBAN(plain) ?? '';
  if (isIban(compact)) {
    const country = extractIBAN(compact).countryCode ?? '';
    return SEPA_COUNTRY_CODES.has(country)
      ? compact
      : refuse(`is from the country ${country}, which is not in SEPA`);
  }
  const { errorCodes } = validateIBAN(compact);
  if (errorCodes.includes(ValidationErrorsIBAN.NoIBANCountry))
    return refuse(`has the unknown country code ${JSON.stringify(compact.slice(0, 2))}`);
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANLength))
    return refuse(
      `has ${compact.length} characters, which is not the length of an IBAN of ${compact.slice(0, 2)}`,
    );
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat))
    return refuse(`has a letter where ${compact.slice(0, 2)} has digits, or a digit where it has letters`);
  return refuse('has wrong check digits, so at least one of its characters is wrong');
}

/** An IBAN in groups of four. */
export function spacedIban(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ');
}
