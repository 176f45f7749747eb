import type { BankDescription } from '../description/schema.ts';
import {
  ALIASES,
  AMOUNTS,
  DAYS,
  HEADERS,
  JSON_FIELDS,
  NO_FIELDS,
  ORDINARY,
  XML_FIELDS,
} from './field-names.ts';
import { hasHeader, type SentContent, type SentInitiation } from './sent.ts';

/** What an error names of an initiation. */
export interface NamedField {
  name: string;
  /** Whether psd2 has sent it. `unclear`: it is no field of this form, or none of which a bank can say this. */
  sent: 'yes' | 'no' | 'unclear';
  isDay: boolean;
  /** The days that psd2 has sent in it. */
  days: readonly string[];
  isAmount: boolean;
}

/** What a name is looked up in. */
export interface Lookup {
  sent: SentInitiation;
  content: SentContent;
  bank: BankDescription;
}

/** `creditorName`, `creditor_name` and `Creditor-Name` are one name. */
function plainName(name: string): string {
  return name.replace(/[^\p{L}\d]/gu, '').toLowerCase();
}

const QUOTED = /(?<![\p{L}\d])["'`“„‘«‹]\s*([^"'`“”„‘’«»‹›]{1,120}?)\s*["'`”“’»›](?![\p{L}\d])/gu;

/**
 * The fields that an error names: in its path in any writing, in its text in quotes, as one word of several (`creditorName`,
 * `psu-ip-address`), as several words ("creditor name"), or in capitals (IBAN). A field whose name is an ordinary word is named only in
 * quotes or before a colon.
 *
 * @param text decoded, without what psd2 sent
 */
export function namedFields(
  { text, path }: { text: string; path: string | null },
  lookup: Lookup,
): NamedField[] {
  const isOfHeader =
    /\bheaders?\b/i.test(`${text} ${path ?? ''}`) || hasHeader(lookup.sent, 'date', lookup.bank);
  const named = [...(path === null ? [] : namedInPath(path, lookup)), ...namedInText(text, lookup)].map(
    // It may be the header of this name.
    (field) =>
      isOfHeader && plainName(field.name) === 'date' ? { ...field, sent: 'unclear' as const } : field,
  );
  const byName = new Map(named.map((field) => [`${field.name} ${field.sent}`, field]));
  return [...byName.values()];
}

function namedInPath(path: string, lookup: Lookup): NamedField[] {
  if (isAddress(path, lookup)) return [];
  if (/\s/.test(path.trim())) {
    const kinds = /\b(parameter|field|property|attribute|element|body|header)\s+(?=(\S+))/gi;
    const after = [...path.matchAll(kinds)].map(([, kind, name]) => `${kind}.${name}`);
    return [...namedInText(path, lookup), ...after.flatMap((each) => byPath(each, lookup))];
  }
  return path.split(/[,;]/).flatMap((each) => byPath(each, lookup));
}

/** Whether a path is an address of the interface, such as that of the request: it names nothing of the body. */
function isAddress(path: string, { sent }: Lookup): boolean {
  const [own = ''] = path.toLowerCase().split('?');
  const [address = ''] = sent.path.toLowerCase().split('?');
  const product = address.split('/').at(-1);
  return (
    /^[a-z]+:\/\//.test(own) ||
    (own.startsWith('/') && `${address}/`.includes(`${own.replace(/\/$/, '')}/`)) ||
    own.split('/').some((part) => /^v\d+(\.\d+)*$/.test(part) || (part !== '' && part === product))
  );
}

/** Resolves a whole path: dotted, a JSON pointer, with `$.`, `#/` or an index, after `Header.` or `Body.`, or a name alone. */
function byPath(path: string, lookup: Lookup): NamedField[] {
  const parts = path
    .split(/[./\\[\]{}()#$:>@'"`]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^(\d+|\*)$/.test(part));
  const field = namedField(parts, lookup);
  return field ? [field] : [];
}

function namedInText(text: string, lookup: Lookup): NamedField[] {
  const quoted = [...text.matchAll(QUOTED)].flatMap(([, name = '']) =>
    /\s/.test(name) ? [] : byPath(name, lookup),
  );
  const chunks = text.split(/[\s,;"'`“”„‘’«»‹›()<>=]+/).flatMap((chunk) => namedByChunk(chunk, lookup));
  return [...quoted, ...chunks, ...namedByWords(text, lookup)];
}

/** What a text between blanks names. */
function namedByChunk(chunk: string, lookup: Lookup): NamedField[] {
  const isBeforeColon = chunk.endsWith(':');
  const name = chunk.replace(/^[^\p{L}\d$#/[]+|[^\p{L}\d\]]+$/gu, '');
  if (name === '' || isAddress(name, lookup)) return [];
  if (/^(IBAN|BBAN|BIC)s?$/.test(name)) return byPath(name.replace(/s$/, ''), lookup);
  const isPath = /[^.[\]/]+[./[\]]+[^.[\]/]+/.test(name) || /^[$#/]/.test(name);
  const isOneOfSeveral = /\p{Ll}\p{Lu}|\p{L}[-_]\p{L}/u.test(name);
  return isPath || isOneOfSeveral || isBeforeColon ? byPath(name, lookup) : [];
}

/** Names of several words, as words. Each of them is looked for: one may be a part of another. */
function namedByWords(text: string, lookup: Lookup): NamedField[] {
  const names = [...Object.keys(JSON_FIELDS), ...Object.values(JSON_FIELDS).flat(), ...HEADERS, ...NO_FIELDS];
  return [...new Set([...names, ...ownNames(lookup.bank)])].flatMap((name) => {
    const words = name.split(/[-.]|(?<=\p{Ll})(?=\p{Lu})/u);
    // A bank that speaks of the digest or the signature speaks of the message.
    if (words.length === 1 && !/^(Digest|Signature)$/.test(name)) return [];
    const pattern = new RegExp(`(?<![\\p{L}\\d_-])${words.join('[\\s_-]+')}(?![\\p{L}\\d_-])`, 'iu');
    return pattern.test(text) ? byPath(name, lookup) : [];
  });
}

/** The names that the bank file has for fields of a body. */
function ownNames({ payments }: BankDescription): string[] {
  return [...payments.allowed, ...payments.required, ...Object.keys(payments.constant)];
}

/** The field that the parts of a path name: the last one, within those before it. */
function namedField(parts: readonly string[], lookup: Lookup): NamedField | undefined {
  const last = parts.at(-1) ?? '';
  const name = plainName(last);
  if (name === '') return undefined;
  const before = parts.slice(0, -1).map(plainName);
  const unclear: NamedField = { name: last, sent: 'unclear', isDay: false, days: [], isAmount: false };
  if (NO_FIELDS.some((each) => plainName(each) === name)) return unclear;
  const header = HEADERS.find(
    (each) => plainName(each) === name || plainName(ownHeader(each, lookup)) === name,
  );
  if (header !== undefined)
    return { ...unclear, sent: hasHeader(lookup.sent, header.toLowerCase(), lookup.bank) ? 'yes' : 'no' };
  if (before.some((each) => /^headers?$/.test(each))) return ORDINARY.includes(name) ? unclear : undefined;
  const candidates = candidatesFor(name, before, lookup);
  return candidates && evaluated(last, candidates, lookup);
}

function ownHeader(name: string, { bank }: Lookup): string {
  const own = Object.entries(bank.headers.names).find(([each]) => each.toLowerCase() === name.toLowerCase());
  return own?.[1] ?? name;
}

/** Where a body may have a name. Undefined: it is no name of a field. Empty: not in the form of this body. */
function candidatesFor(
  name: string,
  before: readonly string[],
  { content, bank }: Lookup,
): readonly string[] | undefined {
  const isName = (field: string) => plainName(field) === name;
  const aliases = ALIASES[name] ?? [];
  const inJson = [
    ...Object.keys(JSON_FIELDS).filter((field) => isName(field) || aliases.includes(field)),
    ...Object.entries(JSON_FIELDS).flatMap(([parent, leaves]) =>
      leaves.filter((leaf) => isName(leaf) || aliases.includes(leaf)).map((leaf) => `${parent}.${leaf}`),
    ),
    ...ownNames(bank).filter((path) => isName(path) || isName(path.split('.').at(-1) ?? '')),
  ];
  const isInXml = XML_FIELDS.some((field) => isName(field) || aliases.includes(field));
  if (inJson.length === 0 && !isInXml) return undefined;
  const parents = before.filter((each) =>
    Object.keys(JSON_FIELDS).some((field) => plainName(field) === each && each !== 'payments'),
  );
  const within = inJson.filter((path) =>
    parents.every((parent) =>
      path
        .split('.')
        .slice(0, -1)
        .some((each) => plainName(each) === parent),
    ),
  );
  if (content.form === 'json') return within;
  const named = [...content.fields.keys()].filter((path) => {
    const chain = path.split('.').map(plainName);
    const end = chain.at(-1) ?? '';
    const elements = before.filter((each) => XML_FIELDS.some((field) => plainName(field) === each));
    return (
      (end === name || aliases.some((alias) => plainName(alias) === end)) &&
      elements.every((each) => chain.slice(0, -1).includes(each))
    );
  });
  return isInXml || named.length > 0 ? [...named, ...XML_FIELDS.filter(isName)] : [];
}

function evaluated(name: string, candidates: readonly string[], { content }: Lookup): NamedField {
  const held = candidates.filter((path) => content.fields.has(path));
  const isIn = (names: readonly string[]) =>
    candidates.some((path) => path.split('.').some((part) => names.includes(part)));
  const days = [...content.fields].flatMap(([path, values]) =>
    held.some((each) => path === each || path.startsWith(`${each}.`)) ? values : [],
  );
  return {
    name,
    sent: candidates.length === 0 ? 'unclear' : held.length > 0 ? 'yes' : 'no',
    isDay: isIn(DAYS),
    days,
    isAmount: isIn(AMOUNTS),
  };
}
