import fc from 'fast-check';
import { expect, it } from 'vitest';
import { transliterated } from '../../../src/domain/order/transliterate.ts';
import { anyCharacter } from '../../support/any-character.ts';

it.each([
  ['Jürgen Groß & Söhne', 'Juergen Gross + Soehne'],
  ['Ju\u0308rgen', 'Juergen'],
  ['José Núñez Ço', 'Jose Nunez Co'],
  ['Łódź, Dvořák, Şükrü, ışık', 'Lodz, Dvorak, Suekrue, isik'],
  ['Γεώργιος Ψαρός', 'Georgios Psaros'],
  ['Щерев Юлия', 'Shterev Yuliya'],
  ['“Rechnung” – 3\u00a0€', "'Rechnung' - 3 EUR"],
  // Whole alphabets.
  ['äöüß ÄÖÜẞ', 'aeoeuess AeOeUeSS'],
  ['æœøå ÆŒØÅ', 'aeoeoeaa AeOeOeAa'],
  ['łđðþı ŁĐÐÞİ', 'lddthi LDDThI'],
  ['ħŋŧ ĦŊŦ', 'hnt HNT'],
  ['αβγδεζηθικλμνξοπρσςτυφχψω', 'avgdezithiklmnxoprsstyfchpso'],
  ['ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ', 'AVGDEZIThIKLMNXOPRSTYFChPsO'],
  ['абвгдежзийклмнопрстуфхцчшщъьюя', 'abvgdezhziyklmnoprstufhtschshshtayyuya'],
  ['АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЬЮЯ', 'ABVGDEZhZIYKLMNOPRSTUFHTsChShShtAYYuYa'],
  ['àáâãçèéêëìíîïñòóôõùúûýÿ', 'aaaaceeeeiiiinoooouuuyy'],
  ['ÀÁÂÃÇÈÉÊËÌÍÎÏÑÒÓÔÕÙÚÛÝŸ', 'AAAACEEEEIIIINOOOOUUUYY'],
  ['ăąćčďęěğıķļľńňőŕřśšșțťůűźżž', 'aaccdeegikllnnorrsssttuuzzz'],
  // Accents on what is no letter of SEPA itself.
  ['ǿ Ǽ ά ѝ', 'oe Ae a i'],
  // Signs.
  ['a&b_c@d;e', 'a+b-c(at)d,e'],
  ['1–2—3…', '1-2-3...'],
  ['a\u00a0b\u202fc', 'a b c'],
  ['‘a’ `b´ “c” „d” «e» "f"', "'a' 'b' 'c' 'd' 'e' 'f'"],
  // Others stay.
  ['李 🙂', '李 🙂'],
  ['x² ½ § 100% #1', 'x² ½ § 100% #1'],
  ['эы', 'эы'],
  ['', ''],
])('%s is written %s in the characters of SEPA', (text, written) => {
  expect(transliterated(text)).toBe(written);
});

it('what SEPA allows stays as it is, and a second time changes nothing', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9/\-?:().,'+ ]*$/), (text) => {
      expect(transliterated(text)).toBe(text);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
      const written = transliterated(text);
      expect(transliterated(written)).toBe(written);
    }),
  );
});
