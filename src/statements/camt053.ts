import { createHash } from 'node:crypto';
import Big from 'big.js';
import { type Booking, sumOf, written } from '../domain/account-history.ts';
import { bankLocalTime, type IsoDate } from '../domain/calendar.ts';
import type { Decimal } from '../domain/decimal.ts';
import type { Statement } from './statement.ts';
import { cut, element, escaped } from './xml.ts';

/** The product codes of cards. A card has the IBAN of the account it is charged to, so the IBAN does not identify it. */
const CARD_CODES = /^(CA30|CAPC|SI1[2-9]|SI20)$/;

/** The schema's `IBAN2007Identifier`. Any other text would make the whole document invalid. */
const IBAN_OF_SCHEMA = /^[A-Z]{2}\d{2}[A-Z0-9]{1,30}$/;

/**
 * The bookings as a bank-to-customer statement, camt.053.001.08 (ISO 20022). The bank gives no BIC, no counterparty and no
 * structured transaction code, so the statement has none.
 *
 * @param balances the balances before the first and after the last day. The format requires them
 */
export function writeCamt053Statement(
  statement: Statement,
  { opening, closing }: { opening: Decimal; closing: Decimal },
): string {
  const { productId, currency, history, createdAt } = statement;
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
${writeBalance('OPBD', opening, from, currency)}
${writeBalance('CLBD', closing, to, currency)}
${writeSummary(bookings)}
${bookings.map((entry) => writeEntry(entry, currency)).join('')}</Stmt>
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

function writeBalance(code: 'OPBD' | 'CLBD', amount: Decimal, day: IsoDate, currency: string): string {
  return `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${writeAmount(amount, currency)}<Dt><Dt>${day}</Dt></Dt></Bal>`;
}

function writeSummary(entries: Booking[]): string {
  const debits = entries.filter(isDebit);
  const credits = entries.filter((entry) => !isDebit(entry));
  const count = (some: Booking[]) =>
    `<NbOfNtries>${some.length}</NbOfNtries><Sum>${unsigned(sumOf(some))}</Sum>`;
  return `<TxsSummry><TtlCdtNtries>${count(credits)}</TtlCdtNtries><TtlDbtNtries>${count(debits)}</TtlDbtNtries></TxsSummry>`;
}

function writeEntry(entry: Booking, currency: string): string {
  const { id, day, valueDate, amount, description, details, code, transferReference } = entry;
  const texts = [description, details];
  const remittance = texts.flatMap((text) => cut(text, 1400).match(/.{1,140}/gu) ?? []);
  return `<Ntry><NtryRef>${id}</NtryRef>${writeAmount(amount, currency)}<Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>${day}</Dt></BookgDt>${valueDate === null ? '' : `<ValDt><Dt>${valueDate}</Dt></ValDt>`}
<AcctSvcrRef>${id}</AcctSvcrRef>
<BkTxCd><Prtry>${element('Cd', cut(code ?? '', 35) || 'NOTPROVIDED')}</Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>${id}</AcctSvcrRef>${element('TxId', cut(transferReference ?? '', 35))}</Refs>${writeAmount(amount, currency)}${
    remittance.length === 0
      ? ''
      : `<RmtInf>${remittance.map((text) => element('Ustrd', text)).join('')}</RmtInf>`
  }</TxDtls></NtryDtls>
${element('AddtlNtryInf', cut(texts.join(' '), 500))}</Ntry>
`;
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
