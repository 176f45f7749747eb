import type { BatchProblem } from '../../domain/batch/read-line.ts';

/** Enough names of an element's path to know it again. The line of the file says the rest. */
const NAMES = 3;

/**
 * Where a problem is, for people: `line 7`, and in XML the element too, as `line 215 CdtrAcct/Id/IBAN`. What JSON has is the whole path.
 * Empty: the file as a whole, or an option.
 */
export function shortPlace({ place, fileLine }: Pick<BatchProblem, 'place' | 'fileLine'>): string {
  if (fileLine === null || !place.startsWith('/')) return place;
  const [, payment = place] = /\/CdtTrfTxInf\[\d+\](.*)$/s.exec(place) ?? [];
  const element = payment.split('/').filter(Boolean).slice(-NAMES).join('/');
  return `line ${fileLine} ${element}`.trimEnd();
}
