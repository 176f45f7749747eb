import { addDays, bankDay, type IsoDate, isIsoDate } from './calendar.ts';
import { type Decimal, isDecimal } from './decimal.ts';
import { compactIban } from './order/sepa-text.ts';

// Values as banks write them, read as what each can only mean.

/** The text of a value: a string, or a number with all its digits. Undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** Longer than any amount of money. Without a limit, removing the zeros of a huge text would take hours. */
const LONGEST_DECIMAL = 64;

/**
 * An exact decimal. Null for what is none. A comma before one or two digits can only be a decimal point, and one of two kinds of marks
 * can only separate thousands.
 */
export function decimalIn(value: unknown): Decimal | null {
  const text = textOf(value) ?? '';
  if (text.length > LONGEST_DECIMAL) return null;
  // Nearly all are: an answer may have a million rows.
  // Amounts that psd2 prints have no plus sign.
  if (isDecimal(text) && !text.startsWith('+')) return text;
  const plain = text
    .trim()
    .replace(/^[+\u2212]/, (sign) => (sign === '+' ? '' : '-'))
    .replace(/^(\d.*)-$/, '-$1')
    .replace(/^-?\d{1,3}(?:([.,'\u2019\s])\d{3})(?:\1\d{3})*(?!\1)[.,]\d{1,2}$/, (all) =>
      all.replace(/[.,'\u2019\s](?=\d{3})/g, ''),
    )
    .replace(/^(-?\d+),(\d{1,2})$/, '$1.$2');
  return isDecimal(plain) ? plain : null;
}

/** An IBAN without blanks, in capitals. Any other text as it is. */
export function plainIban(text: string): string {
  const plain = /^[A-Z0-9]+$/.test(text) ? text : compactIban(text);
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain) ? plain : text;
}

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

/** The first item with each id, because some banks list an account twice. An item without an id stays. */
export function eachOnce<T>(items: readonly T[], idOf: (item: T) => string | null | undefined): T[] {
  const ids = new Set<string>();
  return items.filter((item) => {
    const id = idOf(item) ?? null;
    const isFirst = id === null || !ids.has(id);
    if (id !== null) ids.add(id);
    return isFirst;
  });
}

/** A time with zone, as sent; null if it is missing or has no zone. */
export function instantIn(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(text);
  return isInstant && !Number.isNaN(Date.parse(text)) ? text : null;
}
