import { LINE, TAG } from './mt940-fields.ts';

/** What a field `:86:` says of an entry, in the words of the standard's JSON. */
export interface Information {
  /** Of the other side. */
  name?: string | undefined;
  account?: string | undefined;
  customerReference?: string | undefined;
  additionalInformation?: string | undefined;
  /** Amounts without a currency: what was ordered, and what the bank took for a return. */
  original?: string | undefined;
  charges?: string | undefined;
  [field: string]: string | undefined;
}

/** The longest part of a text in the German structure. A shorter one that goes on has lost the blank at its end. */
const PART = 27;

/** `166?00…?20…`: the kind of transaction, and fields that a character of the bank's choice separates. */
const STRUCTURED = /^(\d{3})([^\w\s,.])(?=\d{2})/;

/** What stands before each fact of a SEPA payment. */
const WORD = /(?:EREF|KREF|MREF|CRED|DEBT|SVWZ|ABWA|ABWE|PURP|IBAN|BIC|COAM|OAMT|RREF|ORDP|BENM)\+/g;

/** Those of facts that have no field of their own: they are told with their word. */
const NO_PLACE = ['DEBT', 'RREF', 'ORDP', 'BENM'];

/** Those of ids. */
const IDS = ['EREF', 'KREF', 'MREF', 'CRED'];

/** The longest id (SEPA rulebooks). */
const LONGEST_ID = 35;

/** Before a word that follows an id without a blank, because the id is as long as it can be. */
const WHOLE_ID = new RegExp(`(?:${IDS.join('|')})\\+.{${LONGEST_ID}}$`);

/** Kinds of transactions that return a payment (Deutsche Kreditwirtschaft, GVC). Then `?34` is the reason. */
const RETURNS = ['059', '108', '109', '159'];

/**
 * Reads the fields `:86:` of an entry: in the structure of German banks (Deutsche Kreditwirtschaft, MT940), else as text.
 *
 * @param fields their lines, without the tag. A second one goes on with the structure of the first, or is text
 */
export function informationIn(fields: readonly (readonly string[])[]): Information {
  const [first = '', ...more] = fields.map((lines) => lines.join(''));
  const separator = STRUCTURED.exec(first)?.[2];
  const goesOn = (text: string) =>
    separator !== undefined && text.startsWith(separator) && /^.\d\d/.test(text);
  const lines = separator === undefined ? fields.flat() : [first, ...more.filter(goesOn)];
  const read = fieldIn(lines);
  if (separator === undefined) return read;
  const { remittanceInformationUnstructured, ...rest } = read;
  const texts = [remittanceInformationUnstructured, ...more.filter((text) => !goesOn(text))];
  return { ...rest, remittanceInformationUnstructured: texts.filter(Boolean).join(' ') };
}

function fieldIn(lines: readonly string[]): Information {
  const text = lines.join('');
  const [all = '', kind, separator] = STRUCTURED.exec(text) ?? [];
  if (kind === undefined || separator === undefined) {
    const isFull = (line: string, index: number) => line.length >= LINE - (index === 0 ? TAG : 0);
    return { remittanceInformationUnstructured: joined(lines, isFull).text };
  }
  const fields = text
    .slice(all.length)
    .split(separator)
    .map((each) => [each.slice(0, 2), each.slice(2)] as const);
  const partsAt = (wanted: (code: number) => boolean) =>
    fields.filter(([code]) => /^\d\d$/.test(code) && wanted(Number(code))).map(([, value]) => value);
  const textAt = (...codes: number[]) =>
    joined(
      partsAt((code) => codes.includes(code)),
      isFullPart,
    ).text;
  const words = wordsByCode(partsAt((code) => (code >= 20 && code <= 29) || (code >= 60 && code <= 63)));
  const withWord = (name: string) => (words.get(name) ? [`${name}+${words.get(name)}`] : []);
  const reason = textAt(34);
  return {
    proprietaryBankTransactionCode: kind,
    additionalInformation: [textAt(0), ...NO_PLACE.flatMap(withWord)].filter(Boolean).join(' '),
    name: textAt(32, 33),
    account: words.get('IBAN') || textAt(31),
    endToEndId: words.get('EREF'),
    customerReference: words.get('KREF'),
    mandateId: words.get('MREF'),
    creditorId: words.get('CRED'),
    purposeCode: words.get('PURP'),
    ultimateDebtor: words.get('ABWA'),
    ultimateCreditor: words.get('ABWE'),
    original: words.get('OAMT'),
    charges: words.get('COAM'),
    returnReason: /[1-9]/.test(reason) && RETURNS.includes(kind) ? reason : undefined,
    remittanceInformationUnstructured: [words.get(''), words.get('SVWZ')].filter(Boolean).join(' '),
  };
}

function isFullPart(part: string): boolean {
  return part.length >= PART;
}

/** The facts in the parts of a text by the words before them. Text without a word has the key `''`. */
function wordsByCode(parts: readonly string[]): Map<string, string> {
  const { text, starts, broken } = joined(parts, isFullPart);
  const marks = [...text.matchAll(WORD)].filter(
    ({ index }) =>
      starts.has(index) ||
      /^\s?$/.test(text.slice(0, index).slice(-1)) ||
      WHOLE_ID.test(text.slice(0, index)),
  );
  const words = new Map<string, string>();
  const add = (name: string, value: string) => {
    const before = words.get(name) ?? '';
    // Of an id, the first one counts.
    if (before === '') words.set(name, value);
    else if (name === '' || name === 'SVWZ') words.set(name, `${before} ${value}`.trim());
  };
  add('', text.slice(0, marks[0]?.index).trim());
  for (const [at, { index, 0: mark }] of marks.entries()) {
    const end = marks[at + 1]?.index ?? text.length;
    const value = text.slice(index + mark.length, end).trim();
    const begin = text.indexOf(value, index + mark.length);
    const name = mark.slice(0, -1);
    const length = IDS.includes(name)
      ? lengthOfId(
          value,
          broken.map((each) => each - begin),
        )
      : value.length;
    add(name, value.slice(0, length).trim());
    add('', value.slice(length).trim());
  }
  return words;
}

/** Where an id ends that text follows: after the first part that was not full, else at a blank, else after 35 characters. */
function lengthOfId(value: string, broken: readonly number[]): number {
  const end = broken.find((each) => each > 0 && each <= LONGEST_ID);
  if (end === undefined && value.length <= LONGEST_ID) return value.length;
  const blank = value.slice(0, LONGEST_ID + 1).lastIndexOf(' ');
  return end ?? (blank > 0 ? blank : LONGEST_ID);
}

/**
 * Joins parts of a text: with a blank, unless a part was full. Never with two.
 *
 * @returns `starts`: where parts begin. `broken`: where parts end that were not full
 */
function joined(
  parts: readonly string[],
  isFull: (part: string, index: number) => boolean,
): { text: string; starts: ReadonlySet<number>; broken: number[] } {
  let text = '';
  const starts = new Set<number>();
  const broken: number[] = [];
  for (const [index, part] of parts.entries()) {
    const plain = part.replace(/\s+/g, ' ');
    const own = text === '' || text.endsWith(' ') ? plain.trimStart() : plain;
    starts.add(text.length + (own.startsWith(' ') ? 1 : 0));
    text += own;
    if (isFull(part, index)) continue;
    broken.push(text.trimEnd().length);
    if (!text.endsWith(' ') && text !== '') text += ' ';
  }
  return { text: text.trim(), starts, broken };
}
