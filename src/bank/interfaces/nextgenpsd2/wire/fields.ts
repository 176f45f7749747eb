import * as z from 'zod/mini';
import { isRecord } from '../../../../domain/json.ts';
import { dayIn, decimalIn, instantIn, textOf } from '../../../../domain/odd-values.ts';
import { withoutCardNumbers } from '../../../../domain/order/card-number.ts';

/** A text that must be there. */
export const text = z.pipe(
  // A union of schemas would take several times as long, and every row has many texts.
  z.unknown(),
  z.transform((value, context) => {
    const read = textOf(value);
    if (read !== undefined && read !== '') return read;
    context.issues.push({ code: 'custom', message: 'expected a text', input: value });
    return z.NEVER;
  }),
);

const LONGEST_WORDS = 1000;

/** Text as psd2 keeps and shows it: with a limit, and without characters that a store or a terminal acts on. */
export function cleanWords(value: string, longest = LONGEST_WORDS): string {
  const cut = value.length > longest ? value.slice(0, longest) : value;
  // Most texts are plain.
  return /^[\x20-\x7e]*$/.test(cut) ? cut : cut.replace(/[\p{Cc}\p{Cs}]/gu, ' ');
}

/** A bank's text that must be there. */
export const words = z.pipe(
  text,
  z.transform((value) => cleanWords(value.trim())),
);

/**
 * A status that must be there. Banks write the standard's words in other case, and with blanks around them.
 *
 * @param standardWords the words of the standard. Any other word is left as it is
 */
export function statusOf(standardWords: readonly string[]) {
  return z.pipe(
    words,
    z.transform((value) => knownWord(standardWords, value)),
  );
}

/** As {@link statusOf}, for one that may be missing. */
export function optionalStatusOf(standardWords: readonly string[]) {
  return z.pipe(
    optionalWords,
    z.transform((value) => (value === null ? null : knownWord(standardWords, value.trim()))),
  );
}

function knownWord(standardWords: readonly string[], value: string): string {
  if (standardWords.includes(value)) return value;
  // American English has a z where the standard has an s: `finalized`.
  const plain = (word: string) => word.toLowerCase().replace(/is(?=ed$)/, 'iz');
  return standardWords.find((word) => plain(word) === plain(value)) ?? withoutCardNumbers(value);
}

/** A list. Banks write null for an empty one, and the only row of a list without the list. */
export function listOf<T>(item: z.ZodMiniType<T>) {
  return z.pipe(
    z.transform((value: unknown) => (value === null ? [] : isRecord(value) ? [value] : value)),
    z.array(item),
  );
}

/** True or false, or the word. Anything else counts as missing. */
export const optionalFlag = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    const word = String(value).trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : null;
  }),
);

/** Text that may be missing. What is no text counts as missing: it must not make a list unreadable. */
export const optionalWords = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => wordsIn(value)),
);

/** What the bank says to a person, if it says something. It may quote the number of a card. */
export const optionalMessage = z.pipe(
  optionalWords,
  z.transform((value) => value && withoutCardNumbers(value)),
);

/** Text that may be missing, or null. */
export function wordsIn(value: unknown): string | null {
  const read = textOf(value)?.trim();
  return read === undefined || read === '' ? null : cleanWords(read);
}

const trimmed = z.pipe(
  text,
  z.transform((value) => value.trim()),
);

/** An id that goes back to the bank: as it is, but with a limit. */
export const id = z.pipe(text, z.string().check(z.regex(/^[^\p{Cc}\p{Cs}]{1,512}$/u, 'expected an id')));

/** An id that psd2 puts into a header: visible ASCII. */
export const headerId = z.pipe(trimmed, z.string().check(z.regex(/^[\x21-\x7e]{1,512}$/, 'expected an id')));

/** An exact decimal: `"12.30"`. Never read through a float. */
const decimal = z.pipe(
  trimmed,
  z.transform((value, context) => {
    const read = decimalIn(value);
    if (read !== null) return read;
    context.issues.push({ code: 'custom', message: 'expected a decimal number', input: value });
    return z.NEVER;
  }),
);

/** `{amount, currency}`, both required. */
export const amount = z.object({
  amount: decimal,
  currency: z.pipe(
    trimmed,
    z.pipe(
      z.string().check(z.regex(/^[A-Za-z]{3}$/, 'expected a currency')),
      z.transform((currency) => currency.toUpperCase()),
    ),
  ),
});

/** A day, from a day or a time. Missing or empty becomes null. An unknown form is an error. */
export const day = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value, context) => {
    const date = dayIn(value);
    if (date !== 'unreadable') return date;
    context.issues.push({ code: 'custom', message: 'expected a date', input: value });
    return z.NEVER;
  }),
);

/** A time with zone, as sent; null if it is missing or has no zone. */
export const instant = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => instantIn(value)),
);
