import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/psd2-tests', import.meta.url));

/** The messages that a Debian package has the schemas of. Its pain.001.001.03 is the stricter one of SEPA. */
const PAYMENTS = ['pain.001.001.03', 'pain.001.001.09', 'pain.002.001.10'] as const;
const STATEMENT = 'camt.053.001.08';
const PACKAGE = 'libhbci4j-core-java';
/** It has this one, which is almost that of {@link STATEMENT}. */
const SIBLING = 'camt.052.001.08.xsd';

/** The file with the schema of a message of ISO 20022. */
export function schemaOf(message: (typeof PAYMENTS)[number] | typeof STATEMENT): string {
  return join(FOLDER, `${message}.xsd`);
}

/**
 * Makes the schemas. That of camt.053.001.08 comes from that of camt.052.001.08: both belong to the same version of ISO 20022
 * and have the same types. They differ in the names of the elements around the entries, and a statement must have balances.
 */
export function makeSchemasIfMissing(): void {
  if ([...PAYMENTS, STATEMENT].every((message) => existsSync(join(FOLDER, `${message}.xsd`)))) return;
  const folder = mkdtempSync(join(tmpdir(), 'psd2-schemas-'));
  try {
    download(folder);
    const [archive = ''] = readdirSync(folder);
    execFileSync('dpkg-deb', ['-x', archive, 'package'], { cwd: folder });
    const java = join(folder, 'package/usr/share/java');
    const [jar = ''] = readdirSync(java).filter((name) => name.endsWith('.jar'));
    const files = PAYMENTS.map((message) => `${message}.xsd`);
    execFileSync('unzip', ['-q', join(java, jar), SIBLING, ...files], { cwd: folder });
    mkdirSync(FOLDER, { recursive: true });
    for (const file of files) copyFileSync(join(folder, file), join(FOLDER, file));
    writeFileSync(schemaOf(STATEMENT), toStatementSchema(readFileSync(join(folder, SIBLING), 'utf8')));
  } catch (cause) {
    throw new Error(`Could not get the schemas of ISO 20022 from the Debian package ${PACKAGE}`, { cause });
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
