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
    hint: `For example ${option} 2026-11-30.`,
  });
}

/** The day `days` after `day`, or before it if `days` is negative. */
export function addDays(day: IsoDate, days: number): IsoDate {
  const moved = new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
  if (!isIsoDate(moved)) throw new RangeError(`No calendar day ${days} days after ${day}`);
  return moved;
}

/** A range of days, both included. Undefined means no limit. */
export interface DayRange {
  from: IsoDate | undefined;
  to: IsoDate | undefined;
}

/** Reads `--from` and `--to`. @throws Psd2Error `invalid_date` */
export function parseRange(options: { from?: string | undefined; to?: string | undefined }): DayRange {
  const from = options.from === undefined ? undefined : parseDate('--from', options.from);
  const to = options.to === undefined ? undefined : parseDate('--to', options.to);
  if (from && to && from > to) throw new Psd2Error('invalid_date', `--from ${from} is after --to ${to}`);
  return { from, to };
}

/** The zone of the bank's local times. */
const BANK_TIME_ZONE = 'Europe/Rome';

// Creating a format costs as much as using it a hundred times.
let dayFormat: Intl.DateTimeFormat | undefined;
let timeFormat: Intl.DateTimeFormat | undefined;
let offsetFormat: Intl.DateTimeFormat | undefined;

/** The bank's day for each UTC hour. In this zone days have begun at a full hour since 1893. */
const days = new Map<number, IsoDate>();

/** The calendar day of `instant` at the bank. */
export function bankDay(instant: Date): IsoDate {
  const hour = hourOf(instant);
  const known = days.get(hour);
  if (known !== undefined && instant.getTime() >= 0) return known;
  const day = findBankDay(instant);
  keep(days, hour, day);
  return day;
}

function findBankDay(instant: Date): IsoDate {
  dayFormat ??= new Intl.DateTimeFormat('en-CA', {
    timeZone: BANK_TIME_ZONE,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const day = dayFormat.format(instant);
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
  return `${local}${offsetAt(new Date(new Date(`${local}Z`).getTime() - 2 * 3_600_000))}`;
}

/** An instant as a time on the bank's wall clock, with its offset. */
export function bankTime(instant: Date): string {
  timeFormat ??= new Intl.DateTimeFormat('en-GB', { timeZone: BANK_TIME_ZONE, timeStyle: 'medium' });
  return `${bankDay(instant)}T${timeFormat.format(instant)}${offsetAt(instant)}`;
}

/** The offset for each UTC hour. Clocks change at a full hour. */
const offsets = new Map<number, string>();

function offsetAt(instant: Date): string {
  const hour = hourOf(instant);
  const known = offsets.get(hour);
  if (known !== undefined) return known;
  const offset = findOffset(instant);
  keep(offsets, hour, offset);
  return offset;
}

function hourOf(instant: Date): number {
  return Math.floor(instant.getTime() / 3_600_000);
}

function keep<T>(known: Map<number, T>, hour: number, value: T): void {
  if (known.size >= 1_000) known.clear();
  known.set(hour, value);
}

function findOffset(instant: Date): string {
  offsetFormat ??= new Intl.DateTimeFormat('en-US', {
    timeZone: BANK_TIME_ZONE,
    timeZoneName: 'longOffset',
  });
  const name = offsetFormat.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value;
  return name?.replace('GMT', '') || '+00:00';
}
