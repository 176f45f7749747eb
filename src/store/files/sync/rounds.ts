import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../../domain/json.ts';
import { makePrivateFolder, readJsonFile } from '../../disk/files.ts';
import { ListedRound } from '../../listed-round.ts';
import type { Round, RoundNote, RoundShare, RoundStatus, Rounds } from '../../ports/sync.ts';

/** The period of the rates that `psd2 sync status` shows. */
const RECENT_MS = 5 * 60_000;
/** A process that has reported nothing for this long is no longer working. */
const SILENT_MS = 30_000;
const MAX_NEEDING_SCA = 100;
/** How many customers each failure names, though the status shows the first one: the next one if psd2 forgets that. */
const MAX_NAMED = 10;

const count = z.int().check(z.gte(0));
const example = z.object({ customerId: z.string(), message: z.string() });
const stored = z.object({
  begunAt: z.string(),
  endedAt: z.nullable(z.string()),
  saidAt: z.string(),
  worker: z.string(),
  size: count,
  done: z.object({ synced: count, partly: count, waiting: count, failed: count }),
  failures: z.array(
    z.extend(example, { code: z.string(), customers: count, others: z._default(z.array(example), []) }),
  ),
  needSca: z.array(z.string()),
  /** The totals at some moments, the oldest first. */
  samples: z.array(z.object({ at: z.string(), calls: count, customers: count })),
});
type Stored = z.infer<typeof stored>;

/** Rounds over a list in memory, for one process. A file keeps the progress of the last one for `psd2 sync status`. */
export class FileRounds implements Rounds {
  readonly #path: string;
  readonly #customers: () => Promise<string[]>;
  readonly #isForgotten: (customerId: string) => boolean;
  readonly #now: () => Date;
  #lastBegun: number | undefined;

  /**
   * @param folder of the profile's tokens
   * @param isForgotten whether psd2 has forgotten a customer since this command began
   */
  constructor(
    folder: string,
    customers: () => Promise<string[]>,
    isForgotten: (customerId: string) => boolean,
    now: () => Date,
  ) {
    this.#path = join(folder, 'last-round.json');
    this.#customers = customers;
    this.#isForgotten = isForgotten;
    this.#now = now;
  }

  over(customers: readonly string[]): Round {
    return new ListedRound(customers);
  }

  async join(every = 0): Promise<Round | { dueIn: number }> {
    const begun = this.#now();
    const dueIn = this.#lastBegun === undefined ? 0 : this.#lastBegun + every - begun.getTime();
    if (dueIn > 0) return { dueIn: Math.min(dueIn, every) };
    this.#lastBegun = begun.getTime();
    const customers = await this.#customers();
    const at = begun.toISOString();
    const status: Stored = {
      begunAt: at,
      endedAt: null,
      saidAt: at,
      worker: `process ${process.pid} on ${hostname()}`,
      size: customers.length,
      done: { synced: 0, partly: 0, waiting: 0, failed: 0 },
      failures: [],
      needSca: [],
      samples: [{ at, calls: 0, customers: 0 }],
    };
    return new ListedRound(customers, undefined, (done) => {
      add(status, done, this.#now());
      this.#write(status);
    });
  }

  rejoin(share: RoundShare): Round {
    if ('customers' in share) return new ListedRound(share.customers, share.taken);
    throw new TypeError('The round belongs to a database');
  }

  async status(): Promise<RoundStatus | undefined> {
    const round = readJsonFile(this.#path, stored);
    if (!round) return undefined;
    const { begunAt, endedAt, size, done, failures, needSca, worker } = round;
    const isAtWork = endedAt === null && this.#now().getTime() - Date.parse(round.saidAt) < SILENT_MS;
    const due = Math.max(0, size - sum(done));
    return {
      begunAt,
      endedAt,
      done,
      needSca: needSca.toSorted(),
      due,
      // Only the process itself knows which customers are in progress.
      atWork: 0,
      failures: failures
        .toSorted((a, b) => b.customers - a.customers || (a.code < b.code ? -1 : 1))
        .map(({ others: _, ...failure }) => failure),
      workers: isAtWork ? [{ worker, customers: due }] : [],
      ...(isAtWork ? ratesOf(round) : { callsPerSecond: null, customersPerSecond: null }),
    };
  }

  isAway(): boolean {
    return false;
  }

  /** Writes the progress. It is only for information: if it cannot be written, the sync continues. */
  #write(status: Stored): void {
    const beside = join(dirname(this.#path), `.${basename(this.#path)}.${process.pid}`);
    try {
      makePrivateFolder(dirname(this.#path));
      let written: Stored;
      // A customer who is forgotten in the middle of this may be in the file again.
      do {
        written = without(status, this.#isForgotten);
        writeFileSync(beside, `${JSON.stringify(written)}\n`, { mode: 0o600 });
        renameSync(beside, this.#path);
      } while (customersIn(written).some(this.#isForgotten));
    } catch {
      removeIfPossible(beside);
    }
  }
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next write replaces it.
  }
}

function add(status: Stored, { calls, ends, isOver }: RoundNote, now: Date): void {
  for (const { customerId, status: end, code, message } of ends) {
    status.done[end] += 1;
    if (code === null) continue;
    const counted = status.failures.find((failure) => failure.code === code);
    const named = { customerId, message: message ?? '' };
    if (!counted) status.failures.push({ code, customers: 1, ...named, others: [] });
    else {
      counted.customers += 1;
      if (counted.others.length + 1 < MAX_NAMED) counted.others.push(named);
    }
    if (code === 'sca_required' && status.needSca.length < MAX_NEEDING_SCA) status.needSca.push(customerId);
  }
  const at = now.toISOString();
  status.saidAt = at;
  if (isOver) status.endedAt = at;
  const last = status.samples.at(-1);
  status.samples.push({ at, calls: (last?.calls ?? 0) + calls, customers: sum(status.done) });
  const recent = now.getTime() - RECENT_MS;
  while ((status.samples[1] && Date.parse(status.samples[1].at) < recent) || status.samples.length > 100)
    status.samples.shift();
}

/**
 * The record of a round without a customer. It still counts what became of the others. Of a failure that they had too, it names the
 * next one.
 *
 * @param text the record as it is stored
 * @returns undefined if it is damaged, and names the customer
 */
export function roundWithout(text: string, customerId: string): string | undefined {
  if (!text.includes(JSON.stringify(customerId))) return text;
  const { data: round } = stored.safeParse(jsonIn(text));
  return round && JSON.stringify(without(round, (each) => each === customerId));
}

function without(round: Stored, isGone: (customerId: string) => boolean): Stored {
  return {
    ...round,
    needSca: round.needSca.filter((each) => !isGone(each)),
    failures: round.failures.flatMap((failure) => failureWithout(failure, isGone)),
  };
}

/** @returns none if nobody else is known to have it */
function failureWithout(
  failure: Stored['failures'][number],
  isGone: (customerId: string) => boolean,
): Stored['failures'] {
  const named = [{ customerId: failure.customerId, message: failure.message }, ...failure.others];
  const [first, ...others] = named.filter((each) => !isGone(each.customerId));
  const gone = named.length - others.length - 1;
  return first ? [{ code: failure.code, customers: failure.customers - gone, ...first, others }] : [];
}

function customersIn({ needSca, failures }: Stored): string[] {
  return [
    ...needSca,
    ...failures.flatMap((failure) => [failure, ...failure.others].map(({ customerId }) => customerId)),
  ];
}

function ratesOf({ samples }: Stored): Pick<RoundStatus, 'callsPerSecond' | 'customersPerSecond'> {
  const [first, last] = [samples[0], samples.at(-1)];
  const seconds = first && last ? (Date.parse(last.at) - Date.parse(first.at)) / 1000 : 0;
  if (!first || !last || seconds <= 0) return { callsPerSecond: null, customersPerSecond: null };
  return {
    callsPerSecond: (last.calls - first.calls) / seconds,
    customersPerSecond: (last.customers - first.customers) / seconds,
  };
}

function sum(done: Stored['done']): number {
  return done.synced + done.partly + done.waiting + done.failed;
}
