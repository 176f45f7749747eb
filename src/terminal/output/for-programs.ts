import { Psd2Error } from '../../errors.ts';
import { cleanJson, cleanLines } from '../clean.ts';
import { writeCsv } from './csv.ts';
import type { OutputOptions, Shaped } from './output.ts';
import { columnsOf } from './shape.ts';

/** Writes data as text in a format for programs. */
interface ForPrograms {
  /** If `--query` cannot be applied, returns an empty text. {@link finish} reports it, and the command continues. */
  write(data: unknown, shape?: Shaped): string;
  /** How to write the pages of a list as they arrive. Undefined if they form one document. */
  pageByPage(shape?: Shaped): { header: string; page: (rows: object[]) => string } | undefined;
  /** @throws Psd2Error `usage` if `--query` could not be applied */
  finish(): void;
}

/** Writes JSON, NDJSON or CSV, after `--query`. */
export function forPrograms(
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>,
  { format, query, bareStrings }: Pick<OutputOptions, 'format' | 'query' | 'bareStrings'>,
): ForPrograms {
  let failure: unknown;
  return {
    write(data, shape) {
      try {
        const result = query ? query(data) : data;
        if (bareStrings) return each(result).map(bare).join('\n');
        if (format === 'csv') return writeCsv(result, query ? undefined : columns(shape));
        if (format === 'ndjson') return each(result).map(line).join('\n');
        return cleanJson(JSON.stringify(result, null, isTTY ? 2 : 0));
      } catch (error) {
        if (!(error instanceof Psd2Error)) throw error;
        failure ??= error;
        return '';
      }
    },
    pageByPage(shape) {
      if (query) return undefined;
      if (format === 'ndjson') return { header: '', page: (rows) => rows.map(line).join('\n') };
      const names = format === 'csv' ? columns(shape) : undefined;
      return names && { header: writeCsv([], names), page: (rows) => writeCsv(rows, names, false) };
    },
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
