/** What a field `:86:` says of an entry, in the words of the standard's JSON. */
export interface Information {
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
export function informationIn(lines: readonly string[]): Information {
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
