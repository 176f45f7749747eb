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
  /** @param writeTime writes an ISO 8601 time that is within a text as the column of a time would have it */
  value: (row: Row, writeTime: (time: string) => string) => string | null | undefined;
  /** Stands right, as amounts do; never cut. */
  right?: boolean;
  /** Never cut where the terminal is narrow: an id is of no use in part. */
  whole?: boolean;
  /**
   * `amount`: money in or out, on a terminal with its sign and a colour. `time`: ISO 8601 with zone, on a terminal the
   * operator's own local time, `2026-11-21 11:05`; `second`: likewise with the second. `state`: has a colour that says
   * what it means, where there are colours.
   */
  kind?: 'amount' | 'time' | 'second' | 'state';
  /** In a list on a terminal that is too narrow it is left out; 1 goes first. Never what a row is about: its id, state, amount. */
  dispensable?: 1 | 2 | 3;
}

/**
 * What is printed for programs. Columns that are named one by one are for CSV alone, where the data alone doesn't tell them: see
 * {@link writeCsv}.
 */
export type Shaped = Shape | readonly string[];
type RecordOf<S extends Shaped> = S extends Shape ? Printed<S> : unknown;
type RowOf<S extends Shaped> = S extends Shape
  ? Printed<S> extends readonly (infer Row)[]
    ? Row
    : never
  : unknown;

/** How data reaches stdout. */
export interface Output {
  readonly format: OutputFormat;
  /** Whether {@link pages} writes nothing before all pages have come. */
  readonly collectsPages: boolean;
  /** One object: JSON, or its fields one below the other. */
  record<T extends RecordOf<S> & object, S extends Shaped = Shape>(
    data: T,
    fields: Column<T>[],
    shape?: S,
  ): void;
  /** A list: a JSON array, a line each, or a table. The shape is that of the array. */
  table<T extends RowOf<S> & object, S extends Shaped = readonly string[]>(
    rows: T[],
    columns: Column<T>[],
    whenEmpty: string,
    shape?: S,
  ): Promise<void>;
  /** A list that comes in pages; with `ndjson` and `csv` a page is written when it has come. */
  pages<T extends RowOf<S> & object, S extends Shaped = readonly string[]>(
    pages: AsyncIterable<T[]>,
    columns: Column<T>[],
    whenEmpty: string,
    shape?: S,
  ): Promise<void>;
  /** Text as it is, with a line break at its end. */
  text(text: string): void;
  /** Lines of text. @param stateFirst each begins with a state, or a blank */
  lines(lines: string[], stateFirst?: 'state first'): void;
  /** An ISO 8601 time within data of {@link lines}: local in a table on a terminal. */
  writeTime(time: string): string;
  /** A document for which there is no table: JSON, unless another format of data was chosen. */
  json(data: unknown): void;
  /** When the command has done its work. @throws Psd2Error `usage` when `--query` could not be applied */
  finish(): void;
}

/** Output of a command whose bank answers are printed as they came: nothing of its own. */
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
  /** Gives states their colours; undefined where there are none. */
  paintState?: ((state: string) => string) | undefined;
  /** For what is no data (an empty list's note), on stderr. */
  say: (text: string) => void;
  query?: Query | undefined;
  /** Strings that the query gives are printed without quotes, one a line. */
  bareStrings?: boolean;
  /** Shows a list that is longer than the terminal. */
  page?: ((text: string) => Promise<void>) | undefined;
}

/** What a command's data is written with, in the format that the operator asked for. */
export function openOutput(stdout: NodeJS.WriteStream, options: OutputOptions): Output {
  const { format, say, query, page } = options;
  const { paintState = (state: string) => state } = options;
  const write = (text: string) => {
    if (text !== '') stdout.write(`${text}\n`);
  };
  /** A list: on a terminal that is too small for it, page by page. */
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
        // One by one: there may be more of them than a call takes arguments.
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
