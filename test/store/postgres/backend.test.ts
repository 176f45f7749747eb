import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { findDatabase, initStore, sqlFor } from '../../../src/store/postgres/init.ts';
import { SCHEMA_VERSION } from '../../../src/store/postgres/schema.ts';
import { allOf } from '../flows.ts';
import { BANK, granting } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
const worker = () => stores.worker().open('p', BANK);

describe('the tables of a database', () => {
  it.each([SCHEMA_VERSION + 1, 5])('of schema %i are refused, and not changed', async (version) => {
    await stores.init();
    stores.sql(`update psd2.store set version = ${version}`);
    const refused = {
      code: 'config',
      message: `The store at ${stores.database().shown} has schema ${version}, and this psd2 knows schema ${SCHEMA_VERSION}`,
      hint: 'Update psd2 on this machine.',
    };
    await expect(allOf(worker().flows, 'transfer')).rejects.toMatchObject(refused);
    await expect(stores.init({ roles: true })).rejects.toMatchObject(refused);
    await expect(sqlFor(stores.database(), { roles: true, plainTokens: false })).rejects.toMatchObject(
      refused,
    );
    expect(stores.sql('select version from psd2.store')).toBe(`${version}`);
  });

  it('are missing until psd2 store init makes them, which does nothing more the second time', async () => {
    await expect(allOf(worker().flows, 'transfer')).rejects.toMatchObject({
      code: 'config',
      next: [['store', 'init']],
    });
    expect([await stores.init(), await stores.init()]).toEqual([0, SCHEMA_VERSION]);
    expect(await allOf(worker().flows, 'transfer')).toEqual([]);
  });

  it('take the ids of customers and accounts, and no other texts', async () => {
    await stores.init();
    const login = (id: string) =>
      stores.sql(`insert into psd2.last_logins values ('${id || 'none'}', '${id}')`);
    for (const id of ['7', 'Anna.B-c_d', 'x'.repeat(64)]) login(id);
    for (const id of ['', '.', '..', 'a b', 'a/b', 'x'.repeat(65)]) {
      expect(() => login(id)).toThrow(/violates check constraint "ids"/);
      await expect(worker().customers.change(id, granting('co-1'))).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('violates check constraint "ids"'),
      });
    }
    const account = (id: string) =>
      stores.sql(
        `insert into psd2.accounts (profile, customer_id, product_id, currency) values ('p', '7', '${id}', 'EUR')`,
      );
    for (const id of ['0000012345', 'urn:bank:1/2', '~'.repeat(70)]) account(id);
    for (const id of ['', 'a b', 'è', '~'.repeat(71)])
      expect(() => account(id)).toThrow(/violates check constraint "ids"/);
  });
});

describe('a database that the operator names', () => {
  const found = (text: string, env = {}, option = '--store') => findDatabase(text, env, undefined, option);

  it('a database is found with the id of its store, and without one before it has tables', async () => {
    const text = stores.server().url(stores.name());
    const { shown } = stores.address();
    expect(await found(text)).toEqual({ id: null, shown, address: text });
    await stores.init();
    expect(await found(text)).toEqual({
      id: stores.sql('select id from psd2.store'),
      shown,
      address: text,
    });
  });

  it('the address of a database that is found has no password', async () => {
    await stores.init();
    const text = stores.server().url(stores.name());
    const { address } = await found(text.replace('psd2@', 'psd2:secret@'));
    expect(address).not.toContain('secret');
    expect(await found(address)).toMatchObject({ id: expect.any(String), address });
  });

  it('a database that is found keeps no connection', async () => {
    await found(stores.server().url(stores.name()));
    const open = `select count(*) from pg_stat_activity where application_name = 'psd2' and datname = current_database()`;
    await expect.poll(() => stores.sql(open)).toBe('0');
  });

  it('a text that is not the address of a database is refused by the name of its option', async () => {
    const hint = expect.stringContaining('Give postgres://user@host:5432/database');
    const text = 'postgres://ada@db.example/bank?sslmode=no';
    await expect(found('bank')).rejects.toMatchObject({
      code: 'usage',
      message: '--store is not the address of a database',
      hint,
    });
    await expect(found(text)).rejects.toMatchObject({
      code: 'usage',
      message: 'sslmode=no in --store is not one that psd2 supports',
    });
    await expect(found('bank', {}, 'PSD2_STORE')).rejects.toMatchObject({
      code: 'config',
      message: 'PSD2_STORE is not the address of a database',
      hint,
    });
  });
});

describe('psd2 store init', () => {
  it('two of them at once make the tables once, one after the other', async () => {
    const other = await stores.holding(`select pg_advisory_xact_lock(hashtext('psd2.store'))`);
    const init = stores.init();
    expect(await stores.waits(init)).toBe(true);
    await other.end();
    expect(await init).toBe(0);
  });

  it('the choice of tokens in clear text stays when the tables are brought up to date', async () => {
    const isPlain = () => stores.sql('select plain_tokens from psd2.store');
    await stores.init({ plainTokens: true });
    await stores.init({ plainTokens: false, roles: true });
    expect(isPlain()).toBe('t');
  });

  it('a user who may not create roles learns which right is missing', async () => {
    await stores.init({ roles: true, plainTokens: false });
    stores.sql(`create role builder login; drop schema psd2 cascade; alter database ${stores.name()} owner to builder;
       alter role psd2_worker rename to worker_before`);
    const admin = stores.database(
      parseAddress(stores.server().url(stores.name()).replace('psd2@', 'builder@'), {}),
    );
    await expect(initStore(admin, { roles: true, plainTokens: false })).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('alter role <owner> createrole'),
    });
    stores.sql('alter role worker_before rename to psd2_worker');
    expect(await initStore(admin, { roles: false, plainTokens: false })).toBe(0);
  });
});

describe('the roles of psd2 store init --roles', () => {
  beforeEach(async () => {
    await stores.init({ roles: true });
  });
  /** The tables on which a role has one of these rights. */
  const tables = (role: string, rights: string) =>
    stores
      .sql(
        `select relname from pg_class where relnamespace = 'psd2'::regnamespace and relkind in ('r', 'p')
         and has_table_privilege('${role}', oid, '${rights}') order by 1`,
      )
      .split('\n')
      .filter((name) => name !== '');

  it('psd2_reader reads accounts and transactions, and neither tokens nor flows, and changes nothing', () => {
    const readable = ['accounts', 'balances', 'pending_transactions', 'sync_progress', 'transactions'];
    expect(tables('psd2_reader', 'select')).toEqual(readable);
    expect(tables('psd2_reader', 'insert, update, delete, truncate, references, trigger')).toEqual([]);
  });

  it('psd2_worker writes rows, and makes no tables but those of months, and cannot mark the store', () => {
    const all = stores
      .sql(`select tablename from pg_tables where schemaname = 'psd2' order by 1`)
      .split('\n');
    expect(tables('psd2_worker', 'select')).toEqual(all);
    const closed = ['store', 'audit', 'audit_heads', 'audit_beginnings', 'pseudonyms'];
    expect(tables('psd2_worker', 'insert')).toEqual(all.filter((name) => !closed.includes(name)));
    // What only grows, for workers.
    const growing = ['keys', 'flow_events', 'batches', 'batch_lines', 'batch_events'];
    const changeable = all.filter((name) => ![...closed, ...growing].includes(name));
    for (const right of ['update', 'delete']) expect(tables('psd2_worker', right)).toEqual(changeable);
    expect(tables('psd2_worker', 'truncate, trigger')).toEqual([]);
    const may = (role: string) =>
      stores.sql(
        `select has_schema_privilege('${role}', 'psd2', 'create'), has_function_privilege('${role}', 'psd2.make_month(date)', 'execute')`,
      );
    expect([may('psd2_worker'), may('psd2_reader')]).toEqual(['f|t', 'f|f']);
  });
});

it('a statement that changes many rows takes as long as it needs, and no other one does', async () => {
  await stores.init();
  const { config, ...address } = stores.address();
  const hurried = stores.database({
    ...address,
    config: { ...config, statement_timeout: 100, query_timeout: 200 },
  });
  const row = z.object({ done: z.boolean() });
  const slow = 'select pg_sleep(0.4) is not null as done';
  await expect(hurried.transaction((statements) => statements.query(row, slow))).rejects.toThrow();
  const done = await hurried.transaction(async (statements) => {
    await statements.takeTime();
    return statements.query(row, slow);
  });
  expect(done).toEqual([{ done: true }]);
});
