import type { BatchLine } from '../../domain/batch/line.ts';
import { readWholeNumber } from '../shared/option-values.ts';

/**
 * The lines of a batch that `--only` names by their numbers.
 *
 * @param only undefined: all lines
 * @throws Psd2Error `usage` for what is no number of a line
 */
export function chooseLines(lines: readonly BatchLine[], only: readonly string[] | undefined): BatchLine[] {
  if (only === undefined) return [...lines];
  const numbers = new Set(only.map((text) => readWholeNumber('--only', text, 1, lines.length)));
  return lines.filter(({ line }) => numbers.has(line));
}
