import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg, { type QueryConfig } from 'pg';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { halfCopied, movedAway } from '../copy/moved.ts';
import { orAborted } from '../secrets/keyring.ts';
import type { Address } from './address.ts';
import { codeOf, isLost, isPassing, isUnsent, storeFailure } from './failure.ts';
import { SCHEMA_VERSION } from './schema.ts';

/** How long a command waits for a database that does not answer. */
const PATIENCE_MS = 8_000;
const PAUSE_MS = 250;
const CONNECT_MS = 4_000;
const STATEMENT_MS = 30_000;
/** If no answer has come by then, not even that the statement took too long, the server or the network is gone. */
const ANSWER_MS = STATEMENT_MS + 5_000;
/** The longest that a timer takes: 24 days. For the driver, 0 would be no setting. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** Connections of one worker. If all are in use, further statements wait. */
const MAX_CONNECTIONS = 8;

/** A parameter of a statement. */
export type Parameter = string | number | boolean | Date | null | readonly string[];

/** Runs statements: each in its own transaction, or all in one. */
export interface Statements {
  /** @param row the schema of a row. @throws Psd2Error `config`; {@link LostAnswer} */
  query<T>(row: z.ZodMiniType<T>, sql: string, values?: readonly Parameter[]): Promise<T[]>;
  /** A statement without rows. @throws as {@link query} */
  execute(sql: string, values?: readonly Parameter[]): Promise<void>;
  /** Runs several statements, one after the other. @throws as {@link query} */
  script(sql: string): Promise<void>;
  /** Lets the statements of the transaction that follow take as long as they need, because they change many rows. */
  takeTime(): Promise<void>;
}

/** The connection was lost before the answer came. The statement may or may not have taken effect. */
export class LostAnswer extends Error {
  override readonly name = 'LostAnswer';
}

/** A unique name is already taken (SQLSTATE 23505). */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
  /** The name of the unique index. */
  readonly constraint: string;

  constructor(constraint: string) {
    super(`${constraint} is taken`);
    this.constraint = constraint;
  }
}

/** Keeps the data of a profile in this database. */
interface DatabaseGuard {
  /** Whether {@link found} needs to know if the database has data of the profile. */
  readonly needsToKnowData: boolean;
  /** Called when psd2 has connected. @throws Psd2Error `config` if the data of the profile is in another store */
  found(id: string, hasData: boolean): void;
  /** Called before data is written. @throws as {@link found} */
  remember(id: string): void;
}

/**
 * The database of a store. It connects on demand, and never keeps a transaction open while psd2 waits for something else.
 */
export class Database {
  readonly shown: string;
  /** As {@link Address.place}. */
  readonly place: string;
  readonly #pool: pg.Pool;
  readonly #signal: AbortSignal | undefined;
  readonly #isForCopying: boolean;
  readonly #sockets = new Set<Socket>();
  readonly #guards = new Map<string, DatabaseGuard>();
  #checked: Promise<void> | undefined;
  /** The random id of the store, once psd2 has connected. */
  #id = '';
  /** Ctrl-C ends the wait for a database that was never reached. Later statements always finish, to store what the bank gave. */
  #wasReached = false;

  /**
   * @param signal the operator's Ctrl-C, which ends the wait. Its reason is thrown
   * @param isForCopying whether `store copy` opens the store, which other workers may not use meanwhile. Its transactions are
   *   durable, and tell the database that they copy
   */
  constructor({ config, shown, place }: Address, signal: AbortSignal | undefined, isForCopying = false) {
    this.shown = shown;
    this.place = place;
    this.#isForCopying = isForCopying;
    this.#signal = signal;
    this.#pool = new pg.Pool({
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: ANSWER_MS,
      ...config,
      stream: () => this.#socket(),
      application_name: 'psd2',
      max: MAX_CONNECTIONS,
      idleTimeoutMillis: 5_000,
      allowExitOnIdle: true,
    });
    // If an idle connection is lost, the pool makes a new one for the next statement.
    this.#pool.on('error', ignore);
  }

  /** Has the data of a profile guarded from the next statement on. */
  guard(profile: string, guard: DatabaseGuard): void {
    if (this.#guards.has(profile)) return;
    this.#guards.set(profile, guard);
    this.#checked = undefined;
  }

  /** Call it before data of a profile is written for the first time. @throws Psd2Error `config` */
  async remember(profile: string): Promise<void> {
    await this.checked();
    this.#guards.get(profile)?.remember(this.#id);
  }

  /** As {@link Statements.query}, in its own transaction, after the schema was checked. */
  async query<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[] = []): Promise<T[]> {
    await this.checked();
    return this.#again(() => this.#run(this.#pool, row, { text: sql, values: [...values] }), isUnsent);
  }

  /** As {@link query}, for a statement that can be repeated if the connection is lost. */
  async look<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[] = []): Promise<T[]> {
    await this.checked();
    return this.#again(() => this.#run(this.#pool, row, { text: sql, values: [...values] }));
  }

  /** As {@link look}, for the first row. */
  async lookOne<T>(
    row: z.ZodMiniType<T>,
    sql: string,
    values: readonly Parameter[] = [],
  ): Promise<T | undefined> {
    const [first] = await this.look(row, sql, values);
    return first;
  }

  /** As {@link query}, for a statement without rows. */
  async execute(sql: string, values?: readonly Parameter[]): Promise<void> {
    await this.query(z.unknown(), sql, values);
  }

  /** As {@link look}, for a statement without rows. */
  async executeAgain(sql: string, values?: readonly Parameter[]): Promise<void> {
    await this.look(z.unknown(), sql, values);
  }

  /**
   * Runs statements that take effect together or not at all. After {@link LostAnswer} it is unknown which.
   *
   * @param isChecked false for statements that create the schema
   */
  async transaction<T>(work: (statements: Statements) => Promise<T>, isChecked = true): Promise<T> {
    if (isChecked) await this.checked();
    const client = await this.#again(() => this.#interruptible(this.#pool.connect())).catch(
      (error: unknown) => Promise.reject(this.#failure(error)),
    );
    // A connection that is lost between two statements emits an error too. The next statement or the commit then fails.
    client.on('error', ignore);
    let answerMs: number | undefined;
    const statements: Statements = {
      query: (row, sql, values = []) => this.#run(client, row, { text: sql, values: [...values] }, answerMs),
      execute: async (sql, values) => {
        await statements.query(z.unknown(), sql, values);
      },
      takeTime: async () => {
        await statements.script('set local statement_timeout = 0');
        answerMs = NO_LIMIT_MS;
      },
      script: async (sql) => {
        await this.#send(client, { text: sql }, answerMs);
      },
    };
    let isBroken = true;
    try {
      await statements.script(this.#isForCopying ? BEGIN_COPYING : 'begin');
      const result = await work(statements);
      await statements.execute('commit');
      isBroken = false;
      return result;
    } catch (error) {
      if (!(error instanceof LostAnswer))
        await client.query('rollback').then(
          () => {
            isBroken = false;
          },
          () => {},
        );
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(isBroken);
    }
  }

  /** As {@link transaction}, for statements with the same result a second time. Repeats them if the connection is lost. */
  async transactionAgain<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.transaction(work);
      } catch (error) {
        if (!(error instanceof LostAnswer)) throw error;
      }
    }
  }

  /** Checks once that the schema has this program's version. @throws Psd2Error `config` */
  checked(): Promise<void> {
    this.#checked ??= this.#check().catch((error: unknown) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  /** Checks it once more: `psd2 store init` of a newer psd2 may have changed the schema since. @throws Psd2Error `config` */
  checkedAgain(): Promise<void> {
    this.#checked = undefined;
    return this.checked();
  }

  async #check(): Promise<void> {
    const row = z.object({
      version: z.number(),
      moved_to: z.nullable(z.string()),
      copied_from: z.nullable(z.string()),
      copy_ended: z.boolean(),
      id: z.string(),
      with_data: z.array(z.string()),
    });
    const unknown = [...this.#guards]
      .filter(([, guard]) => guard.needsToKnowData)
      .map(([profile]) => profile);
    const [store] = await this.#again(() =>
      this.#run(this.#pool, row, { text: LOOK_AT_STORE, values: [unknown] }),
    );
    this.#wasReached = true;
    const version = store?.version ?? 0;
    if (version === 0)
      throw new Psd2Error('config', `The store at ${this.shown} has no tables of psd2`, {
        hint: 'Make them with the rights of the owner:',
        next: [['store', 'init']],
      });
    if (version !== SCHEMA_VERSION) throw otherSchema(this.shown, version);
    if (!store || this.#isForCopying) return;
    if (store.moved_to !== null) throw movedAway(`PostgreSQL at ${this.shown}`, store.moved_to);
    if (!store.copy_ended) throw halfCopied(`PostgreSQL at ${this.shown}`, store.copied_from ?? '');
    this.#id = store.id;
    for (const [profile, guard] of this.#guards) guard.found(store.id, store.with_data.includes(profile));
  }

  /**
   * Closes the connections. After Ctrl-C it does not wait for a database that was never reached: there is nothing to
   * store. It never waits for the server to close a connection: that can take a minute if psd2 has no password for it.
   */
  async close(): Promise<void> {
    if (this.#signal?.aborted && !this.#wasReached) for (const socket of this.#sockets) socket.destroy();
    await this.#pool.end();
    for (const socket of this.#sockets) socket.destroy();
  }

  #socket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  async #run<T>(
    on: pg.Pool | pg.PoolClient,
    row: z.ZodMiniType<T>,
    statement: QueryConfig,
    answerMs?: number,
  ): Promise<T[]> {
    const { rows } = await this.#send(on, statement, answerMs);
    return rows.map((each) => {
      const { data } = row.safeParse(each);
      if (data !== undefined) return data;
      throw new Psd2Error('config', `The store at ${this.shown} contains data that psd2 did not write`, {
        hint: 'Check whether another program writes to its tables, or restore a backup.',
      });
    });
  }

  async #send(on: pg.Pool | pg.PoolClient, statement: QueryConfig, answerMs?: number) {
    // The driver takes this setting with a statement, though its types know it of a connection alone.
    const timed = answerMs === undefined ? statement : { ...statement, query_timeout: answerMs };
    try {
      return await this.#interruptible(on.query(timed));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Repeats `work` for some seconds if it fails for a reason that may be over in a moment. */
  async #again<T>(work: () => Promise<T>, isOver = isPassing): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const cause = error instanceof Psd2Error || error instanceof LostAnswer ? error.cause : error;
        if (!isOver(cause) || performance.now() >= end) {
          if (isOver === isPassing && error instanceof LostAnswer) throw storeFailure(this.shown, cause);
          throw this.#failure(error);
        }
        await this.#interruptible(delay(PAUSE_MS));
      }
    }
  }

  #failure(error: unknown): unknown {
    const isKnown = error instanceof Psd2Error || error instanceof LostAnswer || error instanceof KeyTaken;
    if (isKnown || error === this.#signal?.reason) return error;
    if (codeOf(error) === '23505' && error instanceof pg.DatabaseError)
      return new KeyTaken(error.constraint ?? '');
    if (isLost(error)) return new LostAnswer('the connection was lost', { cause: error });
    return storeFailure(this.shown, error);
  }

  /** Ends the wait for the database at Ctrl-C. */
  #interruptible<T>(work: Promise<T>): Promise<T> {
    return this.#signal && !this.#wasReached ? orAborted(work, this.#signal) : work;
  }
}

/** What works on the rows of one profile. Its statements have the profile as their first parameter, `$1`. */
export abstract class ProfileRows {
  protected readonly database: Database;
  protected readonly profile: string;

  constructor(database: Database, profile: string) {
    this.database = database;
    this.profile = profile;
  }

  /** As {@link Database.query}. */
  protected query<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[] = []): Promise<T[]> {
    return this.database.query(row, sql, [this.profile, ...values]);
  }

  /** As {@link Database.look}. */
  protected look<T>(row: z.ZodMiniType<T>, sql: string, values: readonly Parameter[] = []): Promise<T[]> {
    return this.database.look(row, sql, [this.profile, ...values]);
  }

  /** As {@link Database.lookOne}. */
  protected async lookOne<T>(row: z.ZodMiniType<T>, sql: string, values?: readonly Parameter[]) {
    const [first] = await this.look(row, sql, values);
    return first;
  }

  /** As {@link Database.execute}. */
  protected execute(sql: string, values: readonly Parameter[] = []): Promise<void> {
    return this.database.execute(sql, [this.profile, ...values]);
  }

  /** As {@link Database.executeAgain}. */
  protected executeAgain(sql: string, values: readonly Parameter[] = []): Promise<void> {
    return this.database.executeAgain(sql, [this.profile, ...values]);
  }
}

const BEGIN_COPYING = `begin; set local psd2.copying = on; set local synchronous_commit = on`;

/** The mark of the store, and which of some profiles have data in it. */
const LOOK_AT_STORE = `select s.*, array(
    select profile from unnest($1::text[]) profile
    where exists (select from psd2.flows f where f.profile = profile.profile)
      or exists (select from psd2.tokens t where t.profile = profile.profile and t.secrets is not null)
  ) as with_data from psd2.store s`;

/** The row of a statement that always gives one. */
export function onlyRow<T>([row]: readonly T[]): T {
  if (row === undefined) throw new TypeError('The statement gives a row');
  return row;
}

/** The error for a store whose tables are those of another psd2. */
export function otherSchema(shown: string, version: number): Psd2Error {
  return new Psd2Error(
    'config',
    `The store at ${shown} has schema ${version}, and this psd2 knows schema ${SCHEMA_VERSION}`,
    { hint: 'Update psd2 on this machine.' },
  );
}

function ignore(): void {}
