import { addDays, type IsoDate, isIsoDate } from '../../../../domain/calendar.ts';
import { isCurrency } from '../../../../domain/currency.ts';
import type { Money } from '../../../../domain/decimal.ts';
import { decimalIn } from '../../../../domain/odd-values.ts';
import { isIban } from '../../../../domain/order/iban.ts';
import { compactIban } from '../../../../domain/order/sepa-text.ts';
import { gapBetween, StatementCheck } from '../../../../domain/statement-balances.ts';
import { type Field, fieldsOf } from './mt940-fields.ts';
import { type Information, informationIn } from './mt940-information.ts';
import {
  type AccountReport,
  filledRow,
  type Refuse,
  type ReportedAccount,
  type ReportRow,
  signedAmount,
} from './report.ts';

/**
 * Reads statements of an account in SWIFT's MT940 and MT942, one or several, with or without the frames of a message. What an
 * interim report has is not booked yet.
 *
 * No package reads it here: two that were looked at read amounts through floats, and the third brings two more for numbers and
 * dates.
 *
 * @param fail what to throw: the sentence has the place
 * @param listedCurrency of the account, where a list had it. An interim report may have none
 */
export function readMt940(
  text: string,
  fail: (what: string) => never,
  listedCurrency?: string,
): AccountReport {
  const refuseAt = (what: string, line: number) => fail(`${what}, at line ${line}`);
  const transactions: AccountReport['transactions'] = { booked: [], pending: [] };
  const contradictions: string[] = [];
  const accounts = new Accounts();
  let before: Statement | undefined;
  for (const message of messagesOf(fieldsOf(text, refuseAt))) {
    const statement = new Statement(refuseAt);
    for (const field of message) statement.read(field);
    const { rows, isInterim, contradictions: own } = statement.end(listedCurrency);
    for (const row of rows) transactions[isInterim ? 'pending' : 'booked'].push(row);
    contradictions.push(...own);
    accounts.add(statement);
    // An interim report says nothing of the statements around it.
    if (isInterim) continue;
    if (before && statement.follows(before))
      contradictions.push(...gapBetween(statement.name, before.closing, statement.opening));
    before = statement;
  }
  // Only the last part of a statement ends with `62F`.
  const isPart = before?.isPart ?? false;
  return { account: accounts.only(fail), transactions, isPart, contradictions };
}

/** Each message begins with `:20:`. */
function* messagesOf(fields: Iterable<Field>): Generator<Field[]> {
  let message: Field[] = [];
  for (const field of fields) {
    if (field.tag === '20' && message.length > 0) {
      yield message;
      message = [];
    }
    message.push(field);
  }
  if (message.length > 0) yield message;
}

/** Whose statements a file has. */
class Accounts {
  readonly #named = new Set<string>();
  readonly #currencies = new Set<string>();

  add({ account, currency }: Statement): void {
    if (account === undefined) return;
    this.#named.add(account);
    for (const each of [currency, currencyOfAccount(account)])
      if (each !== undefined) this.#currencies.add(each);
  }

  /** @throws what `fail` throws for statements of no account, or of several */
  only(fail: (what: string) => never): ReportedAccount {
    if (this.#named.size === 0) fail('The statement names no account');
    const ibans = [...new Set([...this.#named].flatMap((each) => ibanIn(each) ?? []))];
    const bbans = [...this.#named].filter((each) => ibanIn(each) === undefined);
    // Two currencies of one number are two accounts.
    if (this.#currencies.size > 1 || ibans.length > 1 || bbans.length > 1)
      fail('The file has statements of several accounts');
    return { iban: ibans[0], bban: bbans[0], currency: [...this.#currencies][0] };
  }
}

/** The IBAN in the account of a statement. Banks write a BIC before it and the currency after it. */
function ibanIn(account: string): string | undefined {
  const written = /[A-Z]{2}\d{2}[A-Z0-9]{11,33}$/.exec(account)?.[0];
  const bare = written?.replace(/(?<=.{15})[A-Z]{3}$/, '');
  return [written, bare].find((each) => each !== undefined && isIban(each)) ?? bare;
}

/** The currency after the number of an account: `0532013000EUR`. */
function currencyOfAccount(account: string): string | undefined {
  const [, currency = ''] = /\d\/?([A-Z]{3})$/.exec(account) ?? [];
  return isCurrency(currency) && !isIban(account) ? currency : undefined;
}

/** The number of a statement: `7`, or `00007/001` with that of its part. */
function statementNumberIn(value: string): number | undefined {
  const [, number] = /^0*(\d{1,5})(?:\/|\s*$)/.exec(value) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** A balance: `C210330EUR1000,00`. */
const BALANCE = /^([CD])\d{6}([A-Z]{3})?\s*(\d{0,18},?\d{0,6})\s*$/;

/** One message: the fields of a statement or an interim report. */
class Statement {
  account: string | undefined;
  currency: string | undefined;
  readonly #refuseAt: (what: string, line: number) => never;
  readonly #entries: { field: Field; information: string[][] }[] = [];
  #line = 1;
  #lastTag = '';
  #hasFloorLimit = false;
  #hasTime = false;
  opening: Money | undefined;
  closing: Money | undefined;
  /** The tags of the balances: `60F` or `60M`, `62F` or `62M`. */
  #openedBy: string | undefined;
  #closedBy: string | undefined;
  #number: number | undefined;
  /** That of the sums of an interim report. */
  #sumCurrency: string | undefined;

  constructor(refuseAt: (what: string, line: number) => never) {
    this.#refuseAt = refuseAt;
  }

  /** Its last part follows in another message. */
  get isPart(): boolean {
    return this.#closedBy === '62M';
  }

  /** In words. */
  get name(): string {
    return `The statement up to line ${this.#line}`;
  }

  /** Whether it begins where another ends: both are parts of one, or their numbers follow each other. */
  follows(before: Statement): boolean {
    if (before.isPart || this.#openedBy === '60M') return true;
    return this.#number !== undefined && this.#number - 1 === before.#number;
  }

  read(field: Field): void {
    const { tag, lines, line } = field;
    const [value = ''] = lines;
    this.#line = line;
    if (tag === '25' || tag === '25P') this.#name(compactIban(value));
    else if (tag === '28' || tag === '28C') this.#number = statementNumberIn(value);
    else if (tag === '60F' || tag === '60M') this.#open(tag, value);
    else if (tag === '62F' || tag === '62M') this.#close(tag, value);
    else if (tag === '34F') this.#limit(value);
    else if (tag === '90C' || tag === '90D') this.#sumCurrency = /^\d{1,5}([A-Z]{3})/.exec(value)?.[1];
    else if (tag === '13D' || tag === '13') this.#hasTime = true;
    else if (tag === '61') this.#entries.push({ field, information: [] });
    // What follows a closing balance is about the whole statement.
    else if (tag === '86' && (this.#lastTag === '61' || this.#lastTag === '86'))
      this.#entries.at(-1)?.information.push(lines);
    if (tag !== 'NS') this.#lastTag = tag;
  }

  #name(account: string): void {
    if (this.account !== undefined && this.account !== account)
      this.#refuse('The statement names two accounts');
    this.account = account;
  }

  #open(tag: string, value: string): void {
    this.opening = this.#balanceIn(value, 'opening');
    this.#openedBy = tag;
    this.currency = this.opening.currency;
  }

  #close(tag: string, value: string): void {
    this.closing = this.#balanceIn(value, 'closing');
    this.#closedBy = tag;
  }

  #balanceIn(value: string, which: string): Money {
    // A closing balance without a currency has that of the opening one.
    const [, mark, currency = this.currency, digits = ''] = BALANCE.exec(value) ?? [];
    const amount = decimalIn(`${mark === 'D' ? '-' : ''}${decimalOf(digits)}`);
    return currency === undefined || amount === null
      ? this.#refuse(`The ${which} balance has no currency, or no amount`)
      : { currency, amount };
  }

  #limit(value: string): void {
    this.currency ??= /^([A-Z]{3})/.exec(value)?.[1] ?? this.#refuse('The floor limit has no currency');
    this.#hasFloorLimit = true;
  }

  #refuse(what: string): never {
    return this.#refuseAt(what, this.#line);
  }

  /**
   * @param listedCurrency of the account, for a report that has none
   * @throws what the refusal throws for a statement whose end is missing
   */
  end(listedCurrency?: string): { rows: ReportRow[]; isInterim: boolean; contradictions: string[] } {
    const { opening, closing } = this;
    this.currency ??= this.#sumCurrency;
    const isInterim = this.#hasFloorLimit || (this.#hasTime && !closing);
    if (opening && !closing && !isInterim)
      this.#refuse('The statement has no closing balance, so its end is missing');
    const rows = this.#entries.map(({ field, information }) =>
      this.#rowOf(field, information, listedCurrency),
    );
    const check = new StatementCheck();
    for (const { transactionAmount } of rows) check.add(transactionAmount, true);
    return { rows, isInterim, contradictions: check.contradictions(this.name, { opening, closing }) };
  }

  #rowOf(field: Field, information: readonly string[][], listedCurrency: string | undefined): ReportRow {
    const refuse: Refuse = (what) => this.#refuseAt(what, field.line);
    const currency =
      this.currency ??
      (this.account && currencyOfAccount(this.account)) ??
      listedCurrency ??
      refuse('The currency of the account is missing');
    return toRow(field, informationIn(information), currency, refuse);
  }
}

/**
 * `:61:` from the left: days, direction, amount, kind, the customer's reference and the bank's. What psd2 needs is before the
 * references. A kind of two letters has a blank after it.
 */
const ENTRY =
  /^(\d{6})(\d{4}|\s{4})?\s*(RC|RD|EC|ED|C|D)([A-Z])?\s*(\d{1,18}(?:,\d{0,6})?|,\d{1,6})\s*([A-Z](?:[A-Z0-9]{3}|[A-Z0-9]{2}(?:\s|$)|\s{3}))(.*?)(?:\/\/(.*))?$/;

/** What stands for the reference that is in `:86:`, and for none. */
const NO_REFERENCE = /^(?:NONREF|[A-Z]REF\+?|MARF)$/;

function toRow({ lines }: Field, information: Information, currency: string, refuse: Refuse): ReportRow {
  const { entry, added } = entryIn(lines, refuse);
  const [, value = '', booked = '', mark = '', , amount = '', kind, customers = '', banks = ''] = entry;
  const valueDate = reportedDay(`20${value.slice(0, 2)}-${value.slice(2, 4)}-${value.slice(4)}`, refuse);
  // A reversed credit takes money away. `EC` and `ED` are expected, and are as `C` and `D`.
  const isDebit = ['D', 'RC', 'ED'].includes(mark);
  const side = isDebit ? 'creditor' : 'debtor';
  const { name, account, customerReference, additionalInformation, original, charges, ...rest } = information;
  const own = customers.trim();
  const amounts = amountsIn(added);
  const [ordered, fees] = [moneyIn(original, currency), moneyIn(charges, currency)];
  const unread = [original && !ordered && `OAMT+${original}`, charges && !fees && `COAM+${charges}`];
  return filledRow({
    transactionAmount: { amount: signedAmount(decimalOf(amount), isDebit, refuse), currency },
    bookingDate: booked.trim() === '' ? undefined : bookingDay(valueDate, booked, refuse),
    valueDate,
    transactionId: banks.trim(),
    proprietaryBankTransactionCode: kind?.trim(),
    customerReference: own === '' || NO_REFERENCE.test(own) ? customerReference : own,
    additionalInformation: [additionalInformation, amounts.rest, ...unread].filter(Boolean).join(' '),
    [`${side}Name`]: name,
    [`${side}Account`]: account,
    originalAmount: amounts.original ?? ordered,
    transactionFees: amounts.charges ?? fees,
    ...rest,
  });
}

/** An entry can go on in lines that only complete the one before. What follows it is what the bank adds. */
function entryIn(lines: readonly string[], refuse: Refuse): { entry: RegExpExecArray; added: string } {
  for (let count = 1; count <= lines.length; count += 1) {
    const entry = ENTRY.exec(lines.slice(0, count).join('').trimEnd());
    if (!entry) continue;
    const [next = '', ...more] = lines.slice(count);
    // The bank's reference has 16 characters at most.
    const goesOn = more.length > 0 && /^\d{1,5}$/.test(next) && /\d$/.test(entry[8] ?? '');
    if (!goesOn || `${entry[8]}${next}`.length > 16) return { entry, added: lines.slice(count).join(' ') };
    return { entry: ENTRY.exec(`${entry[0]}${next}`) ?? entry, added: more.join(' ') };
  }
  return refuse('A field :61: has another form than MT940 has');
}

/** MT940 has a comma, and nothing after it in whole amounts. */
function decimalOf(amount: string): string {
  return amount.replace(',', '.');
}

/** The day of booking has no year: it is that in which it is next to the value day. */
function bookingDay(valueDate: IsoDate, monthAndDate: string, refuse: Refuse): IsoDate {
  const [month, date] = [monthAndDate.slice(0, 2), monthAndDate.slice(2)];
  const year = Number(valueDate.slice(0, 4));
  const isNear = (day: string) => day > addDays(valueDate, -183) && day < addDays(valueDate, 183);
  const days = [year, year - 1, year + 1].map((each) => `${each}-${month}-${date}`);
  return reportedDay(days.find(isNear) ?? days[0] ?? '', refuse);
}

function reportedDay(text: string, refuse: Refuse): IsoDate {
  if (isIsoDate(text)) return text;
  // In the calendar of German banks every month has 30 days.
  const [, year] = /^(\d{4})-02-(?:29|30)$/.exec(text) ?? [];
  const first = `${year}-03-01`;
  return year !== undefined && isIsoDate(first) ? addDays(first, -1) : refuse(`${text} is not a day`);
}

/** Money as it is written. */
type Said = ReportRow['transactionAmount'];

/** German banks write what was paid in another currency, and their charges, into the second line of `:61:`. */
function amountsIn(added: string): { original?: Said; charges?: Said; rest: string } {
  const at = (code: string): Said | undefined => {
    const [, currency, amount] =
      new RegExp(`/${code}/([A-Z]{3})(\\d{1,15}(?:,\\d{0,6})?)/`).exec(added) ?? [];
    return currency === undefined || amount === undefined
      ? undefined
      : { amount: decimalOf(amount), currency };
  };
  const [original, charges] = [at('OCMT'), at('CHGS')];
  const rest = added.replace(/\/(?:OCMT|CHGS)\/[A-Z]{3}\d{1,15}(?:,\d{0,6})?\//g, ' ').trim();
  return { ...(original && { original }), ...(charges && { charges }), rest };
}

/** An amount in `:86:`. Most banks write no currency: `11,85`, `USD 3,00`, `EUR0,50`. */
function moneyIn(text: string | undefined, currency: string): Said | undefined {
  const [, before, amount, after] =
    /^([A-Z]{3})?\s*(\d{1,15}(?:,\d{0,6})?)\s*([A-Z]{3})?$/.exec(text ?? '') ?? [];
  return amount === undefined
    ? undefined
    : { amount: decimalOf(amount), currency: before ?? after ?? currency };
}
