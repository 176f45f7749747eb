import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import { wrapWords } from '../cells.ts';
import { cleanJson, cleanLines, cleanText } from '../clean.ts';
import { writeLocalTime } from '../local-time.ts';
import { writeCsv } from './csv.ts';
import { leavesOf, withDecimals } from './leaves.ts';
import type { Query } from './query.ts';
import { columnsOf, type Printed, type Shape } from './shape.ts';
import type { DrawnColumn } from './table.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The least width of a value beside its title. */
const NARROWEST = 20;

/** A column of a table, and how a row fills it. */
export interface Column<Row> extends DrawnColumn {
  /** @param writeTime writes an ISO 8601 time within a text as a time column shows it */
  value: (row: Row, writeTime: (time: string) => string) => string | null | undefined;
}

/**
 * The columns of a field with several lines. At a terminal they stand below each other. In a pipe each has the title, so that `grep`
 * and mail can use it.
 */
export function linesAs(title: string, lines: readonly string[], onTerminal: boolean): Column<unknown>[] {
  const shown = lines.length === 0 ? [''] : lines;
  return shown.map((line, at) => ({ title: onTerminal && at > 0 ? '' : title, value: () => line }));
}

/**
 * The shape of data for programs. A list of column names serves CSV only, if the data alone does not show the columns:
 * see {@link writeCsv}.
 */
type Shaped = Shape | readonly string[];
type RecordOf<S extends Shaped> = S extends Shape ? Printed<S> : unknown;
type RowOf<S extends Shaped> = S extends Shape
  ? Printed<S> extends readonly (infer Row)[]
    ? Row
    : never
  : unknown;

/** Writes data to stdout. */
export interface Output {
  readonly format: OutputFormat;
  /** Whether {@link pages} writes nothing until all pages have arrived. */
  readonly collectsPages: boolean;
  /**
   * One object: JSON, or one field per line.
   *
   * @param inPipe `titles`: in a pipe, the fields as at a terminal, not the keys of the JSON that have a value
   */
  record<T extends RecordOf<S> & object, S extends Shaped = Shape>(
    data: T,
    fields: Column<T>[],
    shape?: S,
    inPipe?: 'titles',
  ): void;
  /** A list: a JSON array, one line per row, or a table. The shape is that of the array. */
  table<T extends RowOf<S> & object, S extends Shaped = readonly string[]>(
    rows: T[],
    columns: Column<T>[],
    whenEmpty: string,
    shape?: S,
  ): Promise<void>;
  /** A list that comes in pages. `ndjson` and `csv` write each page when it arrives. */
  pages<T extends RowOf<S> & object, S extends Shaped = readonly string[]>(
    pages: AsyncIterable<T[]>,
    columns: Column<T>[],
    whenEmpty: string,
    shape?: S,
  ): Promise<void>;
  /** One line of text. */
  text(text: string): void;
  /** Lines of text. @param stateFirst each line begins with a state or a blank */
  lines(lines: string[], stateFirst?: 'state first'): void;
  /** Writes an ISO 8601 time within data of {@link lines}: local time in a table on a terminal. */
  writeTime(time: string): string;
  /** A document that has no table: JSON, unless the operator chose another format for data. */
  json(data: unknown): void;
  /**
   * Documents that come one after another: a JSON array of them, or one after the other. Each is written when it arrives,
   * except with a query and as CSV.
   */
  documents(documents: AsyncIterable<unknown>): Promise<void>;
  /** Call it when the command has done its work. @throws Psd2Error `usage` if `--query` could not be applied */
  finish(): void;
}

/** The output of a command that prints the bank's answers unchanged. It writes nothing else. */
export function silentOutput(format: OutputFormat): Output {
  return {
    format,
    collectsPages: false,
    record: () => {},
    table: async () => {},
    async pages(pages) {
      for await (const _page of pages);
    },
    text: () => {},
    lines: () => {},
    writeTime: (time) => time,
    json: () => {},
    async documents(documents) {
      for await (const _document of documents);
    },
    finish: () => {},
  };
}

/** What the output needs of standard output. */
export interface Stdout {
  readonly isTTY: boolean;
  /** The size of the terminal; 0 or undefined if it is not known. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  write(data: string | Uint8Array): void;
}

export interface OutputOptions {
  format: OutputFormat;
  colour: boolean;
  /** Gives states their colours. Undefined if there are no colours. */
  paintState?: ((state: string) => string) | undefined;
  /** Prints notes on stderr, for example that a list is empty. */
  say: (text: string) => void;
  query?: Query | undefined;
  /** Whether to print strings from the query without quotes, one per line. */
  bareStrings?: boolean;
  /** Shows a list that is longer than the terminal. */
  page?: ((text: string) => Promise<void>) | undefined;
}

/** Writes a command's data in the format that the operator chose. */
export function openOutput(stdout: Stdout, options: OutputOptions): Output {
  const { format, say, query, page } = options;
  const { paintState = (state: string) => state } = options;
  const write = (text: string) => {
    if (text !== '') stdout.write(`${text}\n`);
  };
  /** Prints a list, page by page if it is longer than the terminal. */
  const show = async (text: string) => {
    if (page && text.split('\n').length >= (stdout.rows ?? Number.POSITIVE_INFINITY)) await page(`${text}\n`);
    else write(text);
  };
  const programs = forPrograms(stdout, options);
  const people = forPeople(stdout, { ...options, paintState, write, show });

  return {
    format,
    get collectsPages() {
      return query !== undefined || format === 'json' || (format === 'table' && stdout.isTTY);
    },
    record(data, fields, shape, inPipe) {
      if (format === 'table' && !inPipe && !stdout.isTTY) people.keys(shape ? withDecimals(data) : data);
      else if (format === 'table') people.fields(data, fields);
      else write(programs.write(data, shape));
    },
    async table(rows, fields, whenEmpty, shape) {
      if (format !== 'table') await show(programs.write(rows, shape));
      else if (rows.length === 0) say(whenEmpty);
      else await people.table(rows, fields);
    },
    async pages(pages, fields, whenEmpty, shape) {
      const asTheyCome = programs.pageByPage(shape);
      if (asTheyCome) {
        write(asTheyCome.header);
        for await (const rows of pages) write(asTheyCome.page(rows));
      } else if (format === 'table' && !stdout.isTTY) {
        let empty = true;
        for await (const rows of pages) {
          empty &&= rows.length === 0;
          await people.table(rows, fields);
        }
        if (empty) say(whenEmpty);
      } else await this.table((await allOf(pages)).flat(), fields, whenEmpty, shape);
    },
    text: (text) => stdout.write(`${cleanText(text)}\n`),
    lines(lines, stateFirst) {
      const paint = (line: string) => (stateFirst ? line.replace(/^\S+/, paintState) : line);
      stdout.write(`${lines.map((line) => paint(cleanLines(line))).join('\n')}\n`);
    },
    writeTime: people.writeTime,
    json: (data) => write(programs.write(data)),
    async documents(documents) {
      if (query || format === 'csv') write(programs.write(await allOf(documents)));
      else if (format === 'json') await writeArray(stdout, documents);
      else
        for await (const document of documents)
          write(format === 'table' ? programs.write(document) : line(document));
    },
    finish: programs.finish,
  };
}

async function allOf<Part>(parts: AsyncIterable<Part>): Promise<Part[]> {
  const all: Part[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

/** Writes a JSON array, each element when it arrives. If they end with an error, the array has those before it. */
async function writeArray(
  stdout: Pick<Stdout, 'isTTY' | 'write'>,
  documents: AsyncIterable<unknown>,
): Promise<void> {
  const indent = stdout.isTTY ? 2 : 0;
  let between = '[';
  try {
    for await (const document of documents) {
      stdout.write(`${between}${cleanJson(JSON.stringify(document, null, indent))}`);
      between = stdout.isTTY ? ',\n' : ',';
    }
  } finally {
    stdout.write(between === '[' ? '[]\n' : ']\n');
  }
}

/** @throws Psd2Error `usage` */
export function parseOutputFormat(text: string): OutputFormat {
  const format = OUTPUT_FORMATS.find((known) => known === text);
  if (format) return format;
  throw new Psd2Error('usage', `The output format ${JSON.stringify(text)} is not known`, {
    hint: `${didYouMean(text, OUTPUT_FORMATS)}Use one of ${OUTPUT_FORMATS.join(', ')}.`,
  });
}

/**
 * Writes data as fields and tables; in a pipe, as cells with tabs between them.
 *
 * @param write prints a text that may be empty
 * @param show prints a list, page by page if it is longer than the terminal
 */
function forPeople(
  stdout: Pick<Stdout, 'isTTY' | 'columns'>,
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
) {
  const writeTime = (time: string) => (format === 'table' && stdout.isTTY ? writeLocalTime(time) : time);
  const cell = <T>(column: Column<T>, row: T) => {
    const text = cleanText(column.value(row, writeTime) ?? '');
    if (!stdout.isTTY) return text;
    if (column.kind === 'time') return writeLocalTime(text);
    return column.kind === 'second' ? writeLocalTime(text, 'second') : text;
  };
  return {
    writeTime,
    /** The keys of one object that have a value. */
    keys(data: object) {
      for (const [key, value] of leavesOf(data))
        if (value !== '') write(`${cleanText(key)}\t${cleanText(value)}`);
    },
    /** One object, one field per line. */
    fields<T>(data: T, fields: Column<T>[]) {
      // If the data has an unknown shape, its titles come from the bank too.
      const rows = fields.map((field) => ({ title: cleanText(field.title), cell: cell(field, data), field }));
      const width = rows.reduce((widest, { title }) => Math.max(widest, title.length), 0);
      for (const { title, cell, field } of rows) {
        if (!stdout.isTTY) write(`${title}\t${field.kind === 'state' ? paintState(cell) : cell}`);
        if (!stdout.isTTY || cell === '') continue;
        const [first = '', ...further] = wrapWords(
          cell,
          Math.max(NARROWEST, (stdout.columns || 80) - width - 2),
        );
        write(`${title.padEnd(width)}  ${field.kind === 'state' ? paintState(first) : first}`);
        for (const line of further) write(`${' '.repeat(width)}  ${line}`);
      }
    },
    async table<T>(rows: T[], columns: Column<T>[]) {
      const cells = rows.map((row) => columns.map((column) => cell(column, row)));
      if (!stdout.isTTY && !colour) return write(cells.map((row) => row.join('\t')).join('\n'));
      const { drawColouredCells, drawTerminalTable } = await import('./table.ts');
      if (!stdout.isTTY) return write(drawColouredCells(columns, cells));
      // A terminal that does not know its width says 0.
      await show(drawTerminalTable(columns, cells, { width: stdout.columns || 80, colour }));
    },
  };
}

/** Writes JSON, NDJSON or CSV, after `--query`. */
function forPrograms(
  { isTTY }: Pick<Stdout, 'isTTY'>,
  { format, query, bareStrings }: Pick<OutputOptions, 'format' | 'query' | 'bareStrings'>,
) {
  let failure: unknown;
  return {
    /** If `--query` cannot be applied, returns an empty text. {@link finish} reports it, and the command continues. */
    write(data: unknown, shape?: Shaped): string {
      try {
        const own = shape ? withDecimals(data) : data;
        const result = query ? query(own) : own;
        // A script would take `null` for what it looked for.
        if (bareStrings) return result === null ? '' : each(result).map(bare).join('\n');
        if (format === 'csv') return writeCsv(result, query ? undefined : columns(shape));
        if (format === 'ndjson') return each(result).map(line).join('\n');
        return cleanJson(JSON.stringify(result, null, isTTY ? 2 : 0));
      } catch (error) {
        if (!(error instanceof Psd2Error)) throw error;
        failure ??= error;
        return '';
      }
    },
    /** How to write the pages of a list as they arrive. Undefined if they form one document. */
    pageByPage(shape?: Shaped): { header: string; page: (rows: object[]) => string } | undefined {
      if (query) return undefined;
      if (format === 'ndjson')
        return {
          header: '',
          page: (rows) => rows.map((row) => line(shape ? withDecimals(row) : row)).join('\n'),
        };
      const names = format === 'csv' ? columns(shape) : undefined;
      return (
        names && { header: writeCsv([], names), page: (rows) => writeCsv(withDecimals(rows), names, false) }
      );
    },
    /** @throws Psd2Error `usage` if `--query` could not be applied */
    finish() {
      if (failure !== undefined) throw failure;
    },
  };
}

function each(result: unknown): unknown[] {
  return Array.isArray(result) ? result : [result];
}

function line(data: unknown): string {
  return cleanJson(JSON.stringify(data));
}

function bare(data: unknown): string {
  return typeof data === 'string' ? cleanLines(data) : line(data);
}

function columns(shape: Shaped | undefined): readonly string[] | undefined {
  return typeof shape === 'function' ? columnsOf(shape) : shape;
}
