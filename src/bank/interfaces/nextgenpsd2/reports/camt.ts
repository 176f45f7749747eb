import { SaxesParser, type SaxesTagPlain } from 'saxes';
import type { Money } from '../../../../domain/decimal.ts';
import { decimalIn } from '../../../../domain/odd-values.ts';
import { isIban } from '../../../../domain/order/iban.ts';
import { compactIban } from '../../../../domain/order/sepa-text.ts';
import { StatementCheck } from '../../../../domain/statement-balances.ts';
import type { ZoneOfAnswer } from '../readings/zone.ts';
import { type AccountReport, dayOf, fill, type Refuse, type ReportRow, rowOf, signed } from './report.ts';

/** The elements that psd2 reads. `true`: their text. */
interface Shape {
  readonly [name: string]: Shape | true;
}

/** An element whose children are read, or whose text is. */
interface Known {
  /** The place of its text within what collects it, and that of its currency. */
  place: number;
  currency: number;
  children: ReadonlyMap<string, Known> | null;
  /** What it collects texts for. */
  collects: Collects | null;
}

type Collects = 'report' | 'balance' | 'entry' | 'details';
/** By the numbers of the places where they are. Most places have one text. A report has many entries, so their texts share an array. */
type Texts = (string | string[] | undefined)[];

/** The numbers of all places. */
const PLACES = new Map<string, number>();

function placeOf(at: string): number {
  const known = PLACES.get(at) ?? PLACES.size;
  PLACES.set(at, known);
  return known;
}

const day: Shape = { Dt: true, DtTm: true };
const account: Shape = { Id: { IBAN: true, Othr: { Id: true } } };
const code: Shape = { Cd: true, Prtry: true };
const party: Shape = { Nm: true, Pty: { Nm: true, Id: { PrvtId: { Othr: { Id: true } } } } };
const creditor: Shape = { ...party, Id: { PrvtId: { Othr: { Id: true } } } };
const exchanged: Shape = { Amt: true, CcyXchg: { XchgRate: true } };
const AMOUNTS: Shape = { InstdAmt: exchanged, TxAmt: exchanged, CntrValAmt: exchanged };
const CHARGES: Shape = { Amt: true, TtlChrgsAndTaxAmt: true, Rcrd: { Amt: true } };

const DETAILS: Shape = {
  ...{ Amt: true, CdtDbtInd: true },
  Refs: { PmtInfId: true, EndToEndId: true, MndtId: true },
  AmtDtls: AMOUNTS,
  Chrgs: CHARGES,
  RltdPties: {
    ...{ Dbtr: party, DbtrAcct: account, UltmtDbtr: party },
    ...{ Cdtr: creditor, CdtrAcct: account, UltmtCdtr: party },
  },
  Purp: code,
  RmtInf: { Ustrd: true, Strd: { CdtrRefInf: { Ref: true }, AddtlRmtInf: true } },
  RtrInf: { Rsn: code, AddtlInf: true },
  AddtlTxInf: true,
};

const ENTRY: Shape = {
  ...{ NtryRef: true, Amt: true, CdtDbtInd: true, RvslInd: true, AcctSvcrRef: true, AddtlNtryInf: true },
  ...{ BookgDt: day, ValDt: day, AmtDtls: AMOUNTS, Chrgs: CHARGES },
  BkTxCd: { Domn: { Cd: true, Fmly: { Cd: true, SubFmlyCd: true } }, Prtry: { Cd: true } },
  NtryDtls: { Btch: { PmtInfId: true }, TxDtls: DETAILS },
};

const pages: Shape = { PgNb: true, LastPgInd: true };
const total: Shape = { NbOfNtries: true, Sum: true };
const BALANCE: Shape = { Tp: { CdOrPrtry: { Cd: true } }, Amt: true, CdtDbtInd: true, Dt: day };
const REPORT: Shape = {
  ...{
    Id: true,
    Acct: { ...account, Ccy: true },
    StmtPgntn: pages,
    RptPgntn: pages,
    Bal: BALANCE,
    Ntry: ENTRY,
  },
  TxsSummry: { TtlNtries: total, TtlCdtNtries: total, TtlDbtNtries: total },
};
const HEADER: Shape = { MsgPgntn: pages };

/** What each of these elements collects. */
const COLLECTS: Readonly<Record<string, Collects>> = {
  ...{ Stmt: 'report', Rpt: 'report', Bal: 'balance', Ntry: 'entry', TxDtls: 'details' },
};

/** `Sts` is a text up to version 03, and has a code from 04 on. */
const STATUS: Known = {
  ...placesOf('Sts'),
  collects: null,
  children: known({ Cd: true, Prtry: true }, 'Sts'),
};

const ROOTS = new Map([
  ['BkToCstmrStmt', known({ GrpHdr: HEADER, Stmt: REPORT }, '')],
  ['BkToCstmrAcctRpt', known({ GrpHdr: HEADER, Rpt: REPORT }, '')],
]);

function known(shape: Shape, above: string): ReadonlyMap<string, Known> {
  return new Map(
    Object.entries(shape).map(([name, inner]) => {
      const collects = COLLECTS[name] ?? null;
      const at = collects ? '' : above === '' ? name : `${above}/${name}`;
      const children = inner === true ? null : new Map(known(inner, at));
      if (name === 'Ntry') children?.set('Sts', STATUS);
      return [name, { ...placesOf(at), collects, children }];
    }),
  );
}

function placesOf(at: string): Pick<Known, 'place' | 'currency'> {
  return { place: placeOf(at), currency: placeOf(`${at}/@Ccy`) };
}

/** What an entry has once. Of two, nobody knows which one is true. */
const ONCE = (
  [
    ['Amt', 'Amt/@Ccy'],
    ['CdtDbtInd'],
    ['Sts', 'Sts/Cd', 'Sts/Prtry'],
    ['RvslInd'],
    ['BookgDt', 'BookgDt/Dt', 'BookgDt/DtTm'],
  ] as const
).map(([element, ...more]) => [element, [element, ...more].map(placeOf)] as const);

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:camt\.05[23]\.001\.(0[2-9]|1[0-3])$/;

/** What the parser gets at a time, and more than any text or tag of a report has. */
const PIECE = 65_536;
/** Deeper than any element of a report. */
const DEEPEST = 64;

/** The balances before the first and after the last row (ISO 20022, `BalanceType`). */
const OPENING = ['OPBD', 'PRCD'];
const CLOSING = ['CLBD'];

/**
 * Reads a report of an account in camt.052 or camt.053, versions 02 to 13 (ISO 20022, Bank-to-Customer Cash Management), with a
 * parser that knows no entities besides those of XML itself. Several reports in one are one list. An entry of many payments was
 * booked once, so it is one row.
 *
 * @param zone of the bank, or of the account that the report names
 * @param fail what to throw: the sentence has the place
 */
export function readCamt(text: string, zone: ZoneOfAnswer, fail: (what: string) => never): AccountReport {
  const parser = new SaxesParser({ xmlns: false });
  const refuse: Refuse = (what) => fail(`${what}, at line ${parser.line}, column ${parser.column}`);
  const reader = new Reader(zone, refuse);
  let sinceEvent = 0;
  // With more handlers than these, V8 makes the parser a dictionary, and it takes four times as long.
  parser.on('error', ({ message }) =>
    refuse(`The XML is not well-formed: ${message.replace(/^[\d:]*\s*|\.$/g, '')}`),
  );
  parser.on('doctype', () => refuse('The XML has a DOCTYPE'));
  parser.on('opentag', (tag) => {
    sinceEvent = 0;
    reader.open(tag);
  });
  const onText = (piece: string) => {
    sinceEvent = 0;
    reader.text(piece);
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    sinceEvent = 0;
    reader.close();
  });
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE);
    sinceEvent += piece.length;
    parser.write(piece);
    if (sinceEvent > 2 * PIECE)
      refuse(`The XML has a text, a tag or comments of more than ${PIECE} characters`);
  }
  parser.close();
  return reader.result();
}

/** Follows the elements, and makes a row of each entry. */
class Reader {
  readonly #zone: ZoneOfAnswer;
  readonly #refuse: Refuse;
  readonly #rows: AccountReport['transactions'] = { booked: [], pending: [] };
  readonly #accounts = new Accounts();
  readonly #open: (Known | null)[] = [];
  /** How many elements that psd2 does not read are open. */
  #skipped = 0;
  #text = '';
  /** What is in no report. */
  readonly #header: Texts = noTexts();
  #report: Texts = this.#header;
  /** The texts of the lowest open element that collects: one of these. */
  #collecting: Texts = this.#report;
  readonly #entry: Texts = noTexts();
  /** Those of the first payment of an entry. */
  readonly #first: Texts = noTexts();
  #details: Texts[] = [];
  #balances: Texts[] = [];
  #isPart = false;
  #check = new StatementCheck();
  /** Of the first page of a statement. */
  #opening: Money | undefined;
  #contradictions: string[] = [];

  constructor(zone: ZoneOfAnswer, refuse: Refuse) {
    this.#zone = zone;
    this.#refuse = refuse;
  }

  open(tag: SaxesTagPlain): void {
    this.#text = '';
    if (this.#open.length + this.#skipped === DEEPEST)
      this.#refuse(`The XML has more than ${DEEPEST} elements in one another`);
    const colon = tag.name.indexOf(':');
    const local = colon === -1 ? tag.name : tag.name.slice(colon + 1);
    if (this.#open.length === 0) {
      this.#begin(tag, colon === -1 ? '' : tag.name.slice(0, colon), local);
      return;
    }
    const found = this.#skipped === 0 ? this.#childOf(this.#open.at(-1) ?? null, local) : undefined;
    if (!found) {
      this.#skipped += 1;
      return;
    }
    this.#open.push(found);
    if (found.collects !== null) this.#collect(found.collects);
    const currency = found.children === null ? tag.attributes.Ccy : undefined;
    if (currency !== undefined) add(this.#collecting, found.currency, currency);
  }

  /** The root is in the stack as null. */
  #begin({ attributes }: SaxesTagPlain, prefix: string, local: string): void {
    const namespace = attributes[prefix === '' ? 'xmlns' : `xmlns:${prefix}`] ?? '';
    if (local !== 'Document' || !NAMESPACE.test(namespace)) {
      const what =
        namespace === '' ? `begins with ${JSON.stringify(local)}` : `is ${JSON.stringify(namespace)}`;
      this.#refuse(
        `The XML ${what.slice(0, 200)}, and psd2 reads camt.052.001 and camt.053.001 of the versions 02 to 13`,
      );
    }
    this.#open.push(null);
  }

  #childOf(above: Known | null, local: string): Known | undefined {
    if (above !== null) return above.children?.get(local);
    const children = ROOTS.get(local);
    return children && { ...placesOf(''), collects: null, children };
  }

  #collect(what: Collects): void {
    if (what === 'entry') {
      this.#collecting = this.#entry.fill(undefined);
      this.#details = [];
      return;
    }
    this.#collecting =
      what === 'details' && this.#details.length === 0 ? this.#first.fill(undefined) : noTexts();
    if (what === 'report') {
      this.#report = this.#collecting;
      this.#balances = [];
    } else (what === 'balance' ? this.#balances : this.#details).push(this.#collecting);
  }

  text(piece: string): void {
    const element = this.#open.at(-1);
    if (this.#skipped === 0 && element && (element.children === null || element === STATUS))
      this.#text += piece;
  }

  close(): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const element = this.#open.pop();
    if (!element) return;
    const text = this.#text.trim();
    this.#text = '';
    if (text !== '') add(this.#collecting, element.place, text);
    if (element.collects === 'details') this.#collecting = this.#entry;
    else if (element.collects === 'entry') {
      this.#collecting = this.#report;
      this.#book();
    } else if (element.collects === 'balance') this.#collecting = this.#report;
    else if (element.collects === 'report') this.#endReport();
  }

  #endReport(): void {
    const flag = first(this.#report, 'StmtPgntn/LastPgInd', 'RptPgntn/LastPgInd');
    // A later report may be the last page of an earlier one.
    if (flag !== undefined) this.#isPart = isNo(flag);
    this.#accounts.add(this.#report);
    if (this.#accounts.areSeveral) this.#refuse('The XML has reports of several accounts');
    this.#compare(flag !== undefined && isNo(flag));
  }

  /** Compares the rows with the figures of the statement, if this is its last page and the first one is here too. */
  #compare(goesOn: boolean): void {
    const texts = this.#report;
    const page = first(texts, 'StmtPgntn/PgNb', 'RptPgntn/PgNb') ?? '1';
    const isFirst = /^0*1?$/.test(page);
    if (isFirst) this.#opening = this.#balance(OPENING, 'oldest');
    if (goesOn) return;
    const totalAt = (at: string) => ({
      sum: first(texts, `TxsSummry/${at}/Sum`),
      count: first(texts, `TxsSummry/${at}/NbOfNtries`),
    });
    const own = {
      ...{ opening: this.#opening, closing: this.#balance(CLOSING, 'newest') },
      ...(isFirst && { credits: totalAt('TtlCdtNtries'), debits: totalAt('TtlDbtNtries') }),
      ...(isFirst && { all: totalAt('TtlNtries') }),
    };
    const name = `The statement ${first(texts, 'Id') ?? ''}`.trim();
    this.#contradictions.push(...this.#check.contradictions(name, own));
    this.#opening = undefined;
    this.#check = new StatementCheck();
  }

  /** The balance of these types with the oldest or the newest day. One that cannot be read counts as missing. */
  #balance(types: readonly string[], which: 'oldest' | 'newest'): Money | undefined {
    const all = this.#balances.filter((texts) => types.includes(first(texts, 'Tp/CdOrPrtry/Cd') ?? ''));
    const inOrder = all.toSorted((a, b) => (dayAt(a) < dayAt(b) ? -1 : dayAt(a) > dayAt(b) ? 1 : 0));
    const texts = inOrder.at(which === 'oldest' ? 0 : -1);
    const amount =
      texts && decimalIn(`${first(texts, 'CdtDbtInd') === 'DBIT' ? '-' : ''}${first(texts, 'Amt')}`);
    return amount ? { amount, currency: first(texts, 'Amt/@Ccy') ?? '' } : undefined;
  }

  #book(): void {
    const entry = this.#entry;
    for (const [element, places] of ONCE)
      if (places.some((place) => typeof entry[place] === 'object'))
        this.#refuse(`An entry has more than one ${element}`);
    const status = first(entry, 'Sts') ?? first(entry, 'Sts/Cd', 'Sts/Prtry');
    // What is only information moves no money.
    if (status === 'INFO') return;
    const list = this.#listOf(status);
    const zone = this.#zone(first(this.#report, 'Acct/Id/IBAN') ?? null);
    const row = toRow(entry, this.#details, zone, this.#refuse);
    this.#check.add(row.transactionAmount, list === 'booked');
    this.#rows[list].push(row);
  }

  #listOf(status = ''): keyof AccountReport['transactions'] {
    if (status === 'BOOK') return 'booked';
    if (status === 'PDNG' || status === 'FUTR') return 'pending';
    return this.#refuse(`psd2 does not know the status ${JSON.stringify(status)} of an entry`);
  }

  result(): AccountReport {
    const isPart = this.#isPart || isNo(first(this.#header, 'GrpHdr/MsgPgntn/LastPgInd'));
    const contradictions = this.#contradictions;
    return { account: this.#accounts.only, transactions: this.#rows, isPart, contradictions };
  }
}

/** Whose reports a document has. */
class Accounts {
  readonly #ibans = new Set<string>();
  readonly #others = new Set<string>();
  readonly #currencies = new Set<string>();

  add(report: Texts): void {
    const [iban, other] = [first(report, 'Acct/Id/IBAN'), first(report, 'Acct/Id/Othr/Id')];
    const currency = first(report, 'Acct/Ccy');
    if (currency !== undefined) this.#currencies.add(currency);
    // Some banks write the IBAN where other numbers belong.
    const named = iban ?? (other !== undefined && isIban(compactIban(other)) ? other : undefined);
    if (named !== undefined) this.#ibans.add(compactIban(named));
    else if (other !== undefined) this.#others.add(other);
  }

  /** Two currencies of one number are two accounts. */
  get areSeveral(): boolean {
    return this.#ibans.size > 1 || this.#others.size > 1 || this.#currencies.size > 1;
  }

  get only(): { iban: string | undefined; bban: string | undefined } {
    return { iban: [...this.#ibans][0], bban: [...this.#others][0] };
  }
}

function dayAt(balance: Texts): string {
  return first(balance, 'Dt/Dt', 'Dt/DtTm') ?? '';
}

/** Whether a flag of XML is set to no. */
function isNo(flag: string | undefined): boolean {
  return flag === 'false' || flag === '0';
}

function noTexts(): Texts {
  return new Array<undefined>(PLACES.size).fill(undefined);
}

function add(texts: Texts, place: number, text: string): void {
  const before = texts[place];
  if (before === undefined) texts[place] = text;
  else if (typeof before === 'string') texts[place] = [before, text];
  else before.push(text);
}

function textsAt(texts: Texts, path: string): Texts[number] {
  return texts[PLACES.get(path) ?? -1];
}

// A report has many entries, and each is asked for some thirty texts: these make nothing that they do not give back.

/** The first text at one of two places. */
function first(texts: Texts, path: string, other?: string): string | undefined {
  const text = textsAt(texts, path) ?? (other === undefined ? undefined : textsAt(texts, other));
  return typeof text === 'object' ? text[0] : text;
}

/** What all payments of an entry have in common. */
function shared(details: readonly Texts[], path: string, other?: string): string | undefined {
  const [one] = details;
  const text = one && first(one, path, other);
  for (const each of details) if (first(each, path, other) !== text) return undefined;
  return text;
}

/** All texts at one or two places, each once. Undefined: there is none. */
function every(details: readonly Texts[], path: string, other?: string): string[] | undefined {
  let found: Set<string> | undefined;
  const keep = (text: string) => {
    found = (found ?? new Set()).add(text);
  };
  for (const each of details)
    for (const at of [textsAt(each, path), other === undefined ? undefined : textsAt(each, other)]) {
      if (typeof at === 'string') keep(at);
      else for (const text of at ?? []) keep(text);
    }
  return found && [...found];
}

function toRow(entry: Texts, details: readonly Texts[], zone: string, refuse: Refuse): ReportRow {
  const direction = first(entry, 'CdtDbtInd');
  if (direction !== 'DBIT' && direction !== 'CRDT')
    return refuse(`An entry is neither CRDT nor DBIT, but ${JSON.stringify(direction ?? '')}`);
  const currency = first(entry, 'Amt/@Ccy') ?? '';
  if (!/^[A-Z]{3}$/.test(currency)) return refuse(`An entry has the currency ${JSON.stringify(currency)}`);
  const amount = signed(first(entry, 'Amt'), direction === 'DBIT', refuse);
  // Of what is returned, the parties are those of the first payment: who was paid then has the money taken back.
  const isReturn =
    ['true', '1'].includes(first(entry, 'RvslInd') ?? '') ||
    every(details, 'RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry') !== undefined;
  const all = details.length === 0 ? [entry] : details;
  const words = [first(entry, 'AddtlNtryInf'), shared(all, 'AddtlTxInf')].filter(
    (text) => text !== undefined,
  );
  return rowOf({
    transactionAmount: { amount, currency },
    bookingDate: dayOf(first(entry, 'BookgDt/Dt', 'BookgDt/DtTm'), zone, refuse),
    valueDate: dayOf(first(entry, 'ValDt/Dt', 'ValDt/DtTm'), zone, refuse),
    transactionId: first(entry, 'AcctSvcrRef'),
    entryReference: first(entry, 'NtryRef'),
    ...factsOf(all, isReturn),
    customerReference: shared(all, 'Refs/PmtInfId') ?? first(entry, 'NtryDtls/Btch/PmtInfId'),
    additionalInformation: [...new Set(words)].join(' '),
    bankTransactionCode: isoCodeOf(entry),
    proprietaryBankTransactionCode: first(entry, 'BkTxCd/Prtry/Cd'),
    ...moneyOf(details.length === 1 && details[0] ? [details[0], entry] : [entry], currency),
    entryDetails:
      details.length > 1 ? details.map((each) => toPayment(each, direction, currency, isReturn)) : undefined,
  });
}

/** What all payments of an entry have in common. */
function factsOf(all: readonly Texts[], isReturn: boolean) {
  const [debtor, theCreditor] = isReturn ? [CREDITOR, DEBTOR] : [DEBTOR, CREDITOR];
  return {
    endToEndId: shared(all, 'Refs/EndToEndId'),
    mandateId: shared(all, 'Refs/MndtId'),
    debtorName: shared(all, debtor.name, debtor.newName),
    debtorAccount: shared(all, debtor.iban, debtor.account),
    creditorName: shared(all, theCreditor.name, theCreditor.newName),
    creditorAccount: shared(all, theCreditor.iban, theCreditor.account),
    creditorId: shared(all, 'RltdPties/Cdtr/Id/PrvtId/Othr/Id', 'RltdPties/Cdtr/Pty/Id/PrvtId/Othr/Id'),
    ultimateDebtor: shared(all, 'RltdPties/UltmtDbtr/Nm', 'RltdPties/UltmtDbtr/Pty/Nm'),
    ultimateCreditor: shared(all, 'RltdPties/UltmtCdtr/Nm', 'RltdPties/UltmtCdtr/Pty/Nm'),
    purposeCode: shared(all, 'Purp/Cd', 'Purp/Prtry'),
    returnReason: isReturn ? reasonOf(all) : undefined,
    remittanceInformationUnstructuredArray: every(all, 'RmtInf/Ustrd'),
    remittanceInformationStructuredArray: structuredOf(all),
  };
}

/** The code of a return, and the bank's words for it. */
function reasonOf(all: readonly Texts[]): string | undefined {
  const parts = [shared(all, 'RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry'), ...(every(all, 'RtrInf/AddtlInf') ?? [])];
  return parts.filter((text) => text !== undefined).join(' ');
}

/** A payment of a batch that was booked as one entry. */
function toPayment(details: Texts, direction: 'CRDT' | 'DBIT', currency: string, isReturn: boolean) {
  const at = ['Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/InstdAmt/Amt'].find(
    (path) => first(details, path) !== undefined && first(details, `${path}/@Ccy`) === currency,
  );
  const isDebit = (first(details, 'CdtDbtInd') ?? direction) === 'DBIT';
  const amount = at && decimalIn(`${isDebit ? '-' : ''}${first(details, at)}`);
  const payment: Record<string, unknown> = {};
  fill(payment, {
    transactionAmount: amount ? { amount, currency } : undefined,
    ...factsOf([details], isReturn),
    customerReference: first(details, 'Refs/PmtInfId'),
    additionalInformation: first(details, 'AddtlTxInf'),
    ...moneyOf([details], currency),
  });
  return payment;
}

/** Where the parties of a payment are. */
const [DEBTOR, CREDITOR] = [partyAt('RltdPties/Dbtr'), partyAt('RltdPties/Cdtr')];

function partyAt(at: string) {
  const [iban, account] = [`${at}Acct/Id/IBAN`, `${at}Acct/Id/Othr/Id`];
  return { name: `${at}/Nm`, newName: `${at}/Pty/Nm`, iban, account };
}

/** The references, then what stands beside them. */
function structuredOf(all: readonly Texts[]): string[] | undefined {
  const references = every(all, 'RmtInf/Strd/CdtrRefInf/Ref');
  const added = every(all, 'RmtInf/Strd/AddtlRmtInf');
  return references && added ? [...references, ...added] : (references ?? added);
}

/** Where money in other currencies and charges are. */
const MONEY = [...PLACES].filter(([at]) => /^(?:AmtDtls|Chrgs)\//.test(at)).map(([, place]) => place);

function hasMoney(texts: Texts): boolean {
  return MONEY.some((place) => texts[place] !== undefined);
}

function isoCodeOf(entry: Texts): string | undefined {
  const domain = first(entry, 'BkTxCd/Domn/Cd');
  const family = first(entry, 'BkTxCd/Domn/Fmly/Cd');
  const sub = first(entry, 'BkTxCd/Domn/Fmly/SubFmlyCd');
  return domain && family && sub ? `${domain}-${family}-${sub}` : undefined;
}

/** What was paid in another currency, and what the bank took for it. */
function moneyOf(places: readonly Texts[], currency: string) {
  const of = places.filter(hasMoney);
  if (of.length === 0) return undefined;
  const amountAt = (...paths: string[]) => {
    for (const texts of of)
      for (const path of paths) {
        const [amount, ccy] = [first(texts, path), first(texts, `${path}/@Ccy`)];
        if (amount !== undefined && ccy !== undefined) return { amount, currency: ccy };
      }
    return undefined;
  };
  const instructed = amountAt('AmtDtls/InstdAmt/Amt');
  const rate = of.flatMap((texts) =>
    ['InstdAmt', 'TxAmt', 'CntrValAmt'].flatMap((at) => first(texts, `AmtDtls/${at}/CcyXchg/XchgRate`) ?? []),
  )[0];
  return {
    instructedAmount: instructed && instructed.currency !== currency ? instructed : undefined,
    currencyExchange: rate === undefined ? undefined : { exchangeRate: rate },
    transactionFees: amountAt('Chrgs/TtlChrgsAndTaxAmt', 'Chrgs/Amt', 'Chrgs/Rcrd/Amt'),
  };
}
