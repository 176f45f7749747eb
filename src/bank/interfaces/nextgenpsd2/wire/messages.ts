import * as z from 'zod/mini';
import { optionalWords, wordsIn } from './fields.ts';

/** A message of the bank about a call. */
export interface BankMessage {
  /** The standard's code, or the bank's own. */
  code: string | null;
  text: string | null;
  path: string | null;
  isError: boolean;
  /** In the form of OAuth. Gateways use it too. */
  isOAuth?: true;
}

const tppMessage = z.pipe(
  z.object({ category: optionalWords, code: optionalWords, path: optionalWords, text: optionalWords }),
  z.transform(
    ({ category, code, path, text }): BankMessage => ({
      code,
      text,
      path,
      isError: category === null || category.toUpperCase() === 'ERROR',
    }),
  ),
);

/** Problem details (RFC 7807), as the standard has extended them. */
const problem = z.pipe(
  z.object({ title: optionalWords, detail: optionalWords, code: optionalWords }),
  z.transform(
    ({ title, detail, code }): BankMessage => ({ code, text: detail ?? title, path: null, isError: true }),
  ),
);

/** An OAuth error (RFC 6749, section 5.2). Servers without OAuth have a `message` beside `error`. */
const oauthError = z.pipe(
  z.object({ error: z.string(), error_description: optionalWords, message: optionalWords }),
  z.transform(
    ({ error, error_description, message }): BankMessage => ({
      code: error.slice(0, 200),
      text: error_description ?? message,
      path: null,
      isError: true,
      isOAuth: true,
    }),
  ),
);

/** More messages than this say nothing more. */
const MAX_MESSAGES = 20;

/** The messages in the JSON of an answer, in either form of the standard. Of a refusal in another form, the words for people. */
export function messagesIn(json: unknown, isRefused = true): BankMessage[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return isRefused ? quotedIn(json) : [];
  const own =
    'tppMessages' in json ? asList(json.tppMessages).flatMap((item) => readBy(tppMessage, item)) : [];
  if (own.length > 0) return own;
  if ('error' in json && typeof json.error === 'string') return readBy(oauthError, json);
  if (!('code' in json && typeof json.code === 'string') && !('title' in json))
    return isRefused ? quotedIn(json) : [];
  const additional = 'additionalErrors' in json ? asList(json.additionalErrors) : [];
  const [first, ...others] = [json, ...additional].flatMap((item) => readBy(problem, item));
  // Some gateways write `message` beside the code.
  const words = first?.text ?? (isRefused ? (quotedIn(json)[0]?.text ?? null) : null);
  return [...(first ? [{ ...first, text: words }] : []), ...others].filter(
    ({ code, text }) => code !== null || text !== null,
  );
}

/** Names that gateways give to a text for people, the best first. */
const QUOTED = [
  /^(more_?)info(rmation)?$/i,
  /^(user|developer|error|status|fault|response)?_?message$/i,
  /^(error|fault|status)?_?(description|details?|text|string|reason)$/i,
  /^title$/i,
  /^http_?message$/i,
];
/** Names of what has such a text. */
const WITHIN = /^(tppMessages|(fault|error|message|detail|response|status)s?|errorDetails?)$/i;
/** Deeper than gateways write. */
const DEEPEST = 4;

/** The words of an error in the form of a gateway: a quotation without a code, which decides nothing. */
function quotedIn(json: unknown, depth = 0): BankMessage[] {
  const own = typeof json === 'string' ? wordsIn(json) : null;
  if (own !== null) return [quotation(own)];
  if (typeof json !== 'object' || json === null || depth > DEEPEST) return [];
  if (Array.isArray(json)) return json.slice(0, MAX_MESSAGES).flatMap((each) => quotedIn(each, depth + 1));
  const members = Object.entries(json);
  const texts = QUOTED.flatMap((name) =>
    members.filter(([each, value]) => name.test(each) && typeof value === 'string'),
  );
  const text = texts.map(([, value]) => wordsIn(value)).find((each) => each !== null);
  const described = members.flatMap(([name, value]) =>
    /description$/i.test(name) ? (wordsIn(value) ?? []) : [],
  )[0];
  if (text && described !== undefined && !text.includes(described))
    return [quotation(described.includes(text) ? described : `${text.replace(/[.:]$/, '')}: ${described}`)];
  if (text) return [quotation(text)];
  const inner = members.filter(([name]) => WITHIN.test(name));
  return inner.flatMap(([, value]) => quotedIn(value, depth + 1)).slice(0, MAX_MESSAGES);
}

function quotation(text: string): BankMessage {
  return { code: null, text, path: null, isError: true };
}

/** The title of a page in HTML, the message of an answer in XML, or a plain text, as a quotation. */
export function titleIn(page: string): BankMessage[] {
  const begins = page.trim().slice(0, 10_000);
  const elementText = /<(?:\w+:)?(?:title|h1|faultstring|message|text)(?:\s[^>]*)?>([^<]{1,500})</i.exec(
    begins,
  )?.[1];
  const title = wordsIn((/^[<{[]/.test(begins) ? elementText : begins.slice(0, 500))?.replace(/\s+/g, ' '));
  return title === null ? [] : [quotation(title)];
}

/** Some banks write one message without the list. */
function asList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.slice(0, MAX_MESSAGES);
  return typeof value === 'object' && value !== null ? [value] : [];
}

function readBy<T>(schema: z.ZodMiniType<T>, value: unknown): T[] {
  const read = schema.safeParse(value);
  return read.success ? [read.data] : [];
}
