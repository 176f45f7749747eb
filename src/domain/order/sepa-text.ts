import { Psd2Error } from '../../errors.ts';
import { transliterated } from './transliterate.ts';

/** No-break, narrow and zero-width blanks. Copies from documents and web pages have them in numbers. */
export const UNUSUAL_BLANKS = /[\u00a0\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff]/g;

/** A text without blanks of any kind. */
export function withoutBlanks(text: string): string {
  return text.replace(UNUSUAL_BLANKS, '').replaceAll(' ', '');
}

/** An IBAN as psd2 compares it: without blanks, in upper case. */
export function compactIban(text: string): string {
  return withoutBlanks(text).toUpperCase();
}

const CHARACTER_OUTSIDE_SEPA = /[^A-Za-z0-9/\-?:().,'+ ]/u;

/**
 * Checks a text for a SEPA message: its length, and the SEPA character set (`a-z A-Z 0-9 / - ? : ( ) . , ' +` and space).
 * The bank answers 422 to any other character.
 *
 * @param called how the message names the text
 * @throws Psd2Error `invalid_text`. The message names the text, the character and its position (from 1).
 */
export function parseSepaText(called: string, text: string, maximum: number): string {
  const odd = CHARACTER_OUTSIDE_SEPA.exec(text);
  if (odd)
    throw new Psd2Error(
      'invalid_text',
      `${called} contains the character ${nameOfCharacter(odd[0])} at position ${[...text.slice(0, odd.index)].length + 1}, which SEPA does not allow`,
      { hint: "Letters without accents, digits, spaces and / - ? : ( ) . , ' + are allowed." },
    );
  if (text.length > maximum)
    throw new Psd2Error(
      'invalid_text',
      `${called} has ${text.length} characters, but at most ${maximum} are allowed`,
    );
  return text;
}

/** A character for a message: in quotes, or as its code point if nobody could see it there. */
export function nameOfCharacter(character: string): string {
  const isSeen = /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) || character < '\u007f';
  if (isSeen) return JSON.stringify(character);
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The payee's name: 1 to 70 characters. @throws Psd2Error `invalid_text` */
export function parsePlainName(text: string, called = '--name'): string {
  if (text.trim() === '') throw new Psd2Error('invalid_text', `${called} is empty`);
  return parseSepaText(called, text, 70);
}

/** The same, for a command with `--transliterate`. @throws Psd2Error `invalid_text` */
export function parsePayeeName(text: string, called = '--name'): string {
  return orSpelled(text, (written) => parsePlainName(written, called));
}

/** The remittance information: at most 140 characters. @throws Psd2Error `invalid_text` */
export function parseDescription(text: string, called = '--description'): string {
  return orSpelled(text, (written) => parseSepaText(called, written, 140));
}

/** Names `--transliterate` in the error for a text that it makes right. @throws what `read` throws for the text */
export function orSpelled(text: string, read: (written: string) => string): string {
  try {
    return read(text);
  } catch (error) {
    const spelled = transliterated(text);
    if (!(error instanceof Psd2Error) || spelled === text || !isRead(spelled, read)) throw error;
    const message = `${error.message}. Add --transliterate to pay it as ${JSON.stringify(spelled)}`;
    throw error.restated(error.code, message);
  }
}

function isRead(text: string, read: (written: string) => string): boolean {
  try {
    read(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The operator's own reference, used at most once per profile: 1 to 35 characters, no slash at either end and no two
 * slashes in a row (the rule for SEPA references).
 *
 * @throws Psd2Error `invalid_text`
 */
export function parseReference(text: string, called = '--reference'): string {
  if (text.trim() === '') throw new Psd2Error('invalid_text', `${called} is empty`);
  if (text.startsWith('/') || text.endsWith('/') || text.includes('//'))
    throw new Psd2Error(
      'invalid_text',
      `${called} must not begin or end with a slash, or have two slashes in a row`,
    );
  return parseSepaText(called, text, 35);
}

/**
 * The form in which references are compared. Leading, trailing and repeated spaces, case, and the composition of accented
 * letters make no difference (command contract, "Money moves at most once").
 */
export function comparableReference(reference: string): string {
  return reference.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}
