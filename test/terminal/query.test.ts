import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { compileQuery } from '../../src/terminal/output/query.ts';

const data = [
  { productId: '0012345678', amount: '1.10' },
  { productId: '0000000001', amount: '-2.00' },
];

describe('a query', () => {
  it.each<[string, unknown]>([
    ['[].productId', ['0012345678', '0000000001']],
    ["[?starts_with(amount, '-')] | [0].amount", '-2.00'],
    ['[0].{id: productId}', { id: '0012345678' }],
    ['length(@)', 2],
    ['[0].nothing', null],
  ])('%s gives what JMESPath says', (expression, expected) => {
    expect(compileQuery(expression)(data)).toEqual(expected);
  });

  it.each<[string, string]>([
    ['[].a[', 'at character 6, its end'],
    ['', 'at character 1, its end'],
    ['length(@', 'at character 9, its end'],
    ['a.b c', 'at character 5'],
    ['a # b', 'at character 3'],
    ["a.b['x']", 'at character 5'],
    ['foo."bar', 'at character 5'],
    ['a.`{', 'at character 3'],
    ["[?amount == '1.10", 'at character 13'],
    ['[?amount == `1', 'at character 13'],
    [']', 'at character 1'],
    ['[0].{a b}', 'at character 8'],
  ])('%s is refused with where it goes wrong: %s', (expression, where) => {
    expect(() => compileQuery(expression)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(new RegExp(`${where}$`)) }),
    );
  });

  it('with an unknown function is refused before anything is done', () => {
    expect(() => compileQuery('[].productId | count(@)')).toThrow(
      expect.objectContaining({ message: expect.stringContaining('count() at character 16') }),
    );
  });

  it('that does not fit the data is an error of use', () => {
    expect(() => compileQuery('length([0].nothing)')(data)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('length()') }),
    );
  });

  it('works, or is an error of use, whatever it is', () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '.',
      'a',
      '*',
      '?',
      '"',
      "'",
      '`',
      '(',
      ')',
      '{',
      '}',
      ':',
      '|',
      '&',
      '@',
      ' ',
      '1',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (some) => {
        try {
          compileQuery(some.join(''))(data);
        } catch (error) {
          expect(error).toBeInstanceOf(Psd2Error);
        }
      }),
    );
  });
});
