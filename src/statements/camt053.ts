import { createHash } from 'node:crypto';
import Big from 'big.js';
import { type Booking, type ForeignBooking, sumOf, written } from '../domain/account-history.ts';
import { bankLocalTime, type IsoDate } from '../domain/calendar.ts';
import type { Decimal } from '../domain/decimal.ts';
import { allBookings, type Statement } from './statement.ts';
import { cut, element, escaped } from './xml.ts';

/** The product codes of cards. A card has the IBAN of the account it is charged to, so the IBAN does not identify it. */
const CARD_CODES = /^(CA30|CAPC|SI1[2-9]|SI20)$/;

/** The schema's `IBAN2007Identifier`. Any other text would make the whole document invalid. */
const IBAN_OF_SCHEMA = /^[A-Z]{2}\d{2}[A-Z0-9]{1,30}$/;

/**
 * The bookings as a bank-to-customer statement, camt.053.001.08 (ISO 20022). It has no BIC, and the other
 * side, references and codes only as far as the bank gives them.
 *
 * @param balances the balances before the first and after the last day. The format requires them
 */
export function writeCamt053Statement(
  statement: Statement,
  { opening, closing }: { opening: Decimal; closing: Decimal },
): string {
  const { productId, currency, history, createdAt, creditLimitIncluded } = statement;
  const line = creditLimitIncluded === null ? '' : `<CdtLine><Incl>${creditLimitIncluded}</Incl></CdtLine>`;
  const { from, to, bookings } = history;
  const messageId = createHash('sha256').update(`${productId} ${createdAt}`).digest('hex').slice(0, 32);
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
<BkToCstmrStmt>
<GrpHdr><MsgId>${messageId}</MsgId><CreDtTm>${createdAt}</CreDtTm></GrpHdr>
<Stmt>
<Id>${productId}-${from}-${to}</Id>
<CreDtTm>${createdAt}</CreDtTm>
<FrToDt><FrDtTm>${bankLocalTime(from, '00:00')}</FrDtTm><ToDtTm>${bankLocalTime(to, '23:59:59')}</ToDtTm></FrToDt>
<Acct>${writeAccountId(statement)}<Ccy>${currency}</Ccy>${element('Nm', cut(statement.name ?? '', 70))}</Acct>
${writeBalance('OPBD', line, opening, from, currency)}
${writeBalance('CLBD', line, closing, to, currency)}
${writeSummary(bookings)}
${allBookings(statement)
  .map((entry) => writeEntry(entry, entry.currency ?? currency))
  .join('')}</Stmt>
</BkToCstmrStmt>
</Document>
`;
}

function writeAccountId({ iban, productId, productCode }: Statement): string {
  const compact = iban?.replace(/\s/g, '').toUpperCase() ?? '';
  return IBAN_OF_SCHEMA.test(compact) && !CARD_CODES.test(productCode ?? '')
    ? `<Id><IBAN>${compact}</IBAN></Id>`
    : `<Id><Othr><Id>${productId}</Id><SchmeNm><Prtry>PRODUCT</Prtry></SchmeNm></Othr></Id>`;
}

/** @param line whether a credit line is in it */
function writeBalance(
  code: 'OPBD' | 'CLBD',
  line: string,
  amount: Decimal,
  day: IsoDate,
  currency: string,
): string {
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${line}${writeAmount(amount, currency)}<Dt><Dt>${day}</Dt></Dt></Bal>`;
}

function writeSummary(entries: Booking[]): string {
  const debits = entries.filter(isDebit);
  const credits = entries.filter((entry) => !isDebit(entry));
  const count = (some: Booking[]) =>
    `<NbOfNtries>${some.length}</NbOfNtries><Sum>${unsigned(sumOf(some))}</Sum>`;
  return `<TxsSummry><TtlCdtNtries>${count(credits)}</TtlCdtNtries><TtlDbtNtries>${count(debits)}</TtlDbtNtries></TxsSummry>`;
}

function writeEntry(entry: Booking, currency: string): string {
  const { id, day, isValueDay, valueDate, amount } = entry;
  return `<Ntry><NtryRef>${id}</NtryRef>${writeAmount(amount, currency)}<Sts><Cd>BOOK</Cd></Sts>
${isValueDay ? '' : `<BookgDt><Dt>${day}</Dt></BookgDt>`}${valueDate === null ? '' : `<ValDt><Dt>${valueDate}</Dt></ValDt>`}
<AcctSvcrRef>${id}</AcctSvcrRef>
<BkTxCd>${writeCode(entry)}</BkTxCd>
<NtryDtls>${entryPayments(entry, currency)
    .map((payment) => writePayment(payment, currency))
    .join('')}</NtryDtls>
${element('AddtlNtryInf', cut(rowTexts(entry).join(' '), 500))}</Ntry>
`;
}

/** A payment of an entry. Null for the amount: the bank gives none, and `amount` has the direction of the entry alone. */
type Payment = ForeignBooking & { paid: Decimal | null };

/** The payments of a batch, in any currency, if the bank gives several. Else the entry itself. */
function entryPayments(entry: Booking, currency: string): Payment[] {
  const { entryDetails, ...whole } = entry;
  const { id, day, valueDate, code, customerReference } = whole;
  const payments = (entryDetails ?? []).map(({ amount = null, ...own }): Payment => {
    const texts = { description: own.counterpartyName ?? '', details: own.remittance ?? '' };
    const same = { id, day, valueDate, code, transferReference: null, feeCharge: null, customerReference };
    return { ...same, ...texts, currency, ...own, amount: amount ?? whole.amount, paid: amount };
  });
  // One payment without its amount is the entry.
  const isWhole = payments.length === 0 || (payments.length === 1 && payments[0]?.paid === null);
  return isWhole ? [{ ...whole, currency, paid: whole.amount }] : payments;
}

/** @param currency of the entry */
function writePayment(payment: Payment, currency: string): string {
  const { id, paid } = payment;
  const amount = paid === null ? '' : writeAmount(paid, payment.currency);
  return `<TxDtls><Refs><AcctSvcrRef>${id}</AcctSvcrRef>${writeReferences(payment)}</Refs>${amount}${[
    writeExchange(payment, currency),
    writeFee(payment, currency),
    parent('RltdPties', writeParties(payment)),
    writePurpose(payment),
    parent('RmtInf', writeRemittance(payment)),
    parent('RtrInf', writeReturn(payment)),
  ].join('')}</TxDtls>`;
}

/** The code of ISO 20022 (`PMNT-RCDT-ESCT`, with what the bank adds), and the bank's own. */
function writeCode({ code, bankTransactionCode }: Booking): string {
  const [, domain, family, sub] =
    /^([A-Z]{4})-([A-Z]{4})-([A-Z]{4})(?:-.*)?$/.exec(bankTransactionCode?.trim() ?? '') ?? [];
  const domainCode =
    domain && `<Domn><Cd>${domain}</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${sub}</SubFmlyCd></Fmly></Domn>`;
  if (domainCode && (code === null || code === bankTransactionCode)) return domainCode;
  return `${domainCode ?? ''}<Prtry>${element('Cd', cut(code ?? '', 35) || 'NOTPROVIDED')}</Prtry>`;
}

function writeReferences(entry: Booking): string {
  const { transferReference, endToEndId, mandateId, customerReference } = entry;
  return [
    element('PmtInfId', cut(customerReference ?? '', 35)),
    element('EndToEndId', cut(endToEndId ?? '', 35)),
    element('TxId', transferReference === endToEndId ? '' : cut(transferReference ?? '', 35)),
    element('MndtId', cut(mandateId ?? '', 35)),
  ].join('');
}

/** The texts of a row, each once. */
function rowTexts({ description, details, additionalInformation }: Booking): string[] {
  return [...new Set([description, details, additionalInformation ?? ''])];
}

/** The code of ISO 20022 at the beginning of a reason, and the bank's words. */
function writeReturn({ returnReason }: Booking): string {
  const [, code, words = returnReason ?? ''] = /^([A-Z]{2}\d{2})\b\s*(.*)$/s.exec(returnReason ?? '') ?? [];
  return `${code ? `<Rsn><Cd>${code}</Cd></Rsn>` : ''}${element('AddtlInf', cut(words, 105))}`;
}

/** What was paid in another currency. A rate needs that currency. */
function writeExchange(entry: Payment, currency: string): string {
  const { paid, originalAmount, originalCurrency, exchangeRate } = entry;
  if (!originalCurrency || !hasFormOfCurrency(originalCurrency)) return '';
  const rate = exchangeRate && fitting(exchangeRate, 11, 10);
  const exchange =
    rate &&
    `<CcyXchg><SrcCcy>${originalCurrency}</SrcCcy><TrgtCcy>${currency}</TrgtCcy><XchgRate>${rate}</XchgRate></CcyXchg>`;
  const original = originalAmount && fitting(unsigned(originalAmount), 18, 5);
  if (original)
    return `<AmtDtls><InstdAmt><Amt Ccy="${originalCurrency}">${original}</Amt>${exchange ?? ''}</InstdAmt></AmtDtls>`;
  return exchange && paid !== null
    ? `<AmtDtls><TxAmt><Amt Ccy="${escaped(entry.currency)}">${unsigned(paid)}</Amt>${exchange}</TxAmt></AmtDtls>`
    : '';
}

function writeFee({ feeAmount, feeCurrency }: Booking, currency: string): string {
  const fee = feeAmount && fitting(unsigned(feeAmount), 18, 5);
  const of = feeCurrency ?? currency;
  return fee && hasFormOfCurrency(of) ? `<Chrgs><Rcrd><Amt Ccy="${of}">${fee}</Amt></Rcrd></Chrgs>` : '';
}

/** The schema's `ActiveOrHistoricCurrencyCode`. */
function hasFormOfCurrency(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

/** A number as it is, if the schema has room for its digits. */
function fitting(number: Decimal, digits: number, decimals: number): Decimal | null {
  const [whole = '', fraction = ''] = number.split('.');
  const significant = whole.replace(/^[+-]?0*/, '').length + fraction.replace(/0+$/, '').length;
  return significant <= digits && fraction.replace(/0+$/, '').length <= decimals ? number : null;
}

/** The other side pays what comes in, and receives what goes out. */
function writeParties(entry: Booking): string {
  const { counterpartyName, counterpartyIban, counterpartyAccount, ultimateDebtor, ultimateCreditor } = entry;
  const other = nameElement(counterpartyName);
  const iban = counterpartyIban?.replace(/\s/g, '').toUpperCase() ?? '';
  const id = IBAN_OF_SCHEMA.test(iban)
    ? `<IBAN>${iban}</IBAN>`
    : parent('Othr', element('Id', cut(counterpartyAccount ?? iban, 34)));
  const account = parent('Id', id);
  const creditorId = parent('Id', parent('PrvtId', parent('Othr', creditorIdOf(entry))));
  const [debtor, creditor] = isDebit(entry) ? ['', other] : [other, ''];
  const [debtorAccount, creditorAccount] = isDebit(entry) ? ['', account] : [account, ''];
  return [
    parent('Dbtr', parent('Pty', debtor)),
    parent('DbtrAcct', debtorAccount),
    parent('UltmtDbtr', parent('Pty', nameElement(ultimateDebtor))),
    parent('Cdtr', parent('Pty', `${creditor}${creditorId}`)),
    parent('CdtrAcct', creditorAccount),
    parent('UltmtCdtr', parent('Pty', nameElement(ultimateCreditor))),
  ].join('');
}

function nameElement(party: string | null | undefined): string {
  return element('Nm', cut(party ?? '', 140));
}

function creditorIdOf({ creditorId }: Booking): string {
  const id = element('Id', cut(creditorId ?? '', 35));
  return id && `${id}<SchmeNm><Prtry>SEPA</Prtry></SchmeNm>`;
}

function writePurpose({ purposeCode }: Booking): string {
  const code = purposeCode?.trim() ?? '';
  return parent('Purp', element(/^[A-Z0-9]{1,4}$/.test(code) ? 'Cd' : 'Prtry', cut(code, 35)));
}

/** The texts, but for what has a place of its own, and the reference of the payee. */
function writeRemittance(entry: Booking): string {
  const { description, details, counterpartyName, remittanceStructured } = entry;
  const texts = [...new Set([description, details])].filter(
    (text) => text !== (counterpartyName ?? undefined) && text !== (remittanceStructured ?? undefined),
  );
  const unstructured = texts.flatMap((text) => cut(text, 1400).match(/.{1,140}/gu) ?? []);
  const reference = cut(remittanceStructured ?? '', 140);
  const type = /^RF\d{2}/i.test(reference) ? '<Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp>' : '';
  const structured =
    [...reference].length > 35
      ? element('AddtlRmtInf', reference)
      : reference && `<CdtrRefInf>${type}${element('Ref', reference)}</CdtrRefInf>`;
  return `${unstructured.map((text) => element('Ustrd', text)).join('')}${parent('Strd', structured)}`;
}

/** An element with elements, or `''` if there are none. */
function parent(name: string, content: string): string {
  return content && `<${name}>${content}</${name}>`;
}

/** Writes an amount without a sign. The indicator says whether it is a debit or a credit. */
function writeAmount(amount: Decimal, currency: string): string {
  const indicator = amount.startsWith('-') ? 'DBIT' : 'CRDT';
  return `<Amt Ccy="${escaped(currency)}">${unsigned(amount)}</Amt><CdtDbtInd>${indicator}</CdtDbtInd>`;
}

function unsigned(amount: Decimal): Decimal {
  return written(new Big(amount).abs());
}

function isDebit({ amount }: { amount: Decimal }): boolean {
  return amount.startsWith('-');
}
