import { isRecord } from '../../domain/json.ts';
import type { Secret } from '../../secret.ts';

// Banks quote what they were sent. A text that has a credential of the customer, however it is written, is left out whole.

/** How often a text is decoded in search of a value: a gateway may quote what a server has quoted. */
const ROUNDS = 3;

/** Whether a text has a value: as it is, or escaped as JSON, HTML, a URL, base64 or hexadecimal. */
export function showsValue(text: string, value: string): boolean {
  if ([...value].length < SHORTEST_ANYWHERE) return showsWord(text, value);
  const rounds = text.length > LONGEST_WORDS ? 1 : ROUNDS;
  let forms = [text];
  for (let round = 0; round < rounds; round += 1) {
    if (forms.some((form) => form.includes(value))) return true;
    forms = [...new Set(forms.flatMap(decodedForms))];
  }
  return forms.some((form) => form.includes(value));
}
/** Only an image is longer. */
const LONGEST_WORDS = 20_000;

/**
 * A shorter value is in every other text by chance, and in most of what looks like base64. Without its links and ids, an answer would
 * leave a payment that nobody can follow. So such a value counts only as a word of its own: in a text, or in the query of an address.
 */
const SHORTEST_ANYWHERE = 4;
const ADDRESS = /^(https?:\/)?\//i;

function showsWord(text: string, value: string): boolean {
  const words = ADDRESS.test(text) ? text.replace(/^[^?#]*/, '') : text;
  const literal = value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'u');
  return [words, ...unescapedForms(words)].some((form) => word.test(form));
}

/** A text with each of the usual escapes undone, where it has some. */
function decodedForms(text: string): string[] {
  // What is in base64 need not begin where the value does.
  const inBase64 = [0, 1, 2, 3].map((skipped) =>
    text.replace(/[A-Za-z0-9+/_-]{4,}/g, (run) => Buffer.from(run.slice(skipped), 'base64').toString('utf8')),
  );
  const inHex = text.replace(/(?:[0-9a-f]{2}){3,}/gi, (run) => Buffer.from(run, 'hex').toString('utf8'));
  return [...unescapedForms(text), ...inBase64, inHex].filter((form) => form !== text);
}

/** A text with the escapes of addresses, JSON and HTML undone. */
function unescapedForms(text: string): string[] {
  const unescaped = text
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\+/g, ' ');
  const asUtf8 = Buffer.from(unescaped, 'latin1').toString('utf8');
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(["\\/])/g, '$1')
    .replace(/&#x([0-9a-f]{1,6});/gi, (_, hex: string) => characterOf(Number.parseInt(hex, 16)))
    .replace(/&#(\d{1,7});/g, (_, digits: string) => characterOf(Number(digits)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
  return [unescaped, asUtf8, plain];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function characterOf(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
}

/** What of an answer is kept although it has the value by chance. */
export interface Known {
  /** Texts that psd2 had before, such as the ids in the path of the call. */
  texts: readonly string[];
  /** Whether a text is a word of the standard. */
  isWord(text: string): boolean;
}

/** The parts of a path that are long enough to be ids. */
export function idsInPath(path: string): string[] {
  const parts = path.split(/[/?&=]/).flatMap((part) => [part, decoded(part)]);
  return parts
    .filter((part) => part.length >= SHORTEST_ID)
    .toSorted((one, other) => other.length - one.length);
}
const SHORTEST_ID = 8;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The digits of an id that the bank makes may be those of a PIN by chance, and so may those of a time or of an amount. */
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const AMOUNT = /^[+-]?\d+\.\d{1,3}$/;
const TIMES: readonly string[] = ['date', 'expires', 'last-modified'];

/** Takes the headers out of an answer that have a value. */
export function hideInHeaders(headers: Record<string, string>, secret: Secret): void {
  for (const [name, text] of Object.entries(headers))
    if (!TIMES.includes(name) && showsValue(text.replace(UUID, ' '), secret.reveal())) delete headers[name];
}

/** The JSON of an answer without the texts and numbers that have a value. */
export function withoutValue(json: unknown, secret: Secret, harmless: Known): unknown {
  const isHidden = (value: unknown): boolean => {
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const text = String(value);
    if (harmless.isWord(text) || (typeof value === 'string' && AMOUNT.test(text))) return false;
    const own = harmless.texts.reduce((rest, each) => rest.replaceAll(each, ' '), text);
    return showsValue(own.replace(UUID, ' '), secret.reveal());
  };
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((each) => !isHidden(each)).map(clean);
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).filter(([name, each]) => !isHidden(name) && !isHidden(each));
    return Object.fromEntries(entries.map(([name, each]) => [name, clean(each)]));
  };
  return isHidden(json) ? undefined : clean(json);
}
