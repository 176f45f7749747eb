import { cleanText } from '../clean.ts';
import { writeLocalTime } from '../local-time.ts';
import type { Column, OutputOptions } from './output.ts';

/** Writes data as fields and tables; in a pipe, as cells with tabs between them. */
interface ForPeople {
  /** One object, one field per line. */
  fields<T>(data: T, fields: Column<T>[]): void;
  table<T>(rows: T[], columns: Column<T>[]): Promise<void>;
  writeTime(time: string): string;
}

/**
 * @param write prints a text that may be empty
 * @param show prints a list, page by page if it is longer than the terminal
 */
export function forPeople(
  stdout: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  {
    format,
    colour,
    paintState,
    write,
    show,
  }: Pick<OutputOptions, 'format' | 'colour'> & {
    paintState: (state: string) => string;
    write: (text: string) => void;
    show: (text: string) => Promise<void>;
  },
): ForPeople {
  const writeTime = (time: string) => (format === 'table' && stdout.isTTY ? writeLocalTime(time) : time);
  const cell = <T>(column: Column<T>, row: T) => {
    const text = cleanText(column.value(row, writeTime) ?? '');
    if (!stdout.isTTY) return text;
    if (column.kind === 'time') return writeLocalTime(text);
    return column.kind === 'second' ? writeLocalTime(text, 'second') : text;
  };
  return {
    writeTime,
    fields(data, fields) {
      // If the data has an unknown shape, its titles come from the bank too.
      const rows = fields.map((field) => ({ title: cleanText(field.title), cell: cell(field, data), field }));
      const width = rows.reduce((widest, { title }) => Math.max(widest, title.length), 0);
      for (const { title, cell, field } of rows) {
        const value = field.kind === 'state' ? paintState(cell) : cell;
        if (!stdout.isTTY) write(`${title}\t${value}`);
        else if (value !== '') write(`${title.padEnd(width)}  ${value}`);
      }
    },
    async table(rows, columns) {
      const cells = rows.map((row) => columns.map((column) => cell(column, row)));
      if (!stdout.isTTY && !colour) return write(cells.map((row) => row.join('\t')).join('\n'));
      const { drawColouredCells, drawTerminalTable } = await import('./table.ts');
      if (!stdout.isTTY) return write(drawColouredCells(columns, cells));
      // A terminal that does not know its width says 0.
      await show(drawTerminalTable(columns, cells, { width: stdout.columns || 80, colour }));
    },
  };
}
