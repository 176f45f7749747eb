import * as z from 'zod/mini';
import type { CountRecord, NoteRecord } from '../../ports/copy.ts';
import { noteRow } from '../access.ts';
import type { Database } from '../database.ts';

const NOTE_COLUMNS = 'holder, refresh_at, refresh_message, refresh_of, call_at, call_message';
const heldNote = z.extend(noteRow, { holder: z.string() });
const countRow = z.object({
  day: z.string(),
  customer_id: z.nullable(z.string()),
  product_id: z.nullable(z.string()),
  count: z.number(),
});

/** The counts and notes of one profile, for `store copy`. */
export class NoteRows {
  readonly #database: Database;
  readonly #profile: string;

  constructor(database: Database, profile: string) {
    this.#database = database;
    this.#profile = profile;
  }

  async all(): Promise<(NoteRecord | CountRecord)[]> {
    const notes = await this.#database.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 order by holder`,
      [this.#profile],
    );
    const counts = await this.#database.look(
      countRow,
      `select day::text, null as customer_id, null as product_id, calls as count from psd2.call_counts where profile = $1
       union all
       select day::text, customer_id, product_id, reads from psd2.unattended_reads
       where profile = $1 and reads > 0 and strpos(product_id, ':') = 0`,
      [this.#profile],
    );
    return [...notes.flatMap(noteOf), ...counts.map(countOf)];
  }

  async note(holder: string): Promise<NoteRecord | undefined> {
    const found = await this.#database.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 and holder = $2`,
      [this.#profile, holder],
    );
    return found.flatMap(noteOf)[0];
  }

  async count({ day, read }: CountRecord): Promise<CountRecord | undefined> {
    const found = await this.#database.look(
      countRow,
      read
        ? `select day::text, customer_id, product_id, reads as count from psd2.unattended_reads
           where profile = $1 and day = $2::date and customer_id = $3 and product_id = $4`
        : `select day::text, null as customer_id, null as product_id, calls as count from psd2.call_counts
           where profile = $1 and day = $2::date`,
      [this.#profile, day, ...(read ? [read.customerId, read.productId] : [])],
    );
    return found.map(countOf)[0];
  }

  async putNote({ holder, refresh, call }: NoteRecord): Promise<void> {
    await this.#database.look(
      z.unknown(),
      `insert into psd2.access_notes (profile, ${NOTE_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (profile, holder) do update set refresh_at = excluded.refresh_at,
         refresh_message = excluded.refresh_message, refresh_of = excluded.refresh_of, call_at = excluded.call_at,
         call_message = excluded.call_message`,
      [
        ...[this.#profile, holder, refresh?.at ?? null, refresh?.message ?? null, refresh?.of ?? null],
        ...[call?.at ?? null, call?.message ?? null],
      ],
    );
  }

  async putCount({ day, read, count }: CountRecord): Promise<void> {
    await this.#database.look(
      z.unknown(),
      read
        ? `insert into psd2.unattended_reads as r (profile, day, reads, customer_id, product_id)
           values ($1, $2, $3, $4, $5) on conflict (profile, day, customer_id, product_id)
           do update set reads = greatest(r.reads, excluded.reads)`
        : `insert into psd2.call_counts as c (profile, day, calls) values ($1, $2, $3)
           on conflict (profile, day) do update set calls = greatest(c.calls, excluded.calls)`,
      [this.#profile, day, count, ...(read ? [read.customerId, read.productId] : [])],
    );
  }
}

function noteOf(row: z.infer<typeof heldNote>): NoteRecord[] {
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

function countOf({ day, customer_id, product_id, count }: z.infer<typeof countRow>): CountRecord {
  const read = customer_id === null ? null : { customerId: customer_id, productId: product_id ?? '' };
  return { kind: 'count', day, read, count };
}
