import { hash } from 'node:crypto';
import { dayOfRow } from '../domain/booked-ids.ts';
import { addDays, type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { type Candidate, changedRows, MOVED_DAYS, type NamedRow, sameContent } from '../domain/same-rows.ts';
import {
  type Appended,
  type BookedRows,
  counts,
  type HowToAppend,
  type RowMark,
  type SyncedRow,
} from './ports/sync.ts';

/** The stored rows of a product, as a backend finds and adds them. */
export interface StoredRows {
  /** The rows of some days (`''`: without a day), and all from a day on. Rows that may not come again can be missing. */
  find(days: ReadonlySet<string>, from?: IsoDate): Promise<SyncedRow[]>;
  add(rows: readonly SyncedRow[]): Promise<void>;
  /** Marks rows that do not count any more. */
  mark(rows: readonly SyncedRow[], mark: RowMark): Promise<void>;
  recall(): Promise<void>;
  lastDay(latest: IsoDate): Promise<IsoDate | undefined>;
}

/** Stores each row once: see `domain/same-rows.ts`. */
export class KnownRows implements BookedRows {
  readonly #stored: StoredRows;
  /** The stored rows that the bank has not shown again, by id. */
  readonly #gone = new Map<string, SyncedRow>();
  /** The stored rows that came with another day or text, by the id of the row that came. */
  readonly #changed = new Map<string, string>();

  constructor(stored: StoredRows) {
    this.#stored = stored;
  }

  async append<Row extends SyncedRow>(
    all: readonly Row[],
    { of, covered, today }: HowToAppend,
  ): Promise<Appended<Row>> {
    // A bank that ignores the range shows rows again.
    const rows = all.filter(({ id }) => !this.#changed.has(id));
    const changed = new Set(all.flatMap(({ id }) => this.#changed.get(id) ?? []));
    const days = new Set(rows.map(dayOf));
    for (let day = covered?.from; day && covered?.to && day <= covered.to; day = addDays(day, 1))
      days.add(day);
    const storedRows = await this.#stored.find(days, covered?.to ? undefined : covered?.from);
    const shown = storedRows.filter((row) => counts(row) && !changed.has(row.id));
    const isAll = covered !== undefined;
    // Without all rows of a day, only an id of the bank tells a row from an equal one.
    const { fresh, pairs, unseen, trusted } = sameContent(
      rows,
      shown,
      isAll
        ? of
        : { ...of, naming: rows.every((row) => row.entryReference) ? 'entryReference' : 'transactionId' },
    );
    const missing = new Set(unseen);
    for (const row of shown) {
      if (!missing.has(row)) this.#gone.delete(row.id);
      else if (isAll && dayOf(row) >= covered.from && dayOf(row) <= (covered.to ?? '9'))
        this.#gone.set(row.id, row);
    }
    const {
      fresh: added,
      same,
      certain,
      doubtful,
    } = isAll
      ? changedRows(
          fresh,
          (await this.#candidates(fresh, days, trusted.length > 0)).map((each) => ({
            ...each,
            isComing: Boolean(each.stored.future) && dayOf(each.stored) > (today ?? ''),
          })),
          trusted,
          of,
        )
      : { fresh, same: [], certain: new Set<Row>(), doubtful: [] };
    for (const [{ id: shown }, { id }] of same) {
      this.#gone.delete(id);
      this.#changed.set(shown, id);
    }
    const usedIds = new Set(storedRows.map(({ id }) => id));
    await this.#stored.add(added.map((row) => withFreeId(row, usedIds)));
    const awaited = new Map([...pairs, ...same].filter(([, { future }]) => future));
    // A booked row that is to come now is in the stored balance already, and not in the bank's.
    const isUnsure = ([row, storedRow]: [Row, NamedRow]) =>
      !certain.has(row) || (row.future && !(storedRow.future && dayOf(storedRow) > (today ?? '')));
    return { added, awaited, unsure: same.filter(isUnsure).length, doubtful };
  }

  recall(): Promise<void> {
    return this.#stored.recall();
  }

  async gone(): Promise<SyncedRow[]> {
    return [...this.#gone.values()];
  }

  async replace(rows: readonly SyncedRow[]): Promise<void> {
    const replaced = rows.flatMap(({ id }) => this.#gone.get(id) ?? []);
    for (const { id } of replaced) this.#gone.delete(id);
    await this.#stored.mark(replaced, 'replaced');
  }

  async end(from: IsoDate): Promise<{ cancelled: number; gone: number }> {
    const gone = [...this.#gone.values()].filter((row) => dayOf(row) >= from);
    this.#gone.clear();
    const cancelled = gone.filter(({ future }) => future);
    await this.#stored.mark(cancelled, 'cancelled');
    return { cancelled: cancelled.length, gone: gone.length - cancelled.length };
  }

  lastDay(latest: IsoDate): Promise<IsoDate | undefined> {
    return this.#stored.lastDay(latest);
  }

  /** The stored rows that some rows may be, with another day or text. */
  async #candidates(
    rows: readonly SyncedRow[],
    searched: ReadonlySet<string>,
    hasTrusted: boolean,
  ): Promise<Omit<Candidate, 'isComing'>[]> {
    const gone = [...this.#gone.values()].map((stored) => ({ stored, isGone: true }));
    if (!hasTrusted || rows.length === 0) return gone;
    const near = new Set<string>();
    for (const day of new Set(rows.map(dayOf))) {
      for (let days = -MOVED_DAYS; isIsoDate(day) && days <= MOVED_DAYS; days += 1) {
        const other = addDays(day, days);
        if (!searched.has(other)) near.add(other);
      }
    }
    const sums = new Set(rows.map(({ amount }) => Number(amount)));
    const others = await this.#stored.find(near);
    return [
      ...gone,
      ...others.flatMap((stored) =>
        counts(stored) && !this.#gone.has(stored.id) && sums.has(Number(stored.amount))
          ? [{ stored, isGone: false }]
          : [],
      ),
    ];
  }
}

function dayOf(row: NamedRow): string {
  return dayOfRow(row) ?? '';
}

/** A row that moved keeps the id of its first day, where an equal row may come later. */
function withFreeId<Row extends SyncedRow>(row: Row, usedIds: Set<string>): Row {
  let { id } = row;
  for (let number = 1; usedIds.has(id); number += 1)
    id = hash('sha256', `${row.id}+${number}`, 'hex').slice(0, 32);
  usedIds.add(id);
  return id === row.id ? row : { ...row, id };
}
