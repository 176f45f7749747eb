import type { BatchProblem } from '../../domain/batch/read-line.ts';

/** What stands above an element: its payment, which has a number of its own, or the document. */
const ABOVE = /^\/Document\/CstmrCdtTrfInitn(\/PmtInf\[\d+\]\/CdtTrfTxInf\[\d+\])?/;

/** Enough names of an element's path to know it again. The line of the file says the rest. */
const NAMES = 3;

/**
 * Where a problem is, for people: `line 7`, and in XML the element too, as `line 215 CdtrAcct/Id/IBAN`. What JSON has is the whole path.
 * Empty: the file as a whole, or an option.
 */
export function shortPlace({ place, fileLine }: Pick<BatchProblem, 'place' | 'fileLine'>): string {
  if (fileLine === null || !place.startsWith('/')) return place;
  const within = place.replace(ABOVE, '').split('/').filter(Boolean);
  const element = within.slice(-NAMES).join('/');
  return `line ${fileLine} ${element}`.trimEnd();
}
