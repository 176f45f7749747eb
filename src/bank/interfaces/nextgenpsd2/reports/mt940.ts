import { addDays, type IsoDate, isIsoDate } from '../../../../domain/calendar.ts';
import { isIban } from '../../../../domain/order/iban.ts';
import { compactIban } from '../../../../domain/order/sepa-text.ts';
import { type AccountReport, type Refuse, type ReportRow, rowOf, signed } from './report.ts';

/** A tag with its lines: `:61:2611260…`. */
interface Field {
  tag: string;
  lines: string[];
  /** The line on which it begins. */
  line: number;
}

/** More lines than a field has in the standard (`:86:` has six, and banks write more). */
const MAX_LINES = 100;

/**
 * Reads statements of an account in SWIFT's MT940 and MT942, one or several, with or without the blocks of a message. What
 * MT942 has is not booked yet.
 *
 * No package reads it here: two that were looked at read amounts through floats, and the third brings two more for numbers and
 * dates.
 *
 * @param fail what to throw: the sentence has the place
 */
export function readMt940(text: string, fail: (what: string) => never): AccountReport {
  const transactions: AccountReport['transactions'] = { booked: [], pending: [] };
  const accounts = new Set<string>();
  let currency: string | undefined;
  let isInterim = false;
  /** The last balance: `60F` and the like. */
  let balance = '';
  let entry: Field | undefined;
  let line = 1;
  const refuse: Refuse = (what) => fail(`${what}, at line ${line}`);
  const book = (information: Information) => {
    if (!entry) return;
    line = entry.line;
    const row = toRow(
      entry,
      information,
      currency ?? refuse('The currency of the account is missing'),
      refuse,
    );
    transactions[isInterim ? 'pending' : 'booked'].push(row);
    entry = undefined;
  };
  for (const field of fieldsOf(text, (what, at) => fail(`${what}, at line ${at}`))) {
    const { tag, lines } = field;
    const value = lines[0] ?? '';
    if (tag === '86') {
      book(informationIn(lines));
      continue;
    }
    book(NOTHING);
    line = field.line;
    if (/^6[02][FM]$/.test(tag) || tag === '20') {
      if (tag !== '62F' && tag !== '62M' && balance.startsWith('60')) refuse(UNCLOSED);
      balance = tag === '20' ? '' : tag;
    }
    if (tag === '20') [currency, isInterim] = [undefined, false];
    else if (tag === '25' || tag === '25P') accounts.add(compactIban(value));
    else if (tag === '60F' || tag === '60M')
      currency = /^[CD]\d{6}([A-Z]{3})/.exec(value)?.[1] ?? refuse('The opening balance has no currency');
    else if (tag === '34F') {
      currency = /^([A-Z]{3})/.exec(value)?.[1] ?? refuse('The floor limit has no currency');
      isInterim = true;
    } else if (tag === '61') entry = field;
  }
  book(NOTHING);
  if (balance.startsWith('60')) refuse(UNCLOSED);
  if (accounts.size === 0) refuse('The statement names no account');
  const ibans = [...new Set([...accounts].flatMap((each) => ibanIn(each) ?? []))];
  const bbans = [...accounts].filter((each) => ibanIn(each) === undefined);
  if (ibans.length > 1 || bbans.length > 1) refuse('The file has statements of several accounts');
  // Only the last part of a statement ends with `62F`.
  const isPart = balance === '62M';
  return { account: { iban: ibans[0], bban: bbans[0] }, transactions, isPart };
}

/** The IBAN in the account of a statement. Banks write a BIC before it and the currency after it. */
function ibanIn(account: string): string | undefined {
  const written = /[A-Z]{2}\d{2}[A-Z0-9]{11,33}$/.exec(account)?.[0];
  const bare = written?.replace(/(?<=.{15})[A-Z]{3}$/, '');
  return [written, bare].find((each) => each !== undefined && isIban(each)) ?? bare;
}

const NOTHING: Information = {};
const UNCLOSED = 'The statement has no closing balance, so its end is missing';

/** The fields of all messages. What stands around them (blocks `{1:…}`, `-`) has no tag. */
function* fieldsOf(text: string, refuse: (what: string, line: number) => never): Generator<Field> {
  let field: Field | undefined;
  let line = 0;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const content = text.slice(at, end === -1 ? undefined : end).replace(/\r$/, '');
    at = end === -1 ? text.length : end + 1;
    line += 1;
    const [, tag, value = ''] = /^:(\d{2}[A-Z]?):(.*)$/s.exec(content) ?? [];
    if (tag !== undefined) {
      if (field) yield field;
      field = { tag, lines: [value], line };
    } else if (content === '-' || content.startsWith('-}') || content.startsWith('{')) {
      if (field) yield field;
      field = undefined;
    } else if (content.trim() !== '') {
      if (!field) return refuse('The text is not part of a field', line);
      if (field.lines.length === MAX_LINES) refuse(`A field has more than ${MAX_LINES} lines`, line);
      field.lines.push(content);
    }
  }
  if (field) yield field;
}

/** `:61:`: days, direction, amount, kind, the customer's reference and the bank's, and what the bank adds. */
const ENTRY =
  /^(\d{2})(\d{2})(\d{2})(\d{4})?(RC|RD|EC|ED|C|D)([A-Z])?(\d{1,15}(?:,\d{0,6})?)([NFS][A-Z0-9]{3})(.{0,16}?)(?:\/\/(.*))?$/;

function toRow(
  { lines: [first = '', added = ''] }: Field,
  said: Information,
  currency: string,
  refuse: Refuse,
): ReportRow {
  const [, year, month, date, booked, mark, , amount, kind, , bankReference] = ENTRY.exec(first) ?? [];
  if (year === undefined || mark === undefined || amount === undefined)
    return refuse('A field :61: has another form than MT940 has');
  const valueDate = dayIn(`20${year}-${month}-${date}`, refuse);
  // A reversed credit takes money away. `EC` and `ED` are expected, and are as `C` and `D`.
  const isDebit = ['D', 'RC', 'ED'].includes(mark);
  const side = isDebit ? 'creditor' : 'debtor';
  const { name, account, ...rest } = said;
  return rowOf({
    transactionAmount: { amount: signed(decimalOf(amount), isDebit, refuse), currency },
    bookingDate: booked === undefined ? undefined : bookingDay(valueDate, booked, refuse),
    valueDate,
    transactionId: bankReference?.trim(),
    proprietaryBankTransactionCode: kind,
    [`${side}Name`]: name,
    [`${side}Account`]: account,
    ...amountsIn(added),
    ...rest,
  });
}

/** MT940 has a comma, and nothing after it in whole amounts. */
function decimalOf(amount: string): string {
  return amount.replace(/,$/, '').replace(',', '.');
}

/** The day of booking has no year: it is that in which it is next to the value day. */
function bookingDay(valueDate: IsoDate, monthAndDate: string, refuse: Refuse): IsoDate {
  const [month, date] = [monthAndDate.slice(0, 2), monthAndDate.slice(2)];
  const year = Number(valueDate.slice(0, 4));
  const isNear = (day: string) => day > addDays(valueDate, -183) && day < addDays(valueDate, 183);
  const days = [year, year - 1, year + 1].map((each) => `${each}-${month}-${date}`);
  return dayIn(days.find(isNear) ?? days[0] ?? '', refuse);
}

function dayIn(text: string, refuse: Refuse): IsoDate {
  if (isIsoDate(text)) return text;
  // In the calendar of German banks every month has 30 days.
  const [, year] = /^(\d{4})-02-(?:29|30)$/.exec(text) ?? [];
  const first = `${year}-03-01`;
  return year !== undefined && isIsoDate(first) ? addDays(first, -1) : refuse(`${text} is not a day`);
}

/** German banks write what was paid in another currency, and their charges, into the second line of `:61:`. */
function amountsIn(added: string): Partial<ReportRow> {
  const at = (code: string) => {
    const [, currency, amount] =
      new RegExp(`/${code}/([A-Z]{3})(\\d{1,15}(?:,\\d{0,6})?)/`).exec(added) ?? [];
    return currency === undefined || amount === undefined
      ? undefined
      : { amount: decimalOf(amount), currency };
  };
  return { originalAmount: at('OCMT'), transactionFees: at('CHGS') };
}

/** What a field `:86:` says of an entry, in the words of the standard's JSON. */
interface Information {
  /** Of the other side. */
  name?: string | undefined;
  account?: string | undefined;
  [field: string]: string | string[] | undefined;
}

/** The longest part of a text in the German structure. A shorter one that goes on has lost the blank at its end. */
const PART = 27;

/** `166?00…?20…`: the kind of transaction, and fields that a character of the bank's choice separates. */
const STRUCTURED = /^(\d{3})([^\w\s,.])(?=\d{2})/;

/** What stands before the parts of a SEPA payment. */
const SEPA = /^(EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|PURP|IBAN|BIC|COAM|OAMT|RREF|ORDP|BENM)\+/;

/**
 * Reads a field `:86:`: in the structure of German banks (Deutsche Kreditwirtschaft, MT940), else as text.
 *
 * @param lines of the field, without its tag
 */
function informationIn(lines: readonly string[]): Information {
  const text = lines.join('');
  const [all = '', kind, separator] = STRUCTURED.exec(text) ?? [];
  if (kind === undefined || separator === undefined) {
    const plain = lines.map((line) => line.trim()).join(' ');
    return { remittanceInformationUnstructured: plain };
  }
  const fields = text
    .slice(all.length)
    .split(separator)
    .map((each) => [each.slice(0, 2), each.slice(2)] as const);
  const of = (wanted: (code: number) => boolean) =>
    fields.filter(([code]) => /^\d\d$/.test(code) && wanted(Number(code))).map(([, value]) => value);
  const one = (code: number) => joined(of((each) => each === code));
  const said = partsOf(of((code) => (code >= 20 && code <= 29) || (code >= 60 && code <= 63)));
  const rest = said.get('') ?? '';
  return {
    proprietaryBankTransactionCode: kind,
    additionalInformation: one(0),
    name: joined(of((code) => code === 32 || code === 33)),
    account: said.get('IBAN') || one(31),
    endToEndId: said.get('EREF'),
    mandateId: said.get('MREF'),
    creditorId: said.get('CRED'),
    purposeCode: said.get('PURP'),
    ultimateDebtor: said.get('ABWA'),
    ultimateCreditor: said.get('ABWE'),
    remittanceInformationUnstructured: said.get('SVWZ') ?? rest,
  };
}

/** The parts of the remittance information by what stands before them. Those without are one text, with the key `''`. */
function partsOf(values: readonly string[]): Map<string, string> {
  const groups: { name: string; values: string[] }[] = [{ name: '', values: [] }];
  for (const value of values) {
    const name = SEPA.exec(value)?.[1];
    if (name !== undefined) groups.push({ name, values: [value.slice(name.length + 1)] });
    else groups.at(-1)?.values.push(value);
  }
  return new Map(
    groups.map(({ name, values: texts }) => [name, joined(texts, name === '' ? 0 : name.length + 1)]),
  );
}

/** @param before how many characters stood before the first text in its part */
function joined(values: readonly string[], before = 0): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    const isLast = index === values.length - 1;
    const length = value.length + (index === 0 ? before : 0);
    text += value + (isLast || length >= PART || value.endsWith(' ') ? '' : ' ');
  }
  return text.trim();
}
