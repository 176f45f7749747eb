import { describe, expect, it } from 'vitest';
import type { RowsOf } from '../../src/domain/booked-ids.ts';
import { type Candidate, changedRows, type NamedRow, sameContent } from '../../src/domain/same-rows.ts';
import { rowOf } from '../store/row-of.ts';
import { amountOf, dayOf } from './bookings.ts';

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

  it.each<[string, string[], string[], [string, string][], string[]]>([
    [
      'each row has its own',
      ['T1 A', 'T2 B'],
      ['T2 B', 'T1 A'],
      [
        ['T1 A', 'T1 A'],
        ['T2 B', 'T2 B'],
      ],
      [],
    ],
    ['the bank has given another id', ['T3 A'], ['T1 A'], [['T3 A', 'T1 A']], []],
    ['a row is gone', ['T1 A'], ['T1 A', 'T2 B'], [['T1 A', 'T1 A']], ['T2 B']],
    ['all rows are gone', [], ['T1 A', 'T2 B'], [], ['T1 A', 'T2 B']],
    ['nothing was known', ['T1 A'], [], [], []],
    [
      'equal rows have the same ids',
      ['T2 A', 'T1 A'],
      ['T1 A', 'T2 A'],
      [
        ['T2 A', 'T2 A'],
        ['T1 A', 'T1 A'],
      ],
      [],
    ],
    [
      'one of equal rows has a new id',
      ['T9 A', 'T2 A'],
      ['T1 A', 'T2 A'],
      [
        ['T2 A', 'T2 A'],
        ['T9 A', 'T1 A'],
      ],
      [],
    ],
    ['some of equal rows are gone', ['T2 A'], ['T1 A', 'T2 A', 'T3 A'], [['T2 A', 'T2 A']], ['T1 A', 'T3 A']],
  ])('go with the stored ones: %s', (_, rows, known, pairs, unseen) => {
    const found = sameContent(rowsOf(rows), rowsOf(known), OF);
    expect(found.pairs.map((pair) => texts(pair))).toEqual(pairs);
    expect(texts(found.unseen)).toEqual(unseen);
    expect(found.fresh).toHaveLength(rows.length - pairs.length);
  });

  it('with new ids of the bank, equal rows go with those of the same id of psd2', () => {
    const [one, other] = [row('T1 A'), row('T2 A')];
    const read = [other, one].map((each, at) => ({ ...each, transactionId: `T${at + 8}` }));
    const { pairs } = sameContent(read, [one, other], OF);
    expect(pairs.map(([found, known]) => [found.id, known.id])).toEqual([
      [other.id, other.id],
      [one.id, one.id],
    ]);
  });

  it.each<[Partial<NamedRow>, boolean]>([
    [{ amount: amountOf('-1.0') }, true],
    [{ currency: null }, true],
    [{ description: ' A\t' }, true],
    [{ details: ' ' }, true],
    [{ code: '43', transferReference: '0138', valueDate: dayOf(TUESDAY) }, true],
    [{ counterpartyIban: undefined }, true],
    [{ amount: amountOf('-1.01') }, false],
    [{ amount: amountOf('1.00') }, false],
    [{ currency: 'USD' }, false],
    [{ bookingDate: dayOf(TUESDAY) }, false],
    [{ bookingDate: null, valueDate: dayOf(TUESDAY) }, false],
    [{ bookingDate: null, valueDate: dayOf(MONDAY) }, true],
    [{ description: 'B' }, false],
    [{ description: 'a' }, false],
    [{ details: 'B' }, false],
    [{ description: '', details: 'A' }, false],
    [{ counterpartyIban: 'DE02100100109307118603' }, false],
  ])('a row with %j is the same: %s', (changes, isSame) => {
    const known = row('T1 A');
    const changed = { ...row('T2 A'), ...changes };
    expect(sameContent([changed], [known], OF).fresh).toHaveLength(isSame ? 0 : 1);
    expect(sameContent([known], [changed], OF).fresh).toHaveLength(isSame ? 0 : 1);
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

  it.each<[string, string[], string[], boolean]>([
    ['where one stored row has none', ['T1 A', 'T2 B'], ['T1 A', 'B'], true],
    ['where one row of the answer has none', ['T1 A', 'B'], ['T1 A', 'T2 B'], true],
    ['where no stored row has one', ['T1 A', 'T2 B'], ['A', 'B'], false],
    ['where no row of the answer has one', ['A', 'B'], ['T1 A', 'T2 B'], false],
    ['where none has one', ['A'], ['A'], false],
    ['of which one is the same and one another', ['T1 A', 'T3 B'], ['T1 A', 'T2 B'], false],
    ['of the last of several', ['T3 B', 'T1 A'], ['T2 B', 'T1 A'], false],
  ])('ids %s are trusted: %s', (_, rows, known, isTrusted) => {
    const { trusted } = sameContent(rowsOf(rows), rowsOf(known), OF);
    expect(trusted).toEqual(isTrusted ? ['transactionId'] : []);
  });

  it('each kind of id is trusted by itself', () => {
    const known = { ...row('T1 A'), entryReference: 'E1', internalTransactionId: 'I1' };
    const trusted = (changes: Partial<NamedRow>) =>
      sameContent([{ ...known, ...changes }], [known], OF).trusted;
    expect(trusted({})).toEqual(['transactionId', 'entryReference', 'internalTransactionId']);
    expect(trusted({ entryReference: 'E2' })).toEqual(['transactionId', 'internalTransactionId']);
    expect(trusted({ transactionId: null, internalTransactionId: 'I2' })).toEqual(['entryReference']);
  });

  it.each<[RowsOf['naming'], string[]]>([
    ['transactionId', ['transactionId']],
    ['entryReference', ['entryReference']],
    ['content', []],
  ])('if the bank file names %s, nothing else is trusted', (naming, trusted) => {
    for (const known of [[], [row('T1 A')], [row('T2 A')]])
      expect(sameContent([row('T1 A')], known, { ...OF, naming }).trusted).toEqual(trusted);
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

  it.each<[string, string | null, string | null, boolean]>([
    ['five days later', MONDAY, '2026-11-07', true],
    ['six days later', MONDAY, '2026-11-08', false],
    ['five days before', MONDAY, '2026-10-28', true],
    ['six days before', MONDAY, '2026-10-27', false],
    ['without a day, as before', null, null, true],
    ['without a day now', MONDAY, null, false],
    ['without a day before', null, MONDAY, false],
  ])('are the stored one %s', (_, before, day, isSame) => {
    for (const trusted of [['transactionId'], []] as const) {
      const found = changedRows([row('T1 A', day)], gone(row('T1 A', before)), trusted, OF);
      expect(found.fresh).toHaveLength(isSame ? 0 : 1);
    }
  });

  it('are a row that was to come, if its day stays and its id is trusted', () => {
    const coming = gone({ ...row('T1 A'), future: true });
    expect(changedRows([row('T1 B')], coming, ['transactionId'], OF).same).toHaveLength(1);
    expect(changedRows([row('T1 B')], coming, [], OF).same).toEqual([]);
  });

  it('are certain whatever has changed, if the bank file names the id', () => {
    const of: RowsOf = { ...OF, naming: 'transactionId' };
    for (const candidates of [STILL, gone(row('T1 A'))]) {
      const found = changedRows([row('T1 B', TUESDAY, '-9.00')], candidates, ['transactionId'], of);
      expect([found.same.length, found.certain.size]).toEqual([1, 1]);
    }
    // Another kind of id that holds makes nothing certain.
    const other: RowsOf = { ...OF, naming: 'entryReference' };
    expect(changedRows([row('T1 B')], gone(row('T1 A')), ['transactionId'], other).certain.size).toBe(0);
  });

  it('that share an id, or whose id several stored rows have, are known by their sum alone', () => {
    const two = [row('T1 A', TUESDAY), row('T1 B', TUESDAY)];
    const known = [...gone(row('T1 B')), ...gone(row('T1 A'))];
    const found = changedRows(two, known, ['transactionId'], OF);
    expect(found.same.map((pair) => texts(pair))).toEqual([
      ['T1 A', 'T1 A'],
      ['T1 B', 'T1 B'],
    ]);
    expect(found.certain.size).toBe(0);
    expect(changedRows([row('T1 C', TUESDAY)], known, ['transactionId'], OF)).toMatchObject({ fresh: [] });
  });

  it.each<[what: string, stored: string[]]>([
    ['first', ['T1 A', 'T1 B']],
    ['last', ['T1 B', 'T1 A']],
    ['between others', ['T1 B', 'T1 A', 'T1 C']],
  ])('whose id several stored rows have are the one with their text, which is the %s', (_, stored) => {
    const candidates = stored.flatMap((text) => gone(row(text)));
    const found = changedRows([row('T1 A', TUESDAY)], candidates, ['transactionId'], OF);
    expect(found.same.map((pair) => texts(pair))).toEqual([['T1 A', 'T1 A']]);
  });

  it('with the same text come before others, in any order', () => {
    const [same, other] = [row('T8 A', TUESDAY), row('T9 B', TUESDAY)];
    for (const fresh of [
      [same, other],
      [other, same],
    ]) {
      const found = changedRows(fresh, gone(row('T1 A')), [], OF);
      expect([texts(found.fresh), found.same.map((pair) => texts(pair))]).toEqual([
        ['T9 B'],
        [['T8 A', 'T1 A']],
      ]);
      expect(found.doubtful).toEqual([]);
    }
  });

  it('take a stored row once, and each that is left is in doubt if stored rows may be it', () => {
    const candidates = [...gone(row('T1 A')), ...gone(row('T2 B')), ...gone(row('T3 C', SUNDAY))];
    const fresh = [row('T8 A', TUESDAY), row('T2 B', TUESDAY), row('T9 C', TUESDAY, '-7.00')];
    const found = changedRows(fresh, candidates, ['transactionId'], OF);
    expect(found.same.map((pair) => texts(pair))).toEqual([['T2 B', 'T2 B']]);
    expect([...found.certain]).toEqual([fresh[1]]);
    expect(texts(found.fresh)).toEqual(['T8 A', 'T9 C']);
    expect(found.doubtful.map(texts)).toEqual([['T1 A']]);
  });

  it('are in no doubt because of a row that the bank still shows, or that was to come', () => {
    const candidates = [...STILL, ...gone({ ...row('T2 A'), future: true })];
    expect(changedRows([row('T9 A', TUESDAY)], candidates, [], OF)).toMatchObject({ doubtful: [], same: [] });
  });
});
