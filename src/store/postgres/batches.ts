import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import {
  applyBatchEvent,
  type Batch,
  type BatchAdded,
  type BatchEvent,
  newBatch,
} from '../../domain/batch/batch.ts';
import { batchAdded, batchEvent, batchLine } from '../../domain/batch/events.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import {
  addedEvent,
  batchId,
  batchIsDamaged,
  chooseBatch,
  contentIsStored,
  hashOf,
  messageIsStored,
  refuseEdited,
  refuseUncompared,
  unlessDamaged,
} from '../batch/refusals.ts';
import type { Batches, NewBatch, OnDamagedBatch } from '../ports/batches.ts';
import type { BatchRecord } from '../ports/copy.ts';
import type { Claims } from './claims.ts';
import { type Database, KeyTaken, LostAnswer, onlyRow, ProfileRows, type Statements } from './database.ts';

/** A bit longer than it takes to see that another worker is dead. */
const CLAIM_PATIENCE_MS = 15_000;
/** How many lines one statement writes or reads. */
export const LINES_AT_ONCE = 2_000;

const idRow = z.object({ batch: z.string() });
const countRow = z.object({ events: z.number() });
const lineRow = z.object({ line: z.number(), content: z.unknown() });
/** The rows of a new batch, and how many events it has. */
interface NewRows extends Pick<BatchAdded, 'sha256' | 'messageId'> {
  id: string;
  lines: readonly unknown[];
  events: number;
}
const eventRow = z.object({ n: z.number(), at: z.date(), event: z.unknown(), role: z.string() });

/**
 * The batches of one profile: rows for each batch, its lines and its events. The number of an event is in the primary key, so
 * of two workers that write the next event only one succeeds.
 */
export class PostgresBatches extends ProfileRows implements Batches {
  readonly #claims: Claims;
  readonly #now: () => Date;
  /** The name of this writer. After a lost answer, psd2 uses it to look whether its rows were written. */
  readonly #writer = randomUUID();
  #ownRole: Promise<string> | undefined;
  /** The batches as this worker has read them, with the number of their events. */
  readonly #known = new Map<string, { batch: Batch; n: number }>();

  constructor(database: Database, profile: string, claims: Claims, now: () => Date) {
    super(database, profile);
    this.#claims = claims;
    this.#now = now;
  }

  async add(order: NewBatch): Promise<Batch> {
    await this.database.remember(this.profile);
    const event = addedEvent(order);
    const { sha256 } = event;
    const at = this.#now();
    let id = sha256;
    try {
      await this.database.transaction(async (statements) => {
        await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
        await statements.execute(`select pg_advisory_xact_lock(hashtext('psd2.batch ' || $1))`, [
          this.profile,
        ]);
        id = await this.#freeId(statements, order, sha256);
        await this.#insert(statements, { ...event, id, lines: order.lines, events: 1 });
        await statements.execute(
          `insert into psd2.batch_events (profile, batch, n, writer, at, event) values ($1, $2, 1, $3, $4, $5)`,
          [this.profile, id, this.#writer, at, JSON.stringify(event)],
        );
      });
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      // Look over a new connection.
      if (!(await this.#isWritten(id, 1))) throw this.#notWritten(id, error);
    }
    return newBatch(id, event, at.toISOString(), await this.#role());
  }

  async find(reference: string): Promise<Batch> {
    const rows = await this.look(
      idRow,
      'select batch from psd2.batches where profile = $1 and starts_with(batch, $2)',
      [reference.toLowerCase().replace(/-.*$/s, '')],
    );
    const id = chooseBatch(
      reference,
      rows.map(({ batch }) => batch),
    );
    return this.#read(id);
  }

  async *list(onDamaged?: OnDamagedBatch): AsyncGenerator<Batch> {
    const rows = await this.look(
      idRow,
      // A batch whose first event is missing is damaged.
      `select b.batch from psd2.batches b left join psd2.batch_events e on (e.profile, e.batch, e.n) = (b.profile, b.batch, 1)
       where b.profile = $1 order by e.at desc, b.batch collate "C" desc`,
    );
    for (const { batch: id } of rows) {
      const batch = await unlessDamaged(id, onDamaged, () => this.#read(id));
      if (batch) yield batch;
    }
  }

  async lines(batch: Batch): Promise<BatchLine[]> {
    const lines: BatchLine[] = [];
    for await (const { line, content } of this.#lineRows(batch.batch)) {
      const { data } = batchLine.safeParse(content);
      if (data === undefined || data.line !== line)
        throw batchIsDamaged(batch.batch, 'psd2 did not write its lines');
      lines.push(data);
    }
    refuseEdited(batch, lines, `at ${this.database.shown}`);
    return lines;
  }

  async change(
    id: string,
    decide: (now: Batch, role: string | null) => BatchEvent | null,
  ): Promise<{ batch: Batch; recorded: boolean }> {
    await this.database.remember(this.profile);
    for (let isBehind = false; ; isBehind = true) {
      const batch = await this.#read(id, isBehind);
      const event = decide(batch, await this.#role());
      if (event === null) return { batch, recorded: false };
      const n = (this.#known.get(id)?.n ?? 0) + 1;
      if (await this.#append(id, n, event)) return { batch: await this.#read(id), recorded: true };
    }
  }

  async pseudonymise(batch: Batch, change: (line: BatchLine) => BatchLine): Promise<void> {
    const before = await this.lines(batch);
    const lines = before.map(change);
    const sha256 = hashOf(lines);
    // First the hash, so that a process that is killed now leaves lines that psd2 accepts.
    await this.change(batch.batch, (now) =>
      now.sha256 === sha256 || now.pseudonymised.has(sha256) ? null : { type: 'pseudonymised', sha256 },
    );
    await this.database.transactionAgain(async (statements) => {
      await statements.takeTime();
      await statements.execute(`select set_config('synchronous_commit', 'on', true)`);
      for (const [index, line] of lines.entries())
        if (!isDeepStrictEqual(line, before[index]))
          await statements.execute(
            'update psd2.batch_lines set content = $4::json where profile = $1 and batch = $2 and line = $3::integer',
            [this.profile, batch.batch, line.line, JSON.stringify(line)],
          );
      await statements.execute(
        `update psd2.batch_events set event = jsonb_set(event::jsonb, '{note}',
           case when event->>'type' = 'added' then 'null' else '""' end::jsonb)::json
         where profile = $1 and batch = $2 and event->>'note' <> ''`,
        [this.profile, batch.batch],
      );
    });
  }

  async onLine<T>(batch: string, line: number, waits: boolean, work: () => Promise<T>): Promise<T | 'taken'> {
    const what = `The payment ${line} of the batch`;
    const patienceMs = waits ? CLAIM_PATIENCE_MS : 0;
    let isOurs = false;
    try {
      return await this.#claims.within('batch-line', `${batch} ${line}`, { what, patienceMs }, () => {
        isOurs = true;
        return work();
      });
    } catch (error) {
      const isBusy = !isOurs && error instanceof Psd2Error && error.message.startsWith(what);
      if (isBusy) return 'taken';
      throw error;
    }
  }

  /** All batches, for `store copy`, which changes nothing of them, and so parses no more than it must. */
  async *records(): AsyncGenerator<BatchRecord> {
    const rows = await this.look(idRow, 'select batch from psd2.batches where profile = $1 order by batch');
    for (const row of rows) {
      const record = await this.record(row);
      if (record) yield record;
    }
  }

  /** A batch, for `store copy`. @throws Psd2Error `config` if events are missing. A copy would forget that they ever were */
  async record({ batch }: Pick<BatchRecord, 'batch'>): Promise<BatchRecord | undefined> {
    const count = await this.#count(batch);
    if (count === undefined) return undefined;
    const rows = await this.look(eventRow, SELECT_EVENTS, [batch, 0]);
    if (rows.length < count) throw batchIsDamaged(batch, 'events of its journal are missing');
    const lines: unknown[] = [];
    for await (const { content } of this.#lineRows(batch)) lines.push(content);
    return {
      kind: 'batch',
      batch,
      lines,
      events: rows.map(({ at, event }) => ({ at: at.toISOString(), event })),
    };
  }

  /** Stores a copied batch, or the events that are missing, in one transaction. @throws Psd2Error `config` */
  async keep({ batch: id, lines, events }: BatchRecord): Promise<void> {
    const { data: added } = batchAdded.safeParse(events[0]?.event);
    if (added === undefined) throw batchIsDamaged(id, 'psd2 did not write its first event');
    const numbered = events.map((each, index) => ({ ...each, n: index + 1 }));
    await this.database.transactionAgain(async (statements) => {
      await this.#insert(statements, { ...added, id, lines, events: events.length });
      await statements.execute(
        `insert into psd2.batch_events (profile, batch, n, writer, at, event)
         select $1, $2, n, 'copy', at, event from json_to_recordset($3::json) as r (n integer, at timestamptz, event json)
         on conflict do nothing`,
        [this.profile, id, JSON.stringify(numbered)],
      );
    });
  }

  /** Adds a batch with its lines, unless it is there. @param events how many events follow */
  async #insert(statements: Statements, { id, sha256, messageId, lines, events }: NewRows): Promise<void> {
    const inserted = await statements.query(
      z.unknown(),
      `insert into psd2.batches (profile, batch, sha256, message_id, events) values ($1, $2, $3, $4, $5)
       on conflict do nothing returning 1`,
      [this.profile, id, sha256, messageId, events],
    );
    if (inserted.length === 0) return;
    for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
      const contents = lines.slice(from, from + LINES_AT_ONCE).map((line) => JSON.stringify(line));
      await statements.execute(
        `insert into psd2.batch_lines (profile, batch, line, content)
         select $1, $2, $4::integer + n, content::json from unnest($3::text[]) with ordinality as l (content, n)`,
        [this.profile, id, contents, from],
      );
    }
  }

  /** The lines in their order, as they are stored. */
  async *#lineRows(batch: string): AsyncGenerator<z.infer<typeof lineRow>> {
    for (let after = 0, read = LINES_AT_ONCE; read === LINES_AT_ONCE; ) {
      const rows = await this.look(
        lineRow,
        `select line, content from psd2.batch_lines
         where profile = $1 and batch = $2 and line > $3 order by line limit ${LINES_AT_ONCE}`,
        [batch, after],
      );
      yield* rows;
      after = rows.at(-1)?.line ?? after;
      read = rows.length;
    }
  }

  /** How many events psd2 has written of a batch. */
  async #count(batch: string): Promise<number | undefined> {
    const sql = 'select events from psd2.batches where profile = $1 and batch = $2';
    return (await this.lookOne(countRow, sql, [batch]))?.events;
  }

  /** The id of a new batch, while nobody else can add one. @throws Psd2Error `usage` */
  async #freeId(statements: Statements, order: NewBatch, sha256: string): Promise<string> {
    const { messageId } = order.added;
    const all = await statements.query(
      idRow,
      // The id is what nobody can change: its lines and events refer to it.
      'select batch from psd2.batches where profile = $1 order by length(batch), batch',
      [this.profile],
    );
    const ids = all.map(({ batch }) => batch);
    refuseUncompared(order, ids);
    const stored = ids.filter((id) => id.startsWith(sha256));
    const [first] = stored;
    if (first !== undefined && !order.again && !order.compared) throw contentIsStored(first);
    const [other] = await statements.query(
      idRow,
      'select batch from psd2.batches where profile = $1 and message_id = $2 and sha256 <> $3 limit 1',
      [this.profile, messageId, sha256],
    );
    if (other) throw messageIsStored(messageId ?? '', other.batch);
    return batchId(sha256, stored.length + 1);
  }

  /** @returns false if another worker has taken this number */
  async #append(id: string, n: number, event: BatchEvent): Promise<boolean> {
    try {
      await this.query(
        z.unknown(),
        `with durable as materialized (select set_config('synchronous_commit', 'on', true))
         insert into psd2.batch_events (profile, batch, n, writer, at, event)
           select $1, $2, $3::integer, $4, $5, $6::json from durable`,
        [id, n, this.#writer, this.#now(), JSON.stringify(event)],
      );
      return true;
    } catch (error) {
      if (error instanceof KeyTaken) return false;
      if (!(error instanceof LostAnswer)) throw error;
      if (!(await this.#isWritten(id, n))) throw this.#notWritten(id, error);
      return true;
    }
  }

  /** Whether this worker's event is in the database. @throws Psd2Error `config` if that is unclear */
  async #isWritten(id: string, n: number): Promise<boolean> {
    const row = await this.lookOne(
      z.object({ writer: z.string() }),
      'select writer from psd2.batch_events where profile = $1 and batch = $2 and n = $3',
      [id, n],
    );
    return row?.writer === this.#writer;
  }

  /**
   * The batch, with the events that other workers have added since.
   *
   * @param isBehind whether there are surely such events, whatever their number in `psd2.batches` says
   */
  async #read(id: string, isBehind = false): Promise<Batch> {
    let cached = this.#known.get(id);
    const count = await this.#count(id);
    if (cached && count !== undefined && count <= cached.n && !isBehind) return cached.batch;
    const rows = await this.look(eventRow, SELECT_EVENTS, [id, cached?.n ?? 0]);
    for (const { n, at, event, role } of rows) {
      if (n !== (cached?.n ?? 0) + 1) throw batchIsDamaged(id, 'events of its journal are missing');
      cached = apply(id, cached, { event, role, at: at.toISOString() });
    }
    if (!cached || cached.n < (count ?? 1)) throw batchIsDamaged(id, 'events of its journal are missing');
    this.#known.set(id, cached);
    return cached.batch;
  }

  /** The role of this worker's connections. */
  #role(): Promise<string> {
    this.#ownRole ??= this.database
      .look(z.object({ role: z.string() }), 'select session_user as role')
      .then((rows) => onlyRow(rows).role);
    return this.#ownRole;
  }

  #notWritten(id: string, cause: unknown): Psd2Error {
    return new Psd2Error(
      'config',
      `The journal of the batch ${id} cannot be written: the connection was lost`,
      {
        hint: `psd2 does nothing that it cannot record first. Check PostgreSQL at ${this.database.shown}, then run this again.`,
        cause,
      },
    );
  }
}

function apply(
  id: string,
  current: { batch: Batch; n: number } | undefined,
  { event, role, at }: { event: unknown; role: string; at: string },
): { batch: Batch; n: number } {
  if (!current) {
    const { data } = batchAdded.safeParse(event);
    if (data === undefined) throw batchIsDamaged(id, 'psd2 did not write its first event');
    return { batch: newBatch(id, data, at, role), n: 1 };
  }
  const { data } = batchEvent.safeParse(event);
  if (data === undefined) throw batchIsDamaged(id, `psd2 did not write the event ${current.n + 1}`);
  applyBatchEvent(current.batch, data, at, role);
  current.n += 1;
  return current;
}

/** The events after one. `$1` profile, `$2` batch, `$3` the number of that one. */
const SELECT_EVENTS = `select n, at, event, role from psd2.batch_events
  where profile = $1 and batch = $2 and n > $3 order by n`;

/** The first events of a profile's newest batches, for completion. */
export async function batchesBegun(
  database: Database,
  profile: string,
  max: number,
): Promise<{ batch: string; at: string; event: object }[]> {
  const rows = await database.look(
    z.object({ batch: z.string(), at: z.date(), event: z.looseObject({}) }),
    `select batch, at, event from psd2.batch_events where profile = $1 and n = 1 order by at desc limit $2`,
    [profile, max],
  );
  return rows.map(({ batch, at, event }) => ({ batch, at: at.toISOString(), event }));
}
