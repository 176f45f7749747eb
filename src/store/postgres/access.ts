import * as z from 'zod/mini';
import { pauseAfter } from '../../domain/read-turns.ts';
import type {
  AccessNote,
  AccessNotes,
  AccountRead,
  ReadLimit,
  Taken,
  UnattendedReads,
} from '../ports/access.ts';
import type { Holder, StoredLogin } from '../ports/tokens.ts';
import type { Database } from './database.ts';
import { nameOfHolder } from './tokens.ts';

const time = z.nullable(z.date());
const text = z.nullable(z.string());
/** A row of `psd2.access_notes`, without its holder. */
export const noteRow = z.object({
  refresh_at: time,
  refresh_message: text,
  refresh_of: time,
  call_at: time,
  call_message: text,
});

/** What the bank refused to the logins of one profile, with a row for each holder. */
export class PostgresAccessNotes implements AccessNotes {
  readonly #database: Database;
  readonly #profile: string;

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  async read(holder: Holder, { accessTokenExpiresAt }: StoredLogin) {
    const found = await this.#database.lookOne(
      noteRow,
      `select refresh_at, refresh_message, refresh_of, call_at, call_message from psd2.access_notes
       where profile = $1 and holder = $2`,
      [this.#profile, nameOfHolder(holder)],
    );
    const ofNow = (found?.refresh_of?.toISOString() ?? null) === accessTokenExpiresAt;
    return {
      refresh: ofNow ? noteOf(found?.refresh_at, found?.refresh_message) : undefined,
      call: noteOf(found?.call_at, found?.call_message),
    };
  }

  async refreshRefused(
    holder: Holder,
    { accessTokenExpiresAt }: StoredLogin,
    { at, message }: AccessNote,
  ): Promise<void> {
    await this.#database.look(
      z.unknown(),
      `insert into psd2.access_notes (profile, holder, refresh_at, refresh_message, refresh_of) values ($1, $2, $3, $4, $5)
       on conflict (profile, holder) do update set refresh_at = excluded.refresh_at,
         refresh_message = excluded.refresh_message, refresh_of = excluded.refresh_of`,
      [this.#profile, nameOfHolder(holder), at, message, accessTokenExpiresAt],
    );
  }

  async callRefused(holder: Holder, refused: AccessNote | undefined): Promise<void> {
    await this.#database.look(
      z.unknown(),
      `insert into psd2.access_notes (profile, holder, call_at, call_message) values ($1, $2, $3, $4)
       on conflict (profile, holder) do update set call_at = excluded.call_at, call_message = excluded.call_message`,
      [this.#profile, nameOfHolder(holder), refused?.at ?? null, refused?.message ?? null],
    );
  }

  async hasRefusedCall(holder: Holder): Promise<boolean> {
    const found = await this.#database.lookOne(
      z.object({ refused: z.boolean() }),
      'select call_at is not null as refused from psd2.access_notes where profile = $1 and holder = $2',
      [this.#profile, nameOfHolder(holder)],
    );
    return found?.refused ?? false;
  }

  async forget(holder: Holder): Promise<void> {
    await this.#database.look(
      z.unknown(),
      'delete from psd2.access_notes where profile = $1 and holder = $2',
      [this.#profile, nameOfHolder(holder)],
    );
  }
}

function noteOf(at: Date | null | undefined, message: string | null | undefined): AccessNote | undefined {
  return at && message != null ? { at: at.toISOString(), message } : undefined;
}

const countedRead = z.object({
  reads: z.nullable(z.number()),
  failures: z.number(),
  paused_until: z.number(),
});

/**
 * Counts reads of one profile's accounts while the customer was absent: a number per account and day, for all workers. Two
 * further rows count the failed reads in a row (`failed:<product>`), and have the minute of the day until which psd2 pauses
 * (`paused:<product>`).
 */
export class PostgresUnattendedReads implements UnattendedReads {
  readonly #database: Database;
  readonly #profile: string;
  /** The reads that this run has counted, with the failed reads before each; `kept` if it brought data. */
  readonly #taken = new Map<string, number | 'kept'>();
  #day = '';

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  begin(): void {
    this.#taken.clear();
  }

  async take(read: AccountRead, limit?: ReadLimit): Promise<Taken> {
    const name = nameOf(read);
    if (this.#taken.has(name)) return 'taken';
    if (limit && limit.budget < 1) return 'used-up';
    const { day } = read;
    if (day !== this.#day) await this.#forgetBefore(day);
    // A power cut may lose the last ones, since psd2 does not wait for the disk here.
    const counted = await this.#database.lookOne(
      countedRead,
      `with soon as materialized (select set_config('synchronous_commit', 'off', true)),
       past as materialized (
         select coalesce(max(reads) filter (where product_id = $6), 0) as failures,
           coalesce(max(reads) filter (where product_id = $7), 0) as paused_until
         from soon left join psd2.unattended_reads
           on profile = $1 and day = $2::date and customer_id = $3 and product_id in ($6, $7)
       ),
       counted as (
         insert into psd2.unattended_reads as r (profile, day, customer_id, product_id, reads)
         select $1, $2::date, $3, $4, 1 from past where $8::integer is null or paused_until <= $8::integer
         on conflict (profile, day, customer_id, product_id) do update set reads = r.reads + 1
           where $5::integer is null or r.reads < $5::integer
         returning reads
       )
       select (select reads from counted) as reads, failures, paused_until from past`,
      [...this.#rowOf(read), limit?.budget ?? null, ...pausesOf(read), limit?.minute ?? null],
    );
    if (!counted || counted.reads === null)
      return (counted?.paused_until ?? 0) > (limit?.minute ?? Number.POSITIVE_INFINITY)
        ? 'paused'
        : 'used-up';
    this.#taken.set(name, counted.failures);
    return 'taken';
  }

  async giveBack(read: AccountRead, failedAt?: number): Promise<void> {
    const before = this.#taken.get(nameOf(read));
    if (before === undefined || before === 'kept') return;
    this.#taken.delete(nameOf(read));
    const failures = before + 1;
    const pauses = failedAt === undefined ? [] : [failures, failedAt + pauseAfter(failures)].map(String);
    await this.#database.look(
      z.unknown(),
      `with soon as materialized (select set_config('synchronous_commit', 'off', true)),
       free as (
         update psd2.unattended_reads set reads = greatest(reads - 1, 0)
         where profile = $1 and day = $2::date and customer_id = $3 and product_id = $4
       )
       insert into psd2.unattended_reads (profile, day, customer_id, product_id, reads)
       select $1, $2::date, $3, pause.product_id, pause.value
       from soon, unnest($5::text[], $6::integer[]) as pause (product_id, value)
       on conflict (profile, day, customer_id, product_id) do update set reads = excluded.reads`,
      [...this.#rowOf(read), failedAt === undefined ? [] : pausesOf(read), pauses],
    );
  }

  async succeeded(read: AccountRead): Promise<void> {
    const failures = this.#taken.get(nameOf(read));
    if (failures !== undefined) this.#taken.set(nameOf(read), 'kept');
    if (!failures || failures === 'kept') return;
    const [profile, day, customerId] = this.#rowOf(read);
    await this.#database.look(
      z.unknown(),
      `delete from psd2.unattended_reads
       where profile = $1 and day = $2::date and customer_id = $3 and product_id = any($4::text[])`,
      [profile, day, customerId, pausesOf(read)],
    );
  }

  /** The primary key of a read's row. */
  #rowOf({ day, customerId, productId }: AccountRead): [string, string, string, string] {
    return [this.#profile, day, customerId, productId ?? ''];
  }

  async #forgetBefore(day: string): Promise<void> {
    await this.#database.look(
      z.unknown(),
      'delete from psd2.unattended_reads where profile = $1 and day < $2::date',
      [this.#profile, day],
    );
    this.#day = day;
  }
}

function nameOf({ day, customerId, productId }: AccountRead): string {
  return `${day} ${customerId} ${productId ?? '*'}`;
}

/** The rows of a pause. No product has such an id. */
function pausesOf({ productId }: AccountRead): [failed: string, paused: string] {
  return [`failed:${productId ?? ''}`, `paused:${productId ?? ''}`];
}
