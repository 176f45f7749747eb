import { describe, expect, it } from 'vitest';
import type { RowsOf } from '../../src/domain/booked-ids.ts';
import { type Candidate, changedRows, type NamedRow, sameContent } from '../../src/domain/same-rows.ts';
import { rowOf } from '../store/row-of.ts';

const OF: RowsOf = { productId: 'A1', currency: 'EUR' };
const [MONDAY, TUESDAY, SUNDAY] = ['2026-11-02', '2026-11-03', '2026-11-15'];
let made = 0;
/** A row of the bank, as `T1 Coffee`: its id and its text. */
function row(text: string, day: string | null = MONDAY, amount = '-1.00'): NamedRow {
  const [, id = null, description = text] = /^(\w+) (\w+)$/.exec(text) ?? [];
  made += 1;
  return { ...rowOf(`${made}`, day, amount), description, transactionId: id };
}
const rowsOf = (texts: string[]) => texts.map((text) => row(text));
const texts = (rows: NamedRow[]) =>
  rows.map(({ transactionId, description }) => `${transactionId} ${description}`);

describe('rows with the same content', () => {
  it.each<[string, string[], string[], string[]]>([
    ['that came before are known', ['T1 A', 'T2 B'], ['T1 A', 'T2 B'], []],
    ['are known if their ids are new', ['T3 A', 'T4 B'], ['T1 A', 'T2 B'], []],
    ['are known in another order', ['T2 B', 'T1 A'], ['T1 A', 'T2 B'], []],
    ['are known if they share an id', ['T1 A', 'T1 B', 'T1 C'], ['T1 A', 'T1 B'], ['T1 C']],
    ['are counted', ['T1 A', 'T1 A', 'T1 A'], ['T1 A', 'T1 A'], ['T1 A']],
    ['are new if their id is, where an equal row has another one', ['T2 A', 'T1 A'], ['T1 A'], ['T2 A']],
    ['with ids that are places in the list', ['T1 C', 'T2 A', 'T3 B'], ['T1 A', 'T2 B'], ['T1 C']],
  ])('%s', (_, rows, known, fresh) => {
    expect(texts(sameContent(rowsOf(rows), rowsOf(known), OF).fresh)).toEqual(fresh);
  });

  it('an id that the bank file names says what is the same, as long as one row has it', () => {
    const of: RowsOf = { ...OF, naming: 'transactionId' };
    const known = [row('T1 A'), row('T2 B')];
    expect(texts(sameContent([row('T3 A'), row('T1 X')], known, of).fresh)).toEqual(['T3 A']);
    expect(texts(sameContent([row('T1 A'), row('T1 C')], known, of).fresh)).toEqual(['T1 C']);
  });

  it.each<[string, string[], string[], boolean]>([
    ['with the same rows as before', ['T1 A', 'T2 B'], ['T1 A'], true],
    ['with another row than before', ['T2 A', 'T1 B'], ['T1 A'], false],
    ['shared by rows', ['T1 A', 'T1 B'], ['T1 A'], false],
    ['of rows that nothing is known of', ['T1 A'], ['T2 B'], false],
  ])('ids %s are trusted or not', (_, rows, known, isTrusted) => {
    const { trusted } = sameContent(rowsOf(rows), rowsOf(known), OF);
    expect(trusted.includes('transactionId')).toBe(isTrusted);
  });
});

describe('rows whose content is not stored', () => {
  const STILL = [{ stored: row('T1 A'), isGone: false, isComing: false }];
  const MOVED = row('T1 A', TUESDAY);
  const gone = (stored: NamedRow) => [{ stored, isGone: true, isComing: Boolean(stored.future) }];
  it.each<[string, NamedRow, Candidate[], boolean, number, number]>([
    ['have moved to another day under a trusted id', row('T1 A', TUESDAY), gone(row('T1 A')), true, 0, 1],
    ['have moved into the days that were read, or their id is a place in the list', MOVED, STILL, true, 0, 0],
    ['have another text under an id that seems to hold', row('T1 B'), gone(row('T1 A')), true, 0, 0],
    ['have probably moved, without a trusted id', row('T9 A', TUESDAY), gone(row('T1 A')), false, 0, 0],
    ['have probably another text', row('T9 B'), gone(row('T1 A')), false, 0, 0],
    ['are new if their trusted id is', row('T9 A', TUESDAY), gone(row('T1 A')), true, 1, 0],
    ['are new far from the day', row('T1 A', SUNDAY), gone(row('T1 A')), true, 1, 0],
    ['are new with another amount', row('T1 A', MONDAY, '-2.00'), gone(row('T1 A')), true, 1, 0],
    ['are new if the bank still shows the other one', row('T9 A', TUESDAY), STILL, false, 1, 0],
    ['are new after a coming row', row('T1 A', TUESDAY), gone({ ...row('T1 A'), future: true }), true, 1, 0],
  ])('%s', (_, fresh, candidates, isTrusted, isNew, certain) => {
    const found = changedRows([fresh], candidates, isTrusted ? ['transactionId'] : [], OF);
    expect([found.fresh.length, found.certain.size]).toEqual([isNew, certain]);
    expect(found.same).toHaveLength(1 - isNew);
  });
});
