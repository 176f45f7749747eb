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
  const table = new Table({
    chars: Object.fromEntries(
      ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
        .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
        .map((name) => [name, '']),
    ),
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    colWidths: widths.map((each) => each + GAP),
    colAligns: columns.map(({ right, kind }) => (right || kind === 'amount' ? 'right' : 'left')),
  });
  table.push(
    columns.map(({ title }) => (colour ? chalk.bold(title) : title)),
    ...shown.map((row) => coloured(columns, row, colour)),
  );
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** For a terminal that is too narrow for columns: a line for each that is filled. One without a title goes with its neighbour. */
function drawRecords(
  columns: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const titles = Math.max(...columns.map(({ title }) => stringWidth(title)));
  const records = rows.map((row) => {
    const lines: string[] = [];
    for (const [at, cell] of row.entries()) {
      const { title = '', kind } = columns[at] ?? {};
      if (cell.trim() === '') continue;
      if (title === '' && lines.length > 0) {
        lines.push(`${lines.pop()} ${cell}`);
        continue;
      }
      const [first = '', ...further] = inLines(cell, Math.max(NARROWEST, width - titles - GAP));
      const shown = colour && kind === 'amount' ? colourOf(first)(first) : first;
      const heading = colour ? chalk.bold(title) : title;
      lines.push(`${heading}${' '.repeat(titles - stringWidth(title) + GAP)}${shown}`);
      lines.push(...further.map((line) => ' '.repeat(titles + GAP) + line));
    }
    return lines.join('\n');
  });
  return records.join('\n\n');
}

/** A text in pieces that take so many cells at most. */
function inLines(text: string, width: number): string[] {
  const lines = [''];
  for (const character of text) {
    const line = `${lines.at(-1)}${character}`;
    if (stringWidth(line) > width) lines.push(character);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

/** Money that came in and money that went out are told apart by the sign; colour only underlines it. */
function withSign(amount: string): string {
  return /^\d/.test(amount) && /[1-9]/.test(amount) ? `+${amount}` : amount;
}

function coloured(columns: DrawnColumn[], row: string[], colour: boolean): string[] {
  if (!colour) return row;
  return row.map((cell, index) => (columns[index]?.kind === 'amount' ? colourOf(cell)(cell) : cell));
}

function colourOf(amount: string): (text: string) => string {
  return amount.startsWith('-') ? chalk.red : amount.startsWith('+') ? chalk.green : String;
}
