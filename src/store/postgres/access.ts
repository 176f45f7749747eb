import * as z from 'zod/mini';
import type { AccessNote, AccessNotes, AccountRead, UnattendedReads } from '../ports/access.ts';
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

/** Counts reads of one profile's accounts while the customer was absent: a number per account and day, for all workers. */
export class PostgresUnattendedReads implements UnattendedReads {
  readonly #database: Database;
  readonly #profile: string;
  /** The reads that this run has counted. */
  readonly #taken = new Set<string>();
  #day = '';

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  begin(): void {
    this.#taken.clear();
  }

  async take(
    { day, customerId, productId }: AccountRead,
    budget = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const name = `${day} ${customerId} ${productId ?? '*'}`;
    if (this.#taken.has(name)) return true;
    if (budget < 1) return false;
    if (day !== this.#day) await this.#forgetBefore(day);
    // A power cut may lose the last ones, since psd2 does not wait for the disk here.
    const counted = await this.#database.look(
      z.object({ reads: z.number() }),
      `with soon as materialized (select set_config('synchronous_commit', 'off', true))
       insert into psd2.unattended_reads as r (profile, day, customer_id, product_id, reads)
       select $1, $2::date, $3, $4, 1 from soon
       on conflict (profile, day, customer_id, product_id) do update set reads = r.reads + 1
         where $5::integer is null or r.reads < $5::integer
       returning reads`,
      [this.#profile, day, customerId, productId ?? '', Number.isFinite(budget) ? budget : null],
    );
    if (counted.length === 0) return false;
    this.#taken.add(name);
    return true;
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
