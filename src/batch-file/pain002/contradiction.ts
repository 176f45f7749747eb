/** Rejected or cancelled. */
const ENDED: readonly string[] = ['RJCT', 'CANC'];
/** Settled: of all payments, if a file or a group says so. */
const SETTLED: readonly string[] = ['ACSC', 'ACCC'];
/** Not accepted for execution, or only some of the payments. */
const UNACCEPTED: readonly string[] = ['RCVD', 'PDNG', 'PATC', 'PART', 'ACTC', 'ACCP', 'ACFC'];

/**
 * Whether a status of many payments and one of some of them cannot be true together (ISO 20022, pain.002, "GroupStatus" rules: what
 * is below a rejected one is rejected, and only below `PART` some are).
 *
 * @param above of the file or the group
 * @param below of a group or a payment in it
 */
function areContradictory(above: string, below: string): boolean {
  if (above === below) return false;
  if (ENDED.includes(above)) return true;
  if (ENDED.includes(below)) return above !== 'PART';
  return SETTLED.includes(above) && UNACCEPTED.includes(below);
}

/** The statuses of a level, with the name of their element. */
export type StatusLevel = readonly [element: string, statuses: ReadonlySet<string>];

/** The first two statuses that cannot be true together, in words. Null: all can. @param levels of what belongs together, the highest first */
export function contradictionIn(levels: readonly StatusLevel[]): string | null {
  for (const [depth, [upper, above]] of levels.entries())
    for (const [lower, below] of levels.slice(depth + 1))
      for (const whole of above)
        for (const part of below)
          if (areContradictory(whole, part)) return `${upper} ${whole} and ${lower} ${part}`;
  return null;
}
