import * as z from 'zod/mini';
import { addDays, bankDay, type IsoDate, isIsoDate } from '../../../../domain/calendar.ts';
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

/** A bank's text that must be there. */
export const words = z.pipe(
  text,
  z.transform((value) => cleanWords(value.trim())),
);

/**
 * A status that must be there. Banks write the standard's words in other case, and with blanks around them.
 *
 * @param known the words of the standard. Any other word is left as it is
 */
export function statusOf(known: readonly string[]) {
  return z.pipe(
    words,
    z.transform((value) => knownWord(known, value)),
  );
}

/** As {@link statusOf}, for one that may be missing. */
export function optionalStatusOf(known: readonly string[]) {
  return z.pipe(
    optionalWords,
    z.transform((value) => (value === null ? null : knownWord(known, value.trim()))),
  );
}

function knownWord(known: readonly string[], value: string): string {
  if (known.includes(value)) return value;
  // American English has a z where the standard has an s: `finalized`.
  const plain = (word: string) => word.toLowerCase().replace(/is(?=ed$)/, 'iz');
  return known.find((word) => plain(word) === plain(value)) ?? value;
}

/** A list. Banks write null for an empty one, and the only row of a list without the list. */
export function listOf<T>(item: z.ZodMiniType<T>) {
  return z.pipe(
    z.transform((value: unknown) => (value === null ? [] : isObject(value) ? [value] : value)),
    z.array(item),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** Longer than any amount of money. Without a limit, removing the zeros of a huge text would take hours. */
const LONGEST_DECIMAL = 64;

function isBoundedDecimal(value: string): value is Decimal {
  return value.length <= LONGEST_DECIMAL && isDecimal(value);
}

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

/** An exact decimal. Null for what is none. A comma before two digits can only be a decimal point. */
export function decimalIn(value: unknown): Decimal | null {
  // Amounts that psd2 prints have no plus sign.
  const plain = (textOf(value) ?? '')
    .trim()
    .replace(/^\+/, '')
    .replace(/^(-?\d+),(\d{2})$/, '$1.$2');
  return isBoundedDecimal(plain) ? plain : null;
}

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
    const found = dayIn(value);
    if (found !== 'unreadable') return found;
    context.issues.push({ code: 'custom', message: 'expected a date', input: value });
    return z.NEVER;
  }),
);

/**
 * The day of a date or a time. With or without a zone it is the day that stands there: but a time that is midnight at the bank, in
 * another zone, begins the bank's day. Null if it is missing.
 */
export function dayIn(value: unknown): IsoDate | null | 'unreadable' {
  if (value === undefined || value === null) return null;
  const text = textOf(value)?.trim();
  if (text === '') return null;
  const known = text === undefined ? undefined : days.get(text);
  if (known !== undefined) return known;
  const found = (text !== undefined && dayOf(text)) || 'unreadable';
  if (days.size >= MOST_DAYS) days.clear();
  if (text !== undefined && text.length <= 40) days.set(text, found);
  return found;
}

/** A cache: the rows of all accounts share the same few days. */
const days = new Map<string, IsoDate | 'unreadable'>();
const MOST_DAYS = 2000;

const ZONE = String.raw`(?:Z|[+-]\d{2}:?\d{2})?`;
const DAY = new RegExp(
  String.raw`^(\d{4})-?(\d{2})-?(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?\s?${ZONE}$`,
  'i',
);

function dayOf(text: string): IsoDate | null {
  const [, year, month, date] = DAY.exec(text) ?? [];
  if (year === undefined || month === undefined || date === undefined) return null;
  const began = /[Tt ]/.test(text) && !text.includes('T00:00') ? midnightIn(text) : null;
  if (began !== null) return began;
  const written = `${year}-${month}-${date}`;
  if (isIsoDate(written)) return written;
  // In the calendar of German banks every month has 30 days.
  const isLastOfFebruary = month === '02' && ['29', '30'].includes(date);
  const last = `${year}-02-28`;
  return isLastOfFebruary && isIsoDate(last) ? lastOfFebruary(last) : null;
}

function lastOfFebruary(last: IsoDate): IsoDate {
  const next = addDays(last, 1);
  return next.endsWith('-29') ? next : last;
}

/** The day that begins at the bank at this time. Null: none does, or the time has no zone. */
function midnightIn(text: string): IsoDate | null {
  const time = new Date(instantIn(text) ?? Number.NaN);
  if (Number.isNaN(time.getTime())) return null;
  const today = bankDay(time);
  return bankDay(new Date(time.getTime() - 1)) < today ? today : null;
}

/** A time with zone, as sent; null if it is missing or has no zone. */
export const instant = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => instantIn(value)),
);

function instantIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(text);
  return isInstant && !Number.isNaN(Date.parse(text)) ? text : null;
}
