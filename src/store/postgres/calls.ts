import * as z from 'zod/mini';
import type { IsoDate } from '../../domain/calendar.ts';
import type { CallCount, Turns } from '../ports/calls.ts';
import type { Database } from './database.ts';

/** Counts a profile's calls with client credentials: a number per day, for all workers. */
export class PostgresCallCount implements CallCount {
  readonly #database: Database;
  readonly #profile: string;

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  async count(day: IsoDate): Promise<void> {
    await this.#database.look(
      z.unknown(),
      `insert into psd2.call_counts as c (profile, day, calls) values ($1, $2, 1)
       on conflict (profile, day) do update set calls = c.calls + 1`,
      [this.#profile, day],
    );
  }

  async on(day: IsoDate): Promise<number> {
    const found = await this.#database
      .lookOne(
        z.object({ calls: z.number() }),
        'select calls from psd2.call_counts where profile = $1 and day = $2',
        [this.#profile, day],
      )
      .catch(() => undefined);
    return found?.calls ?? 0;
  }
}

/** How many turns a worker takes in advance, and how long they are valid. */
const MOST_TURNS = 50;
const GOOD_FOR_MS = 1_000;
const FIRST_HOLD_MS = 250;
const LONGEST_HOLD_MS = 30_000;
const SHORTEST_GAP_MS = 20;
const LONGEST_GAP_MS = 2_000;

const taken = z.object({ wait_ms: z.number(), gap_ms: z.number() });

/** The clock and the waiting of this process. */
export interface TurnsWorld {
  /** Milliseconds of a clock that never jumps. */
  clock: () => number;
  /** Rejects if the operator interrupts. */
  sleep: (milliseconds: number) => Promise<void>;
}

/**
 * The pace that the bank's 420 demands from all workers together, by the database's clock. A worker takes some turns in
 * advance, so the database gets only one statement for many calls. The turns are valid for a second, so that a refusal that
 * another worker got soon slows this one down too.
 */
export class PostgresTurns implements Turns {
  readonly #database: Database;
  readonly #profile: string;
  readonly #world: TurnsWorld;
  /** The pace of this process, which counts its calls. */
  readonly #own: Turns;
  /** When the turns taken in advance begin, by this process's clock. */
  #ahead: number[] = [];
  #goodUntil = 0;
  #gap = 0;
  #taking: Promise<void> | undefined;

  constructor(database: Database, profile: string, world: TurnsWorld, own: Turns) {
    this.#database = database;
    this.#profile = profile;
    this.#world = world;
    this.#own = own;
  }

  async turn(): Promise<void> {
    for (;;) {
      const now = this.#world.clock();
      if (now > this.#goodUntil) this.#ahead = [];
      const turn = this.#ahead.shift();
      if (turn !== undefined) {
        if (turn > now) await this.#world.sleep(turn - now);
        return this.#own.turn();
      }
      this.#taking ??= this.#take().finally(() => {
        this.#taking = undefined;
      });
      await this.#taking;
    }
  }

  async slowDown(asked: number | null): Promise<void> {
    this.#ahead = [];
    await this.#database.look(
      z.unknown(),
      `insert into psd2.pace as p (profile, next_turn, gap_ms, held_until, holds)
       values ($1, clock_timestamp() + $2 * interval '1 millisecond', ${SHORTEST_GAP_MS},
         clock_timestamp() + $2 * interval '1 millisecond', 1)
       on conflict (profile) do update set
         held_until = clock_timestamp() + coalesce($3, least($2 * 2 ^ p.holds, ${LONGEST_HOLD_MS})) * interval '1 millisecond',
         next_turn = greatest(p.next_turn,
           clock_timestamp() + coalesce($3, least($2 * 2 ^ p.holds, ${LONGEST_HOLD_MS})) * interval '1 millisecond'),
         holds = p.holds + 1,
         gap_ms = least(greatest(p.gap_ms * 2, ${SHORTEST_GAP_MS}), ${LONGEST_GAP_MS})
         -- If the bank refuses several calls that were under way together, that counts as one refusal.
         where p.held_until < clock_timestamp()`,
      [this.#profile, asked ?? FIRST_HOLD_MS, asked],
    );
  }

  async goOn(): Promise<void> {
    // Without a gap, calls are at full speed already.
    if (this.#gap === 0) return;
    this.#gap = this.#gap < SHORTEST_GAP_MS / 2 ? 0 : this.#gap * 0.9;
    await this.#database.look(
      z.unknown(),
      'update psd2.pace set holds = 0, gap_ms = least(gap_ms, $2) where profile = $1',
      [this.#profile, this.#gap],
    );
  }

  async #take(): Promise<void> {
    const row = await this.#database.lookOne(
      taken,
      `insert into psd2.pace as p (profile, next_turn, gap_ms, held_until, holds)
       values ($1, clock_timestamp(), 0, '-infinity', 0)
       on conflict (profile) do update set
         next_turn = greatest(p.next_turn, clock_timestamp())
           + p.gap_ms * least($2, greatest(1, $3 / greatest(p.gap_ms, 1))) * interval '1 millisecond'
       returning extract(epoch from greatest(p.next_turn, clock_timestamp()) - clock_timestamp())::float8 * 1000
         - p.gap_ms * least($2, greatest(1, $3 / greatest(p.gap_ms, 1))) as wait_ms, p.gap_ms`,
      [this.#profile, MOST_TURNS, GOOD_FOR_MS],
    );
    const now = this.#world.clock();
    this.#gap = row?.gap_ms ?? 0;
    const count =
      this.#gap === 0 ? MOST_TURNS : Math.max(1, Math.min(MOST_TURNS, Math.floor(GOOD_FOR_MS / this.#gap)));
    const first = now + Math.max(0, row?.wait_ms ?? 0);
    this.#ahead = Array.from({ length: count }, (_, index) => first + index * this.#gap);
    this.#goodUntil = (this.#ahead.at(-1) ?? now) + GOOD_FOR_MS;
  }
}
