import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import type { PostgresStore } from '../../../src/store/postgres/backend.ts';
import { initStore, sqlFor } from '../../../src/store/postgres/init.ts';
import { SCHEMA_VERSION } from '../../../src/store/postgres/schema.ts';
import { append, rowOf } from '../row-of.ts';
import { BANK, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const day = (text: string) => parseDate('--date', text);
const stores = useStores('roles');
let store: PostgresStore;

beforeEach(async () => {
  expect(await stores.init({ roles: true, plainTokens: false })).toBe(0);
  expect(await stores.init({ roles: true, plainTokens: false })).toBe(SCHEMA_VERSION);
  store = stores.worker();
});

it('a statement that changes many rows takes as long as it needs, and no other one does', async () => {
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

it('a user who may not create roles learns which right is missing', async () => {
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

describe('tokens in PostgreSQL', () => {
  it('what the bank issued is stored even after Ctrl-C', async () => {
    const interrupted = new AbortController();
    const stopped = stores.worker({ signal: interrupted.signal });
    const { tokens } = stopped.open('p', BANK);
    await tokens.change('42', (slot) => slot.write(login));
    await tokens.change('42', async (slot) => {
      const spent = await slot.read();
      interrupted.abort(new Error('interrupted'));
      await slot.replace(spent, { ...login, accessToken: 'given' });
    });
    expect(await store.open('p', BANK).tokens.read('42')).toMatchObject({ accessToken: 'given' });
  });
});

describe('a sync in PostgreSQL', () => {
  const row = (id: string, bookingDate: string | null) => ({
    ...rowOf(id, bookingDate, '-12.50'),
    feeCharge: null,
  });

  it('rows and progress are stored in one transaction, and a row that comes again is stored once', async () => {
    const { sync } = store.open('p', BANK);
    const run = (rows: ReturnType<typeof row>[]) =>
      sync(undefined).run(new AbortController().signal, ({ customer }) =>
        customer('42', async (to) => {
          const booked = await to.booked('001', false);
          const added = await append(booked, rows);
          to.remember('001', { from: day('2026-01-01'), through: day('2026-11-20') }, day('2026-10-01'));
          const accountBalance = { amount: '1.10', currency: 'EUR' };
          to.replace('balances', [{ productId: '001', accountBalance, availableBalance: null, asOf: null }]);
          const account = { productId: '001', iban: null, currency: 'EUR', name: 'A' };
          to.replace('accounts', [{ ...account, productCode: null, productDescription: null }]);
          to.replace('pending/001', [row('', null)]);
          return added;
        }),
      );
    expect(await run([row('a', '2026-11-01'), row('b', '2026-10-01'), row('c', null)])).toBe(3);
    expect(await run([row('a', '2026-11-01'), row('d', '2026-11-02')])).toBe(1);
    expect(stores.sql('select id, amount, booking_date from psd2.transactions order by id')).toBe(
      'a|-12.50|2026-11-01\nb|-12.50|2026-10-01\nc|-12.50|\nd|-12.50|2026-11-02',
    );
    expect(stores.sql('select kind, amount from psd2.balances')).toBe('account_balance|1.10');
    expect(stores.sql('select count(*) from psd2.pending_transactions')).toBe('1');
  });

  it('a run that another has overtaken writes nothing', async () => {
    const { sync } = store.open('p', BANK);
    const lost = sync(undefined).run(new AbortController().signal, ({ customer }) =>
      customer('42', async (to) => {
        await append(await to.booked('001', false), [row('a', '2026-11-01')]);
        stores.sql('update psd2.claims set number = number + 1');
      }),
    );
    await expect(lost).rejects.toMatchObject({ code: 'overtaken' });
    expect(stores.sql('select count(*) from psd2.transactions')).toBe('0');
  });
});

it('a customer whom another worker has taken over is not dealt again to the first one', async () => {
  const { tokens, rounds } = store.open('p', BANK);
  await tokens.change('1', (slot) => slot.write(login));
  const round = await (await rounds()).join();
  if ('dueIn' in round) expect.unreachable();
  const dealt = await round.next(1);
  if (typeof dealt === 'string') expect.unreachable(dealt);
  stores.sql(`update psd2.sync_customers set worker = gen_random_uuid(), number = number + 1`);
  dealt.again();
  expect(await round.next(1)).not.toHaveProperty('customerId');
  await round.leave();
});

it('a schema that a newer psd2 has updated is not set back', async () => {
  stores.sql('update psd2.store set version = 1000');
  const admin = stores.database();
  const newer = { code: 'config', message: expect.stringContaining('has schema 1000, and this psd2 knows') };
  await expect(initStore(admin, { roles: true, plainTokens: false })).rejects.toMatchObject(newer);
  await expect(sqlFor(admin, { roles: true, plainTokens: false })).rejects.toMatchObject(newer);
  expect(stores.sql('select version from psd2.store')).toBe('1000');
});

it('doctor reports the state of the store', async () => {
  const checks = [];
  for await (const check of store.check()) checks.push([check.name, check.status]);
  expect(checks).toEqual([
    ['store', 'ok'],
    ['store schema', 'ok'],
    ['store TLS', 'ok'],
    ['store clock', 'ok'],
    ['store rights', 'ok'],
  ]);
});
