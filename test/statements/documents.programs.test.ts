import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountHistory } from '../../src/domain/account-history.ts';
import { writeCamt053Statement } from '../../src/statements/camt053.ts';
import { writeOfxStatement } from '../../src/statements/ofx.ts';
import { writeReport } from '../../src/statements/report.ts';
import type { Statement } from '../../src/statements/statement.ts';
import { booking, bookings, decimalOf, range } from '../domain/bookings.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { schemaOf } from '../support/iso-schemas.ts';
import { balancesOf, statementOf } from './statements.ts';

const folder = temporaryFolder();
/** Each run starts a process. 20 runs are enough to try every text. Shrinking a failure would take minutes. */
const SOME = { numRuns: 20, endOnFailure: true };

const ROWS = [
  booking('2026-02-03', '-1234.500', 'PAGAMENTO POS', "L'ARTE & CO <1> DEL 03.02.2026"),
  booking('2026-01-31', '20.00', '=HYPERLINK("x")', ''),
];

/** Runs `xmllint` on a document and returns its output. Throws if the document is not valid. */
function lint(document: string, ...options: string[]): string {
  const file = join(folder, 'document.xml');
  writeFileSync(file, document);
  const { status, stdout, stderr } = spawnSync('xmllint', ['--nonet', ...options, file], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

const camt = (statement: Statement) => writeCamt053Statement(statement, balancesOf(statement));
const ofx = (statement: Statement) => writeOfxStatement(statement, balancesOf(statement).closing);

/** The document type of OFX 2.0.1, which comes with libofx. */
function ofxDtd(): string {
  const [found = ''] = readdirSync('/usr/share').filter((name) => name.startsWith('libofx'));
  return join('/usr/share', found, 'libofx/dtd/ofx201.dtd');
}

describe('camt.053', () => {
  const validate = (statement: Statement) =>
    lint(camt(statement), '--noout', '--schema', schemaOf('camt.053.001.08'));

  it('a camt.053 statement is valid against its schema, whatever the bank wrote', () => {
    fc.assert(
      fc.property(bookings, (rows) => {
        validate(statementOf(rows));
      }),
      SOME,
    );
    validate(statementOf([]));
    validate(statementOf(ROWS, ['2026-01-01', '2026-03-31'], { iban: null, name: null }));
    validate(statementOf(ROWS, ['2026-01-01', '2026-03-31'], { productCode: 'CA30' }));
    validate(statementOf(ROWS, ['2026-01-01', '2026-03-31'], { creditLimitIncluded: true }));
    for (const iban of ['it89 F099 9001 6000 0001 0482 620', 'none', ' ', '<IBAN>'])
      validate(statementOf(ROWS, undefined, { iban }));
  });

  it('the schema of camt.053 finds errors', () => {
    const wrong = camt(statementOf(ROWS)).replace('<CdtDbtInd>DBIT', '<CdtDbtInd>DEBIT');
    expect(() => lint(wrong, '--noout', '--schema', schemaOf('camt.053.001.08'))).toThrow(/CdtDbtInd/);
  });
});

describe('OFX', () => {
  it('an OFX statement is valid against the document type of OFX 2, whatever the bank wrote', () => {
    const validate = (statement: Statement) => lint(ofx(statement), '--noout', '--dtdvalid', ofxDtd());
    fc.assert(
      fc.property(bookings, (rows) => {
        validate(statementOf(rows));
      }),
      SOME,
    );
    validate(statementOf([], undefined, { iban: null }));
    expect(() =>
      lint(ofx(statementOf(ROWS)).replaceAll('TRNAMT', 'AMOUNT'), '--noout', '--dtdvalid', ofxDtd()),
    ).toThrow();
  });

  it('libofx reads an OFX statement', () => {
    const file = join(folder, 'statement.ofx');
    const statement = statementOf(ROWS);
    writeFileSync(file, ofx(statement));
    const read = execFileSync('ofxdump', [file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    for (const { id } of statement.history.bookings) expect(read).toContain(id);
    expect(read).toMatch(/Total money amount: -1234\.5/i);
    expect(read).toContain('description: PAGAMENTO POS');
    expect(read).toContain('description: =HYPERLINK("x")');
    expect(read).toContain("(memo): L'ARTE & CO <1> DEL 03.02.2026");
    expect(read).toMatch(/Ledger balance: 1000/i);
    expect(read).not.toMatch(/ERROR/);
  });
});

describe('the report', () => {
  it('the report is well-formed, and runs and loads nothing, whatever the bank wrote', () => {
    fc.assert(
      fc.property(bookings, (rows) => {
        const page = writeReport(statementOf(rows));
        expect(page).not.toMatch(/<script|javascript:|https?:|[ \n]on\w+=/i);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these
        expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
      }),
    );
    const page = writeReport(
      statementOf([booking('2026-01-02', '-1.00', '', '<img src=x onerror=alert(1)>')]),
    );
    expect(page).toContain('&lt;IMG SRC=X ONERROR=ALERT(1)&gt;');
  });

  it('the report is complete without bookings, without a balance, and at zero', () => {
    const empty = statementOf([]);
    const zero = accountHistory([], decimalOf(0), range('2026-01-01', '2026-01-01'));
    const unknown = accountHistory(ROWS, null, range('2026-01-01', '2026-03-31'));
    for (const history of [empty.history, zero, unknown]) {
      const page = writeReport({ ...empty, history, iban: null, name: null, currency: 'XXX' });
      expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
      expect(page).toContain('amounts in XXX');
    }
    expect(writeReport({ ...empty, history: unknown })).toContain(
      'The bank gives no balance for this account.',
    );
  });
});
