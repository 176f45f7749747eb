import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DECIMAL_FACTS } from '../../src/domain/transaction-facts.ts';
import { writeCamt053Statement } from '../../src/statements/camt053.ts';
import { harmless, writeCsvStatement } from '../../src/statements/csv.ts';
import { writeOfxStatement } from '../../src/statements/ofx.ts';
import { leftOutOf } from '../../src/statements/statement.ts';
import { amountOf, booking, bookings } from '../domain/bookings.ts';
import { balancesOf, EXAMPLE, statementOf, TOLD } from './statements.ts';

const ROWS = [
  booking('2026-02-03', '-1234.500', 'PAGAMENTO POS', "L'ARTE & CO <1> DEL 03.02.2026"),
  booking('2026-01-31', '20.00', '=HYPERLINK("x")', ''),
];

/** Splits cells like a spreadsheet with this separator: quotes count only at the start of a cell. */
function cellsOf(text: string, separator: string): string[] {
  const cell = new RegExp(`(?:"(?:[^"]|"")*(?:"|$))?[^${separator}\r\n]*`, 'g');
  return text.match(cell) ?? [];
}

describe('CSV', () => {
  const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;
  /** Characters that separate or quote cells or begin a formula, in any order. */
  const spreadsheetText = fc
    .array(fc.constantFrom(...',;\t"\r\n =+-@\uff1d\u00a0\'1a'), { maxLength: 12 })
    .map((characters) => characters.join(''));
  const columns =
    'id,productId,bookingDate,valueDate,amount,currency,description,details,code,transferReference,feeCharge,' +
    'transactionId,entryReference,endToEndId,counterpartyName,counterpartyIban,counterpartyAccount,remittance,remittanceStructured,' +
    'bankTransactionCode,ultimateDebtor,ultimateCreditor,mandateId,creditorId,purposeCode,originalCurrency,feeCurrency,' +
    'originalAmount,exchangeRate,feeAmount,customerReference,additionalInformation,returnReason,entryDetails';
  const NOT_TOLD = ','.repeat(23);

  it('a CSV statement has rows and columns, and no cell that a spreadsheet calculates', () => {
    const rows = parseCsv(writeCsvStatement(statementOf(ROWS)), { columns: true, record_delimiter: '\r\n' });
    expect(rows).toMatchObject([
      { amount: '20.00', description: `'=HYPERLINK("x")`, bookingDate: '2026-01-31' },
      { amount: '-1234.50', details: "L'ARTE & CO <1> DEL 03.02.2026", currency: 'EUR' },
    ]);
    expect(writeCsvStatement(statementOf([]))).toBe(`${columns}\r\n`);
    const wide = statementOf([booking('2026-01-31', '1.00', '\uff1dA1')], undefined, { currency: '=A1' });
    const [row] = parseCsv(writeCsvStatement(wide), { columns: true, record_delimiter: '\r\n' });
    expect(row).toMatchObject({ description: "'\uff1dA1", currency: "'=A1" });
  });

  it('a CSV statement has no formula, wherever a spreadsheet splits its lines', () => {
    fc.assert(
      fc.property(spreadsheetText, spreadsheetText, (description, details) => {
        const row = { ...booking('2026-01-31', '-1.50', description, details), code: description };
        const written = writeCsvStatement(
          statementOf([row], undefined, { productId: details, currency: 'EUR' }),
        );
        for (const delimiter of [',', ';', '\t']) {
          const split = written.split('\r\n').flatMap((line) => line.split(delimiter));
          for (const piece of [...split, ...cellsOf(written, delimiter)]) {
            // Some readers remove quotes, others skip spaces.
            if (piece !== '-1.50') expect(piece.replace(/^[\s"]+/, '')).not.toMatch(FORMULA);
          }
        }
      }),
    );
    const row = booking('2026-01-31', '-1.50', 'ok;=1+1', '50% - SALDO, +39 06');
    const [read] = parseCsv(writeCsvStatement(statementOf([row])), { columns: true });
    expect(read).toMatchObject({ amount: '-1.50', description: "ok;'=1+1", details: "50% - SALDO, '+39 06" });
  });

  it('a CSV statement keeps every row and column, whatever the bank wrote', () => {
    fc.assert(
      fc.property(bookings, (some) => {
        const statement = statementOf(some);
        const rows: Record<string, string>[] = parseCsv(writeCsvStatement(statement), {
          ...{ columns: true, record_delimiter: '\r\n' },
        });
        expect(rows.map(({ id }) => id)).toEqual(statement.history.bookings.map(({ id }) => id));
        const numbers = new Set<string>(['amount', ...DECIMAL_FACTS]);
        for (const [name, cell] of rows.flatMap((row) => Object.entries(row)))
          if (!numbers.has(name)) expect(cell).not.toMatch(/^[=+\-@]/);
      }),
    );
  });

  it('a row of a CSV statement has what the bank said of a booking, oldest first', () => {
    expect(writeCsvStatement(statementOf(EXAMPLE, undefined, { productId: '+1' }))).toBe(
      [
        columns,
        `a1,'+1,2026-01-31,2026-01-31,20.00,EUR,BONIFICO,STIPENDIO,,TRN-1,${NOT_TOLD}`,
        `b2,'+1,2026-02-02,2026-02-02,-1.00,EUR,COMMISSIONI," ",,,true${NOT_TOLD}`,
        `c3,'+1,2026-02-03,,-1234.50,EUR,PAGAMENTO POS,L'ARTE & CO <1> DEL 03.02.2026,43,,${NOT_TOLD}`,
        '',
      ].join('\r\n'),
    );
  });

  it('a row of a CSV statement has what the bank told beyond that', () => {
    const told = { ...TOLD, counterpartyName: '=1+1' };
    const [row] = parseCsv(writeCsvStatement(statementOf([told])), { columns: true });
    expect(row).toMatchObject({
      ...{ counterpartyName: "'=1+1", counterpartyIban: 'DE02 1001 0010 9307 1186 03', endToEndId: 'E2E-77' },
      ...{ mandateId: 'M-1', originalAmount: '100.00', originalCurrency: 'USD', feeAmount: '0.40' },
    });
  });

  it.each([
    ...['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20'].map((sign) => [
      `${sign}A1`,
      `'${sign}A1`,
    ]),
    ...[' ', '\t', ',', ';', '"', '\r', '\n', '; ', '\u00a0'].map((begin) => [`${begin}=A1`, `${begin}'=A1`]),
    ...['a=A1', '1-2', 'a @b', '', '5 + 5'].map((text) => [text, text]),
    ['=1,=2', "'=1,'=2"],
  ])('no spreadsheet calculates %j', (text, expected) => {
    expect(harmless(text)).toBe(expected);
    expect(harmless(null)).toBeNull();
  });
});

it('a row in another currency is in CSV and camt.053 with it, at its day, and OFX leaves it out', () => {
  const own = booking('2026-02-03', '-1.50', 'Own');
  const usd = { ...booking('2026-02-01', '-5.00', 'Dollars'), currency: 'USD' };
  const statement = statementOf([own], undefined, { foreign: [usd] });
  const rows = parseCsv(writeCsvStatement(statement), { columns: true });
  expect(rows).toMatchObject([
    { bookingDate: '2026-02-01', amount: '-5.00', currency: 'USD' },
    { bookingDate: '2026-02-03', amount: '-1.50', currency: 'EUR' },
  ]);
  const camt = writeCamt053Statement(statement, balancesOf(statement));
  expect(camt.match(/<Amt Ccy="USD">5\.00<\/Amt>/g)).toHaveLength(2);
  expect(camt).toContain('<TtlDbtNtries><NbOfNtries>1</NbOfNtries><Sum>1.50</Sum></TtlDbtNtries>');
  expect(writeOfxStatement(statement, '1.00')).not.toContain('Dollars');
  expect(leftOutOf(statement, 'OFX')).toBe('1 transaction in USD left out: OFX has EUR alone.');
  expect(leftOutOf(statementOf([own]), 'OFX')).toBeNull();
  const foreign = [usd, usd, { ...usd, currency: 'CHF' }];
  expect(leftOutOf(statementOf([own], undefined, { foreign }), 'OFX')).toBe(
    '3 transactions in USD, CHF left out: OFX has EUR alone.',
  );
});

it('the payments of a batch are JSON in one cell, without formulas', () => {
  const entryDetails = [{ amount: amountOf('-1.50'), currency: 'EUR', counterpartyName: '=1+1' }];
  const [row] = parseCsv(
    writeCsvStatement(statementOf([{ ...booking('2026-02-03', '-1.50'), entryDetails }])),
    {
      columns: true,
    },
  );
  expect(row).toMatchObject({
    entryDetails: JSON.stringify([{ ...entryDetails[0], counterpartyName: "'=1+1" }]),
  });
});
