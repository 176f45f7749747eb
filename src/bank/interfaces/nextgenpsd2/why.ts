import { firstReason, type Reason, writeReason } from '../../../batch-file/pain002/read.ts';
import type { NextGenAnswer } from './answer.ts';

// Why a bank has rejected a payment. The standard has no field for it in JSON: banks write that of pain.002 (`StsRsnInf`), one of
// their own, messages, or a text for the customer.

const FIELD =
  /^((sts|status|transactionstatus|reject(ion)?|return)_?)?(rsn|reason)_?(inf|info|information|code|text)?$/i;
const CODE = /^(cd|code|prtry|proprietary)$/i;
const WORDS = /^(add(i?t(iona)?)?l?_?inf(o|ormation)?|text|description|message)s?$/i;
const ISO_CODE = /^([A-Z]{2}\d{2}|[A-Z]{4})$/;
/** Deeper than an answer about a payment is. */
const DEEPEST = 6;

/**
 * The reason in the answer to a question about a payment, or to its initiation: that of the lowest level first, then messages, then
 * what the bank tells the customer.
 *
 * @returns undefined: the bank does not say why
 */
export function whyIn({ said: { json, messages } }: NextGenAnswer): string | undefined {
  const psuMessage: unknown = typeof json === 'object' && json !== null && Reflect.get(json, 'psuMessage');
  const reason = firstReason([
    reasonsIn(json, 0),
    [...messages]
      .sort((one, other) => Number(other.isError) - Number(one.isError))
      .map(({ code, text }) => ({ code, words: text ?? '' })),
    typeof psuMessage === 'string' ? [{ code: null, words: psuMessage }] : [],
  ]);
  return reason ? writeReason(reason).slice(0, 1000) : undefined;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function reasonsIn(value: unknown, depth: number): Reason[] {
  if (depth > DEEPEST) return [];
  const entries = entriesOf(value).filter(([name]) => name !== 'tppMessages' && name !== '_links');
  const below = entries.flatMap(([name, each]) => (FIELD.test(name) ? [] : reasonsIn(each, depth + 1)));
  const own = entries.filter(([name]) => FIELD.test(name));
  const isList = own.some(([, each]) => typeof each === 'object');
  return [
    ...below,
    ...(isList ? own.flatMap(([, each]) => listOf(each).map(reasonFrom)) : reasonOfTexts(own)),
  ];
}

/** A code and its text may stand beside each other: `reasonCode`, `reason`. */
function reasonOfTexts(own: readonly [string, unknown][]): Reason[] {
  return own.length > 0 ? [reasonFrom(own.map(([, each]) => each))] : [];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function reasonFrom(value: unknown): Reason {
  const codes: string[] = [];
  const words: string[] = [];
  const read = (each: unknown, name: string | null, depth: number) => {
    if (depth > DEEPEST) return;
    if (typeof each === 'string' && each.trim() !== '') {
      const isCode = name !== null && CODE.test(name) ? true : ISO_CODE.test(each.trim());
      if (isCode) codes.push(each.trim());
      else if (name === null || WORDS.test(name) || FIELD.test(name)) words.push(each.trim());
    }
    for (const [key, inner] of entriesOf(each)) read(inner, Array.isArray(each) ? name : key, depth + 1);
  };
  read(value, null, 0);
  return { code: codes[0] ?? null, words: [...codes.slice(1), ...words].join(' ') };
}
