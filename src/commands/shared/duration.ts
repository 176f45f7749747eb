import { parseDuration } from '../../domain/duration.ts';
import { Psd2Error } from '../../errors.ts';

/**
 * Reads an option that takes a duration: a whole number and a unit, for example `30s`, `15m`, `6h` or `1d`.
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
    {
      hint: 'Write a whole number with its unit: 30s, 15m, 6h or 1d.',
    },
  );
}
