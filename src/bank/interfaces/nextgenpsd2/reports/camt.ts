import type { Money } from '../../../../domain/decimal.ts';
import { decimalIn } from '../../../../domain/odd-values.ts';
import { isIban } from '../../../../domain/order/iban.ts';
import { compactIban } from '../../../../domain/order/sepa-text.ts';
import { gapBetween, StatementCheck } from '../../../../domain/statement-balances.ts';
import type { ZoneOfAnswer } from '../readings/zone.ts';
import { isNoReference } from '../wire/accounts.ts';
import {
  type AccountReport,
  type Refuse,
  type ReportedAccount,
  type ReportRow,
  reportDay,
  signedAmount,
} from './report.ts';
import { readXml, type XmlHandler, type XmlTag } from './xml.ts';

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

function placeNumber(at: string): number {
  const place = PLACES.get(at) ?? PLACES.size;
  PLACES.set(at, place);
  return place;
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
  Amt: true,
  CdtDbtInd: true,
  Refs: { AcctSvcrRef: true, TxId: true, PmtInfId: true, EndToEndId: true, MndtId: true },
  AmtDtls: AMOUNTS,
  Chrgs: CHARGES,
  RltdPties: {
    Dbtr: party,
    DbtrAcct: account,
    UltmtDbtr: party,
    Cdtr: creditor,
    CdtrAcct: account,
    UltmtCdtr: party,
  },
  Purp: code,
  RmtInf: { Ustrd: true, Strd: { CdtrRefInf: { Ref: true }, AddtlRmtInf: true } },
  RtrInf: { Rsn: code, AddtlInf: true },
  AddtlTxInf: true,
};

const ENTRY: Shape = {
  NtryRef: true,
  Amt: true,
  CdtDbtInd: true,
  RvslInd: true,
  AcctSvcrRef: true,
  AddtlNtryInf: true,
  BookgDt: day,
  ValDt: day,
  AmtDtls: AMOUNTS,
  Chrgs: CHARGES,
  BkTxCd: { Domn: { Cd: true, Fmly: { Cd: true, SubFmlyCd: true } }, Prtry: { Cd: true } },
  NtryDtls: { Btch: { PmtInfId: true }, TxDtls: DETAILS },
};

const pages: Shape = { PgNb: true, LastPgInd: true };
const total: Shape = { NbOfNtries: true, Sum: true };
const net: Shape = { TtlNetNtryAmt: true, CdtDbtInd: true, TtlNetNtry: { Amt: true, CdtDbtInd: true } };
const BALANCE: Shape = { Tp: { CdOrPrtry: { Cd: true } }, Amt: true, CdtDbtInd: true, Dt: day };
const REPORT: Shape = {
  Id: true,
  ElctrncSeqNb: true,
  Acct: { ...account, Ccy: true },
  StmtPgntn: pages,
  RptPgntn: pages,
  Bal: BALANCE,
  Ntry: ENTRY,
  TxsSummry: { TtlNtries: { ...total, ...net }, TtlCdtNtries: total, TtlDbtNtries: total },
};
const HEADER: Shape = { MsgPgntn: pages };

/** What each of these elements collects. */
const COLLECTS: Readonly<Record<string, Collects>> = {
  Stmt: 'report',
  Rpt: 'report',
  Bal: 'balance',
  Ntry: 'entry',
  TxDtls: 'details',
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
  return { place: placeNumber(at), currency: placeNumber(`${at}/@Ccy`) };
}

/** Where a text is, and where it is instead in other versions or at other banks. The same twice: there is no other place. */
interface Place {
  readonly at: number;
  readonly or: number;
}

/** @throws TypeError for a path that is in no shape above */
function at(path: string, other = path): Place {
  const [place, otherPlace] = [PLACES.get(path), PLACES.get(other)];
  if (place === undefined || otherPlace === undefined) throw new TypeError(`${path} is not read`);
  return { at: place, or: otherPlace };
}

/** An amount, and its currency. */
const moneyAt = (path: string) => ({ amount: at(path), currency: at(`${path}/@Ccy`) });
const partyAt = (path: string) => ({
  name: at(`${path}/Nm`, `${path}/Pty/Nm`),
  account: at(`${path}Acct/Id/IBAN`, `${path}Acct/Id/Othr/Id`),
});
const totalAt = (path: string) => ({ sum: at(`${path}/Sum`), count: at(`${path}/NbOfNtries`) });

/** The places of a report or its header. */
const OF_REPORT = {
  id: at('Id'),
  number: at('ElctrncSeqNb'),
  iban: at('Acct/Id/IBAN'),
  otherId: at('Acct/Id/Othr/Id'),
  currency: at('Acct/Ccy'),
  page: at('StmtPgntn/PgNb', 'RptPgntn/PgNb'),
  isLastPage: at('StmtPgntn/LastPgInd', 'RptPgntn/LastPgInd'),
  isLastMessage: at('GrpHdr/MsgPgntn/LastPgInd'),
  all: totalAt('TxsSummry/TtlNtries'),
  net: at('TxsSummry/TtlNtries/TtlNetNtryAmt', 'TxsSummry/TtlNtries/TtlNetNtry/Amt'),
  netDirection: at('TxsSummry/TtlNtries/CdtDbtInd', 'TxsSummry/TtlNtries/TtlNetNtry/CdtDbtInd'),
  credits: totalAt('TxsSummry/TtlCdtNtries'),
  debits: totalAt('TxsSummry/TtlDbtNtries'),
};
/** Those of a balance. */
const OF_BALANCE = { type: at('Tp/CdOrPrtry/Cd'), day: at('Dt/Dt', 'Dt/DtTm') };
/** Those of a balance, an entry and a payment. */
const [AMOUNT, DIRECTION] = [moneyAt('Amt'), at('CdtDbtInd')];
/** Those of an entry. */
const OF_ENTRY = {
  status: at('Sts'),
  statusCode: at('Sts/Cd', 'Sts/Prtry'),
  isReversal: at('RvslInd'),
  bookingDay: at('BookgDt/Dt', 'BookgDt/DtTm'),
  valueDay: at('ValDt/Dt', 'ValDt/DtTm'),
  bankReference: at('AcctSvcrRef'),
  reference: at('NtryRef'),
  batchId: at('NtryDtls/Btch/PmtInfId'),
  domain: at('BkTxCd/Domn/Cd'),
  family: at('BkTxCd/Domn/Fmly/Cd'),
  subFamily: at('BkTxCd/Domn/Fmly/SubFmlyCd'),
  bankCode: at('BkTxCd/Prtry/Cd'),
  words: at('AddtlNtryInf'),
};
/** Those of a payment of an entry. */
const OF_PAYMENT = {
  bankReference: at('Refs/AcctSvcrRef'),
  transactionId: at('Refs/TxId'),
  paymentId: at('Refs/PmtInfId'),
  endToEndId: at('Refs/EndToEndId'),
  mandateId: at('Refs/MndtId'),
  debtor: partyAt('RltdPties/Dbtr'),
  creditor: partyAt('RltdPties/Cdtr'),
  creditorId: at('RltdPties/Cdtr/Id/PrvtId/Othr/Id', 'RltdPties/Cdtr/Pty/Id/PrvtId/Othr/Id'),
  ultimateDebtor: at('RltdPties/UltmtDbtr/Nm', 'RltdPties/UltmtDbtr/Pty/Nm'),
  ultimateCreditor: at('RltdPties/UltmtCdtr/Nm', 'RltdPties/UltmtCdtr/Pty/Nm'),
  purpose: at('Purp/Cd', 'Purp/Prtry'),
  unstructured: at('RmtInf/Ustrd'),
  structured: at('RmtInf/Strd/CdtrRefInf/Ref'),
  besideStructured: at('RmtInf/Strd/AddtlRmtInf'),
  returnCode: at('RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry'),
  returnWords: at('RtrInf/AddtlInf'),
  words: at('AddtlTxInf'),
};
/** The amounts of a payment, the one of its account first. */
const PAID = [AMOUNT, moneyAt('AmtDtls/TxAmt/Amt'), moneyAt('AmtDtls/InstdAmt/Amt')];
/** Money in other currencies and charges, of an entry or a payment. */
const ORDERED = [moneyAt('AmtDtls/InstdAmt/Amt')];
const RATES = ['InstdAmt', 'TxAmt', 'CntrValAmt'].map((name) => at(`AmtDtls/${name}/CcyXchg/XchgRate`));
const FEES = [moneyAt('Chrgs/TtlChrgsAndTaxAmt'), moneyAt('Chrgs/Amt'), moneyAt('Chrgs/Rcrd/Amt')];
/** All of these places. */
const MONEY = [...PLACES].filter(([path]) => /^(?:AmtDtls|Chrgs)\//.test(path)).map(([, place]) => place);

/** What an entry has once: of two, nobody knows which one is true. */
const ONCE = new Map(
  [
    'Amt',
    'Amt/@Ccy',
    'CdtDbtInd',
    'Sts',
    'Sts/Cd',
    'Sts/Prtry',
    'RvslInd',
    'BookgDt',
    'BookgDt/Dt',
    'BookgDt/DtTm',
  ].map((path) => [placeNumber(path), path.split('/')[0]]),
);

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:camt\.05[23]\.001\.(0[2-9]|1[0-3])$/;

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
  return readXml(text, (refuse) => new Reader(zone, refuse), fail).result();
}

/** Follows the elements, and makes a row of each entry. */
class Reader implements XmlHandler {
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
  /** The number of the statement before, and the balance with which it ends. */
  #before: { number: number; closing: Money | undefined } | undefined;
  #contradictions: string[] = [];

  constructor(zone: ZoneOfAnswer, refuse: Refuse) {
    this.#zone = zone;
    this.#refuse = refuse;
  }

  open(tag: XmlTag): void {
    this.#text = '';
    if (this.#open.length + this.#skipped === DEEPEST)
      this.#refuse(`The XML has more than ${DEEPEST} elements in one another`);
    const colon = tag.name.indexOf(':');
    const local = colon === -1 ? tag.name : tag.name.slice(colon + 1);
    if (this.#open.length === 0) {
      this.#begin(tag, colon === -1 ? '' : tag.name.slice(0, colon), local);
      return;
    }
    const child = this.#skipped === 0 ? this.#childOf(this.#open.at(-1) ?? null, local) : undefined;
    if (!child) {
      this.#skipped += 1;
      return;
    }
    this.#open.push(child);
    if (child.collects !== null) this.#collect(child.collects);
    const currency = child.children === null ? tag.attributes.Ccy : undefined;
    if (currency !== undefined) add(this.#collecting, child.currency, currency);
  }

  /** The root is in the stack as null. */
  #begin({ attributes }: XmlTag, prefix: string, local: string): void {
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
    const flag = first(this.#report, OF_REPORT.isLastPage);
    // A later report may be the last page of an earlier one.
    if (flag !== undefined) this.#isPart = isNo(flag);
    this.#accounts.add(this.#report, this.#balances);
    if (this.#accounts.areSeveral) this.#refuse('The XML has reports of several accounts');
    this.#compare(flag !== undefined && isNo(flag));
  }

  /** Compares the rows with the figures of the statement, if this is its last page and the first one is here too. */
  #compare(goesOn: boolean): void {
    const texts = this.#report;
    const page = first(texts, OF_REPORT.page) ?? '1';
    const isFirst = /^0*1?$/.test(page);
    if (isFirst) this.#opening = this.#balance(OPENING, 'oldest');
    if (goesOn) return;
    const total = ({ sum, count }: ReturnType<typeof totalAt>) => ({
      sum: first(texts, sum),
      count: first(texts, count),
    });
    const [opening, closing] = [this.#opening, this.#balance(CLOSING, 'newest')];
    const own = {
      opening,
      closing,
      ...(isFirst && { credits: total(OF_REPORT.credits), debits: total(OF_REPORT.debits) }),
      ...(isFirst && { all: total(OF_REPORT.all), net: netOf(texts) }),
    };
    const name = `The statement ${first(texts, OF_REPORT.id) ?? ''}`.trim();
    this.#contradictions.push(...this.#check.contradictions(name, own));
    const number = Number(first(texts, OF_REPORT.number));
    if (this.#before?.number === number - 1)
      this.#contradictions.push(...gapBetween(name, this.#before.closing, opening));
    this.#before = { number, closing };
    this.#opening = undefined;
    this.#check = new StatementCheck();
  }

  /** The balance of these types with the oldest or the newest day. One that cannot be read counts as missing. */
  #balance(types: readonly string[], which: 'oldest' | 'newest'): Money | undefined {
    const all = this.#balances.filter((texts) => types.includes(word(texts, OF_BALANCE.type) ?? ''));
    const inOrder = all.toSorted((a, b) => (dayAt(a) < dayAt(b) ? -1 : dayAt(a) > dayAt(b) ? 1 : 0));
    const texts = inOrder.at(which === 'oldest' ? 0 : -1);
    const amount =
      texts && decimalIn(`${word(texts, DIRECTION) === 'DBIT' ? '-' : ''}${first(texts, AMOUNT.amount)}`);
    return amount ? { amount, currency: first(texts, AMOUNT.currency) ?? '' } : undefined;
  }

  #book(): void {
    const entry = this.#entry;
    for (const [place, element] of ONCE)
      if (typeof entry[place] === 'object') this.#refuse(`An entry has more than one ${element}`);
    const status = word(entry, OF_ENTRY.status) ?? word(entry, OF_ENTRY.statusCode);
    // What is only information moves no money.
    if (status === 'INFO') return;
    const list = this.#listOf(status);
    const zone = this.#zone(first(this.#report, OF_REPORT.iban) ?? null);
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
    const isPart = this.#isPart || isNo(first(this.#header, OF_REPORT.isLastMessage));
    const contradictions = this.#contradictions;
    return { account: this.#accounts.only, transactions: this.#rows, isPart, contradictions };
  }
}

/** Whose reports a document has. */
class Accounts {
  readonly #ibans = new Set<string>();
  readonly #others = new Set<string>();
  readonly #currencies = new Set<string>();

  add(report: Texts, balances: readonly Texts[]): void {
    const [iban, other] = [first(report, OF_REPORT.iban), first(report, OF_REPORT.otherId)];
    const currency = first(report, OF_REPORT.currency)?.toUpperCase() ?? currencyOf(balances);
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

  get only(): ReportedAccount {
    return { iban: [...this.#ibans][0], bban: [...this.#others][0], currency: [...this.#currencies][0] };
  }
}

/** The sum of all entries that a report says. */
function netOf(report: Texts) {
  const direction = word(report, OF_REPORT.netDirection);
  return {
    amount: first(report, OF_REPORT.net),
    isDebit: direction === undefined ? undefined : direction === 'DBIT',
  };
}

/** The currency that all booked balances have. */
function currencyOf(balances: readonly Texts[]): string | undefined {
  const booked = balances.filter((texts) =>
    [...OPENING, ...CLOSING].includes(word(texts, OF_BALANCE.type) ?? ''),
  );
  return shared(booked, AMOUNT.currency);
}

function dayAt(balance: Texts): string {
  return first(balance, OF_BALANCE.day) ?? '';
}

/** Whether a flag of XML is set to no. */
function isNo(flag: string | undefined): boolean {
  return /^(?:false|0)$/i.test(flag ?? '');
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

/** The first text at a place. */
function first(texts: Texts, { at, or }: Place): string | undefined {
  const text = texts[at] ?? texts[or];
  return typeof text === 'object' ? text[0] : text;
}

/** The first text at a place that has one of few words. Banks write them in other case, too. */
function word(texts: Texts, place: Place): string | undefined {
  return first(texts, place)?.toUpperCase();
}

/** What all payments of an entry have in common. */
function shared(payments: readonly Texts[], place: Place): string | undefined {
  const [one] = payments;
  const text = one && first(one, place);
  for (const each of payments) if (first(each, place) !== text) return undefined;
  return text;
}

/** All texts at a place, each once. Undefined: there is none. */
function every(payments: readonly Texts[], { at, or }: Place): string[] | undefined {
  const all: string[] = [];
  for (const texts of payments) {
    push(all, texts[at]);
    if (or !== at) push(all, texts[or]);
  }
  if (all.length === 0) return undefined;
  return all.length === 1 ? all : [...new Set(all)];
}

function push(all: string[], text: Texts[number]): void {
  if (typeof text === 'string') all.push(text);
  else for (const each of text ?? []) all.push(each);
}

function toRow(entry: Texts, payments: readonly Texts[], zone: string, refuse: Refuse): ReportRow {
  const direction = word(entry, DIRECTION);
  if (direction !== 'DBIT' && direction !== 'CRDT')
    return refuse(`An entry is neither CRDT nor DBIT, but ${JSON.stringify(direction ?? '')}`);
  const currency = first(entry, AMOUNT.currency) ?? '';
  if (!/^[A-Z]{3}$/.test(currency)) return refuse(`An entry has the currency ${JSON.stringify(currency)}`);
  const amount = signedAmount(first(entry, AMOUNT.amount), direction === 'DBIT', refuse);
  // Of what is returned, the parties are those of the first payment: who was paid then has the money taken back.
  const isReturn =
    ['TRUE', '1'].includes(word(entry, OF_ENTRY.isReversal) ?? '') ||
    payments.some(
      (each) => (first(each, OF_PAYMENT.returnCode) ?? first(each, OF_PAYMENT.returnWords)) !== undefined,
    );
  const all = payments.length === 0 ? [entry] : payments;
  return {
    transactionAmount: { amount, currency },
    bookingDate: reportDay(first(entry, OF_ENTRY.bookingDay), zone, refuse),
    valueDate: reportDay(first(entry, OF_ENTRY.valueDay), zone, refuse),
    transactionId: bankIdOf(entry, all),
    entryReference: first(entry, OF_ENTRY.reference),
    customerReference: shared(all, OF_PAYMENT.paymentId) ?? first(entry, OF_ENTRY.batchId),
    additionalInformation: entryWords(entry, all),
    bankTransactionCode: isoCodeOf(entry),
    proprietaryBankTransactionCode: first(entry, OF_ENTRY.bankCode),
    entryDetails:
      payments.length > 1
        ? payments.map((each) => toPayment(each, direction, currency, isReturn))
        : undefined,
    ...sharedFacts(all, isReturn),
    ...moneyOf(payments.length === 1 && payments[0] ? [payments[0], entry] : [entry], currency),
  };
}

/** The bank's reference of the entry. Some banks have it only below: that of all its payments. */
function bankIdOf(entry: Texts, all: readonly Texts[]): string | undefined {
  const ids = [
    first(entry, OF_ENTRY.bankReference),
    shared(all, OF_PAYMENT.bankReference),
    shared(all, OF_PAYMENT.transactionId),
  ];
  return ids.find((id) => id !== undefined && !isNoReference(id));
}

/** What all payments of an entry have in common. */
function sharedFacts(all: readonly Texts[], isReturn: boolean) {
  const [debtor, creditor] = isReturn
    ? [OF_PAYMENT.creditor, OF_PAYMENT.debtor]
    : [OF_PAYMENT.debtor, OF_PAYMENT.creditor];
  return {
    endToEndId: shared(all, OF_PAYMENT.endToEndId),
    mandateId: shared(all, OF_PAYMENT.mandateId),
    debtorName: shared(all, debtor.name),
    debtorAccount: shared(all, debtor.account),
    creditorName: shared(all, creditor.name),
    creditorAccount: shared(all, creditor.account),
    creditorId: shared(all, OF_PAYMENT.creditorId),
    ultimateDebtor: shared(all, OF_PAYMENT.ultimateDebtor),
    ultimateCreditor: shared(all, OF_PAYMENT.ultimateCreditor),
    purposeCode: shared(all, OF_PAYMENT.purpose),
    returnReason: isReturn ? returnReason(all) : undefined,
    remittanceInformationUnstructuredArray: every(all, OF_PAYMENT.unstructured),
    remittanceInformationStructuredArray: structuredOf(all),
  };
}

/** What the bank adds to the entry, and to all its payments. */
function entryWords(entry: Texts, all: readonly Texts[]): string | undefined {
  const [ofEntry, ofPayments] = [first(entry, OF_ENTRY.words), shared(all, OF_PAYMENT.words)];
  if (ofEntry === undefined || ofEntry === ofPayments) return ofPayments;
  return ofPayments === undefined ? ofEntry : `${ofEntry} ${ofPayments}`;
}

/** The code of a return, and the bank's words for it. */
function returnReason(all: readonly Texts[]): string | undefined {
  const parts = [shared(all, OF_PAYMENT.returnCode), ...(every(all, OF_PAYMENT.returnWords) ?? [])];
  return parts.filter((text) => text !== undefined).join(' ');
}

/** A payment of a batch that was booked as one entry. */
function toPayment(payment: Texts, direction: 'CRDT' | 'DBIT', currency: string, isReturn: boolean) {
  const paid = PAID.find(
    (money) => first(payment, money.amount) !== undefined && first(payment, money.currency) === currency,
  );
  const isDebit = (word(payment, DIRECTION) ?? direction) === 'DBIT';
  const amount = paid && decimalIn(`${isDebit ? '-' : ''}${first(payment, paid.amount)}`);
  return {
    transactionAmount: amount ? { amount, currency } : undefined,
    customerReference: first(payment, OF_PAYMENT.paymentId),
    additionalInformation: first(payment, OF_PAYMENT.words),
    ...sharedFacts([payment], isReturn),
    ...moneyOf([payment], currency),
  };
}

/** The references, then what stands beside them. */
function structuredOf(all: readonly Texts[]): string[] | undefined {
  const references = every(all, OF_PAYMENT.structured);
  const added = every(all, OF_PAYMENT.besideStructured);
  return references && added ? [...references, ...added] : (references ?? added);
}

function hasMoney(texts: Texts): boolean {
  return MONEY.some((place) => texts[place] !== undefined);
}

function isoCodeOf(entry: Texts): string | undefined {
  const domain = first(entry, OF_ENTRY.domain);
  const family = first(entry, OF_ENTRY.family);
  const sub = first(entry, OF_ENTRY.subFamily);
  return domain && family && sub ? `${domain}-${family}-${sub}` : undefined;
}

/** What was paid in another currency, and what the bank took for it. */
function moneyOf(places: readonly Texts[], currency: string) {
  const of = places.filter(hasMoney);
  if (of.length === 0) return undefined;
  const moneyIn = (money: ReturnType<typeof moneyAt>[]) => {
    for (const texts of of)
      for (const each of money) {
        const [amount, ccy] = [first(texts, each.amount), first(texts, each.currency)];
        if (amount !== undefined && ccy !== undefined) return { amount, currency: ccy };
      }
    return undefined;
  };
  const instructed = moneyIn(ORDERED);
  const rate = of.flatMap((texts) => RATES.flatMap((place) => first(texts, place) ?? []))[0];
  return {
    instructedAmount: instructed && instructed.currency !== currency ? instructed : undefined,
    currencyExchange: rate === undefined ? undefined : { exchangeRate: rate },
    transactionFees: moneyIn(FEES),
  };
}
