// A bank's text, made ready for a look at its words. Servers escape it for HTML, and write words as identifiers.

/** The named entities of HTML that stand for signs. Those of letters with accents follow a rule. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  nbsp: ' ',
  szlig: 'ss',
  aelig: 'ae',
  oelig: 'oe',
  lsquo: "'",
  rsquo: "'",
  ldquo: '"',
  rdquo: '"',
  laquo: '"',
  raquo: '"',
};

/** An entity of an entity is read, too; deeper ones nobody writes. */
const DEEPEST = 3;

/** A text without entities and invisible characters. */
export function decoded(text: string): string {
  let read = text;
  for (let depth = 0; depth < DEEPEST && read.includes('&'); depth += 1)
    read = read.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,10});/gi, characterOf);
  return read.replace(/\p{Cf}/gu, '').normalize('NFKC');
}

function characterOf(entity: string, name: string): string {
  if (name.startsWith('#')) {
    const digits = name.slice(1);
    const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  }
  const sign = ENTITIES[name.toLowerCase()];
  if (sign !== undefined) return sign;
  return /^[a-z](acute|grave|circ|uml|tilde|ring|cedil|caron|slash)$/i.test(name) ? name.slice(0, 1) : entity;
}

/** Letters that are no letter with an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** A decoded text in small letters without accents, in which `_` and capitals within a word part words. */
export function plain(text: string): string {
  return text
    .replace(/(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$& ')
    .replaceAll('_', ' ')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßłøđæœı]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[’‘`´]/g, "'")
    .replace(/n't\b/g, ' not')
    .replace(/\s+/g, ' ');
}
