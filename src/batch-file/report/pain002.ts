import type { BatchFormat } from '../../domain/batch/line.ts';
import type { LineState, ReportRow, Rows } from '../../domain/batch/report-row.ts';
import { isIban } from '../../domain/order/iban.ts';
import { cut, element } from '../../statements/xml.ts';
import { writeRemittance } from '../pain001/write.ts';

/** What a report says about itself and about the file that it answers. */
export interface ReportHeader {
  /** The id of this report, at most 35 characters. */
  messageId: string;
  /** ISO 8601 with zone. */
  createdAt: string;
  /** `MsgId` of the file; the batch's id for CSV, which has none. */
  originalMessageId: string;
  originalFormat: BatchFormat;
}

/** The codes of ISO 20022 (`ExternalPaymentTransactionStatus1Code`) for the states of a line. */
const STATUSES: Readonly<Record<LineState, string>> = {
  // Received.
  waiting: 'RCVD',
  created: 'RCVD',
  // Pending. Only money that surely did not move is rejected.
  verified: 'PDNG',
  authorizing: 'PDNG',
  authorized: 'PDNG',
  executing: 'PDNG',
  unknown: 'PDNG',
  // Accepted; accepted, settlement in process; and settled.
  ended: 'PDNG',
  ordered: 'ACTC',
  executed: 'ACSP',
  settled: 'ACSC',
  failed: 'RJCT',
  rejected: 'RJCT',
  expired: 'RJCT',
  cancelled: 'CANC',
};

/** ISO 20022 `Max105Text`. */
const MAX_REASON_LENGTH = 105;

/**
 * The report as pain.002.001.10 (ISO 20022, CustomerPaymentStatusReportV10), for the system that made the file: it finds its
 * payments by its own ids.
 *
 * @param rows in the order of the file
 * @returns pieces of text
 */
export async function* writePain002(rows: Rows, header: ReportHeader): AsyncGenerator<string> {
  const { messageId, createdAt, originalMessageId, originalFormat } = header;
  const format = originalFormat === 'csv' ? 'NOTPROVIDED' : originalFormat;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10">
<CstmrPmtStsRpt>
<GrpHdr>${id('MsgId', messageId)}<CreDtTm>${createdAt}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts>${id('OrgnlMsgId', originalMessageId)}${id('OrgnlMsgNmId', format)}</OrgnlGrpInfAndSts>
`;
  let group: string | null = null;
  for await (const row of rows) {
    const next = row.ids.paymentInformationId ?? originalMessageId;
    if (group !== null && next !== group) yield '</OrgnlPmtInfAndSts>\n';
    if (next !== group) yield `<OrgnlPmtInfAndSts>${id('OrgnlPmtInfId', next)}\n`;
    group = next;
    yield writeTransaction(row);
  }
  if (group !== null) yield '</OrgnlPmtInfAndSts>\n';
  yield '</CstmrPmtStsRpt>\n</Document>\n';
}

function writeTransaction(row: ReportRow): string {
  const { state, isUncertain, reason, paidAt, name, iban, amount, currency, executionDate } = row;
  const { description, from, ids } = row;
  const [counts, ...others] = row.bankReasons;
  const day = executionDate === null ? '' : `<ReqdExctnDt><Dt>${executionDate}</Dt></ReqdExctnDt>`;
  const remittance = writeRemittance(cut(description, 140), row.creditorReference);
  return `<TxInfAndSts>${id('StsId', row.flow)}${id('OrgnlInstrId', ids.instructionId)}${id('OrgnlEndToEndId', ids.endToEndId ?? row.endToEndId ?? row.reference)}
<TxSts>${isUncertain ? STATUSES.unknown : STATUSES[state]}</TxSts>${writeWhy(counts, [state, ...pieces(reason)])}${others.map((other) => writeWhy(other, pieces(other.text))).join('')}
${element('AccptncDtTm', paidAt)}<OrgnlTxRef><Amt>${element('InstdAmt', amount).replace('>', ` Ccy="${currency}">`)}</Amt>${day}
${remittance && `<RmtInf>${remittance}</RmtInf>`}${from === null ? '' : `<DbtrAcct>${accountId(from)}</DbtrAcct>`}
<Cdtr><Pty>${element('Nm', cut(name, 140))}</Pty></Cdtr><CdtrAcct>${accountId(iban)}</CdtrAcct></OrgnlTxRef></TxInfAndSts>
`;
}

/** @param words the first reason has all that a person reads */
function writeWhy(reason: ReportRow['bankReasons'][number] | undefined, words: readonly string[]): string {
  const code = element('Cd', reason?.code) || element('Prtry', cut(reason?.proprietary ?? '', 35));
  return `<StsRsnInf>${code && `<Rsn>${code}</Rsn>`}${words.map((text) => element('AddtlInf', text)).join('')}</StsRsnInf>`;
}

function pieces(text: string | null): string[] {
  return cut(text ?? '', 10 * MAX_REASON_LENGTH).match(/.{1,105}/gu) ?? [];
}

function accountId(account: string): string {
  return isIban(account)
    ? `<Id><IBAN>${account}</IBAN></Id>`
    : `<Id><Othr>${element('Id', cut(account, 34))}</Othr></Id>`;
}

/** An element of ISO 20022 `Max35Text`; empty if there is no text. */
function id(name: string, text: string | null): string {
  return element(name, cut(text ?? '', 35));
}
