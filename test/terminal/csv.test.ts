import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
    expect(() => writeCsv(data)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});
