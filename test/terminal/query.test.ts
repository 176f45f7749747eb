import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { compileQuery } from '../../src/terminal/output/query.ts';
import { thrownBy } from '../support/thrown.ts';

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

  it.each<[string, where: string, why?: string]>([
    ['', 'at character 1, its end'],
    ['length(@', 'at character 9, its end'],
    ["a.b['x']", 'at character 5'],
    ['foo."bar', 'at character 5'],
    ['a.`{', 'at character 3'],
    ["[?amount == '1.10", 'at character 13'],
    ['[?amount == `1', 'at character 13'],
    [']', 'at character 1'],
    ['[0].{a b}', 'at character 8'],
    ['[].a[', 'at character 6, its end', 'Expected Star, got: EOF'],
    ['a.b c', 'at character 5', 'Unexpected token type: UnquotedIdentifier, value: c'],
    ['a # b', 'at character 3', 'Unknown character:#'],
    ["'a", 'at character 1', 'The literal at the end is not closed'],
    ["['a', 'b", 'at character 7', 'The literal at the end is not closed'],
  ])('the query %s is refused, and the error says where it is wrong: %s', (expression, where, why = '.+') => {
    expect(thrownBy(() => compileQuery(expression))).toMatchObject({
      ...{ code: 'usage', message: `--query ${JSON.stringify(expression)} is not JMESPath ${where}` },
      hint: expect.stringMatching(new RegExp(`^${why}\\. See https://jmespath\\.org$`, 's')),
    });
  });

  it.each(["'a\\\\'", "'a'  ", "'it\\'s'", '`"a\\`b"`', "a == 'b' && c == 'd'", '`1` == `2`'])(
    'the query %s is JMESPath',
    (expression) => {
      expect(() => compileQuery(expression)).not.toThrow();
    },
  );

  it('a query with an unknown function is refused before psd2 does anything', () => {
    const functions =
      'abs, avg, ceil, contains, ends_with, floor, join, keys, length, map, max, max_by, merge, min, min_by, ' +
      'not_null, reverse, sort, sort_by, starts_with, sum, to_array, to_number, to_string, type, values';
    expect(() => compileQuery('[].productId | count(@)')).toThrow(
      new Psd2Error('usage', '--query calls count() at character 16, and JMESPath has no such function', {
        hint: `It has ${functions}.`,
      }),
    );
    for (const name of functions.split(', ')) expect(() => compileQuery(`${name}(@)`)).not.toThrow();
  });

  it('a query that does not match the data is a usage error', () => {
    expect(thrownBy(() => compileQuery('length([0].nothing)')(data))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /^--query could not be applied to the data: TypeError: length\(\).*[^.\s]$/,
      ),
      hint: 'The command has done its work. Only its output is missing. -o json shows the data.',
    });
  });

  it('any query works or is a usage error', () => {
    const pieces = fc.constantFrom(...`[].a*?"'(){}:|&@ 1`, '`');
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
