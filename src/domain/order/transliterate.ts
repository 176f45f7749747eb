/** Letters and signs that are not a letter of SEPA with an accent, as people write them where they cannot have them. */
const CUSTOMARY = new Map(
  Object.entries({
    ä: 'ae',
    ö: 'oe',
    ü: 'ue',
    Ä: 'Ae',
    Ö: 'Oe',
    Ü: 'Ue',
    ß: 'ss',
    ẞ: 'SS',
    æ: 'ae',
    Æ: 'Ae',
    œ: 'oe',
    Œ: 'Oe',
    ø: 'oe',
    Ø: 'Oe',
    å: 'aa',
    Å: 'Aa',
    ł: 'l',
    Ł: 'L',
    đ: 'd',
    Đ: 'D',
    ð: 'd',
    Ð: 'D',
    þ: 'th',
    Þ: 'Th',
    ı: 'i',
    ħ: 'h',
    Ħ: 'H',
    ŋ: 'n',
    Ŋ: 'N',
    ŧ: 't',
    Ŧ: 'T',
    '&': '+',
    '€': 'EUR',
    '@': '(at)',
    _: '-',
    '–': '-',
    '—': '-',
    '…': '...',
    ';': ',',
    '\u00a0': ' ',
    '\u202f': ' ',
    '‘': "'",
    '’': "'",
    '`': "'",
    '´': "'",
    '“': "'",
    '”': "'",
    '„': "'",
    '«': "'",
    '»': "'",
    '"': "'",
    ...lettersOf('αβγδεζηικλμνξοπρσςτυφω', 'a v g d e z i i k l m n x o p r s s t y f o'),
    ...lettersOf('θχψ', 'th ch ps'),
    ...lettersOf('абвгдезийклмнопрстуфъ', 'a b v g d e z i y k l m n o p r s t u f a'),
    ...lettersOf('жхцчшщьюя', 'zh h ts ch sh sht y yu ya'),
  }),
);

/** @param latin a word for each letter. Capitals begin with a capital */
function lettersOf(letters: string, latin: string): Record<string, string> {
  const words = latin.split(' ');
  return Object.fromEntries(
    [...letters].flatMap((letter, at) => {
      const word = words[at] ?? '';
      return [
        [letter, word],
        [letter.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)],
      ];
    }),
  );
}

/**
 * A text with the customary replacement of each character that SEPA does not allow: `Müller` as `Mueller`, `José` as `Jose`, Greek and
 * Bulgarian letters by their transliteration (EPC217-08). A character without one stays, and is refused later.
 */
export function transliterated(text: string): string {
  return Array.from(text.normalize('NFC'), (character) => {
    const customary = CUSTOMARY.get(character);
    if (customary !== undefined) return customary;
    const plain = character.normalize('NFD').replace(/\p{M}/gu, '');
    return /^[A-Za-z]$/.test(plain) ? plain : (CUSTOMARY.get(plain) ?? character);
  }).join('');
}
