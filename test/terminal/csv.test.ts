import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { cleanText } from '../../src/terminal/clean.ts';
import { writeCsv } from '../../src/terminal/output/csv.ts';
import { anyCharacter } from '../support/any-character.ts';

const cell = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('', ' ', '"', 'a,b', 'a\nb', '\r', "'=1"),
);

describe('CSV', () => {
  it('another program reads CSV back with the same values', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ one: cell, two: cell }), { minLength: 1 }), (rows) => {
        expect(parse(writeCsv(rows), { columns: true, skip_empty_lines: false })).toEqual(
          rows.map(({ one, two }) => ({ one: cleanText(one), two: cleanText(two) })),
        );
      }),
    );
  });

  it('CSV names nested fields by their path, and writes lists as JSON', () => {
    const rows = [
      { flow: 'a', total: null, list: [1, 'x'], ok: true },
      { flow: 'b', total: { amount: '-1.50', currency: 'EUR' }, list: [], ok: null },
    ];
    expect(writeCsv(rows)).toBe(
      'flow,total,list,ok,total.amount,total.currency\na,,"[1,""x""]",true,,\nb,,[],,-1.50,EUR',
    );
  });

  it('CSV has the requested columns, whatever the rows have', () => {
    const columns = ['total.amount', 'flow'];
    expect(writeCsv([{ flow: 'a', total: null }], columns)).toBe('total.amount,flow\n,a');
    expect(writeCsv([], columns)).toBe('total.amount,flow');
    expect(writeCsv([{ flow: 'a' }], columns, false)).toBe(',a');
  });

  it.each([[[1]], ['text'], [null], [[['a']]], [[null]]])('CSV of %j is refused', (data) => {
    expect(() => writeCsv(data)).toThrow(
      new Psd2Error('usage', 'The result is not a list of objects, so it has no columns for CSV', {
        hint: 'Use -o json, or a --query that gives objects, for example [].{id: productId, currency: currency}.',
      }),
    );
  });

  it('a cell has quotes only if it needs them', () => {
    const cells = ['a b', ' a', 'a ', 'a,b', 'a"b', "a'b", '-1.50'];
    expect(writeCsv(cells.map((cell) => ({ cell })))).toBe(
      'cell\na b\n" a"\n"a "\n"a,b"\n"a""b"\na\'b\n-1.50',
    );
  });

  it('without rows and columns there is nothing, and a value that is missing is empty', () => {
    expect(writeCsv([])).toBe('');
    expect(writeCsv([{}])).toBe('');
    expect(writeCsv([{ a: undefined, b: 1 }])).toBe('a,b\n,1');
  });
});
