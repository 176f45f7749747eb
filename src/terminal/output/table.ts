import chalk from 'chalk';
import { widthOf, wrapInColumn, wrapWords } from '../cells.ts';
import { paintState } from './states.ts';

const GAP = 2;
const NARROWEST = 8;
/** The least width of a text column. If the terminal has less space, another column is left out. */
const LEGIBLE = 12;

/** A column as a terminal draws it. */
export interface DrawnColumn {
  title: string;
  /** Aligned right, like amounts. Never wrapped. */
  right?: boolean;
  /** Never wrapped, even if the terminal is narrow: a part of an id is useless. */
  whole?: boolean;
  /**
   * How a terminal shows the value. `amount`: money in or out, with its sign and a colour. `time`: ISO 8601 with zone, as
   * the operator's local time, for example `2026-11-21 11:05`. `second`: the same with seconds. `state`: with a colour
   * for its meaning.
   */
  kind?: 'amount' | 'time' | 'second' | 'state';
  /** May be left out of a list if the terminal is too narrow, 1 first. Do not set it for a row's id, state or amount. */
  dispensable?: 1 | 2 | 3;
  /** No line of a record, and no column of a list, if there is no value. */
  ifAny?: true;
}

/**
 * A table for a terminal: no lines, a heading, columns two spaces apart. If it is wider than the terminal, the texts of the
 * widest columns are wrapped, but never amounts and ids. If that would make them too narrow, dispensable columns are left out
 * first. If that is not enough, each row shows all of its fields, one per line. A column without a value in any row is left out.
 *
 * @param width of the terminal, in cells
 */
export function drawTerminalTable(
  all: DrawnColumn[],
  rows: string[][],
  { width, colour }: { width: number; colour: boolean },
): string {
  const filled = [...all.keys()].filter((index) => rows.length === 0 || rows.some((row) => row[index]));
  const having = filled.flatMap((index) => all[index] ?? []);
  const whole = rows.map((row) =>
    filled.map((index) => (all[index]?.kind === 'amount' ? withSign(row[index] ?? '') : (row[index] ?? ''))),
  );
  const needed = having.map(({ title }, index) =>
    whole.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), widthOf(title)),
  );
  const fitting = columnsThatFit(having, needed, width);
  const columns = having.filter((_, index) => fitting.includes(index));
  const shown = whole.map((row) => fitting.map((index) => row[index] ?? ''));
  const widths = fitting.map((index) => needed[index] ?? 0);
  const wrapped = columns.flatMap((column, index) => (isWrapped(column) ? [index] : []));
  const excess = () => widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  while (excess() > 0) {
    const widest = wrapped
      .filter((index) => (widths[index] ?? 0) > Math.max(NARROWEST, widthOf(columns[index]?.title ?? '')))
      .reduce((best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best), -1);
    const wide = widths[widest];
    if (wide === undefined) break;
    widths[widest] = wide - 1;
  }
  if (excess() > 0 && rows.length > 0) return drawRecords(having, whole, { width, colour });

  const line = (cells: string[], paint: (cell: string, column: DrawnColumn) => string) =>
    columns
      .map((column, index) => {
        const cell = cells[index] ?? '';
        const spaces = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell)));
        const painted = colour ? paint(cell, column) : cell;
        return column.right || column.kind === 'amount' ? spaces + painted : painted + spaces;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const heading = columns.map(({ title }) => title);
  /** The lines of a row. The last column may be wider than the terminal, so that a link in it can be copied. */
  const wrap = (row: string[]) => {
    const cells = row.map((cell, index) => {
      if (!wrapped.includes(index)) return [cell];
      return (index === row.length - 1 ? wrapWords : wrapInColumn)(cell, widths[index] ?? 0);
    });
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) =>
      line(
        cells.map((lines) => lines[at] ?? ''),
        painted,
      ),
    );
  };
  return [line(heading, (title) => chalk.bold(title)), ...shown.flatMap(wrap)].join('\n');
}

function isWrapped({ right, whole, kind }: DrawnColumn): boolean {
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
    return isWrapped(column) ? Math.min(own, Math.max(LEGIBLE, widthOf(column.title))) : own;
  });
  const going = columns
    .flatMap(({ dispensable }, index) => (dispensable === undefined ? [] : [{ index, dispensable }]))
    .sort((one, other) => one.dispensable - other.dispensable);
  let staying = [...columns.keys()];
  for (const { index } of going) {
    if (staying.reduce((sum, at) => sum + (least[at] ?? 0) + GAP, -GAP) <= width) break;
    staying = staying.filter((at) => at !== index);
  }
  return staying;
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
      const [first = '', ...further] = wrapWords(cell, Math.max(NARROWEST, width - titles - GAP));
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
