import { isIsoDate } from '../../domain/calendar.ts';
import { UNITS } from '../../domain/duration.ts';
import { Psd2Error } from '../../errors.ts';

/**
 * Reads a time, a day (from local midnight), or an age: `2h`, `30m`, `1d`.
 *
 * @returns milliseconds since 1970
 * @throws Psd2Error `usage`
 */
export function readSince(text: string, now: Date, option = '--since'): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
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
    hint: 'For example 2026-11-21, 2026-11-21T09:30:00Z, or how long ago: 2h, 30m, 1d.',
  });
}
