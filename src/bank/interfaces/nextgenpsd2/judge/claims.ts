import { plain } from './texts.ts';
import { hasWord, withoutWords } from './word-search.ts';
import { BESIDE_AMOUNTS, FORM, MISSING, MORE_OF_AMOUNTS } from './words.ts';

// What a text says of the fields that it names.

const WRONG = '(an? )?(invalid|wrong|malformed|not valid|not a valid|no valid|incorrect|unknown)';
const WHOLE = '(request|body|message|input|payload|content|json|xml|data|error|reason)';

/** Sentences about the whole request. They say nothing of the form of a field, although they have such a word. */
const GENERAL = [
  /\bformat[ -]errors?\b/g,
  new RegExp(`\\b${WRONG} ${WHOLE}\\b`, 'g'),
  new RegExp(`\\b${WHOLE}( body)?( is| was| has)? ${WRONG}( format)?\\b`, 'g'),
  /[^.]*\b(some|certain|one or more|any)\b[^.]*\bfields?\b[^.]*/g,
];

/** What is emptied has fewer. */
const LOWER_BOUND = /(>=|>|≥)\s*[01]\b|\b(0|1|one) or (more|greater|longer)\b/;

/** "Exceeds" is about a form only beside a length. */
const LENGTH = /\bexceed\w* .*\blength\b|\blength\b.* exceed/;

/** Whether a decoded text says that what it names is missing. @param names of the fields that it names */
export function saysMissing(text: string, names: readonly string[] = []): boolean {
  const words = plain(text);
  const isNone = (name: string) =>
    new RegExp(`(?<!\\bis )\\bno ['"]?${escapedPattern(plain(name))}\\b`).test(words);
  return hasWord(words, MISSING) || LOWER_BOUND.test(words) || names.some(isNone);
}

/** Whether a decoded text says something of the form of what it names, in English. @param isAmount it names an amount */
export function saysForm(text: string, isAmount: boolean): boolean {
  const words = GENERAL.reduce((rest, general) => rest.replace(general, ' '), plain(text));
  const isOfMoney = isAmount && !hasWord(words, BESIDE_AMOUNTS);
  return hasWord(isOfMoney ? withoutWords(words, MORE_OF_AMOUNTS) : words, FORM) || LENGTH.test(words);
}

function escapedPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
