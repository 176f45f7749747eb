import { Psd2Error } from '../../errors.ts';
import { cleanText } from '../clean.ts';

/** One row of CSV: its cells by the path of their field, for example `totalAmount.currency`. */
type Cells = Map<string, string>;

/**
 * Writes data as CSV (RFC 4180, but lines end with a line feed, as pipelines expect). The columns are the fields of the
 * JSON. A field of a nested object has its path as name. Null is empty, and a nested list is JSON. Cells contain the
 * exact data, except that control characters are replaced.
 *
 * @param data an object or a list of objects
 * @param columns the columns, in this order. Without it, the fields of the rows
 * @param header whether the first line has the names of the columns
 * @returns lines without a break after the last one
 * @throws Psd2Error `usage` if `data` has no rows and columns
 */
export function writeCsv(data: unknown, columns?: readonly string[], header = true): string {
  const rows = (Array.isArray(data) ? data : [data]).map(flatten);
  const names = columns ?? [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = rows.map((row) => names.map((name) => row.get(name) ?? ''));
  return [...(header && names.length > 0 ? [[...names]] : []), ...lines]
    .map((line) => line.map(quoted).join(','))
    .join('\n');
}

/** A cell, in quotes if it needs them (RFC 4180, section 2). */
function quoted(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function flatten(row: unknown): Cells {
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new Psd2Error('usage', 'The result is not a list of objects, so it has no columns for CSV', {
      hint: 'Use -o json, or a --query that gives objects, for example [].{id: productId, currency: currency}.',
    });
  return new Map(cells(row, ''));
}

function* cells(object: object, path: string): Generator<[string, string]> {
  for (const [key, value] of Object.entries(object)) {
    const name = `${path}${key}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) yield* cells(value, `${name}.`);
    else yield [name, cell(value)];
  }
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return cleanText(typeof value === 'string' ? value : JSON.stringify(value));
}
