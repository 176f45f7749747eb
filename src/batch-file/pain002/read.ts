import { SaxesParser } from 'saxes';

/** What a bank says of the payments of one file. */
export interface StatusReport {
  /** Of all payments together: `GrpSts`, else `PmtInfSts` if there is one group. Null: it does not say. */
  status: string | null;
  /** The statuses (`TxSts`) by end-to-end id (`OrgnlEndToEndId`). */
  entries: ReadonlyMap<string, string>;
}

/** More than any bank says of a bulk payment. */
const LONGEST = 50_000_000;

/**
 * Reads what a bank says of payments in a pain.002 of any version (ISO 20022, CustomerPaymentStatusReport). The parser knows no
 * entities besides those of XML itself.
 *
 * @returns null: it is no pain.002
 */
export function readPain002(text: string): StatusReport | null {
  if (text.length > LONGEST) return null;
  const parser = new SaxesParser({ xmlns: true });
  const found = new Map<string, string>();
  let isReport = false;
  let isBroken = false;
  let entry: { id?: string; status?: string } | undefined;
  let words = '';
  let ofGroup: string | null = null;
  const ofInformation: string[] = [];
  parser.on('error', () => {
    isBroken = true;
  });
  parser.on('doctype', () => {
    isBroken = true;
  });
  parser.on('opentag', ({ local, uri }) => {
    words = '';
    if (local === 'Document') isReport = uri.startsWith('urn:iso:std:iso:20022:tech:xsd:pain.002.001.');
    if (local === 'TxInfAndSts') entry = {};
  });
  parser.on('text', (piece) => {
    words += piece;
  });
  parser.on('closetag', ({ local }) => {
    if (local === 'GrpSts') ofGroup ??= words.trim();
    if (local === 'PmtInfSts') ofInformation.push(words.trim());
    if (entry && local === 'OrgnlEndToEndId') entry.id = words.trim();
    if (entry && local === 'TxSts') entry.status = words.trim();
    if (local !== 'TxInfAndSts') return;
    if (entry?.id !== undefined && entry.status !== undefined) found.set(entry.id, entry.status);
    entry = undefined;
  });
  parser.write(text).close();
  if (!isReport || isBroken) return null;
  const status = ofGroup ?? onlyOf(ofInformation);
  return { status: status === '' ? null : status, entries: found };
}

function onlyOf(statuses: readonly string[]): string | null {
  const [only, ...others] = statuses;
  return only !== undefined && others.length === 0 ? only : null;
}
