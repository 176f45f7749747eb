import { addDays, bankDay, bankLocalTime } from './calendar.ts';

// When psd2 reads an account while the customer is absent: turns of a day, and pauses after failed reads.

const MINUTE_MS = 60_000;
const FIRST_PAUSE_MINUTES = 5;
const LONGEST_PAUSE_MINUTES = 120;

/** The bank's day of an instant: when it begins and when the next one begins, in milliseconds. */
function bankDayOf(instant: Date): { begins: number; ends: number } {
  const day = bankDay(instant);
  const midnight = (of: typeof day) => Date.parse(bankLocalTime(of, '00:00'));
  return { begins: midnight(day), ends: midnight(addDays(day, 1)) };
}

/** How many turns of the day have passed before the one of this instant. */
function turnsBefore(instant: Date, budget: number): number {
  const { begins, ends } = bankDayOf(instant);
  return Math.floor(((instant.getTime() - begins) * budget) / (ends - begins));
}

/** The number of reads that may have begun by an instant if they are spread evenly over the bank's day. */
export function readsBy(instant: Date, budget: number): number {
  return turnsBefore(instant, budget) + 1;
}

/** When the next turn of the day begins. After the last one, it is the first one of the next day. */
export function nextTurn(instant: Date, budget: number): Date {
  const { begins, ends } = bankDayOf(instant);
  return new Date(begins + Math.ceil(((turnsBefore(instant, budget) + 1) * (ends - begins)) / budget));
}

/** The minutes since the bank's day began. */
export function minuteOfDay(instant: Date): number {
  return Math.floor((instant.getTime() - bankDayOf(instant).begins) / MINUTE_MS);
}

/** How many minutes psd2 pauses after failed reads of an account: twice as long after each. @param failures in a row */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MINUTES * 2 ** (failures - 1), LONGEST_PAUSE_MINUTES);
}
