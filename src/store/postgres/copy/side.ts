import * as z from 'zod/mini';
import { isCustomerId, isPaymentHolder } from '../../../domain/identifiers.ts';
import { Psd2Error } from '../../../errors.ts';
import { lineInstead } from '../../audit/chain.ts';
import { isProfileName } from '../../machine/profiles.ts';
import type {
  CopySide,
  CountRecord,
  Holdings,
  LastLoginRecord,
  LoginRecord,
  Mark,
  NoteRecord,
  StoredRecord,
} from '../../ports/copy.ts';
import type { Holder } from '../../ports/tokens.ts';
import type { KeySources } from '../../secrets/vault.ts';
import { noteRow } from '../access.ts';
import { PostgresAudit } from '../audit.ts';
import { type Database, ProfileRows } from '../database.ts';
import { Keys, TokenSeals } from '../keys.ts';
import { countPins, readPins } from '../pins.ts';
import { PostgresReadResults } from '../read-results.ts';
import {
  loginInRow,
  OR_REPLACE_TOKENS,
  REMEMBER_LOGIN,
  type Row,
  TOKEN_COLUMNS,
  tokenRow,
} from '../tokens.ts';
import { BatchRows } from './batch-rows.ts';
import { CustomerRows } from './customer-rows.ts';
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
    await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
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
  readonly #logins: LoginRows;
  readonly #customers: CustomerRows;
  readonly #flows: FlowRows;
  readonly #batches: BatchRows;
  readonly #notes: NoteRows;
  readonly #audit: PostgresAudit;
  readonly #results: PostgresReadResults;

  constructor(database: Database, profile: string, keys: Keys) {
    this.#keys = keys;
    this.#logins = new LoginRows(database, profile, keys);
    this.#customers = new CustomerRows(database, profile);
    this.#flows = new FlowRows(database, profile);
    this.#batches = new BatchRows(database, profile);
    this.#notes = new NoteRows(database, profile);
    this.#audit = new PostgresAudit(database, profile);
    this.#results = new PostgresReadResults(database, profile);
  }

  async openKey(): Promise<void> {
    await this.#keys.key();
  }

  async *records(): AsyncGenerator<StoredRecord> {
    yield* await this.#logins.all();
    yield* await this.#notes.all();
    yield* this.#customers.all();
    yield* this.#flows.all();
    for (const pseudonym of await this.#audit.pseudonyms()) yield { kind: 'pseudonym', ...pseudonym };
    for await (const line of this.#audit.lines()) yield { kind: 'audit', ...line };
    yield* this.#batches.all();
    yield* this.#results.records();
  }

  async counterpart(record: StoredRecord): Promise<StoredRecord | undefined> {
    switch (record.kind) {
      case 'login':
        return this.#logins.of(record.holder);
      case 'customer':
        return this.#customers.of(record);
      case 'audit': {
        const instead = lineInstead(record, await this.#audit.line(record.n), await this.#audit.head());
        return instead && { kind: 'audit', ...instead };
      }
      case 'pseudonym': {
        const own = await this.#audit.pseudonym(record);
        return own && { kind: 'pseudonym', ...own };
      }
      case 'flow':
        return this.#flows.of(record.flow);
      case 'batch':
        return this.#batches.of(record.batch);
      case 'reads':
        return this.#results.record(record.customerId);
      case 'last-login':
        return this.#logins.last();
      case 'note':
        return this.#notes.note(record.holder);
      case 'count':
        return this.#notes.count(record);
    }
  }

  async put(record: StoredRecord): Promise<void> {
    switch (record.kind) {
      case 'login':
        return this.#logins.put(record);
      case 'customer':
        return this.#customers.put(record);
      case 'audit':
        return this.#audit.keep(record);
      case 'pseudonym':
        return this.#audit.keepPseudonym(record);
      case 'flow':
        return this.#flows.put(record);
      case 'batch':
        return this.#batches.put(record);
      case 'reads':
        return this.#results.keep(record);
      case 'last-login':
        return this.#logins.remember(record);
      case 'note':
        return this.#notes.putNote(record);
      case 'count':
        return this.#notes.putCount(record);
    }
  }
}

const customerId = z.string().check(z.refine(isCustomerId));
const payment = z.string().check(z.refine(isPaymentHolder));
const heldRow = z.extend(tokenRow, { holder: z.union([z.literal(''), customerId, payment]) });

/** The tokens of one profile, of any bank, for `store copy`. */
class LoginRows extends ProfileRows {
  readonly #keys: Keys;
  readonly #seals: TokenSeals;

  constructor(database: Database, profile: string, keys: Keys) {
    super(database, profile);
    this.#keys = keys;
    this.#seals = new TokenSeals(database, profile, keys);
  }

  async all(): Promise<(LoginRecord | LastLoginRecord)[]> {
    const rows = await this.look(
      heldRow,
      `select holder, ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 order by holder`,
    );
    const last = await this.last();
    const logins = await Promise.all(rows.map((row) => this.#open(row.holder, row)));
    return last ? [...logins, last] : logins;
  }

  async of(holder: string): Promise<LoginRecord | undefined> {
    const row = await this.lookOne(
      tokenRow,
      `select ${TOKEN_COLUMNS} from psd2.tokens where profile = $1 and holder = $2`,
      [holder],
    );
    return row && this.#open(holder, row);
  }

  async last(): Promise<LastLoginRecord | undefined> {
    const lastLogin = await this.lookOne(
      z.object({ customerId }),
      'select customer_id as "customerId" from psd2.last_logins where profile = $1',
    );
    return lastLogin && { kind: 'last-login', ...lastLogin };
  }

  async remember(record: LastLoginRecord): Promise<void> {
    await this.executeAgain(REMEMBER_LOGIN, [record.customerId]);
  }

  /** Stores copied tokens. Older tokens never replace newer ones. */
  async put({ holder, generation, origin, baseUrl, tokens }: LoginRecord): Promise<void> {
    const secrets =
      tokens && (await this.#seals.close({ holder: holderNamed(holder), baseUrl, generation }, tokens));
    await this.executeAgain(
      `with durable as materialized (select set_config('synchronous_commit', 'on', true))
       insert into psd2.tokens as t (profile, holder, ${TOKEN_COLUMNS})
       select $1, $2, $3::bigint, $4::bigint, $5, $6::timestamptz, $7::timestamptz, $8, $9, $10::json from durable
       ${OR_REPLACE_TOKENS} where t.generation < excluded.generation`,
      [
        holder,
        generation,
        origin,
        baseUrl,
        tokens?.accessTokenExpiresAt ?? null,
        tokens?.refreshTokenExpiresAt ?? null,
        tokens?.scope ?? null,
        tokens?.apiTrackId ?? null,
        secrets,
      ],
    );
  }

  async #open(holder: string, row: Row): Promise<LoginRecord> {
    const { generation, origin, base_url: baseUrl, secrets } = row;
    const login = { kind: 'login', holder, generation, origin, baseUrl } as const;
    if (!secrets) return { ...login, tokens: null };
    const of = { holder: holderNamed(holder), baseUrl, generation };
    const content = await this.#seals.open(of, secrets, this.#keys.mayBePlain);
    return { ...login, tokens: { ...loginInRow(row), ...content } };
  }
}

function holderNamed(name: string): Holder {
  return name === '' ? null : name;
}

const NOTE_COLUMNS = 'holder, refresh_at, refresh_message, refresh_of, call_at, call_message';
const heldNote = z.extend(noteRow, { holder: z.string() });
const countRow = z.object({
  day: z.string(),
  customer_id: z.nullable(z.string()),
  product_id: z.nullable(z.string()),
  count: z.number(),
});

/** The counts and notes of one profile, for `store copy`. */
class NoteRows extends ProfileRows {
  async all(): Promise<(NoteRecord | CountRecord)[]> {
    const notes = await this.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 order by holder`,
    );
    const counts = await this.look(
      countRow,
      `select day::text, null as customer_id, null as product_id, calls as count from psd2.call_counts where profile = $1
       union all
       select day::text, customer_id, product_id, reads from psd2.unattended_reads
       where profile = $1 and reads > 0 and strpos(product_id, ' ') = 0`,
    );
    return [...notes.flatMap(noteRecordsOf), ...counts.map(countOf)];
  }

  async note(holder: string): Promise<NoteRecord | undefined> {
    const notes = await this.look(
      heldNote,
      `select ${NOTE_COLUMNS} from psd2.access_notes where profile = $1 and holder = $2`,
      [holder],
    );
    return notes.flatMap(noteRecordsOf)[0];
  }

  async count({ day, read }: CountRecord): Promise<CountRecord | undefined> {
    const counts = await this.look(
      countRow,
      read
        ? `select day::text, customer_id, product_id, reads as count from psd2.unattended_reads
           where profile = $1 and day = $2::date and customer_id = $3 and product_id = $4`
        : `select day::text, null as customer_id, null as product_id, calls as count from psd2.call_counts
           where profile = $1 and day = $2::date`,
      [day, ...(read ? [read.customerId, read.productId] : [])],
    );
    return counts.map(countOf)[0];
  }

  async putNote({ holder, refresh, call }: NoteRecord): Promise<void> {
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

  async putCount({ day, read, count }: CountRecord): Promise<void> {
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

function countOf({ day, customer_id, product_id, count }: z.infer<typeof countRow>): CountRecord {
  const read = customer_id === null ? null : { customerId: customer_id, productId: product_id ?? '' };
  return { kind: 'count', day, read, count };
}
