import { CsvError, parse } from 'csv-parse';
import { didYouMean } from '../did-you-mean.ts';
import type { BatchLine } from '../domain/batch/line.ts';
import { readDebit, readLineOfBatch } from '../domain/batch/read-line.ts';
import { SCOR } from '../domain/order/creditor-reference.ts';
import { Psd2Error } from '../errors.ts';
import { joined } from './decode.ts';
import type { Finding, ReadRules } from './finding.ts';

const REQUIRED = ['name', 'iban', 'amount'] as const;
const COLUMNS = [
  ...REQUIRED,
  'currency',
  'description',
  'reference',
  'date',
  'from',
  'customer',
  'payee-verified',
  'creditor-reference',
] as const;
type Column = (typeof COLUMNS)[number];

/** Far more than a line with all columns at their longest. */
const MAX_LINE_LENGTH = 65_536;

/** A line of a CSV file: its number, from 1, that of its last line break, and its cells. */
interface Row {
  number: number;
  last: number;
  cells: string[];
}

/**
 * Reads CSV (RFC 4180) with a heading: `,` or `;`, any order of the columns, any line ends. A first line `sep=` of Excel may name the
 * separator.
 *
 * @throws Psd2Error `usage` if the heading is not one of payments
 */
export async function* readCsv(texts: AsyncGenerator<string>, rules: ReadRules): AsyncGenerator<Finding> {
  const heading = await readHeading(texts);
  const stopped = (number: number, message: string): Finding => ({
    type: 'problem',
    problem: { severity: 'error', line: null, place: `line ${number}`, fileLine: number, message },
  });
  yield { type: 'source', source: { format: 'csv', messageId: null, count: null, sum: null } };

  let columns: Column[] | null = null;
  let payments = 0;
  let lastLine = 0;
  try {
    for await (const row of rowsAfterHeading(heading, texts)) {
      lastLine = row.last;
      if (row.cells.every((cell) => cell === '') || (heading.isNamed && row.number === 1)) continue;
      if (columns === null) columns = columnsIn(row.cells);
      else {
        payments += 1;
        yield* readRow(row, columns, payments, rules);
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // What follows a wrong quote could be anything.
    yield stopped(lineOfError(error, lastLine), `${whyUnreadable(error)}. psd2 has read nothing after it`);
  }
  if (columns === null) throw new Psd2Error('usage', 'The file has no heading', { hint: HEADING_HINT });
}

const HEADING_HINT = `The first line names the columns, for example name,iban,amount. The columns are ${COLUMNS.join(', ')}.`;

/** A first line that is no heading may be one long word. */
const LONGEST_SHOWN = 60;

function inShort(name: string): string {
  return name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name;
}

interface Heading {
  begin: string;
  separator: string;
  /** The first line is `sep=`, and the heading follows. */
  isNamed: boolean;
}

/** The beginning of the file, with its whole first line, and the separator that this line has. */
async function readHeading(texts: AsyncGenerator<string>): Promise<Heading> {
  let begin = '';
  while (!/[\r\n]/.test(begin.trimStart()) && begin.length < MAX_LINE_LENGTH) {
    const { value, done } = await texts.next();
    if (done) break;
    begin += value;
  }
  const [line = ''] = begin.trimStart().split(/[\r\n]/, 1);
  const named = /^"?sep=([,;|\t])"?\s*$/i.exec(line)?.[1];
  return { begin, separator: named ?? (line.includes(';') ? ';' : ','), isNamed: named !== undefined };
}

/** The rows before an error come before it. @throws CsvError */
async function* rowsAfterHeading(
  { begin, separator }: Heading,
  rest: AsyncGenerator<string>,
): AsyncGenerator<Row> {
  let rows: Row[] = [];
  let lastLine = 0;
  const parser = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: MAX_LINE_LENGTH,
    trim: true,
    // The parser keeps no rows: an error would drop them.
    on_record: (cells: string[], { lines }) => {
      rows.push({ number: lastLine + 1, last: lines, cells });
      lastLine = lines;
      return null;
    },
  });
  parser.on('error', () => {});
  const feed = (text: string | null) =>
    new Promise<unknown>((done) => {
      if (text === null) parser.end(done);
      else parser.write(text, done);
    });
  const takeRows = () => {
    const before = rows;
    rows = [];
    return before;
  };
  for (const texts = joined(begin, rest); ; ) {
    const { value, done } = await texts.next();
    const error = await feed(done ? null : value);
    yield* takeRows();
    if (error) throw error;
    if (done) return;
  }
}

/** @throws Psd2Error `usage` if a column is unknown, missing, or comes twice */
function columnsIn(cells: string[]): Column[] {
  const refuse = (message: string) => {
    throw new Psd2Error('usage', message, { hint: HEADING_HINT });
  };
  // Excel writes empty columns at the end.
  const names = cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1).map((cell) => cell.trim());
  const columns = names.map((name, index) => {
    const heading = COLUMNS.find((column) => column === name.toLowerCase());
    if (heading === undefined)
      throw new Psd2Error('usage', `The heading has the unknown column ${JSON.stringify(inShort(name))}`, {
        hint: `${didYouMean(name.toLowerCase(), COLUMNS)}${HEADING_HINT}`,
      });
    if (names.findIndex((other) => other.toLowerCase() === heading) !== index)
      refuse(`The heading has the column ${heading} twice`);
    return heading;
  });
  const missing = REQUIRED.filter((name) => !columns.includes(name));
  if (missing.length > 0)
    refuse(`The heading lacks the ${missing.length === 1 ? 'column' : 'columns'} ${missing.join(', ')}`);
  return columns;
}

/** The payment of a row, and its problems. */
function* readRow(
  { number: fileLine, cells }: Row,
  columns: readonly Column[],
  line: number,
  rules: ReadRules,
): Generator<Finding> {
  const place = `line ${fileLine}`;
  const findings: Finding[] = [];
  const report = (_field: string | null, message: string) =>
    void findings.push({ type: 'problem', problem: { severity: 'error', line, place, fileLine, message } });
  const replaced = (_field: string, message: string) =>
    void findings.push({ type: 'problem', problem: { severity: 'warning', line, place, fileLine, message } });
  const cellOf = (column: Column) => cells[columns.indexOf(column)] ?? '';
  const orNull = (column: Column) => (columns.includes(column) ? cellOf(column) || null : null);

  const isWide = cells.slice(columns.length).some((cell) => cell !== '');
  if (cells.length < columns.length || isWide) {
    report(
      null,
      `The line has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, but the heading has ${columns.length}`,
    );
    yield* findings;
    return;
  }
  const ofPayee = orNull('creditor-reference');
  const payment = readLineOfBatch(
    {
      name: cellOf('name'),
      iban: cellOf('iban'),
      amount: cellOf('amount'),
      currency: orNull('currency') ?? 'EUR',
      description: cellOf('description'),
      creditorReference: ofPayee === null ? null : { reference: ofPayee, type: SCOR, issuer: null },
      reference: orNull('reference'),
    },
    report,
    rules.transliterate ? replaced : undefined,
  );
  const debit = readDebit(
    { customer: orNull('customer'), from: orNull('from'), date: orNull('date') },
    rules,
    report,
  );
  const isVerified = readYesOrNo(cellOf('payee-verified'));
  if (isVerified === null)
    report(null, `The payee-verified ${JSON.stringify(cellOf('payee-verified'))} is neither yes nor no`);
  yield* findings;
  if (!payment || !debit || isVerified === null) return;
  const { instant } = rules;
  const payeeVerified = isVerified || rules.payeeVerified;
  const rest = { instant, urgent: false, payeeVerified, address: null, ids: NO_IDS };
  yield { type: 'line', fileLine, line: { line, place, ...debit, ...payment, ...rest } };
}

const NO_IDS: BatchLine['ids'] = { paymentInformationId: null, instructionId: null, endToEndId: null };

/** Null if the text says neither. Excel writes TRUE. */
function readYesOrNo(text: string): boolean | null {
  if (/^(yes|true)$/i.test(text)) return true;
  return /^(no|false)?$/i.test(text) ? false : null;
}

/** The line of the file that an error is about. The parser notices a quote that is not closed only at the end of the file. */
function lineOfError({ code, lines }: CsvError, lastRow: number): number {
  return code === 'CSV_QUOTE_NOT_CLOSED' ? lastRow + 1 : Number(lines);
}

function whyUnreadable({ code }: CsvError): string {
  switch (code) {
    case 'CSV_MAX_RECORD_SIZE':
      return `The line is longer than ${MAX_LINE_LENGTH} characters, or a quote is not closed`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'A quote is not closed';
    default:
      return 'A quote is in the middle of a cell. Write a quote in a cell twice, and the cell in quotes';
  }
}
