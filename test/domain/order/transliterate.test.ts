import { expect, it } from 'vitest';
import { transliterated } from '../../../src/domain/order/transliterate.ts';

it.each([
  ['Jürgen Groß & Söhne', 'Juergen Gross + Soehne'],
  ['Ju\u0308rgen', 'Juergen'],
  ['ÄÖÜẞ', 'AeOeUeSS'],
  ['José Núñez Ço', 'Jose Nunez Co'],
  ['Łódź, Dvořák, Şükrü, ışık', 'Lodz, Dvorak, Suekrue, isik'],
  ['Ærø Åse Þór', 'Aeroe Aase Thor'],
  ['Γεώργιος Ψαρός', 'Georgios Psaros'],
  ['Щерев Юлия', 'Shterev Yuliya'],
  ['“Rechnung” – 3\u00a0€', "'Rechnung' - 3 EUR"],
  ['Ada 12/3', 'Ada 12/3'],
  ['李 🙂', '李 🙂'],
])('%s is written %s in the characters of SEPA', (text, written) => {
  expect(transliterated(text)).toBe(written);
});
