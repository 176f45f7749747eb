import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import {
  comparableReference,
  nameOfCharacter,
  parseDescription,
  parsePayeeName,
  parseReference,
} from '../../../src/domain/order/sepa-text.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { thrownBy } from '../../support/thrown.ts';

const ALLOWED = [
  ...'abcdefghijklmnopqrstuvwxyz',
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  ...'0123456789',
  ..."/-?:().,'+ ",
];

it.each(ALLOWED)('SEPA allows the character %j', (character) => {
  expect(parseDescription(`a${character}b`)).toBe(`a${character}b`);
});

it.each([...'!"#$%&*;<=>@[\\]^_`{|}~'])('SEPA does not allow the character %j', (character) => {
  expect(() => parseDescription(`a${character}b`)).toThrow('which SEPA does not allow');
});

it('psd2 refuses every other character and names its position, counted in characters', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...ALLOWED), { maxLength: 60, size: 'max' }),
      anyCharacter.filter((odd) => !ALLOWED.includes(odd)),
      fc.string({ maxLength: 20, size: 'max' }),
      (before, odd, after) => {
        expect(thrownBy(() => parseDescription(before.join('') + odd + after))).toMatchObject({
          code: 'invalid_text',
          message: `--description contains the character ${nameOfCharacter(odd)} at position ${before.length + 1}, which SEPA does not allow`,
          hint: "Letters without accents, digits, spaces and / - ? : ( ) . , ' + are allowed.",
        });
      },
    ),
  );
});

it.each([
  ['a\nb', '"\\n"', 2],
  ['😀', '"😀"', 1],
])('psd2 refuses %j because of %s at position %i', (text, character, position) => {
  expect(() => parsePayeeName(text)).toThrow(
    `--name contains the character ${character} at position ${position}, which SEPA does not allow`,
  );
});

/** The error about a text that cannot be sent. */
function refusal(message: string): unknown {
  return expect.objectContaining({ code: 'invalid_text', message });
}

describe('the lengths of texts', () => {
  it.each([
    ['name', 70, parsePayeeName],
    ['description', 140, parseDescription],
    ['reference', 35, parseReference],
  ] as const)('psd2 accepts a %s of up to %i characters', (field, most, parse) => {
    expect([parse('a'), parse('a'.repeat(most)).length]).toEqual(['a', most]);
    expect(() => parse('a'.repeat(most + 1))).toThrow(
      refusal(`--${field} has ${most + 1} characters, but at most ${most} are allowed`),
    );
  });

  it('only a description may be empty', () => {
    expect(parseDescription('')).toBe('');
    expect(() => parsePayeeName('  ')).toThrow(refusal('--name is empty'));
    expect(() => parseReference(' ')).toThrow(refusal('--reference is empty'));
  });
});

it('psd2 accepts a reference with single slashes inside', () => {
  expect(parseReference('2026/11/A-7')).toBe('2026/11/A-7');
});

it.each(['/1', '1/', '1//2', '/'])('psd2 refuses the slashes of the reference %j', (reference) => {
  expect(() => parseReference(reference)).toThrow(
    refusal('--reference must not begin or end with a slash, or have two slashes in a row'),
  );
});

describe('equal references', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019-'), minLength: 1, maxLength: 8 });
  const spaces = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 3 });

  it('references are equal if they differ only in spaces and case', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        spaces,
        spaces,
        (words, before, between) => {
          const other = `${before}${words.join(` ${between}`).toUpperCase()}${before}`;
          expect(comparableReference(other)).toBe(comparableReference(words.join(' ')));
        },
      ),
    );
  });

  it('it makes no difference whether a letter and its accent are one character or two', () => {
    expect(comparableReference('caf\u0065\u0301')).toBe(comparableReference('CAF\u00c9'));
    expect(comparableReference('cafe')).not.toBe(comparableReference('caf\u00e9'));
  });

  it('the compared form stays as it is in the claims on disk and in the database', () => {
    expect(comparableReference(' INV \t 2026/11-Gr\u0075\u0308ße ')).toBe('inv 2026/11-gr\u00fcße');
  });

  it('references with different words are different', () => {
    expect(comparableReference('INV 1')).not.toBe(comparableReference('INV1'));
    expect(comparableReference('INV-1')).not.toBe(comparableReference('INV-10'));
  });
});

it('a message gives a character that nobody can see as its code point', () => {
  expect(() => parseDescription('a\u00a0b')).toThrow('the character U+00A0 at position 2');
  expect(() => parseDescription('\u200bab')).toThrow('the character U+200B at position 1');
  expect(() => parseDescription('caf\u00e9')).toThrow('the character "\u00e9" at position 4');
  expect(() => parseDescription('a\u007f')).toThrow('the character U+007F at position 2');
  expect(() => parseDescription('a\n')).toThrow('the character "\\n" at position 2');
  expect(() => parseDescription('a~')).toThrow('the character "~" at position 2');
  expect(() => parseSepaIban('DE89\u00ad370400440532013000')).toThrow('the character U+00AD');
});
