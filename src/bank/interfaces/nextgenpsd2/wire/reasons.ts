import { codeOf, ranked } from '../../../../domain/bank-reason.ts';
import type { BankReason } from '../../../../errors.ts';
import { type BankMessage, messagesIn } from './messages.ts';

// Why a bank has rejected a payment. The standard has no field for it in JSON: banks write that of pain.002 (`StsRsnInf`), one of
// their own, messages, or a text for the customer.

const FIELD =
  /^((sts|status|transactionstatus|reject(ion)?|return)_?)?(rsn|reason)_?(inf|info|information|code|text)?$/i;
const PROPRIETARY = /^(prtry|proprietary)$/i;
const CODE = /(^cd|code)$/i;
const WORDS = /^(add(i?t(iona)?)?l?_?inf(o|ormation)?|text|description|message)s?$/i;
/** What is certainly a code, although no name says so: words in capitals are words. */
const SURE_CODE = /^[A-Z]{2}\d{2}$/;
/** Deeper than an answer about a payment is. */
const DEEPEST = 6;

type Level = BankReason['level'];

/**
 * The reasons in an answer about a payment, or in the part of one about it: its fields, then messages, then what the bank tells the
 * customer.
 *
 * @param level of what the answer is about. Lists in it are about single payments
 */
export function reasonsIn(
  json: unknown,
  level: Level,
  messages: readonly BankMessage[] = messagesIn(json, false),
): BankReason[] {
  const psuMessage: unknown = typeof json === 'object' && json !== null && Reflect.get(json, 'psuMessage');
  return ranked([
    ...fieldsIn(json, level, 0),
    ...[...messages]
      .sort((one, other) => Number(other.isError) - Number(one.isError))
      .map(({ code, text }) => ({ level: 'message' as const, ...codeOf(code), text })),
    ...(typeof psuMessage === 'string' ? [{ ...NOTHING, level: 'message' as const, text: psuMessage }] : []),
  ]);
}

const NOTHING = { code: null, proprietary: null, text: null };

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function fieldsIn(value: unknown, level: Level, depth: number): BankReason[] {
  if (depth > DEEPEST) return [];
  const inner = Array.isArray(value) ? 'payment' : level;
  const entries = membersOf(value).filter(([name]) => name !== 'tppMessages' && name !== '_links');
  const below = entries.flatMap(([name, each]) => (FIELD.test(name) ? [] : fieldsIn(each, inner, depth + 1)));
  const own = entries.filter(([name]) => FIELD.test(name));
  if (own.length === 0) return below;
  const isList = own.some(([, each]) => typeof each === 'object');
  // A code and its text may stand beside each other: `reasonCode`, `reason`.
  const parts = isList ? own.flatMap(([name, each]) => asList(each).map((one) => ({ [name]: one }))) : [own];
  return [
    ...below,
    ...parts.map((part) => reasonFrom(Array.isArray(part) ? Object.fromEntries(part) : part, level)),
  ];
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function reasonFrom(value: unknown, level: Level): BankReason {
  const codes: string[] = [];
  const own: string[] = [];
  const words: string[] = [];
  const read = (each: unknown, name: string, depth: number) => {
    if (depth > DEEPEST) return;
    if (typeof each === 'string' && each.trim() !== '') {
      const text = each.trim();
      if (PROPRIETARY.test(name)) own.push(text);
      else if (CODE.test(name) || SURE_CODE.test(text)) codes.push(text);
      else if (WORDS.test(name) || FIELD.test(name)) words.push(text);
    }
    for (const [key, inner] of membersOf(each)) read(inner, Array.isArray(each) ? name : key, depth + 1);
  };
  read(value, '', 0);
  const [first = null, ...others] = codes;
  const { code, proprietary } = codeOf(first);
  const [named = proprietary, ...more] = own;
  return { level, code, proprietary: named, text: [...others, ...more, ...words].join(' ') };
}
