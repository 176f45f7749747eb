import { extractIBAN } from 'ibantools';
import type { Booking } from '../domain/account-history.ts';
import { normalDecimal } from '../domain/decimal.ts';
import type { Statement } from './statement.ts';
import { cut, element } from './xml.ts';

/**
 * The bookings as OFX 2 (Open Financial Exchange 2.1.1, "Banking", statement download). All elements also exist in 2.0.
 *
 * @param closing the balance after the last day. OFX requires it
 */
export function writeOfxStatement(statement: Statement, closing: string): string {
  const { productId, iban, currency, history, createdAt } = statement;
  const bank = (iban && extractIBAN(iban).bankIdentifier) || 'PSD2';
  const status = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS>${status}<DTSERVER>${writeTime(createdAt)}</DTSERVER><LANGUAGE>ITA</LANGUAGE></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID>${status}
<STMTRS><CURDEF>${currency}</CURDEF>
<BANKACCTFROM>${element('BANKID', cut(bank, 9))}${element('ACCTID', productId)}<ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST><DTSTART>${writeDay(history.from)}</DTSTART><DTEND>${writeDay(history.to)}</DTEND>
${history.bookings.map(writeTransaction).join('')}</BANKTRANLIST>
<LEDGERBAL><BALAMT>${closing}</BALAMT><DTASOF>${writeDay(history.to)}</DTASOF></LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`;
}

function writeTransaction(booking: Booking): string {
  const { id, day, valueDate, amount, description, details, transferReference, feeCharge } = booking;
  const type = feeCharge ? 'FEE' : amount.startsWith('-') ? 'DEBIT' : 'CREDIT';
  const name = cut(description, 32) || cut(details, 32) || '-';
  return [
    `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${writeDay(day)}</DTPOSTED>`,
    valueDate === null ? '' : `<DTAVAIL>${writeDay(valueDate)}</DTAVAIL>`,
    `<TRNAMT>${normalDecimal(amount)}</TRNAMT><FITID>${id}</FITID>`,
    element('REFNUM', cut(transferReference ?? '', 32)),
    element('NAME', name),
    element('MEMO', cut(details, 255)),
    '</STMTTRN>\n',
  ].join('');
}

function writeDay(day: string): string {
  return day.replaceAll('-', '');
}

/** `2026-11-21T11:05:00.000Z` in OFX's format (section 3.2.8.2): `20261121110500.000[0:GMT]`. */
function writeTime(instant: string): string {
  return `${new Date(instant).toISOString().replace(/[-:TZ]/g, '')}[0:GMT]`;
}
