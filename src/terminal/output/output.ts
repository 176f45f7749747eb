import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import { wrapWords } from '../cells.ts';
import { cleanJson, cleanLines, cleanText } from '../clean.ts';
import { writeLocalTime } from '../local-time.ts';
import { writeCsv } from './csv.ts';
import type { Column, View } from './fields.ts';
import { leavesOf } from './leaves.ts';
import type { Query } from './query.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The least width of a value beside its title. */
const NARROWEST = 20;

/** Writes data to stdout. */
export interface Output {
  readonly format: OutputFormat;
  /** Whether {@link pages} writes nothing until all pages have arrived. */
  readonly collectsPages: boolean;
  /**
   * One object: JSON, or one field per line.
   *
   * @param view how it is printed
   * @param inPipe `titles`: in a pipe, the fields as at a terminal, not the keys of the JSON that have a value
   */
  record<T extends object>(of: T, view: View<T>, inPipe?: 'titles'): void;
  /**
   * A list: a JSON array, one line per row, or a table.
   *
   * @param view how a row is printed
   */
  table<T extends object>(rows: T[], view: View<T>, whenEmpty: string): Promise<void>;
  /** A list that comes in pages. `ndjson` and `csv` write each page when it arrives. */
  pages<T extends object>(pages: AsyncIterable<T[]>, view: View<T>, whenEmpty: string): Promise<void>;
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
    if (page && text.split('\n').length >= (stdout.rows || Number.POSITIVE_INFINITY)) await page(`${text}\n`);
    else write(text);
  };
  const programs = forPrograms(stdout, options);
  const people = forPeople(stdout, { ...options, paintState, write, show });

  return {
    format,
    get collectsPages() {
      return query !== undefined || format === 'json' || (format === 'table' && stdout.isTTY);
    },
    record(of, view, inPipe) {
      if (format === 'table' && !inPipe && !stdout.isTTY) people.keys(view.data(of));
      else if (format === 'table') people.fields(of, view.lines);
      else write(programs.write(view.data(of), view));
    },
    async table(rows, view, whenEmpty) {
      if (format !== 'table') await show(programs.write(rows.map(view.data), view));
      else if (rows.length === 0) say(whenEmpty);
      else await people.table(rows, view.columns);
    },
    async pages(pages, view, whenEmpty) {
      const asTheyCome = programs.pageByPage(view);
      if (asTheyCome) {
        write(asTheyCome.header);
        for await (const rows of pages) write(asTheyCome.page(rows.map(view.data)));
      } else if (format === 'table' && !stdout.isTTY) {
        if ((await eachOf(pages, (rows) => people.table(rows, view.columns))) === 0) say(whenEmpty);
      } else await this.table((await allOf(pages)).flat(), view, whenEmpty);
    },
    text: (text) => stdout.write(`${cleanText(text)}\n`),
    lines(lines, stateFirst) {
      const paint = (line: string) => (stateFirst ? line.replace(/(?<=^ {0,2})\S+/, paintState) : line);
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

/** @returns how many rows the pages had */
async function eachOf<T>(pages: AsyncIterable<T[]>, print: (rows: T[]) => Promise<void>): Promise<number> {
  let count = 0;
  for await (const rows of pages) {
    count += rows.length;
    await print(rows);
  }
  return count;
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
  const format = OUTPUT_FORMATS.find((each) => each === text);
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
  const linesOf = <T>(column: Column<T>, row: T) => writeCells(column, row, writeTime, stdout.isTTY);
  const cell = <T>(column: Column<T>, row: T) => linesOf(column, row).join(' ');
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
      const rows = fields
        .flatMap((field) =>
          // In a pipe each line has the title, so that `grep` and mail can use it.
          linesOf(field, data).map((cell, at) => ({
            title: stdout.isTTY && at > 0 ? '' : cleanText(field.title),
            cell,
            field,
          })),
        )
        .filter((row) => !row.field.ifAny || row.cell !== '');
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
    async table<T>(rows: T[], all: Column<T>[]) {
      const columns = all.filter((column) => !column.ifAny || rows.some((row) => cell(column, row) !== ''));
      const cells = rows.map((row) => columns.map((column) => cell(column, row)));
      if (!stdout.isTTY && !colour) return write(cells.map((row) => row.join('\t')).join('\n'));
      const { drawColouredCells, drawTerminalTable } = await import('./table.ts');
      if (!stdout.isTTY) return write(drawColouredCells(columns, cells));
      // A terminal that does not know its width says 0.
      await show(drawTerminalTable(columns, cells, { width: stdout.columns || 80, colour }));
    },
  };
}

/** What stands in a cell. In a record each text has a line. */
function writeCells<T>(
  { value, kind }: Column<T>,
  row: T,
  writeTime: (time: string) => string,
  isTTY: boolean,
): string[] {
  const cell = value(row, writeTime) ?? '';
  const texts = typeof cell === 'string' ? [cell] : cell.length === 0 ? [''] : cell;
  return texts.map((each) => {
    const text = cleanText(each);
    if (!isTTY || (kind !== 'time' && kind !== 'second')) return text;
    return writeLocalTime(text, kind === 'second' ? 'second' : 'minute');
  });
}

/** Writes JSON, NDJSON or CSV, after `--query`. */
function forPrograms(
  { isTTY }: Pick<Stdout, 'isTTY'>,
  { format, query, bareStrings }: Pick<OutputOptions, 'format' | 'query' | 'bareStrings'>,
) {
  let failure: unknown;
  return {
    /** If `--query` cannot be applied, returns an empty text. {@link finish} reports it, and the command continues. */
    write(data: unknown, view?: Pick<View<never>, 'names'>): string {
      try {
        const result = query ? query(data) : data;
        // A script would take `null` for what it looked for.
        if (bareStrings) return result === null ? '' : each(result).map(bare).join('\n');
        if (format === 'csv') return writeCsv(result, query ? undefined : view?.names);
        if (format === 'ndjson') return each(result).map(line).join('\n');
        return cleanJson(JSON.stringify(result, null, isTTY ? 2 : 0));
      } catch (error) {
        if (!(error instanceof Psd2Error)) throw error;
        failure ??= error;
        return '';
      }
    },
    /** How to write the pages of a list as they arrive. Undefined if they form one document. */
    pageByPage(
      view: Pick<View<never>, 'names'>,
    ): { header: string; page: (rows: object[]) => string } | undefined {
      if (query) return undefined;
      if (format === 'ndjson') return { header: '', page: (rows) => rows.map(line).join('\n') };
      const names = format === 'csv' ? view.names : undefined;
      return names && { header: writeCsv([], names), page: (rows) => writeCsv(rows, names, false) };
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
