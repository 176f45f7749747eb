import { isIsoDate, parseDuration, UNITS } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';

/**
 * Reads an option that takes a whole number, written in decimal digits.
 *
 * @param option its name: `--limit`
 * @param max the largest allowed; without it, any number of at most 9 digits
 * @throws Psd2Error `usage`
 */
export function readWholeNumber(option: string, text: string, min: number, max?: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && (max === undefined || number <= max)) return number;
  const range = max === undefined ? `from ${min}` : `from ${min} to ${max}`;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a whole number ${range}`);
}

/** Reads `--limit`, the maximum number; without it, returns `otherwise`. @throws Psd2Error `usage` */
export function readLimit(text: string | undefined, otherwise = Number.POSITIVE_INFINITY): number {
  return text === undefined ? otherwise : readWholeNumber('--limit', text, 1);
}

/**
 * Reads an option that takes a duration: a whole number and a unit, for example `30s`, `15m`, `6h`, `1d` or `2w`.
 *
 * @param option its name, as the operator wrote it: `--every`
 * @param max milliseconds
 * @returns milliseconds
 * @throws Psd2Error `usage`
 */
export function readDuration(option: string, text: string, max: number): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds <= max) return milliseconds;
  throw new Psd2Error(
    'usage',
    `${option} ${JSON.stringify(text)} is not a duration up to ${max / 86_400_000} days`,
    { hint: 'Write a whole number with its unit: 30s, 15m, 6h, 1d or 2w.' },
  );
}

/**
 * Reads an option that takes a number of days: `14`, `14d` or `2w`.
 *
 * @param option its name: `--within`
 * @throws Psd2Error `usage`
 */
export function readDays(option: string, text: string): number {
  const [, number = '', unit] = /^(\d{1,4})([dw]?)$/.exec(text) ?? [];
  if (number !== '') return Number(number) * (unit === 'w' ? 7 : 1);
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a number of days`, {
    hint: `For example ${option} 14, ${option} 14d or ${option} 2w.`,
  });
}

/**
 * Reads a time, a day (from local midnight), or an age: `2h`, `30m`, `1d`, `2w`.
 *
 * @returns milliseconds since 1970
 * @throws Psd2Error `usage`
 */
export function readSince(text: string, now: Date, option = '--since'): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now.getTime() - Number(count) * (UNITS[unit] ?? 0);
  // JavaScript reads a day without a time as UTC, but a time without a zone as local time.
  const isTime = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  // JavaScript reads 30 February as 2 March.
  const time =
    isTime && isIsoDate(text.slice(0, 10))
      ? Date.parse(text.includes('T') ? text : `${text}T00:00`)
      : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a time`, {
    hint: 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d, 2w.',
  });
}
