import * as z from 'zod/mini';
import { type IsoDate, isBookingDay, isIsoDate } from '../../../../domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../../domain/decimal.ts';
import { isRecord } from '../../../../domain/json.ts';
import { bookingDayIn, decimalIn, textOf } from '../../../../domain/odd-values.ts';

/** A string. The bank may send a number instead: all its digits are kept. */
export const text = z.pipe(
  // A union of schemas would take several times as long, and every row has many texts.
  z.unknown(),
  z.transform((value, context) => {
    if (typeof value === 'string') return value;
    if (isNumeric(value)) return String(value);
    context.issues.push({ code: 'custom', message: 'Invalid input', input: value });
    return z.NEVER;
  }),
);

/** A string. Missing or null becomes `''`. */
export const optionalText = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value, context) => {
    if (typeof value === 'string') return value;
    if (value === undefined || value === null) return '';
    if (isNumeric(value)) return String(value);
    context.issues.push({ code: 'custom', message: 'Invalid input', input: value });
    return z.NEVER;
  }),
);

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Longer than any amount of money. Without a limit, removing the zeros of a huge text would take hours. */
const LONGEST_DECIMAL = 64;

/** A bank may write a plus sign before what comes in, and no sum can be made with it. Undefined: it is no decimal, or too long. */
function boundedDecimal(value: string): Decimal | undefined {
  const plain = value.replace(/^\+(?=\d)/, '');
  return value.length <= LONGEST_DECIMAL && isDecimal(plain) ? plain : undefined;
}

/** A bank's status or message. It is cut to 1000 characters, because the journal stores it. */
export const words = z.pipe(
  text,
  z.transform((value) => value.slice(0, 1000)),
);

/** An exact decimal without a plus sign: `"12.30"`. Never read through a float: see `json.ts`. */
export const decimal = z.pipe(
  text,
  z.transform((value, context) => {
    const number = boundedDecimal(value);
    if (number !== undefined) return number;
    context.issues.push({ code: 'custom', message: 'expected a decimal number', input: value });
    return z.NEVER;
  }),
);

/** A whole number, as a number or as a string. */
export const wholeNumber = z.pipe(
  z.union([z.number(), z.string().check(z.regex(/^\s*\d+\s*$/, 'expected a whole number'))]),
  z.transform(Number),
);

const filledMoney = z.object({
  amount: z.pipe(
    text,
    z.transform((amount) => amount.trim()),
  ),
  currency: optionalText,
});

/** `{amount, currency}`. Null if it is missing or null, or the amount is empty. */
export const money = z.pipe(
  z.nullish(filledMoney),
  z.transform((value, context) => {
    if (!value || value.amount === '') return null;
    const amount = boundedDecimal(value.amount);
    if (amount !== undefined) return { amount, currency: value.currency };
    context.issues.push({
      code: 'custom',
      message: 'expected a decimal number',
      input: value.amount,
      path: ['amount'],
    });
    return z.NEVER;
  }),
);

/**
 * Converts a date in one of the bank's forms (`DD/MM/YYYY`, `YYYYMMDDThh:mm:ss`, ISO 8601) to `YYYY-MM-DD`.
 *
 * @returns null if `value` has none of these forms
 */
export function readBankDate(value: string): ReturnType<typeof toIsoDate> {
  const earlierDay = knownDates.get(value);
  if (earlierDay !== undefined) return earlierDay;
  const day = findBankDate(value);
  if (knownDates.size >= MAX_KNOWN) knownDates.clear();
  if (value.length <= LONGEST_KNOWN) knownDates.set(value, day);
  return day;
}

/** A cache, because the rows of all accounts share the same few days. */
const knownDates = new Map<string, ReturnType<typeof toIsoDate>>();
const MAX_KNOWN = 2_000;
const LONGEST_KNOWN = 40;

function findBankDate(value: string): ReturnType<typeof toIsoDate> {
  const match =
    /^(?<d>\d{2})\/(?<m>\d{2})\/(?<y>\d{4})/.exec(value) ??
    /^(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})(?:T|$)/.exec(value) ??
    /^(?<y>\d{4})-(?<m>\d{2})-(?<d>\d{2})/.exec(value);
  return match?.groups ? toIsoDate(`${match.groups.y}-${match.groups.m}-${match.groups.d}`) : null;
}

function toIsoDate(day: string) {
  return isIsoDate(day) ? day : null;
}

/** A day in the form of the bank's requests: `2026-11-30` gives `30/11/2026`. */
export function writeBankDate(day: string): string {
  return day.split('-').reverse().join('/');
}

/** A date. Missing or empty becomes null. An unknown form is an error. */
export const bankDate = z.pipe(
  z.nullish(z.string()),
  z.transform((value, context) => {
    if (!value || value.trim() === '') return null;
    const day = readBankDate(value.trim());
    if (day) return day;
    context.issues.push({ code: 'custom', message: 'expected a date', input: value });
    return z.NEVER;
  }),
);

/** A text of an account or a balance, without blanks around it. What is missing, or no text, becomes `''`. */
export const optionalWords = z.pipe(
  z.nullish(z.unknown()),
  z.transform((value) => (textOf(value) ?? '').trim()),
);

/** The currency of an account or a balance. */
export const currency = z.pipe(z.nullish(z.unknown()), z.transform(currencyIn));

/** The currency of a transaction; `''` if it is missing, or no text. */
export function currencyIn(value: unknown): string {
  const word = (textOf(value) ?? '').trim();
  return /^[a-z]{3}$/i.test(word) ? word.toUpperCase() : word;
}

/** The amount of a balance, as banks write it. Null if it is missing or null, or the amount is empty. */
export const balanceMoney = z.pipe(
  z.nullish(z.object({ amount: z.unknown(), currency })),
  z.transform((value, context) => {
    if (!value || value.amount === null || value.amount === '') return null;
    const amount = decimalIn(value.amount);
    if (amount !== null) return { amount, currency: value.currency };
    context.issues.push({
      code: 'custom',
      message: 'expected a decimal number',
      input: value.amount,
      path: ['amount'],
    });
    return z.NEVER;
  }),
);

/** The day of a transaction, as banks write it. Null for an empty one, undefined for what is none. */
export function rowDayIn(value: unknown): IsoDate | null | undefined {
  const earlierDay = typeof value === 'string' ? rowDays.get(value) : undefined;
  if (earlierDay !== undefined) return earlierDay;
  const day = findRowDay(value);
  if (rowDays.size >= MAX_KNOWN) rowDays.clear();
  if (day && typeof value === 'string' && value.length <= LONGEST_KNOWN) rowDays.set(value, day);
  return day;
}

/** A cache, as {@link knownDates}. */
const rowDays = new Map<string, IsoDate>();

function findRowDay(value: unknown): IsoDate | null | undefined {
  const trimmed = textOf(value)?.trim();
  const day = bookingDayIn(trimmed?.replace(/^(\d{2})\/(\d{2})\/(\d{4})$/, '$3-$2-$1') ?? value);
  if (day !== 'unreadable') return day;
  const other = trimmed === undefined ? null : readBankDate(trimmed);
  return other !== null && isBookingDay(other) ? other : undefined;
}

/** True or false, or the word. */
export function flagIn(value: unknown): boolean | undefined {
  const word = String(value).trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

/** A list. Banks write null for an empty one, and the only row of a list without the list. */
export function listOf<T>(item: z.ZodMiniType<T>) {
  return z.pipe(
    z.transform((value: unknown) => (value === null ? [] : isRecord(value) ? [value] : value)),
    z.array(item),
  );
}
