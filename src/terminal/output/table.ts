import chalk from 'chalk';
import { cutIntoPieces, widthOf } from '../cells.ts';
import { paintState } from './states.ts';

const GAP = 2;
const NARROWEST = 8;
/** The least width of a text column. If the terminal has less space, another column is left out. */
const LEGIBLE = 12;

/** A column as a terminal draws it. */
export interface DrawnColumn {
  title: string;
  /** Aligned right, like amounts. Never cut. */
  right?: boolean;
  /** Never cut, even if the terminal is narrow: a part of an id is useless. */
  whole?: boolean;
  /**
   * How a terminal shows the value. `amount`: money in or out, with its sign and a colour. `time`: ISO 8601 with zone, as
   * the operator's local time, for example `2026-11-21 11:05`. `second`: the same with seconds. `state`: with a colour
   * for its meaning.
   */
  kind?: 'amount' | 'time' | 'second' | 'state';
  /** May be left out of a list if the terminal is too narrow, 1 first. Do not set it for a row's id, state or amount. */
  dispensable?: 1 | 2 | 3;
}

/**
 * A table for a terminal: no lines, a heading, columns two spaces apart. If it is wider than the terminal, the widest
 * text columns are cut, but never amounts and ids. If that would cut them too short, dispensable columns are left out
 * first. If that is not enough, each row shows all of its fields, one per line.
 *
 * @param width of the terminal, in cells
 */
export function drawTerminalTable(
  all: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const whole = rows.map((row) =>
    row.map((cell, index) => (all[index]?.kind === 'amount' ? withSign(cell) : cell)),
  );
  const needed = all.map(({ title }, index) =>
    whole.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), widthOf(title)),
  );
  const kept = columnsThatFit(all, needed, width);
  const columns = all.filter((_, index) => kept.includes(index));
  const shown = whole.map((row) => kept.map((index) => row[index] ?? ''));
  const widths = kept.map((index) => needed[index] ?? 0);
  const cuttable = columns.flatMap((column, index) => (isCuttable(column) ? [index] : []));
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
  if (excess() > 0 && rows.length > 0) return drawRecords(all, whole, { width, colour });

  const line = (cells: string[], paint: (cell: string, column: DrawnColumn) => string) =>
    columns
      .map((column, index) => {
        const cell = cutTo(cells[index] ?? '', widths[index] ?? 0);
        const spaces = ' '.repeat((widths[index] ?? 0) - widthOf(cell));
        const painted = colour ? paint(cell, column) : cell;
        return column.right || column.kind === 'amount' ? spaces + painted : painted + spaces;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const heading = columns.map(({ title }) => title);
  return [line(heading, (title) => chalk.bold(title)), ...shown.map((row) => line(row, painted))].join('\n');
}

function isCuttable({ right, whole, kind }: DrawnColumn): boolean {
  return !right && !whole && !kind;
}

/**
 * The columns that stay. Leaves out dispensable ones until the others are legible.
 *
 * @param needed the widths of the columns
 */
function columnsThatFit(columns: DrawnColumn[], needed: number[], width: number): number[] {
  const least = columns.map((column, index) => {
    const own = needed[index] ?? 0;
    return isCuttable(column) ? Math.min(own, LEGIBLE) : own;
  });
  const going = columns
    .flatMap(({ dispensable }, index) => (dispensable === undefined ? [] : [{ index, dispensable }]))
    .sort((one, other) => one.dispensable - other.dispensable);
  let kept = [...columns.keys()];
  for (const { index } of going) {
    if (kept.reduce((sum, at) => sum + (least[at] ?? 0) + GAP, -GAP) <= width) break;
    kept = kept.filter((at) => at !== index);
  }
  return kept;
}

/** Rows for a pipe with FORCE_COLOR: a line per row, tabs between its cells, colours for amounts and states. */
export function drawColouredCells(columns: DrawnColumn[], rows: string[][]): string {
  const paint = (cell: string, index: number) => {
    const column = columns[index];
    return column ? painted(cell, column) : cell;
  };
  return rows.map((row) => row.map(paint).join('\t')).join('\n');
}

/**
 * For a terminal that is too narrow for columns: one line per filled field. A field without a title follows its
 * neighbour.
 */
function drawRecords(
  columns: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const titles = Math.max(...columns.map(({ title }) => widthOf(title)));
  const records = rows.map((row) => {
    const lines: string[] = [];
    /** The fields without a title that come before the first one with a title. */
    let marks = '';
    for (const [at, column] of columns.entries()) {
      let cell = row[at] ?? '';
      if (cell.trim() === '') continue;
      if (column.title === '') {
        if (lines.length > 0) lines.push(`${lines.pop()} ${cell}`);
        else marks += ` ${cell}`;
        continue;
      }
      cell += marks;
      marks = '';
      const [first = '', ...further] = cutIntoPieces(cell, Math.max(NARROWEST, width - titles - GAP));
      const heading = colour ? chalk.bold(column.title) : column.title;
      const spaces = ' '.repeat(titles - widthOf(column.title) + GAP);
      lines.push(`${heading}${spaces}${colour ? painted(first, column) : first}`);
      lines.push(...further.map((line) => ' '.repeat(titles + GAP) + line));
    }
    return lines.join('\n');
  });
  return records.join('\n\n');
}

/** The sign distinguishes money in from money out. Colour only underlines it. */
function withSign(amount: string): string {
  return /^\d/.test(amount) && /[1-9]/.test(amount) ? `+${amount}` : amount;
}

function painted(cell: string, { kind }: DrawnColumn): string {
  if (kind === 'state') return paintState(cell);
  if (kind !== 'amount' || !/[1-9]/.test(cell)) return cell;
  return cell.startsWith('-') ? chalk.red(cell) : chalk.green(cell);
}

/** The text, or its beginning with an ellipsis. */
function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${cutIntoPieces(text, width - 1)[0] ?? ''}…`;
}
