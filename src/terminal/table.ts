import chalk from 'chalk';
import Table from 'cli-table3';
import stringWidth from 'string-width';
import type { Column } from './output.ts';

const GAP = 2;
const NARROWEST = 8;

type DrawnColumn = Pick<Column<never>, 'title' | 'right' | 'whole' | 'kind'>;

/**
 * A table for a terminal: no lines, a heading, columns two blanks apart; where it is wider than the
 * terminal the widest columns of text are cut, never amounts and ids. Where that is not enough, each row is
 * its fields one below the other.
 *
 * @param width of the terminal, in cells
 */
export function drawTerminalTable(
  columns: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const shown = rows.map((row) =>
    row.map((cell, index) => (columns[index]?.kind === 'amount' ? withSign(cell) : cell)),
  );
  const widths = columns.map(({ title }, index) =>
    shown.reduce((widest, row) => Math.max(widest, stringWidth(row[index] ?? '')), stringWidth(title)),
  );
  const cuttable = columns.flatMap(({ right, whole, kind }, index) =>
    right || whole || kind ? [] : [index],
  );
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
  if (excess() > 0 && rows.length > 0) return drawRecords(columns, shown, { width, colour });
  return drawLines(
    [
      columns.map(({ title }) => (colour ? chalk.bold(title) : title)),
      ...shown.map((row) => coloured(columns, row, colour)),
    ],
    widths,
    columns.map(({ right, kind }) => right === true || kind === 'amount'),
  );
}

/** For a terminal that is too narrow for columns: a line for each that is filled. One without a title goes with its neighbour. */
function drawRecords(
  columns: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const titles = Math.max(...columns.map(({ title }) => stringWidth(title)));
  const lines = rows.flatMap((row, index) => {
    const fields: [string, string][] = [];
    for (const [at, cell] of coloured(columns, row, colour).entries()) {
      const title = columns[at]?.title ?? '';
      const last = fields.at(-1);
      if (cell.trim() === '') continue;
      if (title === '' && last) last[1] += ` ${cell}`;
      else fields.push([colour ? chalk.bold(title) : title, cell]);
    }
    return index === 0 ? fields : [['', ''], ...fields];
  });
  return drawLines(lines, [titles, Math.max(NARROWEST, width - titles - 2 * GAP)], [false, false], true);
}

function drawLines(lines: string[][], widths: number[], right: boolean[], wordWrap = false): string {
  const table = new Table({
    chars: Object.fromEntries(
      ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
        .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
        .map((name) => [name, '']),
    ),
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    colWidths: widths.map((each) => each + GAP),
    colAligns: right.map((isRight) => (isRight ? 'right' : 'left')),
    // Columns that were cut show where; the fields of a record go on in the next line.
    wordWrap,
    wrapOnWordBoundary: false,
  });
  table.push(...lines);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Money that came in and money that went out are told apart by the sign; colour only underlines it. */
function withSign(amount: string): string {
  return /^\d/.test(amount) && /[1-9]/.test(amount) ? `+${amount}` : amount;
}

function coloured(columns: DrawnColumn[], row: string[], colour: boolean): string[] {
  if (!colour) return row;
  return row.map((cell, index) => {
    if (columns[index]?.kind !== 'amount') return cell;
    return cell.startsWith('-') ? chalk.red(cell) : cell.startsWith('+') ? chalk.green(cell) : cell;
  });
}
