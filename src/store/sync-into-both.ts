import type { BookedRows, Progress, Sync, SyncTarget } from './ports/sync.ts';

/**
 * Stores what a sync reads in two places. Each has every row once, even if only one of them was written last time: psd2
 * reads a product from the day that the place behind has reached.
 *
 * @param first is committed before the other one, and reports how many rows are new
 */
export function syncIntoBoth(first: Sync, second: Sync): Sync {
  return {
    run: (signal, work) =>
      first.run(signal, (ofFirst) =>
        second.run(signal, (ofSecond) =>
          work({
            customer: (customerId, sync) =>
              ofFirst.customer(customerId, (one) =>
                ofSecond.customer(customerId, (other) => sync(both(one, other))),
              ),
          }),
        ),
      ),
  };
}

function both(one: SyncTarget, other: SyncTarget): SyncTarget {
  const progress = async (productId: string) =>
    common(await one.progress(productId), await other.progress(productId));
  /** The place that is ahead gets rows again that it has already. It must recognise them. */
  const bookedIn = async (target: SyncTarget, productId: string, readsAll: boolean) => {
    const [own, shared] = [await target.progress(productId), await progress(productId)];
    const isAhead = own !== undefined && !isSameProgress(own, shared);
    return target.booked(productId, readsAll || isAhead);
  };
  return {
    place: async (accounts, areNamed) => {
      const places = await one.place(accounts, areNamed);
      const others = await other.place(accounts, areNamed);
      // What one of the two cannot know is not stored in the other either.
      return places.map((place, at) =>
        others[at]?.storedAs === null
          ? { ...place, storedAs: null }
          : { ...place, takenFor: place.takenFor ?? others[at]?.takenFor ?? null },
      );
    },
    progress,
    booked: async (productId, readsAll) => {
      const rows = await bookedIn(one, productId, readsAll);
      return bothRows(rows, await bookedIn(other, productId, readsAll));
    },
    replace: (name, rows) => {
      one.replace(name, rows);
      other.replace(name, rows);
    },
    remember: (productId, now, settled) => {
      one.remember(productId, now, settled);
      other.remember(productId, now, settled);
    },
    commit: async () => {
      await one.commit();
      await other.commit();
    },
  };
}

function bothRows(one: BookedRows, other: BookedRows): BookedRows {
  return {
    append: async (rows, how) => {
      const appended = await one.append(rows, how);
      await other.append(rows, how);
      return appended;
    },
    recall: async () => {
      await one.recall();
      await other.recall();
    },
    gone: () => one.gone(),
    replace: async (rows) => {
      await one.replace(rows);
      await other.replace(rows);
    },
    end: async (from) => {
      const ended = await one.end(from);
      await other.end(from);
      return ended;
    },
    lastDay: async (latest) => {
      const [day, otherDay] = [await one.lastDay(latest), await other.lastDay(latest)];
      if (day === undefined || otherDay === undefined) return undefined;
      return day < otherDay ? day : otherDay;
    },
  };
}

/** The days that both have. Undefined if they share none. */
function common(one: Progress | undefined, other: Progress | undefined): Progress | undefined {
  if (!one || !other) return undefined;
  const from = one.from > other.from ? one.from : other.from;
  const through = one.through < other.through ? one.through : other.through;
  if (from > through) return undefined;
  const isSameRow = one.newest !== undefined && one.newest === other.newest;
  const { contradictions: ofOne = [] } = one;
  const contradictions = [
    ...ofOne,
    ...(other.contradictions ?? []).filter(({ says }) => ofOne.every((each) => each.says !== says)),
  ];
  return {
    from,
    through,
    ...(isSameRow && { newest: one.newest }),
    ...(contradictions.length > 0 && { contradictions }),
    ...(isSameProgress(one, other) && { balance: one.balance, difference: one.difference }),
  };
}

function isSameProgress(one: Progress, other: Progress | undefined): boolean {
  return one.from === other?.from && one.through === other.through;
}
