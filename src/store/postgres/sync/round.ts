import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod/mini';
import type { CustomerEnd, Dealt, Round, RoundNote, RoundShare } from '../../ports/sync.ts';
import { BEAT_MS, CLAIM_MS } from '../claims.ts';
import { type Database, LostAnswer, onlyRow, type Parameter, ProfileRows } from '../database.ts';
import { storeFailure } from '../failure.ts';

/** If a worker's last heartbeat is older, it asks the database which customers it still has. */
const SURE_FOR_MS = 4_000;
/** The pause before psd2 asks again for rows that other workers have. */
const PAUSE_MS = 500;

const dealt = z.object({ customer_id: z.string(), number: z.string(), finished_at: z.string() });
type DealtRow = z.infer<typeof dealt>;
/** The cursor before the first row. */
const START: [finishedAt: string, customerId: string] = ['-infinity', ''];

/** Makes the customers of dead workers due again. @returns how many there are */
export async function releaseOfDeadWorkers(
  query: <T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[]) => Promise<T[]>,
  profile: string,
): Promise<number> {
  const back = await query(
    z.object({ count: z.number() }),
    `with dead as materialized (
       select worker from psd2.sync_workers where profile = $1 and until < clock_timestamp()),
     back as (update psd2.sync_customers c set worker = null from dead
       where c.profile = $1 and c.worker = dead.worker returning 1)
     select count(*)::int from back`,
    [profile],
  );
  return onlyRow(back).count;
}

/**
 * A worker's part in a round. The worker is a row. A row of a customer has the name of the worker that it was dealt to,
 * and a number that grows with each deal.
 */
export class PostgresRound extends ProfileRows implements Round {
  readonly share: Extract<RoundShare, { round: number }>;
  readonly #worker = randomUUID();
  readonly #name = `process ${process.pid} on ${hostname()}`;
  /** Customers that were dealt and not begun, or that get another turn. */
  #queue: Pick<DealtRow, 'customer_id' | 'number'>[] = [];
  /** Customers that were begun and not yet reported as finished, with their numbers. */
  readonly #begun = new Map<string, string>();
  /** Customers that are finished and not yet reported. */
  #unreported: { customerId: string; number: string; end: CustomerEnd }[] = [];
  /** The last row that was dealt. Earlier rows are not due any more, except those that were given back. */
  #cursor = START;
  /** The last heartbeat of this worker. */
  #alive: Alive | undefined;
  /** Whether the worker did not respond for too long, so that other workers may have taken over its customers. */
  #mayHaveLost = false;
  #lookedForDead = Number.NEGATIVE_INFINITY;
  #foundNone: { at: number; what: 'later' | 'over' } | undefined;
  /** Whether an answer was lost, so that more customers may have been dealt to this worker than it knows. */
  #mayHaveMore = false;
  #beat: NodeJS.Timeout | undefined;
  #asking: Promise<'later' | 'over' | undefined> | undefined;

  constructor(database: Database, profile: string, share: Extract<RoundShare, { round: number }>) {
    super(database, profile);
    this.share = share;
  }

  get size(): number {
    return this.share.size;
  }

  async next(max: number): Promise<Dealt | 'later' | 'over'> {
    for (;;) {
      await this.#reportFinished();
      if (this.#queue.length > 0) await this.#makeSure();
      const row = this.#queue.shift();
      if (row) return this.#begin(row);
      const none = this.#foundNone;
      if (none && (none.what === 'over' || performance.now() - none.at < PAUSE_MS)) return none.what;
      // Concurrent callers share one statement.
      this.#asking ??= this.#deal(max).finally(() => {
        this.#asking = undefined;
      });
      const what = await this.#asking;
      if (what !== undefined) return what;
    }
  }

  async counts(): Promise<{ due: number; atWork: number }> {
    const counted = await this.look(
      z.object({ due: z.number(), at_work: z.number() }),
      `select count(*) filter (where worker is null and finished_at < $2::timestamptz)::int as due,
         count(*) filter (where worker is not null)::int as at_work
       from psd2.sync_customers where profile = $1`,
      [this.share.begunAt],
    );
    const { due, at_work: atWork } = onlyRow(counted);
    return { due, atWork };
  }

  async note({ calls, ends }: RoundNote): Promise<void> {
    if (calls + ends.length === 0) return;
    await this.execute(
      `insert into psd2.sync_minutes as m (profile, minute, calls, customers)
       values ($1, date_trunc('minute', clock_timestamp()), $2, $3)
       on conflict (profile, minute) do update
         set calls = m.calls + excluded.calls, customers = m.customers + excluded.customers`,
      [calls, ends.length],
    );
  }

  async leave(): Promise<void> {
    clearInterval(this.#beat);
    if (this.#beat === undefined) return;
    try {
      await this.#reportFinished();
      await this.database.execute(
        `with gone as (delete from psd2.sync_workers where profile = $1 and worker = $2)
         update psd2.sync_customers set worker = null where profile = $1 and worker = $2`,
        this.#self,
      );
    } catch {
      // The customers are due again when the worker's time is over.
    }
  }

  get #self(): [profile: string, worker: string] {
    return [this.profile, this.#worker];
  }

  #begin({ customer_id: customerId, number }: Pick<DealtRow, 'customer_id' | 'number'>): Dealt {
    this.#begun.set(customerId, number);
    return {
      customerId,
      finish: async (end) => {
        this.#unreported.push({ customerId, number, end });
        await this.#reportFinished();
      },
      again: () => {
        this.#begun.delete(customerId);
        this.#queue.push({ customer_id: customerId, number });
        // Another worker may have taken the customer over: the database knows.
        this.#mayHaveLost = true;
      },
    };
  }

  /** @returns undefined if some were dealt, or if it now knows which this worker has */
  async #deal(max: number): Promise<'later' | 'over' | undefined> {
    this.#foundNone = undefined;
    if (this.#mayHaveMore) {
      await this.#confirm();
      // `next` begins with what this worker has.
      return undefined;
    }
    const now = performance.now();
    if (now - this.#lookedForDead > BEAT_MS) {
      this.#lookedForDead = now;
      if ((await releaseOfDeadWorkers((row, sql, values) => this.#ask(row, sql, values), this.profile)) > 0)
        this.#cursor = START;
    }
    for (const cursor of new Set([this.#cursor, START])) {
      const rows = await this.#dealAfter(cursor, max);
      const last = rows.at(-1);
      if (!last) continue;
      this.#cursor = [last.finished_at, last.customer_id];
      this.#queue.push(...rows);
      return undefined;
    }
    const what = (await this.#isOver()) ? 'over' : 'later';
    this.#foundNone = { at: performance.now(), what };
    return what;
  }

  /** Sends a heartbeat and deals customers in one statement, so that none is dealt to a worker without a row. */
  async #dealAfter([finishedAt, customerId]: typeof START, max: number): Promise<DealtRow[]> {
    this.#startBeating();
    this.#mayHaveMore = true;
    const alive = aliveNow();
    const rows = await this.#ask(
      dealt,
      // If the server crashes and loses this, the customers are dealt again.
      `with quick as materialized (select set_config('synchronous_commit', 'off', true)),
       alive as (${ALIVE}),
       due as materialized (
         select customer_id from psd2.sync_customers, quick
         where profile = $1 and worker is null and finished_at < $5::timestamptz
           and (finished_at, customer_id) > ($6::timestamptz, $7)
         order by finished_at, customer_id limit $8 for update of sync_customers skip locked),
       dealt as (update psd2.sync_customers c set worker = $2, number = c.number + 1 from due
         where c.profile = $1 and c.customer_id = due.customer_id
         returning c.customer_id, c.number, c.finished_at)
       select customer_id, number::text, finished_at::text from dealt
       order by dealt.finished_at, dealt.customer_id`,
      [...this.#self, this.#name, CLAIM_MS, this.share.begunAt, finishedAt, customerId, max],
    );
    this.#mayHaveMore = false;
    this.#livedAt(alive);
    return rows;
  }

  /** Whether all customers are finished. If so, ends the round. */
  async #isOver(): Promise<boolean> {
    const left = await this.#ask(
      z.object({ some: z.boolean() }),
      `select exists (select from psd2.sync_workers w join psd2.sync_customers c
           on c.profile = w.profile and c.worker = w.worker where w.profile = $1)
         or exists (select from psd2.sync_customers
           where profile = $1 and worker is null and finished_at < $2::timestamptz) as some`,
      [this.profile, this.share.begunAt],
    );
    if (onlyRow(left).some) return false;
    await this.#ask(
      z.unknown(),
      `update psd2.sync_rounds set ended_at = clock_timestamp()
       where profile = $1 and round = $2 and ended_at is null`,
      [this.profile, this.share.round],
    );
    return true;
  }

  async #reportFinished(): Promise<void> {
    while (this.#unreported.length > 0) {
      const some = this.#unreported;
      this.#unreported = [];
      try {
        await this.database.executeAgain(
          `update psd2.sync_customers c set worker = null, finished_at = clock_timestamp(),
             status = e.status, code = e.code, message = e.message
           from json_to_recordset($3::json)
             as e (customer_id text, number bigint, status text, code text, message text)
           where c.profile = $1 and c.customer_id = e.customer_id and c.worker = $2 and c.number = e.number`,
          [
            ...this.#self,
            JSON.stringify(
              some.map(({ customerId, number, end }) => ({ customer_id: customerId, number, ...end })),
            ),
          ],
        );
        for (const { customerId } of some) this.#begun.delete(customerId);
      } catch (error) {
        this.#unreported = [...some, ...this.#unreported];
        throw error;
      }
    }
  }

  /** If the last heartbeat is too old, asks the database which customers this worker still has. */
  async #makeSure(): Promise<void> {
    if (isLong(this.#alive, aliveNow())) await this.#showLife();
    if (this.#mayHaveLost) await this.#confirm();
  }

  /** Reads from the database which customers this worker has. */
  async #confirm(): Promise<void> {
    const begunBefore = new Map(this.#begun);
    const rows = await this.#ask(
      z.object({ customer_id: z.string(), number: z.string() }),
      'select customer_id, number::text from psd2.sync_customers where profile = $1 and worker = $2',
      this.#self,
    );
    const isSame = (one: (typeof rows)[number]) => (other: (typeof rows)[number]) =>
      one.customer_id === other.customer_id && one.number === other.number;
    const stillOurs = this.#queue.filter((row) => rows.some(isSame(row)));
    const isKnown = ({ customer_id, number }: (typeof rows)[number]) =>
      begunBefore.get(customer_id) === number || this.#begun.get(customer_id) === number;
    const unknown = rows.filter((row) => !stillOurs.some(isSame(row)) && !isKnown(row));
    this.#queue = [...stillOurs, ...unknown];
    this.#mayHaveMore = false;
    this.#mayHaveLost = false;
  }

  async #showLife(): Promise<void> {
    const alive = aliveNow();
    await this.#ask(
      z.unknown(),
      // If the worker has left in the meantime, this does not bring it back.
      `update psd2.sync_workers set until = clock_timestamp() + $3 * interval '1 millisecond'
       where profile = $1 and worker = $2`,
      [...this.#self, CLAIM_MS],
    );
    this.#livedAt(alive);
  }

  #livedAt(alive: Alive): void {
    this.#mayHaveLost ||= isLong(this.#alive, alive);
    this.#alive = alive;
  }

  #startBeating(): void {
    this.#beat ??= setInterval(() => {
      // If one fails, the next one makes up for it. After too long, `next` asks which customers the worker still has.
      this.#showLife().catch(() => {});
    }, BEAT_MS).unref();
  }

  /** As {@link Database.query}, but throws a Psd2Error if the answer was lost. */
  async #ask<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[]): Promise<T[]> {
    try {
      return await this.database.query(row, sql, values);
    } catch (error) {
      throw error instanceof LostAnswer ? storeFailure(this.database.shown, error.cause) : error;
    }
  }
}

/** A moment, by a clock that is never set back, and by one that also runs while the machine sleeps. */
interface Alive {
  at: number;
  time: number;
}

function aliveNow(): Alive {
  return { at: performance.now(), time: Date.now() };
}

function isLong(from: Alive | undefined, to: Alive): boolean {
  if (!from) return false;
  return to.at - from.at > SURE_FOR_MS || Math.abs(to.time - from.time) > SURE_FOR_MS;
}

const ALIVE = `insert into psd2.sync_workers as w (profile, worker, name, until)
  values ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
  on conflict (profile, worker) do update set until = excluded.until`;
