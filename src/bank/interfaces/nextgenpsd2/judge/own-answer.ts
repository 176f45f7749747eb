import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../../../domain/json.ts';
import { isPage } from '../../../call/call.ts';
import { answerText } from '../../../call/charset.ts';
import type { BankDescription } from '../description/schema.ts';
import { namesAtBank } from '../wire/compose.ts';
import { readOneWay } from './one-way-json.ts';

// Whose word an answer is. Between psd2 and the bank are gateways, firewalls and servers of pages, which answer for the bank, twice, or
// with the answer to somebody else.

/** An answer as it came. Names of headers are in lower case. */
export interface GivenAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The connection had more bytes after the answer. */
  more: boolean;
}

/** Nobody's word: the answer proves nothing. */
export interface Nobodys {
  /** Why, after "the bank's own answer": "it is a page". */
  nobodys: string;
}

/** One error or warning of the bank. */
export interface OwnMessage {
  /** The standard's or the bank's own. Without one, the message proves nothing. */
  code: string | null;
  /** `text`, or `detail` of a problem. */
  text: string | null;
  /** `title` of a problem. */
  title: string | null;
  path: string | null;
  isWarning: boolean;
  /** It has more than the form of the standard: an id, a link. */
  hasMore: boolean;
}

/** The errors and warnings of an answer that is the bank's own word, in the form of the standard. */
export interface OwnErrors {
  messages: readonly OwnMessage[];
  /** The whole answer. */
  json: Readonly<Record<string, unknown>>;
}

/**
 * Reads an answer in JSON if it is the bank's own word about the request: it has its `X-Request-ID` or none, can be read in one way,
 * and nothing came after it.
 *
 * @param ourRequestId the `X-Request-ID` of the request
 */
export function readOwnJson(
  answer: GivenAnswer,
  ourRequestId: string,
  bank: BankDescription,
): { json: Readonly<Record<string, unknown>> } | Nobodys {
  if (answer.more) return { nobodys: 'the connection had more after it' };
  if (!namesRequest(answer, ourRequestId, bank))
    return { nobodys: 'it has the X-Request-ID of another request' };
  if (isPage(answer)) return { nobodys: 'it is a page' };
  if (answer.body.length === 0) return { nobodys: 'it is empty' };
  const text = readOwnText(answer);
  if (text === null) return { nobodys: 'psd2 does not know its charset' };
  const read = readOneWay(text.trim());
  if ('problem' in read) return { nobodys: read.problem };
  return isRecord(read.value) ? { json: read.value } : { nobodys: 'it is no JSON object' };
}

/**
 * Reads the errors of an answer that is the bank's own word ({@link readOwnJson}), in one of the standard's forms: `tppMessages`, or a
 * problem (RFC 7807) with a code. Banks leave out parts of both.
 */
export function readOwnError(
  answer: GivenAnswer,
  ourRequestId: string,
  bank: BankDescription,
): OwnErrors | Nobodys {
  const read = readOwnJson(answer, ourRequestId, bank);
  if ('nobodys' in read) return read;
  const messages = messagesOf(read.json);
  return messages === null
    ? { nobodys: 'its error does not have the form of the standard' }
    : { messages, json: read.json };
}

/** Whether an error is the bank's own word ({@link readOwnError}). */
export function isOwnError(...of: Parameters<typeof readOwnError>): boolean {
  return !('nobodys' in readOwnError(...of));
}

/** Whether an answer names our request, or none. Gateways that write ids of their own are named in the bank file. */
export function namesRequest(
  { headers }: Pick<GivenAnswer, 'headers'>,
  ourRequestId: string,
  bank: BankDescription,
): boolean {
  if (bank.headers.requestId === 'any') return true;
  const named = ['x-request-id', namesAtBank(bank)('x-request-id')].flatMap((name) => headers[name] || []);
  return named.every((id) => id.trim().toLowerCase() === ourRequestId.toLowerCase());
}

/** The text of an answer. Null: its letters are in a charset that psd2 does not know. */
function readOwnText({ headers, body }: GivenAnswer): string | null {
  if (isUtf8(body)) return body.toString('utf8');
  const { text, problem } = answerText({ headers, body });
  const declared = /charset\s*=\s*["']?([^\s"';]+)/i.exec(headers['content-type'] ?? '')?.[1];
  // Many servers write ISO-8859-1 and do not say so.
  return problem === null || declared === undefined || /^utf-?8$/i.test(declared) ? text : null;
}

/** The messages in the standard's forms, and in that of CBI Globe. Null: the answer has none of them. */
function messagesOf(json: Readonly<Record<string, unknown>>): OwnMessage[] | null {
  const { tppMessages, additionalErrors, errorManagement } = json;
  const hasMessages = !isEmpty(tppMessages);
  const isProblem = [json.type, json.title, json.detail].some(
    (each) => typeof each === 'string' && each !== '',
  );
  const isList = Array.isArray(tppMessages);
  if (!hasMessages && !isProblem && !isList && isEmpty(errorManagement)) return null;
  const hasProblem = isProblem || !isEmpty(json.code);
  const all = [
    ...(hasMessages ? listIn(tppMessages, ['code', 'text', 'category', 'path']) : []).map(tppMessageOf),
    ...(hasProblem && (hasText(json) || !hasMessages) ? [problemOf(json, false)] : []),
    ...listIn(additionalErrors, ['code', 'title', 'detail']).map((each) => problemOf(each, true)),
    ...(isEmpty(errorManagement) ? [] : [managedOf(errorManagement)]),
  ];
  const messages = all.filter((each) => each !== null);
  return messages.length === all.length ? messages : null;
}

/** Whether a problem says more than the HTTP status, beside `tppMessages`. */
function hasText({ code, title, detail }: Readonly<Record<string, unknown>>): boolean {
  return ![code, title, detail].every(isEmpty);
}

/** The entries of a list. Some banks write one entry without the list, or names before entries. @param names of an entry */
function listIn(value: unknown, names: readonly string[]): unknown[] {
  if (isEmpty(value)) return [];
  if (!isRecord(value)) return Array.isArray(value) ? value : [value];
  return names.some((name) => isEmpty(value[name]) === false && !isRecord(value[name]))
    ? [value]
    : Object.values(value);
}

function tppMessageOf(entry: unknown): OwnMessage | null {
  if (!isRecord(entry)) return null;
  const { category, code, text, path, ...others } = entry;
  return messageOf({ code, text, path, title: null }, others, category);
}

/** @param isFurther of `additionalErrors`. What else the problem itself has, is in the answer */
function problemOf(entry: unknown, isFurther: boolean): OwnMessage | null {
  if (!isRecord(entry)) return null;
  const { code, title, detail, type: _type, status: _status, ...others } = entry;
  return messageOf({ code, title, text: detail, path: null }, isFurther ? others : {});
}

/** The error of CBI Globe. */
function managedOf(entry: unknown): OwnMessage | null {
  if (!isRecord(entry)) return null;
  const { errorCode, errorDescription, ...others } = entry;
  return messageOf({ code: errorCode, text: errorDescription, title: null, path: null }, others);
}

/** @returns null if a part of it is no text */
function messageOf(
  parts: Record<'code' | 'text' | 'title' | 'path', unknown>,
  others: Readonly<Record<string, unknown>>,
  category: unknown = null,
): OwnMessage | null {
  if (![...Object.values(parts), category].every(isText)) return null;
  const [code, text, title, path, kind] = [parts.code, parts.text, parts.title, parts.path, category].map(
    (part) => (isEmpty(part) ? null : String(part).trim() || null),
  );
  return {
    code: code ?? null,
    text: text ?? null,
    title: title ?? null,
    path: path ?? null,
    isWarning: kind?.toUpperCase() === 'WARNING',
    hasMore: !Object.values(others).every(isEmpty),
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || isEmpty(value);
}

/** Whether a value of JSON says nothing: null, or nothing but such values. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
