import type { PrintedRow, ReportRow, Rows } from '../../domain/batch/report-row.ts';
import { harmless } from '../../statements/csv.ts';
import { writeCsv } from '../../terminal/output/csv.ts';

const COLUMNS = [
  'line',
  'batch',
  'reference',
  'flow',
  'state',
  'from',
  'name',
  'iban',
  'amount',
  'currency',
  'description',
  'executionDate',
  'endToEndId',
  'payeeCheck',
  'payeeName',
  'reason',
  'paidAt',
  'reasonCode',
  'remittanceStructured',
  'refusedCall',
];

/**
 * The report as CSV for spreadsheets (RFC 4180). An apostrophe precedes what a spreadsheet would read as a formula.
 *
 * @returns pieces of text
 */
export async function* writeCsvReport(rows: Rows): AsyncGenerator<string> {
  yield `${writeCsv([], COLUMNS)}\r\n`;
  for await (const { payeeCheck, ids, isUncertain, bankReasons, creditorReference, ...row } of rows) {
    const [counts] = bankReasons;
    const cells = {
      ...row,
      reference: harmless(row.reference),
      from: harmless(row.from),
      name: harmless(row.name),
      remittanceStructured: harmless(row.remittanceStructured),
      description: harmless(row.description),
      endToEndId: harmless(row.endToEndId),
      payeeCheck: payeeCheck?.result ?? null,
      payeeName: harmless(payeeCheck?.name ?? null),
      reason: harmless(row.reason),
      refusedCall: harmless(row.refusedCall),
      reasonCode: harmless(counts?.code ?? counts?.proprietary ?? null),
    };
    yield `${writeCsv([cells], COLUMNS, false)}\r\n`;
  }
}

/** The report as a JSON array, a line for each row. @returns pieces of text */
export async function* writeJsonReport(rows: Rows): AsyncGenerator<string> {
  let before = '[\n';
  for await (const row of rows) {
    yield `${before}${JSON.stringify(printed(row))}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

function printed({ ids, isUncertain, creditorReference, ...row }: ReportRow): PrintedRow {
  return row;
}
