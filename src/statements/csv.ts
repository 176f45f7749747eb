import { normalDecimal } from '../domain/decimal.ts';
import { writeCsv } from '../terminal/csv.ts';
import type { Statement } from './statement.ts';

const COLUMNS = [
  ...['id', 'productId', 'bookingDate', 'valueDate', 'amount', 'currency', 'description', 'details', 'code'],
  ...['transferReference', 'feeCharge'],
];

/**
 * The bookings as CSV for spreadsheets (RFC 4180, with its line ends), oldest first. A text that a spreadsheet would take
 * for a formula gets an apostrophe in front.
 */
export function writeCsvStatement(statement: Statement): string {
  const rows = statement.history.bookings.map(({ id, day, valueDate, amount, feeCharge, ...booking }) => ({
    id,
    productId: statement.productId,
    bookingDate: day,
    valueDate,
    amount: normalDecimal(amount),
    currency: harmless(statement.currency),
    description: harmless(booking.description),
    details: harmless(booking.details),
    code: harmless(booking.code),
    transferReference: harmless(booking.transferReference),
    feeCharge,
  }));
  return `${writeCsv(rows, COLUMNS).replaceAll('\n', '\r\n')}\r\n`;
}

/** https://owasp.org/www-community/attacks/CSV_Injection; some spreadsheets take the wide signs of Asian scripts too. */
function harmless(text: string | null): string | null {
  return text !== null && /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
}
