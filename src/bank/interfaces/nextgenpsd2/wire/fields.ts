import * as z from 'zod/mini';
import { isIsoDate } from '../../../../domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../../domain/decimal.ts';

/** The text of a value: a string, or a number with all its digits. Undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

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

/** A bank's status or message that must be there. */
export const words = z.pipe(
  text,
  z.transform((value) => cleanWords(value)),
);

/** Text that may be missing. What is no text counts as missing: it must not make a list unreadable. */
export const optionalWords = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => wordsIn(value)),
);

/** Text that may be missing, or null. */
export function wordsIn(value: unknown): string | null {
  const read = textOf(value);
  return read === undefined || read.trim() === '' ? null : cleanWords(read);
}

/** An id that goes back to the bank: as it is, but with a limit. */
export const id = z.pipe(text, z.string().check(z.regex(/^[^\p{Cc}\p{Cs}]{1,512}$/u, 'expected an id')));

/** An id that psd2 puts into a header: visible ASCII. */
export const headerId = z.pipe(text, z.string().check(z.regex(/^[\x21-\x7e]{1,512}$/, 'expected an id')));

/** Longer than any amount of money. Without a limit, removing the zeros of a huge text would take hours. */
const LONGEST_DECIMAL = 64;

function isBoundedDecimal(value: string): value is Decimal {
  return value.length <= LONGEST_DECIMAL && isDecimal(value);
}

/** An exact decimal: `"12.30"`. Never read through a float. */
const decimal = z.pipe(
  text,
  z.transform((value, context) => {
    // Amounts that psd2 prints have no plus sign.
    const trimmed = value.trim().replace(/^\+/, '');
    if (isBoundedDecimal(trimmed)) return trimmed;
    context.issues.push({ code: 'custom', message: 'expected a decimal number', input: value });
    return z.NEVER;
  }),
);

/** `{amount, currency}`, both required. */
export const amount = z.object({
  amount: decimal,
  currency: z.pipe(text, z.string().check(z.regex(/^[A-Za-z]{3}$/, 'expected a currency'))),
});

/** A day, from a day or a time. Missing or empty becomes null. An unknown form is an error. */
export const day = z.pipe(
  z.nullish(z.string()),
  z.transform((value, context) => {
    if (!value || value.trim() === '') return null;
    const found = dayOf(value.trim());
    if (found) return found;
    context.issues.push({ code: 'custom', message: 'expected a date', input: value });
    return z.NEVER;
  }),
);

/** The day of a date or a time in ISO 8601. Null if it is neither. */
export function dayOf(value: string) {
  const first = value.slice(0, 10);
  return isIsoDate(first) && (value.length === 10 || value[10] === 'T') ? first : null;
}

/** A time with zone, as sent; null if it is missing or has no zone. */
export const instant = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => {
    if (typeof value !== 'string') return null;
    const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(value);
    return isInstant && !Number.isNaN(Date.parse(value)) ? value : null;
  }),
);
