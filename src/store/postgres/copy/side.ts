import * as z from 'zod/mini';
import { Psd2Error } from '../../../errors.ts';
import type { CopySide, Holdings, Mark, StoredRecord } from '../../ports/copy.ts';
import type { KeySources } from '../../secrets/vault.ts';
import type { Database } from '../database.ts';
import { Keys } from '../keys.ts';
import { FlowRows } from './flow-rows.ts';
import { LoginRows } from './login-rows.ts';
import { NoteRows } from './note-rows.ts';

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
const profileRow = z.object({ profile: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)) });

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
    if (!row.may_copy) {
      throw new Psd2Error('config', `The user of PostgreSQL at ${database.shown} may not copy the store`, {
        hint: 'Only the owner of the schema psd2, or a member of that role, may do so. Use the rights of the owner, as for psd2 store init.',
      });
    }
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
      const found = await database.look(
        z.object({ name: z.string(), worker: z.string() }),
        `select trim(kind || ' ' || name) as name, coalesce(worker, '') as worker from psd2.claims
         where until > clock_timestamp() order by profile, kind, name`,
      );
      return found.map(({ name, worker }) => `${worker} (${name})`);
    },
    profiles: async () => {
      const found = await database.look(
        profileRow,
        `select profile from psd2.tokens union select profile from psd2.last_logins union select profile from psd2.flows
         union select profile from psd2.call_counts union select profile from psd2.access_notes
         union select profile from psd2.unattended_reads order by profile`,
      );
      return found.map(({ profile }) => profile);
    },
    open: (profile) =>
      new DatabaseHoldings(database, profile, new Keys(database, profile, sources, mayBePlain)),
  };
}

async function changeMark(
  database: Database,
  movedTo: Mark['movedTo'],
  copiedFrom: Mark['copiedFrom'],
): Promise<void> {
  // Make it durable: a power cut must not bring workers back to a store that was copied.
  const values = [
    ...[movedTo?.place ?? null, movedTo?.id ?? null, copiedFrom?.place ?? null, copiedFrom?.id ?? null],
    copiedFrom?.isComplete ?? true,
  ];
  await database.transactionAgain(async (statements) => {
    await statements.query(z.unknown(), `select set_config('synchronous_commit', 'on', true)`);
    await statements.query(z.unknown(), `select pg_advisory_xact_lock(hashtext('psd2.copy'))`);
    await statements.query(
      z.unknown(),
      `update psd2.store set moved_to = $1, moved_to_id = $2, copied_from = $3, copied_from_id = $4, copy_ended = $5`,
      values,
    );
  });
}

/** The data of one profile in a database. */
class DatabaseHoldings implements Holdings {
  readonly #logins: LoginRows;
  readonly #flows: FlowRows;
  readonly #notes: NoteRows;

  constructor(database: Database, profile: string, keys: Keys) {
    this.#logins = new LoginRows(database, profile, keys);
    this.#flows = new FlowRows(database, profile);
    this.#notes = new NoteRows(database, profile);
  }

  async *records(): AsyncGenerator<StoredRecord> {
    yield* await this.#logins.all();
    yield* await this.#notes.all();
    yield* this.#flows.all();
  }

  async counterpart(record: StoredRecord): Promise<StoredRecord | undefined> {
    switch (record.kind) {
      case 'login':
        return this.#logins.of(record.holder);
      case 'flow':
        return this.#flows.of(record.flow);
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
      case 'flow':
        return this.#flows.put(record);
      case 'last-login':
        return this.#logins.remember(record);
      case 'note':
        return this.#notes.putNote(record);
      case 'count':
        return this.#notes.putCount(record);
    }
  }
}
