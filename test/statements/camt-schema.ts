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

/** The Debian package with the schema of camt.052, which is almost the same. */
const PACKAGE = 'libhbci4j-core-java';
const SIBLING = 'camt.052.001.08.xsd';

/**
 * Makes the schema of camt.053.001.08 from that of camt.052.001.08, which a Debian package contains. Both belong to
 * the same version of ISO 20022 and have the same types. They differ in the names of the elements around the entries,
 * and a statement must have balances.
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
    throw new Error(`Could not make the schema of camt.053 from the Debian package ${PACKAGE}`, {
      cause,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A new machine must first update its list of packages. */
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
  if (!optional.test(renamed)) throw new Error(`${SIBLING} does not have the expected balances`);
  return renamed.replace(optional, '<xs:element $1minOccurs="1"$2>');
}
