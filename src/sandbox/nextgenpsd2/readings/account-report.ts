import type { Product } from '../../customers/seed-customers.ts';
import { type Cents, decimal, readCents } from '../../ledger/cents.ts';
import { referenceOf } from './account-view.ts';

/** A row of the list in JSON. */
type Row = Readonly<Record<string, unknown>>;

/** The rows of an account. Undefined: they were not asked for. */
export interface Rows {
  booked: readonly Row[] | undefined;
  pending: readonly Row[] | undefined;
}

/**
 * A list of transactions as a report in XML (ISO 20022): booked ones alone are a statement, camt.053.001.08, with pending ones it is
 * an account report, camt.052.001.08.
 */
export function camtOf(product: Product, rows: Rows, now: Date): string {
  const isStatement = rows.pending === undefined;
  const [kind, root, report] = isStatement
    ? ['053', 'BkToCstmrStmt', 'Stmt']
    : ['052', 'BkToCstmrAcctRpt', 'Rpt'];
  const { iban, maskedPan = '' } = referenceOf(product);
  const account = iban ? textElement('IBAN', iban) : element('Othr', textElement('Id', maskedPan));
  const created = textElement('CreDtTm', now.toISOString());
  const entries = [
    ...(rows.booked ?? []).map((row) => entryOf(row, 'BOOK')),
    ...(rows.pending ?? []).map((row) => entryOf(row, 'PDNG')),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${kind}.001.08"><${root}>
<GrpHdr><MsgId>${now.getTime()}</MsgId>${created}</GrpHdr>
<${report}><Id>${now.getTime()}</Id>${created}<Acct><Id>${account}</Id><Ccy>EUR</Ccy></Acct>
${entries.join('\n')}
</${report}></${root}></Document>
`;
}

function entryOf(row: Row, status: 'BOOK' | 'PDNG'): string {
  const { amount, isDebit } = amountIn(row);
  const [domain, family, sub] = wordIn(row, 'bankTransactionCode').split('-');
  const isoCode = element(
    'Domn',
    textElement('Cd', domain),
    element('Fmly', textElement('Cd', family), textElement('SubFmlyCd', sub)),
  );
  const side = isDebit ? 'creditor' : 'debtor';
  const role = isDebit ? 'Cdtr' : 'Dbtr';
  return element(
    'Ntry',
    textElement('NtryRef', wordIn(row, 'entryReference')),
    `<Amt Ccy="EUR">${amount}</Amt>`,
    textElement('CdtDbtInd', isDebit ? 'DBIT' : 'CRDT'),
    element('Sts', textElement('Cd', status)),
    element('BookgDt', textElement('Dt', wordIn(row, 'bookingDate'))),
    element('ValDt', textElement('Dt', wordIn(row, 'valueDate'))),
    textElement('AcctSvcrRef', rowId(row)),
    element(
      'BkTxCd',
      isoCode,
      element('Prtry', textElement('Cd', wordIn(row, 'proprietaryBankTransactionCode'))),
    ),
    element(
      'NtryDtls',
      element(
        'TxDtls',
        element('Refs', textElement('EndToEndId', wordIn(row, 'endToEndId'))),
        element('RltdPties', element(role, element('Pty', textElement('Nm', wordIn(row, `${side}Name`))))),
        element('RmtInf', textElement('Ustrd', remittanceIn(row))),
      ),
    ),
    textElement('AddtlNtryInf', wordIn(row, 'additionalInformation')),
  );
}

/** A list of transactions as SWIFT messages: booked ones in MT940, pending ones in MT942, with the fields of German banks in `:86:`. */
export function mt940Of(product: Product, rows: Rows): string {
  const { iban, maskedPan } = referenceOf(product);
  const begin = [':20:STARTUMSE', `:25:${iban ?? maskedPan}`, ':28C:1/1'];
  const booked = rows.booked ?? [];
  const [newest, oldest] = [dayIn(booked[0]), dayIn(booked.at(-1))];
  const opening = balance(oldest, 0);
  const closing = balance(newest, sumOfRows(booked));
  return [
    ...(rows.booked
      ? [...begin, `:60F:${opening}`, ...booked.flatMap(fieldsOf), `:62F:${closing}`, '-']
      : []),
    ...(rows.pending ? [...begin, ':34F:EUR0,00', ...rows.pending.flatMap(fieldsOf), '-'] : []),
    '',
  ].join('\r\n');
}

/** The field of a balance: its side, day and amount. */
function balance(day: string, cents: Cents): string {
  const amount = decimal(Math.abs(cents)).replace('.', ',');
  return `${cents < 0 ? 'D' : 'C'}${day}EUR${amount}`;
}

/** What the rows lead to from a balance of nothing. */
function sumOfRows(rows: readonly Row[]): Cents {
  return rows
    .map((row) => amountIn(row))
    .reduce((sum, { amount, isDebit }) => sum + (isDebit ? -1 : 1) * (readCents(amount) ?? 0), 0);
}

function fieldsOf(row: Row): string[] {
  const { amount, isDebit } = amountIn(row);
  const booked = wordIn(row, 'bookingDate').slice(5).replace('-', '');
  const entry = `:61:${dayIn(row)}${booked}${isDebit ? 'D' : 'C'}${amount.replace('.', ',')}NTRFNONREF//${rowId(row).slice(0, 16)}`;
  const endToEnd = wordIn(row, 'endToEndId');
  const lines = [
    ...parts(endToEnd === '' ? '' : `EREF+${endToEnd}`),
    ...parts(`SVWZ+${remittanceIn(row)}`),
  ].map((part, index) => `?${index < 10 ? 20 + index : 50 + index}${part}`);
  const names = parts(wordIn(row, isDebit ? 'creditorName' : 'debtorName')).slice(0, 2);
  const code = wordIn(row, 'proprietaryBankTransactionCode').padStart(3, '0').slice(-3);
  const information = [
    `${code}?00${wordIn(row, 'additionalInformation').slice(0, PART)}`,
    ...lines,
    ...names.map((name, index) => `?${32 + index}${name}`),
  ];
  return [entry, `:86:${(information.join('').match(/.{1,65}/gs) ?? []).join('\r\n')}`];
}

/** How much a field within `:86:` has. */
const PART = 27;

function parts(words: string): string[] {
  // The character that separates fields cannot be in one.
  return words.replaceAll('?', '.').match(new RegExp(`.{1,${PART}}`, 'gs')) ?? [];
}

/** The value day, which MT940 always has. A row of a card has the days of purchase and booking alone. */
function dayIn(row: Row = {}): string {
  const day = wordIn(row, 'valueDate') || wordIn(row, 'bookingDate') || wordIn(row, 'transactionDate');
  return day.slice(2).replaceAll('-', '');
}

function amountIn({ transactionAmount }: Row): { amount: string; isDebit: boolean } {
  const amount =
    typeof transactionAmount === 'object' && transactionAmount !== null && 'amount' in transactionAmount
      ? String(transactionAmount.amount)
      : '0.00';
  return { amount: amount.replace('-', ''), isDebit: amount.startsWith('-') };
}

function wordIn(row: Row, name: string): string {
  const value = row[name];
  return typeof value === 'string' ? value : '';
}

function rowId(row: Row): string {
  return wordIn(row, 'transactionId') || wordIn(row, 'cardTransactionId');
}

function remittanceIn(row: Row): string {
  return wordIn(row, 'remittanceInformationUnstructured') || wordIn(row, 'transactionDetails');
}

/** An element. One without content is left out. */
function element(name: string, ...content: string[]): string {
  const inner = content.join('');
  return inner === '' ? '' : `<${name}>${inner}</${name}>`;
}

function textElement(name: string, value = ''): string {
  return element(
    name,
    value.replace(/[<>&]/g, (one) => `&#${one.charCodeAt(0)};`),
  );
}
