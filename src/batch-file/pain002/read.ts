import { SaxesParser } from 'saxes';

/** What a bank says of one payment of a file. */
export interface ReportedEntry {
  /** Its `TxSts`. Null: the report says two different ones. */
  status: string | null;
  /** Why, as `StsRsnInf` of the payment says, else that of its group, else that of the file. Null: it does not say. */
  reason: Reason | null;
}

/** Why a bank has not paid. */
export interface Reason {
  /** The code of ISO 20022 (`Rsn/Cd`), or the bank's own (`Rsn/Prtry`). Null: there are words alone. */
  code: string | null;
  /** The bank's words (`AddtlInf`), and the reasons of the levels above. Empty: there are none. */
  words: string;
}

/** What a bank says of the payments of one file. */
export interface StatusReport {
  /** The files and groups that it names: `OrgnlMsgId` and `OrgnlPmtInfId`. */
  about: readonly string[];
  /** Of all payments together: `GrpSts`, else `PmtInfSts` if there is one group. Null: it does not say. */
  status: string | null;
  /** Why it refused all of them. Null: it does not say. */
  reason: Reason | null;
  /** By end-to-end id (`OrgnlEndToEndId`). */
  entries: ReadonlyMap<string, ReportedEntry>;
}

/** More than any bank says of a bulk payment. */
const LONGEST = 50_000_000;

/** The elements that have a reason of their own, the lowest first. */
const LEVELS = ['TxInfAndSts', 'OrgnlPmtInfAndSts', 'OrgnlGrpInfAndSts'] as const;
type Level = (typeof LEVELS)[number];

/**
 * Reads what a bank says of payments in a pain.002 of any version (ISO 20022, CustomerPaymentStatusReport). The parser knows no
 * entities besides those of XML itself.
 *
 * @returns null: it is no pain.002
 */
export function readPain002(text: string): StatusReport | null {
  if (text.length > LONGEST) return null;
  const parser = new SaxesParser({ xmlns: true });
  const found = new Map<string, ReportedEntry>();
  const about = new Set<string>();
  const reasons = new Map<Level, Reason[]>();
  let isReport = false;
  let isBroken = false;
  let entry: { id?: string; status?: string } | undefined;
  let words = '';
  let ofGroup: string | null = null;
  const ofInformation: string[] = [];
  const open: Level[] = [];
  let isInReason = false;
  parser.on('error', () => {
    isBroken = true;
  });
  parser.on('doctype', () => {
    isBroken = true;
  });
  parser.on('opentag', ({ local, uri }) => {
    words = '';
    if (local === 'Document') isReport = uri.startsWith('urn:iso:std:iso:20022:tech:xsd:pain.002.001.');
    const level = LEVELS.find((each) => each === local);
    if (level) {
      open.unshift(level);
      reasons.set(level, []);
    }
    if (local === 'TxInfAndSts') entry = {};
    if (local === 'Rsn') isInReason = true;
    const [at] = open;
    if (local === 'StsRsnInf' && at) reasons.get(at)?.push({ code: null, words: '' });
  });
  parser.on('text', (piece) => {
    words += piece;
  });
  parser.on('closetag', ({ local }) => {
    const said = words.trim();
    words = '';
    const [at] = open;
    const reason = at && reasons.get(at)?.at(-1);
    if (local === 'OrgnlMsgId' || local === 'OrgnlPmtInfId') about.add(said);
    if (local === 'GrpSts') ofGroup ??= said;
    if (local === 'PmtInfSts') ofInformation.push(said);
    if (entry && local === 'OrgnlEndToEndId') entry.id = said;
    if (entry && local === 'TxSts') entry.status = said;
    if (reason && isInReason && (local === 'Cd' || local === 'Prtry')) reason.code ??= said;
    if (local === 'Rsn') isInReason = false;
    if (reason && local === 'AddtlInf') reason.words = `${reason.words} ${said}`.trim();
    if (local === at) open.shift();
    if (local !== 'TxInfAndSts') return;
    if (entry?.id !== undefined && entry.status !== undefined) {
      const before = found.get(entry.id);
      const isOne = before === undefined || before.status === entry.status;
      found.set(entry.id, {
        status: isOne ? entry.status : null,
        reason: firstReason([...LEVELS].map((level) => reasons.get(level) ?? [])),
      });
    }
    reasons.delete('TxInfAndSts');
    entry = undefined;
  });
  parser.write(text).close();
  if (!isReport || isBroken) return null;
  const status = ofGroup ?? onlyOf(ofInformation);
  const above = [reasons.get('OrgnlPmtInfAndSts') ?? [], reasons.get('OrgnlGrpInfAndSts') ?? []];
  return {
    ...{ about: [...about], status: status === '' ? null : status },
    ...{ reason: firstReason(above), entries: found },
  };
}

/** The first reason counts. The others stay readable. */
export function firstReason(levels: readonly (readonly Reason[])[]): Reason | null {
  const [first, ...others] = levels.flat().filter(({ code, words }) => code !== null || words !== '');
  if (!first) return null;
  const more = others.map(writeReason);
  return { code: first.code, words: [first.words, ...more].filter(Boolean).join('; ') };
}

/** A reason as a person reads it: `AC01: IBAN does not exist`. */
export function writeReason({ code, words }: Reason): string {
  return [code, words].filter(Boolean).join(': ');
}

function onlyOf(statuses: readonly string[]): string | null {
  const [only, ...others] = statuses;
  return only !== undefined && others.length === 0 ? only : null;
}
