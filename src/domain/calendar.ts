import { Psd2Error } from '../errors.ts';

/** A calendar day, `YYYY-MM-DD`. */
export type IsoDate = string & { readonly __isoDate: unique symbol };

/** Whether `text` is a day that exists, in the form `YYYY-MM-DD`. */
export function isIsoDate(text: string): text is IsoDate {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = Number(text.slice(8));
  const month = Number(text.slice(5, 7));
  if (month < 1 || month > 12 || day < 1) return false;
  // Every month has at least 28 days.
  if (day <= 28) return true;
  // 31 February parses as a day of March.
  return new Date(Date.parse(`${text}T00:00:00Z`)).getUTCDate() === day;
}

/** Earlier days are mistakes, or placeholders for no date, such as `0001-01-01`. */
export const EARLIEST_DAY = '1900-01-01';

/** Later days are placeholders too. */
const LATEST_BOOKING_DAY = '2199-12-31';

/** Whether a bank can have booked something on a day. */
export function isBookingDay(day: string): boolean {
  return day >= EARLIEST_DAY && day <= LATEST_BOOKING_DAY;
}

/**
 * Reads the date in an option.
 *
 * @throws Psd2Error `invalid_date`
 */
export function parseDate(option: string, text: string): IsoDate {
  const isDay = isIsoDate(text);
  if (isDay && text >= EARLIEST_DAY) return text;
  const what = isDay
    ? `is before ${EARLIEST_DAY}`
    : /^\d{4}-\d{2}-\d{2}$/.test(text)
      ? 'is a day that does not exist'
      : 'is not a date in the form YYYY-MM-DD';
  throw new Psd2Error('invalid_date', `${option} ${JSON.stringify(text)} ${what}`, {
    hint: `For example ${option} 2026-01-31.`,
  });
}

/** The day `days` after `day`, or before it if `days` is negative. */
export function addDays(day: IsoDate, days: number): IsoDate {
  const moved = new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
  if (!isIsoDate(moved)) throw new RangeError(`No calendar day ${days} days after ${day}`);
  return moved;
}

/** The days from one day to another one: 1 from a day to the next. */
export function daysApart(from: IsoDate, to: IsoDate): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The later of two days. */
export function later(a: IsoDate, b: IsoDate): IsoDate {
  return a > b ? a : b;
}

/** The earlier of two days. */
export function earlier(a: IsoDate, b: IsoDate): IsoDate {
  return a < b ? a : b;
}

/** A range of days, both included. Undefined means no limit. */
export interface DayRange {
  from: IsoDate | undefined;
  to: IsoDate | undefined;
}

/** The first day after another one on which banks settle: not a Saturday or Sunday. */
export function nextBankDay(day: IsoDate): IsoDate {
  const next = addDays(day, 1);
  return [0, 6].includes(new Date(next).getUTCDay()) ? nextBankDay(next) : next;
}

/** Reads `--from` and `--to`. @throws Psd2Error `invalid_date` */
export function parseRange(options: { from?: string | undefined; to?: string | undefined }): DayRange {
  const from = options.from === undefined ? undefined : parseDate('--from', options.from);
  const to = options.to === undefined ? undefined : parseDate('--to', options.to);
  if (from && to && from > to) throw new Psd2Error('invalid_date', `--from ${from} is after --to ${to}`);
  return { from, to };
}

// The bank's clock shows the time of Italy, unless its description says another.

/** The zone of a bank that says none. */
export const ROME = 'Europe/Rome';

/** The calendar day of `instant` at the bank. @param zone of the bank, as IANA names it */
export function bankDay(instant: Date, zone = ROME): IsoDate {
  const day = zone === ROME ? wallClock(instant, offsetAt(instant)).slice(0, 10) : dayInTables(instant, zone);
  if (!isIsoDate(day)) throw new RangeError(`No calendar day for ${instant.toISOString()}`);
  return day;
}

/**
 * Adds the offset to a time on the bank's wall clock: `2026-07-01`, `10:15` gives `2026-07-01T10:15:00+02:00`. A time
 * that a clock change skips or repeats gets the offset before the change.
 */
export function bankLocalTime(day: IsoDate, time: string): string {
  const local = `${day}T${time.length === 5 ? `${time}:00` : time}`;
  // Two hours back, so that a time during a clock change gets the offset before it.
  return `${local}${writeOffset(offsetAt(new Date(Date.parse(`${local}Z`) - 2 * HOUR_MS)))}`;
}

/** The end of a day at the bank, ISO 8601 with zone. */
export function endOfDay(day: IsoDate): string {
  const end = day === LAST_DAY ? bankLocalTime(day, '23:59:59') : bankLocalTime(addDays(day, 1), '00:00:00');
  return new Date(end).toISOString();
}

/** What a bank writes if there is no last day. No calendar day comes after it. */
const LAST_DAY = '9999-12-31';

/** An instant as a time on the bank's wall clock, with its offset. */
export function bankTime(instant: Date): string {
  const offset = offsetAt(instant);
  return `${wallClock(instant, offset).slice(0, 19)}${writeOffset(offset)}`;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Since then clocks change on the same Sundays in all of the EU (today by Directive 2000/84/EC). */
const COMMON_SUMMER_TIME_SINCE = Date.UTC(1996, 0, 1);

function wallClock(instant: Date, offset: number): string {
  return new Date(instant.getTime() + offset).toISOString();
}

/** What the bank's clock is ahead of UTC, in milliseconds. `Intl` knows it too, but takes 17 ms to load its tables. */
function offsetAt(instant: Date): number {
  const time = instant.getTime();
  if (time < COMMON_SUMMER_TIME_SINCE) return offsetInTables(instant);
  const year = instant.getUTCFullYear();
  const isSummer = time >= changeOfClocks(year, 2) && time < changeOfClocks(year, 9);
  return isSummer ? 2 * HOUR_MS : HOUR_MS;
}

/** The last Sunday of a month of 31 days, at 01:00 UTC. @param month from 0 */
function changeOfClocks(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month, 31, 1));
  return last.getTime() - last.getUTCDay() * DAY_MS;
}

let offsetFormat: Intl.DateTimeFormat | undefined;

function offsetInTables(instant: Date): number {
  offsetFormat ??= new Intl.DateTimeFormat('en-US', { timeZone: ROME, timeZoneName: 'longOffset' });
  const name = offsetFormat.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value ?? '';
  // Whole hours since 1893.
  return Number(/\+(\d+):/.exec(name)?.[1] ?? 0) * HOUR_MS;
}

const dayFormats = new Map<string, Intl.DateTimeFormat>();

function dayInTables(instant: Date, zone: string): string {
  const format =
    dayFormats.get(zone) ??
    new Intl.DateTimeFormat('en-US', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  dayFormats.set(zone, format);
  const [month = '', day = '', year = ''] = format.format(instant).split('/');
  return `${year.padStart(4, '0')}-${month}-${day}`;
}

function writeOffset(offset: number): string {
  return `+${new Date(offset).toISOString().slice(11, 16)}`;
}

/** The milliseconds of each unit of a duration. */
export const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Reads a whole number with its unit: `30s`, `15m`, `6h`, `1d` or `2w`. @returns milliseconds; undefined if the text is none */
export function parseDuration(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  return milliseconds > 0 ? milliseconds : undefined;
}
