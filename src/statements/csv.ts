import { isDecimal, normalDecimal } from '../domain/decimal.ts';
import {
  DECIMAL_FACTS,
  FACT_NAMES,
  PAYMENTS_FACTS,
  type PaymentOfEntry,
  TEXT_FACTS,
} from '../domain/transaction-facts.ts';
import { writeCsv } from '../terminal/output/csv.ts';
import { allBookings, type Statement } from './statement.ts';

const COLUMNS = [
  'id',
  'productId',
  'bookingDate',
  'valueDate',
  'amount',
  'currency',
  'description',
  'details',
  'code',
  'transferReference',
  'feeCharge',
  ...FACT_NAMES,
];

/**
 * The bookings as CSV for spreadsheets (RFC 4180, with its line ends), oldest first. If a spreadsheet would read a text, or
 * a part of it after a separator, as a formula, an apostrophe precedes the formula.
 */
export function writeCsvStatement(statement: Statement): string {
  const rows = allBookings(statement).map(
    ({ id, day, isValueDay, valueDate, amount, feeCharge, ...booking }) => ({
      id,
      productId: harmless(statement.productId),
      bookingDate: isValueDay ? null : day,
      valueDate,
      amount: normalDecimal(amount),
      currency: harmless(booking.currency ?? statement.currency),
      description: harmless(booking.description),
      details: harmless(booking.details),
      code: harmless(booking.code),
      transferReference: harmless(booking.transferReference),
      feeCharge,
      ...Object.fromEntries(TEXT_FACTS.map((fact) => [fact, harmless(booking[fact] ?? null)])),
      ...Object.fromEntries(DECIMAL_FACTS.map((fact) => [fact, booking[fact] ?? null])),
      ...Object.fromEntries(
        PAYMENTS_FACTS.map((fact) => [fact, booking[fact]?.map(harmlessPayment) ?? null]),
      ),
    }),
  );
  return `${writeCsv(rows, COLUMNS).replaceAll('\n', '\r\n')}\r\n`;
}

/** Its texts stand in the JSON of one cell. */
function harmlessPayment(payment: PaymentOfEntry): PaymentOfEntry {
  return Object.fromEntries(
    Object.entries(payment).map(([name, value]) => [name, isDecimal(value) ? value : harmless(value)]),
  );
}

/**
 * The beginning of a cell: its start, or the position after a separator of a spreadsheet that uses `;` or tab. Quotes do not
 * prevent that split. Some spreadsheets skip leading spaces.
 */
const BEGIN_OF_CELL = String.raw`(?:^|[,;"\t\r\n])\s*`;
/** https://owasp.org/www-community/attacks/CSV_Injection. Some spreadsheets also accept full-width signs. */
const FORMULA = new RegExp(String.raw`(?<=${BEGIN_OF_CELL})[=+\-@\uff1d\uff0b\uff0d\uff20]`, 'g');

/** A text whose parts no spreadsheet reads as a formula: an apostrophe precedes what could be one. */
export function harmless(text: string): string;
export function harmless(text: string | null): string | null;
export function harmless(text: string | null): string | null {
  return text?.replace(FORMULA, "'$&") ?? null;
}
