/** The milliseconds of each unit of a duration. */
export const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a whole number with its unit: `30s`, `15m`, `6h` or `1d`. @returns milliseconds; undefined if the text is none */
export function parseDuration(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  return milliseconds > 0 ? milliseconds : undefined;
}
