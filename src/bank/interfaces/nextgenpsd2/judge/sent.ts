import { isRecord, jsonIn } from '../../../../domain/json.ts';
import type { BankDescription } from '../description/schema.ts';
import { namesAtBank } from '../wire/compose.ts';
import { decoded } from './texts.ts';

// What an initiation has, as it left psd2: its fields, its headers, and their values.

/** An initiation as it left psd2. */
export interface SentInitiation {
  /** As sent, below the base URL, with the query. */
  path: string;
  /** Names in lower case, as on the wire. */
  headers: Readonly<Record<string, string>>;
  /** JSON or pain.001. */
  body: string;
  firstByteAt: Date;
  /** When the certificate of the connection or that of the signature ends: the earlier. */
  certificateEnds: Date;
}

/** What a bank may say something about. */
export interface SentContent {
  /** The form of the payment. Of a standing order in XML, a part is JSON. */
  form: 'json' | 'xml';
  /** The fields in JSON and the elements in XML, each with its parents: `creditorAccount.iban`. Without numbers of entries. */
  fields: ReadonlyMap<string, readonly string[]>;
  /** Texts that a bank may quote. */
  values: readonly string[];
}

/** Whether a header was sent, by the standard's name or the bank's. @param name in lower case */
export function hasHeader({ headers }: SentInitiation, name: string, bank: BankDescription): boolean {
  return [name, namesAtBank(bank)(name)].some((each) => headers[each] !== undefined);
}

/** The `X-Request-ID` of a request, by the standard's name or the bank's. */
export function requestIdOf({ headers }: Pick<SentInitiation, 'headers'>, bank: BankDescription): string {
  return headers[namesAtBank(bank)('x-request-id')] ?? headers['x-request-id'] ?? '';
}

/** Reads what an initiation has. */
export function contentOf({ path, headers, body }: SentInitiation): SentContent {
  const fields = new Map<string, string[]>();
  const isXml = /^<|^--/.test(body);
  if (isXml) addElements(body, fields);
  const json = jsonIn(isXml ? (/\{.*\}/s.exec(body.replace(/<.*>/s, ''))?.[0] ?? '') : body);
  addFields(json, '', fields);
  const values = [...fields.values(), Object.values(headers), path.split(/[/?&=]/)].flat();
  return {
    form: isXml ? 'xml' : 'json',
    fields,
    values: [...new Set(values.flatMap((value) => [value, value.replace(/^Bearer /, '')]))].toSorted(
      (one, other) => other.length - one.length,
    ),
  };
}

function addFields(value: unknown, path: string, fields: Map<string, string[]>): void {
  if (Array.isArray(value)) for (const each of value) addFields(each, path, fields);
  else if (isRecord(value))
    for (const [name, each] of Object.entries(value)) {
      // What every entry of a bulk payment may have, the payment has.
      const inner = path === '' || path === 'payments' ? name : `${path}.${name}`;
      if (each === null) continue;
      fields.set(inner, fields.get(inner) ?? []);
      addFields(each, inner, fields);
    }
  else if (typeof value !== 'object') fields.get(path)?.push(String(value));
}

function addElements(xml: string, fields: Map<string, string[]>): void {
  const open: string[] = [];
  for (const [, closing, name = '', attributes = '', own, text = ''] of xml.matchAll(
    /<(\/?)(?:\w+:)?(\w+)((?:\s+[\w:]+="[^"]*")*)\s*(\/?)>([^<]*)/g,
  )) {
    if (closing) {
      open.pop();
      continue;
    }
    open.push(name);
    const path = open.join('.');
    const values = [...(fields.get(path) ?? []), ...(text.trim() === '' ? [] : [decoded(text)])];
    fields.set(path, values);
    for (const [, attribute = ''] of attributes.matchAll(/\s([\w:]+)=/g))
      if (attribute === 'Ccy') fields.set(`${path}.Ccy`, []);
    if (own) open.pop();
  }
}

const QUOTES = '"\'`“”„‘’«»‹›';

/**
 * A text without what psd2 sent. A value that is one word is taken out only in quotes: the bank may use the word itself. So does a text
 * that is nothing but the value.
 */
export function withoutSent(text: string, { values }: SentContent): string {
  const rest = values.reduce((left, value) => {
    const isWord = /^\p{L}*$/u.test(value);
    if (value.length < 3 || !/\p{L}/u.test(value) || !left.includes(value)) return left;
    const pattern = value.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return isWord
      ? left.replace(new RegExp(`([${QUOTES}])${pattern}(?=[${QUOTES}])`, 'gu'), '$1')
      : left.replace(new RegExp(`(?<![\\p{L}\\d])${pattern}(?![\\p{L}\\d])`, 'gu'), ' ');
  }, text);
  return /\p{L}/u.test(rest) ? rest : text;
}
