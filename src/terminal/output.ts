import { Psd2Error } from '../errors.ts';
import { cleanJson, cleanLines, cleanText } from './clean.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** A column of a table: its title and how a row fills it. */
export interface Column<Row> {
  title: string;
  value: (row: Row) => string | null | undefined;
  /** Stands right, as amounts do; never cut. */
  right?: boolean;
  /** Never cut where the terminal is narrow: an id is of no use in part. */
  whole?: boolean;
}

/** How data reaches stdout. */
export interface Output {
  readonly format: OutputFormat;
  /** One object: JSON, or its fields one below the other. */
  record<T extends object>(data: T, fields: Column<T>[]): void;
  /** A list: a JSON array, a line each, or a table. */
  table<T extends object>(rows: T[], columns: Column<T>[], whenEmpty: string): Promise<void>;
  /** A list that comes in pages; with `ndjson` a page is written when it has come. */
  pages<T extends object>(pages: AsyncIterable<T[]>, columns: Column<T>[], whenEmpty: string): Promise<void>;
  /** Text as it is, with a line break at its end. */
  text(text: string): void;
  /** Lines of text. */
  lines(lines: string[]): void;
  /** A JSON document, whatever the format is. */
  json(data: unknown): void;
}

/** Output of a command whose bank answers are printed as they came: nothing of its own. */
export function silentOutput(format: OutputFormat): Output {
  return {
    format,
    record: () => {},
    table: async () => {},
    async pages(pages) {
      for await (const _page of pages);
    },
    text: () => {},
    lines: () => {},
    json: () => {},
  };
}

/** @param say for what is no data (an empty list's note), on stderr */
export function openOutput(
  stdout: NodeJS.WriteStream,
  options: { format: OutputFormat; colour: boolean; say: (text: string) => void },
): Output {
  const { format, colour, say } = options;
  const write = (text: string) => {
    stdout.write(`${text}\n`);
  };
  const line = (data: object) => write(cleanJson(JSON.stringify(data)));
  const document = (data: unknown) => write(cleanJson(JSON.stringify(data, null, stdout.isTTY ? 2 : 0)));
  const cell = <T>(column: Column<T>, row: T) => cleanText(column.value(row) ?? '');

  const drawTable = async <T extends object>(rows: T[], columns: Column<T>[]) => {
    if (!stdout.isTTY) {
      for (const row of rows) write(columns.map((column) => cell(column, row)).join('\t'));
      return;
    }
    const { drawTerminalTable } = await import('./table.ts');
    write(
      drawTerminalTable(
        columns,
        rows.map((row) => columns.map((column) => cell(column, row))),
        // A terminal that does not know its width says 0.
        { width: stdout.columns || 80, colour },
      ),
    );
  };

  return {
    format,
    record(data, fields) {
      if (format === 'ndjson') return line(data);
      if (format === 'json') return document(data);
      // The titles of data of an unknown shape are the bank's own too.
      const rows = fields.map((field) => ({ title: cleanText(field.title), value: cell(field, data) }));
      const width = rows.reduce((widest, { title }) => Math.max(widest, title.length), 0);
      for (const { title, value } of rows) {
        if (!stdout.isTTY) write(`${title}\t${value}`);
        else if (value !== '') write(`${title.padEnd(width)}  ${value}`);
      }
    },
    async table(rows, columns, whenEmpty) {
      if (format === 'ndjson') rows.forEach(line);
      else if (format === 'json') document(rows);
      else if (rows.length === 0) say(whenEmpty);
      else await drawTable(rows, columns);
    },
    async pages(pages, columns, whenEmpty) {
      if (format === 'ndjson') {
        for await (const page of pages) page.forEach(line);
        return;
      }
      if (format === 'table' && !stdout.isTTY) {
        let empty = true;
        for await (const page of pages) {
          empty &&= page.length === 0;
          await drawTable(page, columns);
        }
        if (empty) say(whenEmpty);
        return;
      }
      const rows = [];
      for await (const page of pages) rows.push(...page);
      await this.table(rows, columns, whenEmpty);
    },
    text: (text) => write(cleanText(text)),
    lines: (lines) => write(lines.map(cleanLines).join('\n')),
    json: document,
  };
}

/** @throws Psd2Error `usage` */
export function parseOutputFormat(text: string): OutputFormat {
  const format = OUTPUT_FORMATS.find((known) => known === text);
  if (format) return format;
  throw new Psd2Error('usage', `The output format ${JSON.stringify(text)} is not known`, {
    hint: `Use one of ${OUTPUT_FORMATS.join(', ')}.`,
  });
}
