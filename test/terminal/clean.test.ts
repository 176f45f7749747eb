import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanJson, cleanLines, cleanText } from '../../src/terminal/clean.ts';

/** Characters that a terminal acts on, or that change the direction of text. */
const DANGEROUS = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(0x7f + code)),
  ...'\u2028\u2029\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
];
const anyOf = (characters: string[]) => new RegExp(`[${characters.map(escaped).join('')}]`);
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const text = fc
  .array(fc.oneof(fc.constantFrom(...DANGEROUS), fc.string()), { maxLength: 20 })
  .map((parts) => parts.join(''));

describe('text for a terminal', () => {
  it('text for a terminal contains nothing that a terminal acts on, whatever a bank sends', () => {
    fc.assert(
      fc.property(text, (sent) => {
        expect(cleanText(sent)).not.toMatch(anyOf(DANGEROUS));
      }),
    );
  });

  it.each([
    ['\u001b[31mred\u001b[0m', '\u{FFFD}[31mred\u{FFFD}[0m'],
    ['\u001b]0;title\u0007', '\u{FFFD}]0;title\u{FFFD}'],
    ['\u009b2J', '\u{FFFD}2J'],
    ['evil\u202egnp.exe', 'evil\u{FFFD}gnp.exe'],
    ['a\r\nb\tc\n\nd', 'a b c d'],
    ['a\u2028b\u2029\u2028c', 'a b c'],
    ['half \ud800 of a character', 'half \u{FFFD} of a character'],
    ['Caffè 50 € 😀 – “x”', 'Caffè 50 € 😀 – “x”'],
    ['', ''],
  ])('cleanText turns %j into %j', (sent, shown) => {
    expect(cleanText(sent)).toBe(shown);
  });
});

it('text of many lines keeps its lines, and each of them is clean', () => {
  expect(cleanLines('name\u001b[2J\nCaffè\ta\r\n\nend')).toBe('name\u{FFFD}[2J\nCaffè a \n\nend');
  fc.assert(
    fc.property(fc.array(text), (lines) => {
      expect(cleanLines(lines.join('\n')).replaceAll('\n', '')).not.toMatch(anyOf(DANGEROUS));
    }),
  );
});

describe('JSON for a terminal', () => {
  it('JSON for a terminal contains nothing that a terminal acts on, and keeps its value', () => {
    fc.assert(
      fc.property(text, (sent) => {
        const json = cleanJson(JSON.stringify({ name: sent, list: [sent] }));
        expect(json).not.toMatch(anyOf(DANGEROUS));
        expect(JSON.parse(json)).toEqual({ name: sent, list: [sent] });
      }),
    );
  });

  it.each([
    ['escapes the Unicode line separators', '"a\u2028b\u2029c"', '"a\\u2028b\\u2029c"'],
    ['escapes invisible characters of two units as two', '"\u{e0041}"', '"\\udb40\\udc41"'],
    ['keeps its own line breaks', '{\n  "a": "\u009b"\n}', '{\n  "a": "\\u009b"\n}'],
  ])('JSON for a terminal %s', (_, json, clean) => {
    expect(cleanJson(json)).toBe(clean);
    expect(JSON.parse(clean)).toEqual(JSON.parse(json));
  });
});
