import {
  type BookedRow,
  dayOfRow,
  ID_KINDS,
  type IdKind,
  type RowsOf,
  uniqueIds,
  withPlainBlanks,
} from './booked-ids.ts';
import { normalDecimal } from './decimal.ts';

// Which rows of a bank's answer are stored already. A row is known by what it says, and equal rows by their number. An id of the
// bank helps only where it was seen to hold.

/** A booking day may move by as many days. */
export const MOVED_DAYS = 5;

/** A row with psd2's own id. */
export interface NamedRow extends BookedRow {
  id: string;
  /** It was stored before its day had come. */
  future?: boolean | null | undefined;
}

export interface SameRows<Row extends NamedRow> {
  /** Rows that are not stored. */
  fresh: Row[];
  /** The others, with the stored rows that they are. */
  pairs: [Row, NamedRow][];
  /** Stored rows that are not among the rows. */
  unseen: NamedRow[];
  /** The ids of the bank that are seen to hold: a row has the same one as before, and no row has another one. */
  trusted: IdKind[];
}

/**
 * Finds the rows that are stored with the same content: amount, currency, day, other side and text.
 *
 * @param rows all rows of their days, or none of a day
 * @param storedRows the stored rows of these days, and maybe of others
 */
export function sameContent<Row extends NamedRow>(
  rows: readonly Row[],
  storedRows: readonly NamedRow[],
  of: RowsOf,
): SameRows<Row> {
  const pairs: [Row, NamedRow][] = [];
  let [fresh, unseen] = [[...rows], [...storedRows]];
  const content = contentKey(rows, storedRows, of);
  // Of equal rows, those with the same ids belong together. So the one that is left has an id that is new.
  for (const key of [withBankIds(content), ({ id }: NamedRow) => id, content]) {
    if (fresh.length === 0 || unseen.length === 0) break;
    const places = groupBy(unseen, key);
    const left: Row[] = [];
    for (const row of fresh) {
      const storedRow = places.get(key(row))?.shift();
      if (storedRow) pairs.push([row, storedRow]);
      else left.push(row);
    }
    fresh = left;
    unseen = [...places.values()].flat();
  }
  return { fresh, pairs, unseen, trusted: ID_KINDS.filter((kind) => holds(kind, rows, pairs, of)) };
}

/** Whether ids of this kind name rows, as far as the rows show. */
function holds<Row extends NamedRow>(
  kind: IdKind,
  rows: readonly Row[],
  pairs: readonly [Row, NamedRow][],
  { naming = 'auto' }: RowsOf,
): boolean {
  if (naming !== 'auto') return naming === kind;
  const withOne = rows.filter((row) => row[kind]);
  if (withOne.length === 0 || uniqueIds(withOne, kind).size < withOne.length) return false;
  const both = pairs.filter(([row, stored]) => row[kind] && stored[kind]);
  return both.length > 0 && both.every(([row, stored]) => row[kind] === stored[kind]);
}

/** A stored row that a row may be. */
export interface Candidate {
  stored: NamedRow;
  /** The bank shows its days, and not this row any more. */
  isGone: boolean;
  /** It was stored before its day, which has not come yet. */
  isComing: boolean;
}

/**
 * Finds stored rows that have changed: their day has moved, or another field is new.
 *
 * @param fresh rows whose content is not stored
 * @param trusted the ids that hold
 * @returns `fresh`: the rows that are new. `same`: the others, with the stored rows that they are. `certain`: those of them that an
 *   id names whose row keeps its text, and is not shown under its old day. `doubtful`: for each fresh row that may be stored, the
 *   stored rows that it may be
 */
export function changedRows<Row extends NamedRow>(
  fresh: readonly Row[],
  candidates: readonly Candidate[],
  trusted: readonly IdKind[],
  of: RowsOf,
): { fresh: Row[]; same: [Row, NamedRow][]; certain: ReadonlySet<Row>; doubtful: NamedRow[][] } {
  const left = new Set(candidates);
  const same: [Row, NamedRow][] = [];
  const certain = new Set<Row>();
  // An id under which another text comes, or whose old day is not read, may be a place in a list: unless the bank file names it.
  const isNamed = trusted.some((kind) => of.naming === kind);
  const take = (rows: readonly Row[], find: (row: Row) => Candidate | undefined, hasId = false) =>
    rows.filter((row) => {
      const candidate = find(row);
      if (!candidate) return true;
      const { stored, isGone } = candidate;
      left.delete(candidate);
      same.push([row, stored]);
      if (hasId && (isNamed || (isGone && rowText(row) === rowText(stored)))) certain.add(row);
      return false;
    });
  let others = [...fresh];
  for (const kind of trusted) {
    const ids = uniqueIds(others, kind);
    const byId = groupBy(left, ({ stored }) => stored[kind] ?? null);
    const named = (row: Row) => {
      const [candidate, ...more] = byId.get(ids.get(row) ?? '') ?? [];
      if (!candidate || more.length > 0) return undefined;
      const isSame = of.naming === kind || moneyKey(row, of) === moneyKey(candidate.stored, of);
      return isSame && isNear(row, candidate) ? candidate : undefined;
    };
    others = take(others, named, true);
  }
  const bySum = groupBy(
    [...left].filter(({ isGone, isComing }) => isGone && !isComing),
    ({ stored }) => moneyKey(stored, of),
  );
  const isOther = (row: Row, stored: NamedRow) =>
    trusted.some((kind) => row[kind] && stored[kind] && row[kind] !== stored[kind]);
  for (const hasSameText of [true, false])
    others = take(others, (row) =>
      bySum
        .get(moneyKey(row, of))
        ?.find(
          (each) =>
            left.has(each) &&
            isNear(row, each) &&
            !isOther(row, each.stored) &&
            (!hasSameText || rowText(row) === rowText(each.stored)),
        ),
    );
  // Places in a list can look like ids that hold.
  const doubtful = others.flatMap((row) => {
    const near = (bySum.get(moneyKey(row, of)) ?? []).filter((each) => left.has(each) && isNear(row, each));
    return near.length === 0 ? [] : [near.map(({ stored }) => stored)];
  });
  return { fresh: others, same, certain, doubtful };
}

/** Whether the day of a row can have moved to that of the other one. The day of a coming row is told anew instead. */
function isNear(row: NamedRow, { stored, isComing }: Candidate): boolean {
  const [day, before] = [dayOfRow(row), dayOfRow(stored)];
  if (day === null || before === null || isComing) return day === before;
  return Math.abs(Date.parse(day) - Date.parse(before)) <= MOVED_DAYS * 86_400_000;
}

/** What names a row: its content, or the id of the bank that the bank file says, as long as no two rows share it. */
function contentKey(
  rows: readonly NamedRow[],
  storedRows: readonly NamedRow[],
  of: RowsOf,
): (row: NamedRow) => string {
  const { naming = 'auto' } = of;
  if (naming === 'auto' || naming === 'content')
    return (row) => `${dayOfRow(row)} ${moneyKey(row, of)} ${rowText(row)}`;
  const content = contentKey(rows, storedRows, { ...of, naming: 'content' });
  const ids = new Map([...uniqueIds(rows, naming), ...uniqueIds(storedRows, naming)]);
  const shared = new Set(
    [...rows, ...storedRows].flatMap((row) => (ids.has(row) ? [] : (row[naming] ?? []))),
  );
  return (row) => {
    const id = row[naming];
    return id && !shared.has(id) ? id : content(row);
  };
}

function moneyKey({ amount, currency }: NamedRow, of: RowsOf): string {
  return `${normalDecimal(amount)} ${currency ?? of.currency}`;
}

function rowText({ description, details, counterpartyIban }: NamedRow): string {
  return JSON.stringify([withPlainBlanks(description), withPlainBlanks(details), counterpartyIban ?? null]);
}

function groupBy<Of, Key>(all: Iterable<Of>, key: (one: Of) => Key): Map<Key, Of[]> {
  const groups = new Map<Key, Of[]>();
  for (const one of all) {
    const of = key(one);
    const group = groups.get(of);
    if (group) group.push(one);
    else groups.set(of, [one]);
  }
  return groups;
}

function withBankIds(content: (row: NamedRow) => string): (row: NamedRow) => string {
  return (row) => `${content(row)} ${JSON.stringify(ID_KINDS.map((kind) => row[kind] ?? null))}`;
}
