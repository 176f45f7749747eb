import type { BankDescription } from '../description/schema.ts';
import type { ReadError } from './codes.ts';
import type { Lookup } from './named-fields.ts';
import { type GivenAnswer, type OwnErrors, type OwnMessage, readOwnError } from './own-answer.ts';
import { requestIdOf, withoutSent } from './sent.ts';
import { standingIn } from './standing.ts';
import { decoded } from './texts.ts';
import { duplicateIn } from './word-search.ts';

/** A refusal of the bank's own that has nothing but errors, and no word of another payment. */
export interface Refusal {
  status: number;
  /** The errors with a code. */
  errors: readonly ReadError[];
  /** An error has no code. */
  hasUncoded: boolean;
  /** All that the bank says in words, without what psd2 sent. */
  texts: readonly string[];
}

/** An answer that is such a refusal; nobody's word; or the word of a bank that may have the payment. */
export type ReadRefusal = { refusal: Refusal } | { nobodys: string } | { keeps: string };

/** Statuses with which a bank refuses what it was asked. It may send any other about a payment that it has. */
const REFUSING = [400, 401, 403, 404, 405, 406, 415];

/** What a bank file says of a code that is no refusal. */
const NO_REFUSALS = [
  'duplicate_reference',
  'outcome_unknown',
  'bank_answer',
  'bank_failing',
  'too_many_calls',
  'reads_used_up',
];

/** Reads an answer that is no success. */
export function readRefusal(answer: GivenAnswer, lookup: Lookup): ReadRefusal {
  const { sent, bank } = lookup;
  const own = readOwnError(answer, requestIdOf(sent, bank), bank);
  if ('nobodys' in own)
    return answer.more
      ? { keeps: 'The connection had more after the answer, and that may have been another one' }
      : { nobodys: `The answer is nobody's word: ${own.nobodys}` };
  if (!REFUSING.includes(answer.status))
    return { keeps: `With HTTP ${answer.status}, a bank may speak of a payment that it has` };
  const errors = own.messages.filter(({ isWarning }) => !isWarning);
  if (errors.length === 0) return { keeps: 'The answer has no error' };
  if (isLong(own)) return { keeps: 'The answer has more words than psd2 reads' };
  const texts = textsOf(own, answer, lookup);
  const standing = standingIn(answer, own, texts);
  if (standing !== null) return { keeps: `The answer has ${standing}, so something may stand at the bank` };
  const mapped = errors.find(({ code }) => code !== null && isNoRefusal(code, bank));
  if (mapped) return { keeps: `The bank file says that ${mapped.code} is no refusal` };
  const word = texts.map(duplicateIn).find((match) => match !== undefined);
  if (word !== undefined)
    return { keeps: `The bank may speak of another payment or of an earlier request: "${word}"` };
  const read = (text: string | null) =>
    text === null ? '' : withoutSent(decoded(text), lookup.content).trim();
  return {
    refusal: {
      status: answer.status,
      errors: errors.flatMap(({ code, text, title, path }) =>
        code === null
          ? []
          : {
              code,
              text: read(text ?? title),
              title: text === null ? '' : read(title),
              path: path === null ? null : decoded(path),
              whole: text ?? title ?? '',
            },
      ),
      hasUncoded: errors.some(({ code }) => code === null),
      texts,
    },
  };
}

/** Longer than banks write: a text of this length may say anything. */
const MOST_MESSAGES = 50;
const MOST_SIGNS = 2_000;

function isLong({ messages, json }: OwnErrors): boolean {
  const texts = messages.flatMap(({ code, text, title, path }) => [code, text, title, path, json.type]);
  return messages.length > MOST_MESSAGES || texts.some((each) => String(each ?? '').length > MOST_SIGNS);
}

/** All words of an answer: texts, codes, titles, paths, and headers about the error. */
function textsOf({ messages, json }: OwnErrors, { headers }: GivenAnswer, { content }: Lookup): string[] {
  const aboutError = Object.entries(headers).filter(
    ([name, value]) => ABOUT_ERROR.test(name) && isSaid(value),
  );
  return [
    ...messages.flatMap(wordsOfMessage),
    ...(typeof json.type === 'string' ? [json.type] : []),
    ...aboutError.flat(),
  ].map((text) => withoutSent(decoded(text), content));
}

/** Headers in which servers say something about an error. */
const ABOUT_ERROR = /error|reason|message|fault|problem|warning|detail|descri|idempot|replay|duplicat/;

function isSaid(value: string): boolean {
  return value.trim() !== '' && value.trim().toLowerCase() !== 'false';
}

function wordsOfMessage({ code, text, title, path }: OwnMessage): string[] {
  // The standard has a field `other` for accounts.
  return [code, text, title, path?.replace(/\bother\b/gi, '')].flatMap((each) => each ?? []);
}

function isNoRefusal(code: string, { errors }: BankDescription): boolean {
  return Object.hasOwn(errors, code) && NO_REFUSALS.includes(errors[code] ?? '');
}
