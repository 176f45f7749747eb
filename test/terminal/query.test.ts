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
  ])('the query %s gives what JMESPath defines', (expression, expected) => {
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
  ])('the query %s is refused, and the error says where it is wrong: %s', (expression, where) => {
    expect(() => compileQuery(expression)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(new RegExp(`${where}$`)) }),
    );
  });

  it('a query with an unknown function is refused before psd2 does anything', () => {
    expect(() => compileQuery('[].productId | count(@)')).toThrow(
      expect.objectContaining({ message: expect.stringContaining('count() at character 16') }),
    );
  });

  it('a query that does not match the data is a usage error', () => {
    expect(() => compileQuery('length([0].nothing)')(data)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('length()') }),
    );
  });

  it('any query works or is a usage error', () => {
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
