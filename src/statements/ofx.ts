import Big from 'big.js';
import { extractIBAN } from 'ibantools';
import { type Booking, written } from '../domain/account-history.ts';
import { isZero, normalDecimal } from '../domain/decimal.ts';
import type { Statement } from './statement.ts';
import { cut, element } from './xml.ts';

/** The format has no room for a longer `ACCTID`. */
const LONGEST_ACCOUNT = 22;

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
  const other = cut((booking.counterpartyIban ?? booking.counterpartyAccount ?? '').replace(/\s/g, ''), 100);
  const longAccount = other.length > LONGEST_ACCOUNT ? other : '';
  const { remittanceStructured, returnReason, additionalInformation } = booking;
  const words = [remittanceStructured, longAccount, returnReason, additionalInformation];
  const name = cut(description, 32) || cut(details, 32) || '-';
  const memo = [details, ...words.filter((text) => text && text !== name)];
  return [
    `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${writeDay(day)}</DTPOSTED>`,
    valueDate === null ? '' : `<DTAVAIL>${writeDay(valueDate)}</DTAVAIL>`,
    `<TRNAMT>${normalDecimal(amount)}</TRNAMT><FITID>${id}</FITID>`,
    element('REFNUM', cut(transferReference ?? '', 32)),
    element('NAME', name),
    writeOtherAccount(other),
    element('MEMO', cut([...new Set(memo)].join(' '), 255)),
    writeOriginal(booking),
    '</STMTTRN>\n',
  ].join('');
}

/** The other side's account, if the format has room for it. */
function writeOtherAccount(account: string): string {
  if (account === '' || account.length > LONGEST_ACCOUNT) return '';
  const bank = cut(extractIBAN(account).bankIdentifier ?? '', 9) || 'PSD2';
  return `<BANKACCTTO>${element('BANKID', bank)}${element('ACCTID', account)}<ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTTO>`;
}

/** The original currency, and how much of the account's currency one unit of it was. */
function writeOriginal({ amount, originalAmount, originalCurrency }: Booking): string {
  if (!originalCurrency || !/^[A-Z]{3}$/.test(originalCurrency) || !originalAmount || isZero(originalAmount))
    return '';
  const rate = written(new Big(amount).div(originalAmount).abs().round(8));
  return isZero(rate)
    ? ''
    : `<ORIGCURRENCY><CURRATE>${rate}</CURRATE><CURSYM>${originalCurrency}</CURSYM></ORIGCURRENCY>`;
}

function writeDay(day: string): string {
  return day.replaceAll('-', '');
}

/** `2026-11-21T11:05:00.000Z` in OFX's format (section 3.2.8.2): `20261121110500.000[0:GMT]`. */
function writeTime(instant: string): string {
  return `${new Date(instant).toISOString().replace(/[-:TZ]/g, '')}[0:GMT]`;
}
