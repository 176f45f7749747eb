import * as z from 'zod/mini';
import { Psd2Error } from '../../../errors.ts';
import { lineInstead } from '../../audit/chain.ts';
import { isProfileName } from '../../machine/profiles.ts';
import type { CopySide, CountRecord, Holdings, Mark, StoredRecord } from '../../ports/copy.ts';
import type { KeySources } from '../../secrets/vault.ts';
import { PostgresAccessNotes } from '../access.ts';
import { PostgresAudit } from '../audit.ts';
import { PostgresBatches } from '../batches.ts';
import { Claims } from '../claims.ts';
import { PostgresCustomers } from '../customers.ts';
import { type Database, ProfileRows } from '../database.ts';
import { Keys } from '../keys.ts';
import { countPins, readPins } from '../pins.ts';
import { PostgresReadResults } from '../read-results.ts';
import { PostgresTokens } from '../tokens.ts';
import { FlowRows } from './flow-rows.ts';

const text = z.nullable(z.string());
const markRow = z.object({
  id: z.string(),
  moved_to: text,
  moved_to_id: text,
  copied_from: text,
  copied_from_id: text,
  copy_ended: z.boolean(),
  may_copy: z.boolean(),
});
/** Checked strictly, since the name becomes the name of a folder. */
const profileRow = z.object({ profile: z.string().check(z.refine(isProfileName)) });

/**
 * A database as a side of `store copy`. It must be opened for copying, with the rights of the owner.
 *
 * @param mayBePlain as `mayKeepPlainTokens`
 */
export function databaseSide(database: Database, sources: KeySources, mayBePlain: boolean): CopySide {
  const mark = async (): Promise<Mark> => {
    const row = await database.lookOne(
      markRow,
      `select id::text, moved_to, moved_to_id, copied_from, copied_from_id, copy_ended,
         psd2.is_owner() as may_copy from psd2.store`,
    );
    if (!row) throw new TypeError('psd2.store has a row');
    // Before either side is marked: a copy that cannot begin must not lock the other side.
    if (!row.may_copy)
      throw new Psd2Error('config', `The user of PostgreSQL at ${database.shown} may not copy the store`, {
        hint: 'Only the owner of the schema psd2, or a member of that role, may do so. Use the rights of the owner, as for psd2 store init.',
      });
    return {
      id: row.id,
      movedTo: row.moved_to === null ? null : { id: row.moved_to_id ?? '', place: row.moved_to },
      copiedFrom:
        row.copied_from === null
          ? null
          : { id: row.copied_from_id ?? '', place: row.copied_from, isComplete: row.copy_ended },
    };
  };
  return {
    place: `PostgreSQL at ${database.shown}`,
    mark,
    setMark: async (change) => {
      const { movedTo, copiedFrom } = { ...(await mark()), ...change };
      await changeMark(database, movedTo, copiedFrom);
    },
    atWork: async () => {
      const claims = await database.look(
        z.object({ name: z.string(), worker: z.string() }),
        `select trim(kind || ' ' || name) as name, coalesce(worker, '') as worker from psd2.claims
         where until > clock_timestamp() order by profile, kind, name`,
      );
      return claims.map(({ name, worker }) => `${worker} (${name})`);
    },
    profiles: async () => {
      const rows = await database.look(
        profileRow,
        `select profile from psd2.tokens union select profile from psd2.last_logins union select profile from psd2.flows
         union select profile from psd2.call_counts union select profile from psd2.access_notes
         union select profile from psd2.unattended_reads union select profile from psd2.customers
         union select profile from psd2.batches order by profile`,
      );
      return rows.map(({ profile }) => profile);
    },
    open: (profile) =>
      new DatabaseHoldings(database, profile, new Keys(database, profile, sources, mayBePlain)),
    pins: () => readPins(database),
    countPins: (pins) => countPins(database, pins),
  };
}

async function changeMark(
  database: Database,
  movedTo: Mark['movedTo'],
  copiedFrom: Mark['copiedFrom'],
): Promise<void> {
  // Make it durable: a power cut must not bring workers back to a store that was copied.
  const values = [
    movedTo?.place ?? null,
    movedTo?.id ?? null,
    copiedFrom?.place ?? null,
    copiedFrom?.id ?? null,
    copiedFrom?.isComplete ?? true,
  ];
  await database.transactionAgain(async (statements) => {
    await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.copy'))`);
    await statements.execute(
      `update psd2.store set moved_to = $1, moved_to_id = $2, copied_from = $3, copied_from_id = $4, copy_ended = $5`,
      values,
    );
  });
}

/** The data of one profile in a database. */
class DatabaseHoldings implements Holdings {
  readonly #keys: Keys;
  readonly #tokens: PostgresTokens;
  readonly #notes: PostgresAccessNotes;
  readonly #counts: CountRows;
  readonly #customers: PostgresCustomers;
  readonly #flows: FlowRows;
  readonly #audit: PostgresAudit;
  readonly #batches: PostgresBatches;
  readonly #results: PostgresReadResults;

  constructor(database: Database, profile: string, keys: Keys) {
    const claims = new Claims(database, profile, undefined);
    this.#keys = keys;
    this.#tokens = new PostgresTokens(database, profile, undefined, claims, keys);
    this.#notes = new PostgresAccessNotes(database, profile);
    this.#counts = new CountRows(database, profile);
    this.#customers = new PostgresCustomers(database, profile, undefined);
    this.#flows = new FlowRows(database, profile);
    this.#audit = new PostgresAudit(database, profile);
    this.#batches = new PostgresBatches(database, profile, claims, () => new Date());
    this.#results = new PostgresReadResults(database, profile);
  }

  async openKey(): Promise<void> {
    await this.#keys.key();
  }

  async *records(): AsyncGenerator<StoredRecord> {
    yield* this.#tokens.records();
    yield* await this.#notes.records();
    yield* await this.#counts.records();
    yield* this.#customers.records();
    yield* this.#flows.records();
    for (const pseudonym of await this.#audit.pseudonyms()) yield { kind: 'pseudonym', ...pseudonym };
    for await (const line of this.#audit.lines()) yield { kind: 'audit', ...line };
    yield* this.#batches.records();
    yield* this.#results.records();
  }

  async counterpart(record: StoredRecord): Promise<StoredRecord | undefined> {
    switch (record.kind) {
      case 'login':
        return this.#tokens.record(record);
      case 'customer':
        return this.#customers.record(record);
      case 'audit': {
        const instead = lineInstead(record, await this.#audit.line(record.n), await this.#audit.head());
        return instead && { kind: 'audit', ...instead };
      }
      case 'pseudonym': {
        const own = await this.#audit.pseudonym(record);
        return own && { kind: 'pseudonym', ...own };
      }
      case 'flow':
        return this.#flows.record(record);
      case 'batch':
        return this.#batches.record(record);
      case 'reads':
        return this.#results.record(record.customerId);
      case 'last-login': {
        const customerId = await this.#tokens.last();
        return customerId === undefined ? undefined : { kind: 'last-login', customerId };
      }
      case 'note':
        return this.#notes.record(record);
      case 'count':
        return this.#counts.record(record);
    }
  }

  async put(record: StoredRecord): Promise<void> {
    switch (record.kind) {
      case 'login':
        return this.#tokens.keep(record);
      case 'customer':
        return this.#customers.keep(record);
      case 'audit':
        return this.#audit.keep(record);
      case 'pseudonym':
        return this.#audit.keepPseudonym(record);
      case 'flow':
        return this.#flows.keep(record);
      case 'batch':
        return this.#batches.keep(record);
      case 'reads':
        return this.#results.keep(record);
      case 'last-login':
        return this.#tokens.remember(record.customerId);
      case 'note':
        return this.#notes.keep(record);
      case 'count':
        return this.#counts.keep(record);
    }
  }
}

const countRow = z.object({
  day: z.string(),
  customerId: z.string(),
  productId: z.string(),
  count: z.number(),
});
/** Calls, which have no customer, and reads; not the rows of pauses. */
const COUNTS = `select day::text, "customerId", "productId", count from (
    select profile, day, '' as "customerId", '' as "productId", calls as count from psd2.call_counts
    union all select profile, day, customer_id, product_id, reads from psd2.unattended_reads
    where reads > 0 and strpos(product_id, ' ') = 0
  ) counts where profile = $1`;

/** The counts of one profile. Workers only ever add one to them. */
class CountRows extends ProfileRows {
  async records(): Promise<CountRecord[]> {
    return (await this.look(countRow, COUNTS)).map(countOf);
  }

  async record({ day, read }: CountRecord): Promise<CountRecord | undefined> {
    const counts = await this.look(
      countRow,
      `${COUNTS} and day = $2::date and "customerId" = $3 and "productId" = $4`,
      [day, read?.customerId ?? '', read?.productId ?? ''],
    );
    return counts.map(countOf)[0];
  }

  /** A count only ever grows. */
  async keep({ day, read, count }: CountRecord): Promise<void> {
    await this.executeAgain(
      read
        ? `insert into psd2.unattended_reads as r (profile, day, reads, customer_id, product_id)
           values ($1, $2, $3, $4, $5) on conflict (profile, day, customer_id, product_id)
           do update set reads = greatest(r.reads, excluded.reads)`
        : `insert into psd2.call_counts as c (profile, day, calls) values ($1, $2, $3)
           on conflict (profile, day) do update set calls = greatest(c.calls, excluded.calls)`,
      [day, count, ...(read ? [read.customerId, read.productId] : [])],
    );
  }
}

function countOf({ day, count, ...read }: z.infer<typeof countRow>): CountRecord {
  return { kind: 'count', day, read: read.customerId === '' ? null : read, count };
}
