import { Psd2Error } from '../../errors.ts';

/** Reads `--limit`: how many at most; without it `otherwise`. @throws Psd2Error `usage` */
export function readLimit(text: string | undefined, otherwise = Number.POSITIVE_INFINITY): number {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Psd2Error('usage', `--limit ${JSON.stringify(text)} is not a whole number from 1`);
}
