import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The schema of camt.053.001.08. */
export const CAMT_SCHEMA = fileURLToPath(
  new URL('../../node_modules/.cache/psd2-tests/camt.053.001.08.xsd', import.meta.url),
);

/** What has it beside it, as the Debian package holds it. */
const PACKAGE = 'libhbci4j-core-java';
const SIBLING = 'camt.052.001.08.xsd';

/**
 * Makes the schema of camt.053.001.08 of that of camt.052.001.08, which a Debian package brings. Both are of ISO 20022
 * and one version: they have the same types, and differ in the names of what holds the entries, and in that a statement
 * has to have balances.
 */
export function makeCamtSchemaIfMissing(): void {
  if (existsSync(CAMT_SCHEMA)) return;
  const folder = mkdtempSync(join(tmpdir(), 'psd2-camt-'));
  try {
    download(folder);
    const [archive = ''] = readdirSync(folder);
    execFileSync('dpkg-deb', ['-x', archive, 'package'], { cwd: folder });
    const java = join(folder, 'package/usr/share/java');
    const [jar = ''] = readdirSync(java).filter((name) => name.endsWith('.jar'));
    execFileSync('unzip', ['-q', join(java, jar), SIBLING], { cwd: folder });
    mkdirSync(dirname(CAMT_SCHEMA), { recursive: true });
    writeFileSync(CAMT_SCHEMA, toStatementSchema(readFileSync(join(folder, SIBLING), 'utf8')));
  } catch (cause) {
    throw new Error(`The schema of camt.053 could not be taken from the Debian package ${PACKAGE}`, {
      cause,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A machine that has installed nothing yet knows no package. */
function download(folder: string): void {
  const options: ExecFileSyncOptions = { cwd: folder, stdio: ['ignore', 'inherit', 'pipe'] };
  try {
    execFileSync('apt-get', ['download', PACKAGE], options);
  } catch {
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['download', PACKAGE], options);
  }
}

function toStatementSchema(reportSchema: string): string {
  const names: [string, string][] = [
    ['camt.052', 'camt.053'],
    ['BankToCustomerAccountReport', 'BankToCustomerStatement'],
    ['BkToCstmrAcctRpt', 'BkToCstmrStmt'],
    ['AccountReport25', 'AccountStatement9'],
    ['"RptPgntn"', '"StmtPgntn"'],
    ['"Rpt"', '"Stmt"'],
    ['AddtlRptInf', 'AddtlStmtInf'],
  ];
  const renamed = names.reduce((schema, [from, to]) => {
    if (!schema.includes(from)) throw new Error(`${SIBLING} does not hold ${from}`);
    return schema.replaceAll(from, to);
  }, reportSchema);
  const optional = /<xs:element ([^>]*)minOccurs="0"([^>]*name="Bal"[^>]*)>/;
  if (!optional.test(renamed)) throw new Error(`${SIBLING} does not have the balances that were expected`);
  return renamed.replace(optional, '<xs:element $1minOccurs="1"$2>');
}
