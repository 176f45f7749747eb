import chalk from 'chalk';
import Table from 'cli-table3';
import stringWidth from 'string-width';
import type { Column } from './output.ts';

const GAP = 2;
const NARROWEST = 6;

/**
 * A table for a terminal: no lines, a heading, columns two blanks apart; where it is wider than the
 * terminal the widest columns of text are cut, never amounts and ids.
 *
 * @param width of the terminal, in cells
 */
export function drawTerminalTable(
  columns: Pick<Column<never>, 'title' | 'right' | 'whole'>[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(row[index] ?? '')), stringWidth(title)),
  );
  const cuttable = columns.flatMap(({ right, whole }, index) => (right || whole ? [] : [index]));
  const excess = () => widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  while (excess() > 0) {
    const widest = cuttable.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      -1,
    );
    const cut = widths[widest];
    if (cut === undefined || cut <= NARROWEST) break;
    widths[widest] = cut - 1;
  }
  const table = new Table({
    chars: Object.fromEntries(
      ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
        .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
        .map((name) => [name, '']),
    ),
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    colWidths: widths.map((each) => each + GAP),
    colAligns: columns.map(({ right }) => (right ? 'right' : 'left')),
  });
  table.push(
    columns.map(({ title }) => (colour ? chalk.bold(title) : title)),
    ...rows,
  );
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
