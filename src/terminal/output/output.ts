import { didYouMean } from '../../did-you-mean.ts';
import { Psd2Error } from '../../errors.ts';
import { cleanLines, cleanText } from '../clean.ts';
import { forPeople } from './for-people.ts';
import { forPrograms } from './for-programs.ts';
import type { Query } from './query.ts';
import type { Printed, Shape } from './shape.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** A column of a table: its title and how a row fills it. */
export interface Column<Row> {
  title: string;
  /** @param writeTime writes an ISO 8601 time within a text as a time column shows it */
  value: (row: Row, writeTime: (time: string) => string) => string | null | undefined;
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
 * The shape of data for programs. A list of column names serves CSV only, if the data alone does not show the columns:
 * see {@link writeCsv}.
 */
export type Shaped = Shape | readonly string[];
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
  /** One object: JSON, or one field per line. */
  record<T extends RecordOf<S> & object, S extends Shaped = Shape>(
    data: T,
    fields: Column<T>[],
    shape?: S,
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
  /** Text, unchanged, with a line break at its end. */
  text(text: string): void;
  /** Lines of text. @param stateFirst each line begins with a state or a blank */
  lines(lines: string[], stateFirst?: 'state first'): void;
  /** Writes an ISO 8601 time within data of {@link lines}: local time in a table on a terminal. */
  writeTime(time: string): string;
  /** A document that has no table: JSON, unless the operator chose another format for data. */
  json(data: unknown): void;
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
    finish: () => {},
  };
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
export function openOutput(stdout: NodeJS.WriteStream, options: OutputOptions): Output {
  const { format, say, query, page } = options;
  const { paintState = (state: string) => state } = options;
  const write = (text: string) => {
    if (text !== '') stdout.write(`${text}\n`);
  };
  /** Prints a list, page by page if it is longer than the terminal. */
  const show = async (text: string) => {
    if (page && text.split('\n').length >= stdout.rows) await page(`${text}\n`);
    else write(text);
  };
  const programs = forPrograms(stdout, options);
  const people = forPeople(stdout, { ...options, paintState, write, show });

  return {
    format,
    get collectsPages() {
      return query !== undefined || format === 'json' || (format === 'table' && stdout.isTTY);
    },
    record(data, fields, shape) {
      if (format === 'table') people.fields(data, fields);
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
      } else {
        const rows = [];
        // Row by row: there may be more rows than a call can take arguments.
        for await (const some of pages) for (const row of some) rows.push(row);
        await this.table(rows, fields, whenEmpty, shape);
      }
    },
    text: (text) => stdout.write(`${cleanText(text)}\n`),
    lines(lines, stateFirst) {
      const paint = (line: string) => (stateFirst ? line.replace(/^\S+/, paintState) : line);
      stdout.write(`${lines.map((line) => paint(cleanLines(line))).join('\n')}\n`);
    },
    writeTime: people.writeTime,
    json: (data) => {
      write(programs.write(data));
    },
    finish: programs.finish,
  };
}

/** @throws Psd2Error `usage` */
export function parseOutputFormat(text: string): OutputFormat {
  const format = OUTPUT_FORMATS.find((known) => known === text);
  if (format) return format;
  throw new Psd2Error('usage', `The output format ${JSON.stringify(text)} is not known`, {
    hint: `${didYouMean(text, OUTPUT_FORMATS)}Use one of ${OUTPUT_FORMATS.join(', ')}.`,
  });
}
