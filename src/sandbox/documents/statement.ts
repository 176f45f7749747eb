import type { Customer, Product } from '../customers/seed-customers.ts';
import { writeBankDate } from '../ledger/bank-time.ts';
import { decimal } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import type { DayRange } from '../ledger/ledger.ts';
import { textPdf } from './pdf.ts';

/** The content of a transactions export: a whole date range, not only a page. */
export interface Statement {
  customer: Customer;
  product: Product;
  range: DayRange;
  booked: readonly Entry[];
  pending: readonly Entry[];
}

/** The transactions as a PDF, one line for each. */
export function statementPdf(statement: Statement): Buffer {
  const { customer, product, range, booked, pending } = statement;
  const line = (entry: Entry, day: string): string =>
    [
      day.padEnd(12),
      decimal(entry.amount).padStart(13),
      '  ',
      (entry.shortDescription || entry.extendedDescription).slice(0, 66),
    ].join('');
  return textPdf(`Transactions ${product.productId}`, [
    'SANDBOX BANK',
    `${customer.firstName} ${customer.lastName}, ${product.description} ${product.productId}, ${product.iban}`,
    rangeText(range),
    '',
    `Booked: ${booked.length}`,
    ...booked.map((entry) => line(entry, writeBankDate(entry.bookingDay))),
    '',
    `Pending: ${pending.length}`,
    ...pending.map((entry) => line(entry, '')),
  ]);
}

/** The transactions as a sheet, one row for each, with amounts as numbers. */
export function statementXls({ product, booked, pending }: Statement): Buffer {
  const row =
    (status: string) =>
    (entry: Entry): Cell[] => [
      status,
      status === 'booked' ? writeBankDate(entry.bookingDay) : '',
      writeBankDate(entry.valueDay),
      { decimal: decimal(entry.amount) },
      'EUR',
      entry.shortDescription,
      entry.extendedDescription,
      entry.transferReference,
    ];
  return workbook(`Transactions ${product.productId}`, [
    ['Status', 'Booked on', 'Value date', 'Amount', 'Currency', 'Description', 'Details', 'Reference'],
    ...booked.map(row('booked')),
    ...pending.map(row('pending')),
  ]);
}

function rangeText({ from, to }: DayRange): string {
  if (from === undefined && to === undefined) return 'All transactions';
  return `From ${from ? writeBankDate(from) : 'the beginning'} to ${to ? writeBankDate(to) : 'today'}`;
}

/** A cell: text, or an exact decimal that becomes a number. */
type Cell = string | { decimal: string };

/**
 * Makes a workbook with one sheet in SpreadsheetML 2003, an XML format that Excel and LibreOffice open as `.xls`.
 */
export function workbook(sheet: string, rows: readonly (readonly Cell[])[]): Buffer {
  const body = rows.map((row) => `   <Row>${row.map(tableCell).join('')}</Row>\n`).join('');
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
 <Worksheet ss:Name="${escapedHtml(sheet)}">
  <Table>
${body}  </Table>
 </Worksheet>
</Workbook>
`,
  );
}

function tableCell(content: Cell): string {
  return typeof content === 'string'
    ? `<Cell><Data ss:Type="String">${escapedHtml(content)}</Data></Cell>`
    : `<Cell><Data ss:Type="Number">${content.decimal}</Data></Cell>`;
}

function escapedHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
