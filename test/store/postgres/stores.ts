import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { actorOf } from '../../../src/store/machine/actor.ts';
import { type Address, parseAddress } from '../../../src/store/postgres/address.ts';
import { PostgresStore } from '../../../src/store/postgres/backend.ts';
import { Database } from '../../../src/store/postgres/database.ts';
import { type Init, initStore } from '../../../src/store/postgres/init.ts';
import { type CuttingProxy, startCuttingProxy } from '../../crash/cutting-proxy.ts';
import { openDatabases, type ReadyDatabases } from './databases.ts';
import type { Databases } from './server.ts';

const WAITING = `select from pg_stat_activity
  where application_name = 'psd2' and datname = current_database() and wait_event_type = 'Lock'`;

/** A server of a test file, with a new database for each test. */
export interface Stores {
  server(): Databases;
  /** The name of the test's database. */
  name(): string;
  address(): Address;
  /** Creates the tables, and the roles. Plain workers may store tokens in clear text, unless the test wants otherwise. */
  init(how?: Partial<Init>): Promise<number>;
  /** Runs SQL as the owner. */
  sql(text: string): string;
  /** A connection pool, closed after the test. */
  database(address?: Address, isForCopying?: boolean): Database;
  /**
   * A worker of the store, closed after the test. A plain one has no passphrase, and may store tokens in clear text. One that is
   * kept has that of the keyring.
   */
  worker(more?: {
    address?: Address;
    passphrase?: string;
    isPlain?: boolean;
    isKept?: boolean;
    mayBePlain?: boolean;
    now?: () => Date;
    signal?: AbortSignal;
  }): PostgresStore;
  /** Starts a proxy that can cut connections, closed after the test. @returns it, and the address for workers behind it */
  proxied(): Promise<{ proxy: CuttingProxy; through: Address }>;
  /** Begins a transaction with this statement, which stays open until `end`, or until the test ends. */
  holding(statement: string): Promise<{ end(): Promise<unknown> }>;
  /** Waits until `work` has ended, or `statements` of psd2 wait for a lock. @returns whether they wait */
  waits(work: Promise<unknown>, statements?: number): Promise<boolean>;
}

/** Opens databases for the tests of a file. @param needs roles, or none */
export function useStores(needs?: 'roles'): Stores {
  let server: ReadyDatabases | undefined;
  let current = '';
  let isThere = false;
  const running = () => {
    if (!server) throw new TypeError('The server was not started');
    return server;
  };
  beforeAll(() => {
    server = openDatabases(needs);
  });
  afterAll(() => server?.stop());
  beforeEach(() => {
    current = `psd2_${randomBytes(6).toString('hex')}`;
    isThere = false;
  });
  /** The first use makes the test's database. */
  const name = () => {
    if (!isThere) running().create(current);
    isThere = true;
    return current;
  };
  const address = () => parseAddress(running().url(name()), {});
  const database = (at = address(), isForCopying = false) => {
    const opened = new Database(at, undefined, isForCopying);
    onTestFinished(() => opened.close());
    return opened;
  };
  const sql = (text: string) => running().sql(name(), text);
  return {
    server: running,
    name,
    address,
    sql,
    database,
    init: async (how = {}) => {
      const { roles = false, plainTokens = true } = how;
      if (isThere || roles) return initStore(database(), { roles, plainTokens });
      await running().ready(current, plainTokens);
      isThere = true;
      return 0;
    },
    worker: ({
      address: at = address(),
      passphrase = 'correct horse',
      isPlain = false,
      isKept = false,
      mayBePlain = isPlain,
      now = () => new Date(),
      signal,
    } = {}) => {
      const store = new PostgresStore(at, {
        now,
        random: Math.random,
        clock: () => performance.now(),
        sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
        signal,
        keys: {
          passphrase: async (_, kept) => (isKept ? kept?.() : isPlain ? undefined : passphrase),
          signal: new AbortController().signal,
        },
        mayBePlain,
        actor: actorOf({}),
      });
      onTestFinished(() => store.close());
      return store;
    },
    proxied: async () => {
      const proxy = await startCuttingProxy(address().config.host ?? '');
      onTestFinished(() => proxy.close());
      const url = `postgres://psd2@/${name()}?host=${encodeURIComponent(proxy.folder)}`;
      return { proxy, through: parseAddress(url, {}) };
    },
    holding: async (statement) => {
      const client = new pg.Client({ connectionString: running().url(name()), application_name: 'test' });
      await client.connect();
      let ended: Promise<unknown> | undefined;
      const end = () => {
        ended ??= client.query('commit').then(() => client.end());
        return ended;
      };
      onTestFinished(async () => void (await end()));
      await client.query('begin');
      await client.query(statement);
      return { end };
    },
    waits: async (work, statements = 1) => {
      let hasEnded = false;
      const ended = () => {
        hasEnded = true;
      };
      void work.then(ended, ended);
      const client = new pg.Client({ connectionString: running().url(name()), application_name: 'test' });
      await client.connect();
      try {
        for (;;) {
          const { rowCount } = await client.query(WAITING);
          if (Number(rowCount) >= statements) return true;
          if (hasEnded) return false;
        }
      } finally {
        await client.end();
      }
    },
  };
}
