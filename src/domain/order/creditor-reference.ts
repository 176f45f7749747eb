import { Psd2Error } from '../../errors.ts';
import { parseReference, withoutBlanks } from './sepa-text.ts';

/** The payee's own reference (ISO 20022 `CdtrRefInf`): of ISO 11649, or of a country. SEPA carries it in place of a text. */
export interface CreditorReference {
  reference: string;
  /** A code of ISO 20022, or the name of a national form. */
  type: string;
  /** Who has made the form of the reference. Null: the file does not say. */
  issuer: string | null;
}

/** The code of ISO 20022 for a reference of the payee. */
export const SCOR = 'SCOR';
/** `RF`, two check digits, and at most 21 letters and digits (ISO 11649). */
const RF = /^RF\d{2}[A-Z0-9]{1,21}$/;

/**
 * Checks a reference of a payee: the check digits of one that begins with `RF`, and the characters of any other.
 *
 * @throws Psd2Error `invalid_text`
 */
export function parseCreditorReference(
  { reference, type, issuer }: CreditorReference,
  called: string,
): CreditorReference {
  const compact = withoutBlanks(reference).toUpperCase();
  const own = {
    type: parseReference(type, 'The type'),
    issuer: issuer && parseReference(issuer, 'The issuer'),
  };
  // SEPA writes `RF` for no other reference of the code SCOR.
  if (!/^RF\d{2}/.test(compact)) return { reference: parseReference(reference, called), ...own };
  if (!RF.test(compact) || remainder(compact) !== 1)
    throw new Psd2Error(
      'invalid_text',
      `${called} ${JSON.stringify(reference)} is not a reference of ISO 11649: its check digits are wrong`,
    );
  return { reference: compact, ...own, issuer: own.issuer ?? 'ISO' };
}

/** The remainder of ISO 7064 MOD 97-10. A letter counts as the number from 10 on that it is in the alphabet. */
function remainder(reference: string): number {
  const digits = `${reference.slice(4)}${reference.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return Number(BigInt(digits) % 97n);
}

/** Whether two payments have the same reference of the payee, or none. */
export function isSameReference(
  one: CreditorReference | undefined,
  other: CreditorReference | undefined,
): boolean {
  return one?.reference === other?.reference && one?.type === other?.type && one?.issuer === other?.issuer;
}
