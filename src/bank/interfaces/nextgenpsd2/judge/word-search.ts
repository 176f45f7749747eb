import { plain } from './texts.ts';
import { IDENTIFIERS, WORDS } from './words.ts';

// Whether a text has a word that keeps the reference of a refused payment. The expressions are made when a bank first refuses one.

const made = new Map<string, RegExp>();

/** Words between commas as one expression, which finds all of them. */
function anyOf(words: string): RegExp {
  const expression = made.get(words) ?? expressionOf(words);
  made.set(words, expression);
  return expression;
}

function expressionOf(words: string): RegExp {
  const patterns = wordList(words).map((word) => {
    const pattern = word.replace(/[ -]/g, "[\\s'-]*");
    return pattern.endsWith('$') ? `${pattern.slice(0, -1)}(?![a-z0-9])` : pattern;
  });
  return new RegExp(`(?<![a-z0-9])(?:${patterns.join('|')})`, 'g');
}

/** Whether a plain text has one of the words. @param words between commas, as in words.ts */
export function hasWord(text: string, words: string): boolean {
  return text.search(anyOf(words)) !== -1;
}

/** A plain text without the words. @param words between commas */
export function withoutWords(text: string, words: string): string {
  return text.replace(anyOf(words), ' ');
}

function wordList(words: string): string[] {
  return words
    .split(',')
    .map((word) => word.trim().replace(/\s+/g, ' '))
    .filter((word) => word !== '');
}

/** The word of a decoded text that speaks of another payment, or names what identifies one. */
export function duplicateIn(text: string): string | undefined {
  const words = plain(text);
  return (
    wordIn(words, anyOf(WORDS.map(({ duplicate }) => duplicate).join())) ??
    words.match(anyOf(IDENTIFIERS))?.[0] ??
    existing()
      .map((each) => existsIn(words, each))
      .find((word) => word !== undefined)
  );
}

/** The word of a decoded text that speaks of a state: of an account, a limit, a time. */
export function stateIn(text: string): string | undefined {
  return wordIn(plain(text), anyOf(WORDS.map(({ state }) => state).join()));
}

/** The first word that counts, as a whole. */
function wordIn(words: string, expression: RegExp): string | undefined {
  const match = [...words.matchAll(expression)].find(({ index }) => !isOfLength(words, index));
  return match && wholeAt(words, match.index, match[0]);
}

function wholeAt(words: string, index: number, beginning: string): string {
  return beginning + (/^[a-z0-9]*/.exec(words.slice(index + beginning.length))?.[0] ?? '');
}

/** Words that say nothing of a payment beside the length of a text, and how many words away that may be. */
const OF_LENGTH: readonly [word: RegExp, distance: number][] = [
  [/^(exceed|limit|receiv|doubl)/, 8],
  [/^block/, 3],
];
const LENGTH = /^(lengths?|signs?|characters?|symbols?|digits?)$/;

/** Whether the word at `index` is about length: "exceeds the maximum of 70 signs". */
function isOfLength(words: string, index: number): boolean {
  const rule = OF_LENGTH.find(([word]) => word.test(words.slice(index)));
  if (!rule) return false;
  const sentence = sentenceAround(words, index);
  const near = [
    ...(sentence.before.match(/[a-z0-9]+/g) ?? []).slice(-rule[1]),
    ...(sentence.after.match(/[a-z0-9]+/g) ?? []).slice(0, rule[1] + 1),
  ];
  return near.some((word) => LENGTH.test(word));
}

function sentenceAround(words: string, index: number): { before: string; after: string } {
  const ends = /[;!?]|[.](?=\s|$)/;
  return {
    before: words.slice(0, index).split(ends).at(-1) ?? '',
    after: words.slice(index).split(ends)[0] ?? '',
  };
}

/** Between "not" and "exists", these say that something does exist: "not new, the payment exists". */
const SUBJECT =
  /\b(payments?|requests?|orders?|transactions?|transfers?|messages?|one|it|that|because|since|as|longer)\b/;

interface Existing {
  word: RegExp;
  not: RegExp;
  notAfter: RegExp;
}

/** Each word for "exists", with the words for "not" of its languages. */
function existing(): Existing[] {
  return [...new Set(WORDS.flatMap(({ exists }) => wordList(exists)))].map((word) => {
    const theirs = WORDS.filter(({ exists }) => wordList(exists).includes(word));
    return {
      word: anyOf(word),
      not: anyOf(theirs.map(({ not }) => not).join()),
      notAfter: anyOf(theirs.map(({ notAfter = '\u0000' }) => notAfter).join()),
    };
  });
}

/** The word that says that something exists, unless the sentence says the opposite. */
function existsIn(words: string, { word, not, notAfter }: Existing): string | undefined {
  const match = [...words.matchAll(word)].find(({ index, 0: exists }) => {
    const [, next = ''] =
      /^ ([a-z0-9]+)/.exec(words.slice(index + wholeAt(words, index, exists).length)) ?? [];
    if (next.search(notAfter) !== -1) return false;
    const clause =
      words
        .slice(0, index)
        .split(/[^a-z0-9' ]/)
        .at(-1) ?? '';
    const before = clause.trim().split(/[ ']+/).slice(-3);
    const at = before.findLastIndex((each) => each.search(not) !== -1);
    if (at === -1) return true;
    const between = before.slice(at + 1).join(' ');
    return before[at] === 'no' ? /\blonger\b/.test(between) : SUBJECT.test(between);
  });
  return match && wholeAt(words, match.index, match[0]);
}
