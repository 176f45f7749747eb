import { addDays, bankDay, type IsoDate, isBookingDay, isIsoDate, ROME } from './calendar.ts';
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
 * An exact decimal in its one spelling: no plus sign, no minus before zero, no zeros before it, digits on both sides of the point. Null for what is none. A
 * comma before one or two digits can only be a decimal point, and one of two kinds of marks can only separate thousands. It has one sign at most.
 */
export function decimalIn(value: unknown): Decimal | null {
  const text = textOf(value) ?? '';
  if (text.length > LONGEST_DECIMAL) return null;
  // Nearly all are: an answer may have a million rows.
  if (/^(?!-0(?:\.0+)?$)-?(?:[1-9]\d*|0)(?:\.\d+)?$/.test(text) && isDecimal(text)) return text;
  // Nobody knows which of two signs counts.
  if (/[+\u2212-].*[+\u2212-]/s.test(text)) return null;
  const plain = text
    .trim()
    .replace(/^[+\u2212]/, (sign) => (sign === '+' ? '' : '-'))
    .replace(/^(\d.*)-$/, '-$1')
    .replace(/^-?\d{1,3}(?:([.,'\u2019\s])\d{3})(?:\1\d{3})*(?!\1)[.,]\d{1,2}$/, (all) =>
      all.replace(/[.,'\u2019\s](?=\d{3})/g, ''),
    )
    .replace(/^(-?\d*),(\d{1,2})$/, '$1.$2')
    .replace(/^(-?\d+)[.,]$/, '$1')
    .replace(/^(-?)\./, '$10.')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/^-(?=0(?:\.0+)?$)/, '');
  return isDecimal(plain) ? plain : null;
}

/** An IBAN without blanks, in capitals. Any other text as it is. */
export function plainIban(text: string): string {
  const plain = /^[A-Z0-9]+$/.test(text) ? text : compactIban(text);
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain) ? plain : text;
}

/**
 * The day of a date or a time. With an offset or without a zone it is the day that stands there; a time in UTC (`Z`) is turned to the
 * bank's day. Null if it is missing.
 *
 * @param zone of the bank, as IANA names it
 */
export function dayIn(value: unknown, zone = ROME): IsoDate | null | 'unreadable' {
  if (value === undefined || value === null) return null;
  const text = textOf(value)?.trim();
  if (text === undefined) return 'unreadable';
  if (text === '') return null;
  const days = daysOfZone(zone);
  const read = days.get(text);
  if (read !== undefined) return read;
  const day = dayAt(text, zone) ?? 'unreadable';
  if (days.size >= MOST_DAYS) days.clear();
  if (text.length <= 40) days.set(text, day);
  return day;
}

/** The day of booking or of the value of a row, as {@link dayIn}. One on which no bank books, such as `0001-01-01`, is none. */
export function bookingDayIn(value: unknown, zone = ROME): ReturnType<typeof dayIn> {
  const day = dayIn(value, zone);
  return day === null || isBookingDay(day) ? day : 'unreadable';
}

type Days = Map<string, IsoDate | 'unreadable'>;
/** A cache for each zone: the rows of all accounts share the same few days. */
const daysOfZones = new Map<string, Days>();
const MOST_DAYS = 2000;

function daysOfZone(zone: string): Days {
  const zoneDays = daysOfZones.get(zone);
  if (zoneDays) return zoneDays;
  const days: Days = new Map();
  daysOfZones.set(zone, days);
  return days;
}

const DAY =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?$/i;

/** A day in another order or with other signs: `27.11.2026`, `27/11/2026 10:15`, `2026/11/27`. */
const SIGNS =
  /^(?:(?<date>\d{1,2})(?<sign>[./-])(?<month>\d{1,2})\k<sign>(?<year>\d{4})|(?<first>\d{4})([./])(?<second>\d{1,2})\6(?<third>\d{1,2}))(?<clock>$|[T ].*$)/;

/**
 * The same in the order of ISO 8601. With points the day comes first. With other signs only a number above 12 says which the day is, unless
 * both are the same.
 */
function inOrder(text: string): string | null {
  const { date, sign, month, year, first, second, third, clock = '' } = SIGNS.exec(text)?.groups ?? {};
  const written = (...[y, m, d]: string[]) => `${y}-${m?.padStart(2, '0')}-${d?.padStart(2, '0')}${clock}`;
  if (first && second && third) return written(first, second, third);
  if (!date || !month || !year) return null;
  const [one, other] = [Number(date), Number(month)];
  if (sign === '.' || one > 12 || one === other) return written(year, month, date);
  return other > 12 ? written(year, date, month) : null;
}

function dayAt(text: string, zone: string): IsoDate | null {
  const [, year, month, date, clock, offset] = DAY.exec(text) ?? DAY.exec(inOrder(text) ?? '') ?? [];
  if (year === undefined || month === undefined || date === undefined) return null;
  const written = `${year}-${month}-${date}`;
  if (isIsoDate(written)) {
    const time = clock !== undefined && /z/i.test(offset ?? '') ? new Date(`${written}T${clock}Z`) : null;
    return time && !Number.isNaN(time.getTime()) ? bankDay(time, zone) : written;
  }
  // In the calendar of German banks every month has 30 days.
  const isLastOfFebruary = month === '02' && ['29', '30'].includes(date);
  const last = `${year}-02-28`;
  return isLastOfFebruary && isIsoDate(last) ? lastOfFebruary(last) : null;
}

function lastOfFebruary(last: IsoDate): IsoDate {
  const next = addDays(last, 1);
  return next.endsWith('-29') ? next : last;
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
