import type { ReadRules } from '../../src/batch-file/finding.ts';
import { readBatchFile } from '../../src/batch-file/read.ts';
import { contentHash } from '../../src/domain/batch/content.ts';
import type { BatchLine, BatchSource } from '../../src/domain/batch/line.ts';
import type { BatchProblem } from '../../src/domain/batch/read-line.ts';
import { parseDate } from '../../src/domain/calendar.ts';
import { parseCustomerId, parseProductId } from '../../src/domain/identifiers.ts';
import { Psd2Error } from '../../src/errors.ts';

export const TODAY = parseDate('--date', '2026-11-23');
export const IBAN = 'DE89370400440532013000';

/** What was found in a file. */
export interface Read {
  source: BatchSource | null;
  lines: BatchLine[];
  problems: BatchProblem[];
  /** The places and messages of the problems. */
  said: string[];
  sha256: string;
}

/** Reads a file, as today's bank. @param file its text or bytes, in one piece or several. @param onLine hears of each line */
export async function readFile(
  file: string | Uint8Array | Iterable<Uint8Array>,
  rules: Partial<ReadRules> = {},
  onLine: () => void = () => {},
): Promise<Read> {
  const read: Read = { source: null, lines: [], problems: [], said: [], sha256: '' };
  const hash = contentHash();
  const findings = readBatchFile(piecesOf(file), {
    ...{ today: TODAY, readAccountId: parseProductId, readCustomerId: parseCustomerId },
    ...{ instant: false, payeeVerified: false, transliterate: false },
    ...rules,
  });
  for await (const finding of findings) {
    if (finding.type === 'source') read.source = finding.source;
    else if (finding.type === 'problem') {
      const { severity, place, message } = finding.problem;
      read.problems.push(finding.problem);
      read.said.push(`${severity} ${place}: ${message}`);
    } else {
      onLine();
      read.lines.push(finding.line);
      hash.add(finding.line);
    }
  }
  read.sha256 = hash.digest();
  return read;
}

/** Returns what psd2 says of a file that it does not read. */
export async function refusalOf(file: string | Uint8Array | Iterable<Uint8Array>) {
  const error = await readFile(file).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Psd2Error)) throw new TypeError(`The reading ended with ${error}`);
  const { code, message, hint } = error;
  return { code, message, hint };
}

async function* piecesOf(file: string | Uint8Array | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (typeof file === 'string') yield Buffer.from(file);
  else if (file instanceof Uint8Array) yield file;
  else yield* file;
}

/** Returns the payment of pain.001 with these parts after its ids, amount and payee. */
export function transaction(
  parts: { id?: string; amount?: string; payee?: string; rest?: string } = {},
): string {
  const {
    id = '<EndToEndId>E-1</EndToEndId>',
    amount = '<InstdAmt Ccy="EUR">12.50</InstdAmt>',
    payee = `<Cdtr><Nm>Ada Lovelace</Nm></Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`,
    rest = '',
  } = parts;
  return `<CdtTrfTxInf><PmtId>${id}</PmtId><Amt>${amount}</Amt>${payee}${rest}</CdtTrfTxInf>`;
}

/** Returns the payment of pain.001 with this end-to-end id and amount. */
export function paid(id: string, amount: string): string {
  return transaction({
    id: `<EndToEndId>${id}</EndToEndId>`,
    amount: `<InstdAmt Ccy="EUR">${amount}</InstdAmt>`,
  });
}

/** Returns a PmtInf. @param changes replaces elements by their names */
export function information(transactions: string[], changes: Record<string, string> = {}): string {
  const elements: Record<string, string> = {
    PmtInfId: '<PmtInfId>P-1</PmtInfId>',
    PmtMtd: '<PmtMtd>TRF</PmtMtd>',
    ReqdExctnDt: '<ReqdExctnDt><Dt>2026-12-01</Dt></ReqdExctnDt>',
    Dbtr: '<Dbtr><Nm>Acme</Nm></Dbtr>',
    DbtrAcct: '<DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct>',
    ...changes,
  };
  return `<PmtInf>${Object.values(elements).join('')}${transactions.join('')}</PmtInf>`;
}

/** Returns a pain.001. @param header of the group, instead of the one that fits */
export function document(informations: string[], header?: string, version = '09'): string {
  const count = informations.join('').split('<CdtTrfTxInf>').length - 1;
  const fitting = `<MsgId>M-1</MsgId><CreDtTm>2026-11-20T10:00:00</CreDtTm><NbOfTxs>${count}</NbOfTxs><InitgPty/>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.${version}"><CstmrCdtTrfInitn>
<GrpHdr>${header ?? fitting}</GrpHdr>
${informations.join('\n')}</CstmrCdtTrfInitn></Document>`;
}
