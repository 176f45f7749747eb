import * as z from 'zod/mini';
import type { IsoDate } from '../../domain/calendar.ts';
import { pauseAfter } from '../../domain/read-turns.ts';
import type {
  AccessNote,
  AccessNotes,
  AccountRead,
  CallCount,
  ReadLimit,
  ReadTurn,
  Turns,
  UnattendedReads,
} from '../ports/access.ts';
import type { NoteRecord } from '../ports/copy.ts';
import type { Holder, StoredLogin } from '../ports/tokens.ts';
import { type Database, ProfileRows } from './database.ts';
import { nameOfHolder } from './tokens.ts';

const time = z.nullable(z.date());
const text = z.nullable(z.string());
/** A row of `psd2.access_notes`, without its holder. */
const noteRow = z.object({
  refresh_at: time,
  refresh_message: text,
  refresh_of: time,
  call_at: time,
  call_message: text,
});

const heldNote = z.extend(noteRow, { holder: z.string() });
const NOTE_COLUMNS = 'holder, refresh_at, refresh_message, refresh_of, call_at, call_message';

/** What the bank refused to the logins of one profile, with a row for each holder. */
export class PostgresAccessNotes extends ProfileRows implements AccessNotes {
  async read(holder: Holder, { accessTokenExpiresAt }: StoredLogin) {
    const notes = await this.lookOne(
      noteRow,
      `select refresh_at, refresh_message, refresh_of, call_at, call_message from psd2.access_notes
       where profile = $1 and holder = $2`,
      [nameOfHolder(holder)],
    );
    const ofNow = (notes?.refresh_of?.toISOString() ?? null) === accessTokenExpiresAt;
    return {
      refresh: ofNow ? accessNoteOf(notes?.refresh_at, notes?.refresh_message) : undefined,
      call: accessNoteOf(notes?.call_at, notes?.call_message),
    };
  }

  async refreshRefused(
    holder: Holder,
    { accessTokenExpiresAt }: StoredLogin,
    { at, message }: AccessNote,
  ): Promise<void> {
    await this.executeAgain(
      `insert into psd2.access_notes (profile, holder, refresh_at, refresh_message, refresh_of) values ($1, $2, $3, $4, $5)
       on conflict (profile, holder) do update set refresh_at = excluded.refresh_at,
         refresh_message = excluded.refresh_message, refresh_of = excluded.refresh_of`,
      [nameOfHolder(holder), at, message, accessTokenExpiresAt],
    );
  }

  async callRefused(holder: Holder, refused: AccessNote | undefined): Promise<void> {
    await this.executeAgain(
      `insert into psd2.access_notes (profile, holder, call_at, call_message) values ($1, $2, $3, $4)
       on conflict (profile, holder) do update set call_at = excluded.call_at, call_message = excluded.call_message`,
      [nameOfHolder(holder), refused?.at ?? null, refused?.message ?? null],
    );
  }

  async hasRefusedCall(holder: Holder): Promise<boolean> {
    const note = await this.lookOne(
      z.object({ refused: z.boolean() }),
      'select call_at is not null as refused from psd2.access_notes where profile = $1 and holder = $2',
      [nameOfHolder(holder)],
    );
    return note?.refused ?? false;
  }

  async holders(): Promise<Holder[]> {
    const rows = await this.look(
      z.object({ holder: z.string() }),
      'select holder from psd2.access_notes where profile = $1',
    );
    return rows.map(({ holder }) => holder || null);
  }

  async forget(holder: Holder): Promise<void> {
    await this.executeAgain('delete from psd2.access_notes where profile = $1 and holder = $2', [
      nameOfHolder(holder),
    ]);
  }

  /** All notes, for `store copy`. */
  async records(): Promise<NoteRecord[]> {
    const notes = await this.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 order by holder`,
    );
    return notes.flatMap(noteRecordsOf);
  }

  /** The notes of a holder, for `store copy`. */
  async record({ holder }: NoteRecord): Promise<NoteRecord | undefined> {
    const notes = await this.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 and holder = $2`,
      [holder],
    );
    return notes.flatMap(noteRecordsOf)[0];
  }

  /** Stores copied notes in place of those of the holder. */
  async keep({ holder, refresh, call }: NoteRecord): Promise<void> {
    await this.executeAgain(
      `insert into psd2.access_notes (profile, ${NOTE_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (profile, holder) do update set refresh_at = excluded.refresh_at,
         refresh_message = excluded.refresh_message, refresh_of = excluded.refresh_of, call_at = excluded.call_at,
         call_message = excluded.call_message`,
      [
        holder,
        refresh?.at ?? null,
        refresh?.message ?? null,
        refresh?.of ?? null,
        call?.at ?? null,
        call?.message ?? null,
      ],
    );
  }
}

function noteRecordsOf(row: z.infer<typeof heldNote>): NoteRecord[] {
  const { holder, refresh_at, refresh_message, refresh_of, call_at, call_message } = row;
  if (!refresh_at && !call_at) return [];
  const refresh = refresh_at && {
    at: refresh_at.toISOString(),
    message: refresh_message ?? '',
    of: refresh_of?.toISOString() ?? null,
  };
  const call = call_at && { at: call_at.toISOString(), message: call_message ?? '' };
  return [{ kind: 'note', holder, refresh, call }];
}

function accessNoteOf(
  at: Date | null | undefined,
  message: string | null | undefined,
): AccessNote | undefined {
  return at && message != null ? { at: at.toISOString(), message } : undefined;
}

const countedRead = z.object({
  /** With this one; null if it was not counted. */
  reads: z.nullable(z.number()),
  /** Before this one. */
  used: z.number(),
  failures: z.number(),
  paused_until: z.number(),
});

/**
 * Counts reads of one profile's accounts while the customer was absent: a number per account and day, for all workers. Two
 * further rows count the failed reads in a row (`failed <product>`), and have the minute of the day until which psd2 pauses
 * (`paused <product>`).
 */
export class PostgresUnattendedReads extends ProfileRows implements UnattendedReads {
  /** The reads that this run has counted, with the failed reads before each; `kept` if it brought data. */
  readonly #taken = new Map<string, number | 'kept'>();
  #day = '';

  begin(): void {
    this.#taken.clear();
  }

  async take(read: AccountRead, limit?: ReadLimit): Promise<ReadTurn> {
    const name = nameOf(read);
    if (this.#taken.has(name)) return 'taken';
    if (limit && limit.budget < 1) return 'used-up';
    const { day } = read;
    if (day !== this.#day) await this.#forgetBefore(day);
    // A power cut may lose the last ones, since psd2 does not wait for the disk here.
    const counted = await this.lookOne(
      countedRead,
      `with soon as materialized (select set_config('synchronous_commit', 'off', true)),
       past as materialized (
         select coalesce(max(reads) filter (where product_id = $6), 0) as failures,
           coalesce(max(reads) filter (where product_id = $7), 0) as paused_until,
           coalesce(max(reads) filter (where product_id = $4), 0) as used
         from soon left join psd2.unattended_reads
           on profile = $1 and day = $2::date and customer_id = $3 and product_id in ($4, $6, $7)
       ),
       counted as (
         insert into psd2.unattended_reads as r (profile, day, customer_id, product_id, reads)
         select $1, $2::date, $3, $4, 1 from past where $8::integer is null or paused_until <= $8::integer
         on conflict (profile, day, customer_id, product_id) do update set reads = r.reads + 1
           where $5::integer is null or r.reads < $5::integer
         returning reads
       )
       select (select reads from counted) as reads, used, failures, paused_until from past`,
      [...readKey(read), limit?.budget ?? null, ...pausesOf(read), limit?.minute ?? null],
    );
    if (!counted || counted.reads === null) {
      const { used = 0, paused_until = 0 } = counted ?? {};
      const { budget = used, minute = paused_until } = limit ?? {};
      return used < budget && paused_until > minute ? 'paused' : 'used-up';
    }
    this.#taken.set(name, counted.failures);
    return 'taken';
  }

  async giveBack(read: AccountRead, failedAt?: number): Promise<void> {
    const before = this.#taken.get(nameOf(read));
    if (before === undefined || before === 'kept') return;
    this.#taken.delete(nameOf(read));
    const failures = before + 1;
    const pauses = failedAt === undefined ? [] : [failures, failedAt + pauseAfter(failures)].map(String);
    await this.executeAgain(
      `with soon as materialized (select set_config('synchronous_commit', 'off', true)),
       free as (
         update psd2.unattended_reads set reads = greatest(reads - 1, 0)
         where profile = $1 and day = $2::date and customer_id = $3 and product_id = $4
       )
       insert into psd2.unattended_reads (profile, day, customer_id, product_id, reads)
       select $1, $2::date, $3, pause.product_id, pause.value
       from soon, unnest($5::text[], $6::integer[]) as pause (product_id, value)
       on conflict (profile, day, customer_id, product_id) do update set reads = excluded.reads`,
      [...readKey(read), failedAt === undefined ? [] : pausesOf(read), pauses],
    );
  }

  async succeeded(read: AccountRead): Promise<void> {
    const failures = this.#taken.get(nameOf(read));
    if (failures !== undefined) this.#taken.set(nameOf(read), 'kept');
    if (!failures || failures === 'kept') return;
    const [day, customerId] = readKey(read);
    await this.executeAgain(
      `delete from psd2.unattended_reads
       where profile = $1 and day = $2::date and customer_id = $3 and product_id = any($4::text[])`,
      [day, customerId, pausesOf(read)],
    );
  }

  async #forgetBefore(day: string): Promise<void> {
    await this.executeAgain('delete from psd2.unattended_reads where profile = $1 and day < $2::date', [day]);
    this.#day = day;
  }
}

/** The primary key of a read's row, after the profile. */
function readKey({
  day,
  customerId,
  productId,
}: AccountRead): [day: string, customerId: string, productId: string] {
  return [day, customerId, productId ?? ''];
}

function nameOf(read: AccountRead): string {
  return readKey(read).join(' ');
}

/** The rows of a pause. No product has such an id: it has no space. */
function pausesOf({ productId }: AccountRead): [failed: string, paused: string] {
  return [`failed ${productId ?? ''}`, `paused ${productId ?? ''}`];
}

/** Counts a profile's calls with client credentials: a number per day, for all workers. */
export class PostgresCallCount extends ProfileRows implements CallCount {
  async count(day: IsoDate): Promise<void> {
    await this.executeAgain(
      `insert into psd2.call_counts as c (profile, day, calls) values ($1, $2, 1)
       on conflict (profile, day) do update set calls = c.calls + 1`,
      [day],
    );
  }

  async on(day: IsoDate): Promise<number> {
    const counted = await this.lookOne(
      z.object({ calls: z.number() }),
      'select calls from psd2.call_counts where profile = $1 and day = $2',
      [day],
    ).catch(() => undefined);
    return counted?.calls ?? 0;
  }
}

/** How many turns a worker takes in advance, and how long they are valid. */
const MAX_TURNS = 50;
const GOOD_FOR_MS = 1_000;
const FIRST_HOLD_MS = 250;
const MAX_HOLD_MS = 30_000;
const MIN_GAP_MS = 20;
const MAX_GAP_MS = 2_000;

const turnsRow = z.object({ wait_ms: z.number(), gap_ms: z.number() });

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
export class PostgresTurns extends ProfileRows implements Turns {
  readonly #world: TurnsWorld;
  /** The pace of this process, which counts its calls. */
  readonly #own: Turns;
  /** When the turns taken in advance begin, by this process's clock. */
  #ahead: number[] = [];
  #goodUntil = 0;
  #gap = 0;
  #taking: Promise<void> | undefined;

  constructor(database: Database, profile: string, world: TurnsWorld, own: Turns) {
    super(database, profile);
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

  async slowDown(retryAfterMs: number | null): Promise<void> {
    this.#ahead = [];
    await this.executeAgain(
      `insert into psd2.pace as p (profile, next_turn, gap_ms, held_until, holds)
       values ($1, clock_timestamp() + $2 * interval '1 millisecond', ${MIN_GAP_MS},
         clock_timestamp() + $2 * interval '1 millisecond', 1)
       on conflict (profile) do update set
         held_until = clock_timestamp() + coalesce($3, least($2 * 2 ^ p.holds, ${MAX_HOLD_MS})) * interval '1 millisecond',
         next_turn = greatest(p.next_turn,
           clock_timestamp() + coalesce($3, least($2 * 2 ^ p.holds, ${MAX_HOLD_MS})) * interval '1 millisecond'),
         holds = p.holds + 1,
         gap_ms = least(greatest(p.gap_ms * 2, ${MIN_GAP_MS}), ${MAX_GAP_MS})
         -- If the bank refuses several calls that were under way together, that counts as one refusal.
         where p.held_until < clock_timestamp()`,
      [retryAfterMs ?? FIRST_HOLD_MS, retryAfterMs],
    );
  }

  async goOn(): Promise<void> {
    // Without a gap, calls are at full speed already.
    if (this.#gap === 0) return;
    this.#gap = this.#gap < MIN_GAP_MS / 2 ? 0 : this.#gap * 0.9;
    await this.executeAgain('update psd2.pace set holds = 0, gap_ms = least(gap_ms, $2) where profile = $1', [
      this.#gap,
    ]);
  }

  async #take(): Promise<void> {
    const row = await this.lookOne(
      turnsRow,
      `insert into psd2.pace as p (profile, next_turn, gap_ms, held_until, holds)
       values ($1, clock_timestamp(), 0, '-infinity', 0)
       on conflict (profile) do update set
         next_turn = greatest(p.next_turn, clock_timestamp())
           + p.gap_ms * least($2, greatest(1, $3 / greatest(p.gap_ms, 1))) * interval '1 millisecond'
       returning extract(epoch from greatest(p.next_turn, clock_timestamp()) - clock_timestamp())::float8 * 1000
         - p.gap_ms * least($2, greatest(1, $3 / greatest(p.gap_ms, 1))) as wait_ms, p.gap_ms`,
      [MAX_TURNS, GOOD_FOR_MS],
    );
    const now = this.#world.clock();
    this.#gap = row?.gap_ms ?? 0;
    const count =
      this.#gap === 0 ? MAX_TURNS : Math.max(1, Math.min(MAX_TURNS, Math.floor(GOOD_FOR_MS / this.#gap)));
    const first = now + Math.max(0, row?.wait_ms ?? 0);
    this.#ahead = Array.from({ length: count }, (_, index) => first + index * this.#gap);
    this.#goodUntil = (this.#ahead.at(-1) ?? now) + GOOD_FOR_MS;
  }
}
