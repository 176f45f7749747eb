import { readWholeNumber } from './whole-number.ts';

/** Reads `--limit`, the maximum number; without it, returns `otherwise`. @throws Psd2Error `usage` */
export function readLimit(text: string | undefined, otherwise = Number.POSITIVE_INFINITY): number {
  return text === undefined ? otherwise : readWholeNumber('--limit', text, 1);
}
