import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import * as z from 'zod/mini';
import type { CustomerEnd, Dealt, Round, RoundNote, RoundShare } from '../../ports/rounds.ts';
import { type Database, LostAnswer, type Parameter } from '../database.ts';
import { storeFailure } from '../failure.ts';

/** A worker that shows no sign of life for this long gives back what it had, by the clock of the database. */
const CLAIM_MS = 10_000;
const BEAT_MS = 2_000;
/** A worker whose last sign of life is older makes sure that what was dealt to it is still its own. */
const SURE_FOR_MS = 4_000;
/** How often the rows are asked again that other workers have. */
const PAUSE_MS = 500;

const dealt = z.object({ customer_id: z.string(), number: z.string(), finished_at: z.string() });
type DealtRow = z.infer<typeof dealt>;
/** Before the first one. */
const START: [finishedAt: string, customerId: string] = ['-infinity', ''];

/** Customers whose worker has shown no sign of life can be dealt again. @returns how many they are */
export async function giveBackOfTheDead(
  query: <T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[]) => Promise<T[]>,
  profile: string,
): Promise<number> {
  const [back] = await query(
    z.object({ count: z.number() }),
    `with dead as materialized (
       select worker from psd2.sync_workers where profile = $1 and until < clock_timestamp()),
     back as (update psd2.sync_customers c set worker = null from dead
       where c.profile = $1 and c.worker = dead.worker returning 1)
     select count(*)::int from back`,
    [profile],
  );
  return back?.count ?? 0;
}

/** A worker's part in a round. The worker is a row; what was dealt to it are rows with its name and a number that grows. */
export class PostgresRound implements Round {
  readonly share: Extract<RoundShare, { round: number }>;
  readonly #database: Database;
  readonly #profile: string;
  readonly #worker = randomUUID();
  readonly #name = `process ${process.pid} on ${hostname()}`;
  /** What was dealt and not begun, or has its turn again. */
  #hand: Pick<DealtRow, 'customer_id' | 'number'>[] = [];
  /** What is begun, until that it is finished has been said: the number by the customer. */
  readonly #begun = new Map<string, string>();
  /** What is finished and could not be said yet. */
  #unsaid: { customerId: string; number: string; end: CustomerEnd }[] = [];
  /** Up to where rows were dealt: who was finished earlier is not due any more, but for those that were given back. */
  #cursor = START;
  /** When this worker last showed that it lives. */
  #alive: Alive | undefined;
  /** It has been too long since then: what is at hand may be another's. */
  #mayHaveLost = false;
  #lookedForDead = Number.NEGATIVE_INFINITY;
  #foundNone: { at: number; what: 'later' | 'over' } | undefined;
  /** More may have been dealt than is known: the answer was lost. */
  #mayHaveMore = false;
  #beat: NodeJS.Timeout | undefined;
  #asking: Promise<'later' | 'over' | undefined> | undefined;

  constructor(database: Database, profile: string, share: Extract<RoundShare, { round: number }>) {
    this.#database = database;
    this.#profile = profile;
    this.share = share;
  }

  get size(): number {
    return this.share.size;
  }

  async next(most: number): Promise<Dealt | 'later' | 'over'> {
    for (;;) {
      await this.#sayWhatIsFinished();
      if (this.#hand.length > 0) await this.#makeSure();
      const row = this.#hand.shift();
      if (row) return this.#begin(row);
      const none = this.#foundNone;
      if (none && (none.what === 'over' || performance.now() - none.at < PAUSE_MS)) return none.what;
      // Whoever asks meanwhile is given of the same.
      this.#asking ??= this.#deal(most).finally(() => {
        this.#asking = undefined;
      });
      const what = await this.#asking;
      if (what !== undefined) return what;
    }
  }

  async counts(): Promise<{ due: number; atWork: number }> {
    const found = await this.#database.lookOne(
      z.object({ due: z.number(), at_work: z.number() }),
      `select count(*) filter (where worker is null and finished_at < $2::timestamptz)::int as due,
         count(*) filter (where worker is not null)::int as at_work
       from psd2.sync_customers where profile = $1`,
      [this.#profile, this.share.begunAt],
    );
    return { due: found?.due ?? 0, atWork: found?.at_work ?? 0 };
  }

  async note({ calls, ends }: RoundNote): Promise<void> {
    if (calls + ends.length === 0) return;
    await this.#database.query(
      z.unknown(),
      `insert into psd2.sync_minutes as m (profile, minute, calls, customers)
       values ($1, date_trunc('minute', clock_timestamp()), $2, $3)
       on conflict (profile, minute) do update
         set calls = m.calls + excluded.calls, customers = m.customers + excluded.customers`,
      [this.#profile, calls, ends.length],
    );
  }

  async leave(): Promise<void> {
    clearInterval(this.#beat);
    if (this.#beat === undefined) return;
    try {
      await this.#sayWhatIsFinished();
      await this.#database.query(
        z.unknown(),
        `with gone as (delete from psd2.sync_workers where profile = $1 and worker = $2)
         update psd2.sync_customers set worker = null where profile = $1 and worker = $2`,
        this.#self,
      );
    } catch {
      // It comes back by itself.
    }
  }

  get #self(): [profile: string, worker: string] {
    return [this.#profile, this.#worker];
  }

  #begin({ customer_id: customerId, number }: Pick<DealtRow, 'customer_id' | 'number'>): Dealt {
    this.#begun.set(customerId, number);
    return {
      customerId,
      finish: async (end) => {
        this.#unsaid.push({ customerId, number, end });
        await this.#sayWhatIsFinished();
      },
      again: () => {
        this.#begun.delete(customerId);
        this.#hand.push({ customer_id: customerId, number });
      },
    };
  }

  /** @returns undefined where some were dealt */
  async #deal(most: number): Promise<'later' | 'over' | undefined> {
    this.#foundNone = undefined;
    if (this.#mayHaveMore) await this.#confirm();
    const now = performance.now();
    if (now - this.#lookedForDead > BEAT_MS) {
      this.#lookedForDead = now;
      if ((await giveBackOfTheDead((row, sql, values) => this.#ask(row, sql, values), this.#profile)) > 0)
        this.#cursor = START;
    }
    for (const cursor of this.#cursor === START ? [START] : [this.#cursor, START]) {
      const rows = await this.#dealAfter(cursor, most);
      const last = rows.at(-1);
      if (!last) continue;
      this.#cursor = [last.finished_at, last.customer_id];
      this.#hand.push(...rows);
      return undefined;
    }
    const what = (await this.#isOver()) ? 'over' : 'later';
    this.#foundNone = { at: performance.now(), what };
    return what;
  }

  /** The worker lives, and has these customers: one statement, so that none is dealt to a worker without a row. */
  async #dealAfter([finishedAt, customerId]: typeof START, most: number): Promise<DealtRow[]> {
    this.#startBeating();
    this.#mayHaveMore = true;
    const alive = aliveNow();
    const rows = await this.#ask(
      dealt,
      // What is lost of it in a crash of the server is dealt again.
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
      [...this.#self, this.#name, CLAIM_MS, this.share.begunAt, finishedAt, customerId, most],
    );
    this.#mayHaveMore = false;
    this.#livedAt(alive);
    return rows;
  }

  /** Whether all are finished; then the round has ended. */
  async #isOver(): Promise<boolean> {
    const [left] = await this.#ask(
      z.object({ some: z.boolean() }),
      `select exists (select from psd2.sync_workers w join psd2.sync_customers c
           on c.profile = w.profile and c.worker = w.worker where w.profile = $1)
         or exists (select from psd2.sync_customers
           where profile = $1 and worker is null and finished_at < $2::timestamptz) as some`,
      [this.#profile, this.share.begunAt],
    );
    if (left?.some !== false) return false;
    await this.#ask(
      z.unknown(),
      `update psd2.sync_rounds set ended_at = clock_timestamp()
       where profile = $1 and round = $2 and ended_at is null`,
      [this.#profile, this.share.round],
    );
    return true;
  }

  async #sayWhatIsFinished(): Promise<void> {
    while (this.#unsaid.length > 0) {
      const some = this.#unsaid;
      this.#unsaid = [];
      try {
        await this.#database.look(
          z.unknown(),
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
        this.#unsaid = [...some, ...this.#unsaid];
        throw error;
      }
    }
  }

  /** After a while without a sign of life others may have taken over what is at hand. */
  async #makeSure(): Promise<void> {
    if (isLong(this.#alive, aliveNow())) await this.#showLife();
    if (this.#mayHaveLost) await this.#confirm();
  }

  /** Goes by what the database says was dealt to this worker. */
  async #confirm(): Promise<void> {
    const begunBefore = new Map(this.#begun);
    const rows = await this.#ask(
      z.object({ customer_id: z.string(), number: z.string() }),
      'select customer_id, number::text from psd2.sync_customers where profile = $1 and worker = $2',
      this.#self,
    );
    const isSame = (one: (typeof rows)[number]) => (other: (typeof rows)[number]) =>
      one.customer_id === other.customer_id && one.number === other.number;
    const kept = this.#hand.filter((row) => rows.some(isSame(row)));
    const isKnown = ({ customer_id, number }: (typeof rows)[number]) =>
      begunBefore.get(customer_id) === number || this.#begun.get(customer_id) === number;
    const unknown = rows.filter((row) => !kept.some(isSame(row)) && !isKnown(row));
    this.#hand = [...kept, ...unknown];
    this.#mayHaveMore = false;
    this.#mayHaveLost = false;
  }

  async #showLife(): Promise<void> {
    const alive = aliveNow();
    await this.#ask(z.unknown(), ALIVE, [...this.#self, this.#name, CLAIM_MS]);
    this.#livedAt(alive);
  }

  #livedAt(alive: Alive): void {
    this.#mayHaveLost ||= isLong(this.#alive, alive);
    this.#alive = alive;
  }

  #startBeating(): void {
    this.#beat ??= setInterval(() => {
      // One that fails is made up for by the next; who asks for a customer after too long makes sure.
      this.#showLife().catch(() => {});
    }, BEAT_MS).unref();
  }

  /** As {@link Database.query}; that the answer was lost is a Psd2Error as well. */
  async #ask<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[]): Promise<T[]> {
    try {
      return await this.#database.query(row, sql, values);
    } catch (error) {
      throw error instanceof LostAnswer ? storeFailure(this.#database.shown, error.cause) : error;
    }
  }
}

/** A moment: by a clock that nobody puts back, and by one that runs while a machine sleeps. */
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
