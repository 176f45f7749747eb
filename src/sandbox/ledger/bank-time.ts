/** Dates and times in the bank's formats. The bank's clock shows the time of Europe/Rome. */

/** A day, `YYYY-MM-DD`. */
export type IsoDate = string;

/**
 * `YYYY-MM-DDThh:mm:ss` in the bank's time, as in the operation status. `Intl` knows it too, but takes as long to load its
 * tables as half of a start of Node.js.
 */
export function bankTimestamp(at: Date): string {
  const year = at.getUTCFullYear();
  const isSummer = at >= lastSundayAtOne(year, 2) && at < lastSundayAtOne(year, 9);
  return new Date(at.getTime() + (isSummer ? 2 : 1) * 3_600_000).toISOString().slice(0, 19);
}

/** When clocks change since 1996: on the last Sunday of a month of 31 days, at 01:00 UTC. @param month from 0 */
function lastSundayAtOne(year: number, month: number): Date {
  const last = new Date(Date.UTC(year, month, 31, 1));
  last.setUTCDate(31 - last.getUTCDay());
  return last;
}

/** The current day in the bank's time. */
export function bankDay(at: Date): IsoDate {
  return bankTimestamp(at).slice(0, 10);
}

/** `HH:MM` in the bank's time. */
export function bankHour(at: Date): string {
  return bankTimestamp(at).slice(11, 16);
}

/** `2026-11-30` as `30/11/2026`. */
export function writeBankDate(day: IsoDate): string {
  return day.split('-').reverse().join('/');
}

/** `30/11/2026` as `2026-11-30`. Undefined for another format, or for a day that does not exist. */
export function readBankDate(text: string): IsoDate | undefined {
  const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}`;
  return day !== undefined && addDays(iso, 0) === iso ? iso : undefined;
}

/** The day `count` days later. For an invalid day the result is another day or `''`. */
export function addDays(day: IsoDate, count: number): IsoDate {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
}

/** The same day `count` months later (or earlier), or the last day of that month if it is shorter. */
export function addMonths(day: IsoDate, count: number): IsoDate {
  const date = new Date(`${day.slice(0, 7)}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + count + 1, 0);
  const last = date.toISOString().slice(0, 10);
  const wanted = `${last.slice(0, 8)}${day.slice(8)}`;
  return wanted < last ? wanted : last;
}

/** The days from `first` to `last`, both included. */
export function* daysBetween(first: IsoDate, last: IsoDate): Generator<IsoDate> {
  for (let day = first; day <= last; day = addDays(day, 1)) yield day;
}

/** When the bank books the entries of a day: early in the morning. */
export function bookingInstant(day: IsoDate): Date {
  return new Date(`${day}T04:00:00Z`);
}

/** The holidays of TARGET in a year. Some fall on a weekend. */
export function targetHolidays(year: number): IsoDate[] {
  const easter = easterSunday(year);
  return [
    `${year}-01-01`,
    addDays(easter, -2),
    addDays(easter, 1),
    `${year}-05-01`,
    `${year}-12-25`,
    `${year}-12-26`,
  ];
}

/** The first TARGET business day after `day`. */
export function nextBusinessDay(day: IsoDate): IsoDate {
  let next = addDays(day, 1);
  while (!isBusinessDay(next)) next = addDays(next, 1);
  return next;
}

/** Whether TARGET is open. */
export function isBusinessDay(day: IsoDate): boolean {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !targetHolidays(Number(day.slice(0, 4))).includes(day);
}

/** Easter in the Gregorian calendar, by the anonymous algorithm of Meeus, Jones and Butcher. */
function easterSunday(year: number): IsoDate {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7;
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114;
  const month = String(Math.floor(f / 31)).padStart(2, '0');
  const day = String((f % 31) + 1).padStart(2, '0');
  return `${year}-${month}-${day}`;
}
