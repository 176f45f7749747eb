import { Psd2Error } from '../../errors.ts';

/** The milliseconds of each unit of a duration. */
export const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads an option that takes a duration: a whole number and a unit, for example `30s`, `15m`, `6h` or `1d`.
 *
 * @param option its name, as the operator wrote it: `--every`
 * @param max milliseconds
 * @returns milliseconds
 * @throws Psd2Error `usage`
 */
export function readDuration(option: string, text: string, max: number): number {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds > 0 && milliseconds <= max) return milliseconds;
  throw new Psd2Error(
    'usage',
    `${option} ${JSON.stringify(text)} is not a duration up to ${max / 86_400_000} days`,
    {
      hint: 'Write a whole number with its unit: 30s, 15m, 6h or 1d.',
    },
  );
}
