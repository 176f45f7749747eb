import { beforeEach, describe, expect, it } from 'vitest';
import { checkChain } from '../../../src/store/audit/chain.ts';
import type { StoredRecord } from '../../../src/store/ports/copy.ts';
import { PostgresTurns } from '../../../src/store/postgres/access.ts';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import { allOf, begun, TRANSFER_BEGIN } from '../flows.ts';
import { BANK, fillStore, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
const SENT = { type: 'verify-sent', requestId: 'r', digest: null } as const;
const signal = new AbortController().signal;
const keySources = { passphrase: async () => 'correct horse', signal };
const worker = () => stores.worker().open('p', BANK);

describe('a server that may forget the last commits after a power cut', () => {
  beforeEach(async () => {
    await stores.init();
    stores.sql(`alter database ${stores.name()} set synchronous_commit = off;
      create table public.commits (place text, how text);
      create function public.note_commit() returns trigger language plpgsql as $$ begin
        insert into public.commits values (tg_table_name, current_setting('synchronous_commit'));
        return null;
      end $$`);
  });
  const watch = (...tables: string[]) => {
    for (const table of tables)
      stores.sql(`create trigger noted after insert or update on psd2.${table}
        for each statement execute function public.note_commit()`);
  };
  const commits = () => stores.sql(`select place || ' ' || how from public.commits`).split('\n');

  it('each event of a flow is on the disk before psd2 continues', async () => {
    watch('flow_events');
    await worker().flows.begin('transfer', TRANSFER_BEGIN('a'), (open) => open.record(SENT));
    expect(commits()).toEqual(['flow_events on', 'flow_events on']);
  });

  it('new tokens are on the disk before psd2 continues', async () => {
    watch('tokens');
    const { tokens } = worker();
    await tokens.change('42', (slot) => slot.write(login));
    await tokens.change('42', async (slot) => slot.replace(await slot.read(), login));
    expect(new Set(commits())).toEqual(new Set(['tokens on']));
  });

  it('what psd2 store copy writes, and its mark, are on the disk before psd2 continues', async () => {
    const side = databaseSide(stores.database(undefined, true), keySources, false);
    await fillStore(stores.worker());
    const records: StoredRecord[] = [];
    for await (const record of side.open('bank').records()) records.push(record);
    stores.sql('truncate psd2.tokens, psd2.flows, psd2.flow_events, psd2.flow_resources');
    watch('tokens', 'flow_events', 'store');
    await side.setMark({ movedTo: { id: 'x', place: 'there' } });
    for (const record of records)
      if (record.kind === 'login' || record.kind === 'flow') await side.open('bank').put(record);
    expect(new Set(commits())).toEqual(new Set(['store on', 'tokens on', 'flow_events on']));
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
});

it('psd2 profile protect encrypts the tokens of customers and of the application, and they stay the same', async () => {
  await stores.init();
  const { tokens } = stores.worker({ isPlain: true }).open('p', BANK);
  for (const holder of ['42', null])
    await tokens.change(holder, (slot) => slot.write({ ...login, accessToken: `secret of ${holder}` }));
  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'secret of 42' }));
  const generations = () => stores.sql('select holder, generation, origin from psd2.tokens order by holder');
  expect(generations()).toBe('|1|1\n42|2|2');
  await expect(worker().tokens.rewrite()).rejects.toMatchObject({
    code: 'config',
    hint: expect.stringContaining('run psd2 profile protect with PSD2_STORE_PLAIN_TOKENS=1'),
  });
  await stores.worker({ mayBePlain: true }).open('p', BANK).tokens.rewrite();
  expect(generations()).toBe('|2|1\n42|3|2');
  expect(stores.sql('select secrets from psd2.tokens')).not.toContain('secret of');
  for (const holder of ['42', null])
    expect(await worker().tokens.read(holder)).toMatchObject({ accessToken: `secret of ${holder}` });
});

it('encrypted tokens that someone moves to another customer or bank do not open', async () => {
  await stores.init({ plainTokens: false });
  const { tokens } = worker();
  for (const customerId of ['1', '2'])
    await tokens.change(customerId, (slot) => slot.write({ ...login, accessToken: customerId }));
  const damaged = { code: 'config', message: expect.stringContaining('are damaged') };
  stores.sql(`update psd2.tokens set base_url = 'https://evil.example/'`);
  const evil = stores.worker().open('p', new URL('https://evil.example/'));
  await expect(evil.tokens.read('1')).rejects.toMatchObject(damaged);
  stores.sql(`update psd2.tokens set base_url = '${BANK.href}'`);
  expect(await tokens.read('1')).toMatchObject({ accessToken: '1' });
  stores.sql(`update psd2.tokens set secrets = (select secrets from psd2.tokens where holder = '2')`);
  expect(await tokens.read('2')).toMatchObject({ accessToken: '2' });
  await expect(tokens.read('1')).rejects.toMatchObject(damaged);
  stores.sql(`update psd2.tokens set holder = '' where holder = '2'`);
  await expect(tokens.read(null)).rejects.toMatchObject(damaged);
});

it('tokens that the bank gave are not held back by a database that can never store them', async () => {
  await stores.init();
  const { tokens } = worker();
  await tokens.change('42', (slot) => slot.write(login));
  const { slot, spent } = await tokens.change('42', async (open) => ({
    slot: open,
    spent: await open.read(),
  }));
  stores.sql('alter table psd2.tokens rename to gone');
  await expect(slot.replace(spent, login)).rejects.toMatchObject({ code: 'config' });
});

it('workers that encrypt the first tokens of a profile at once use one key', async () => {
  await stores.init({ plainTokens: false });
  // Both find no key, and make one.
  const other = await stores.holding('lock table psd2.keys in share mode');
  const writing = Promise.all(
    ['1', '2'].map((customerId) => worker().tokens.change(customerId, (slot) => slot.write(login))),
  );
  expect(await stores.waits(writing, 2)).toBe(true);
  await other.end();
  await writing;
  const { tokens } = worker();
  for (const customerId of ['1', '2']) expect(await tokens.read(customerId)).toMatchObject(login);
});

it('tokens that another worker stores at the same moment are not replaced by late ones', async () => {
  await stores.init();
  const { tokens } = stores.worker({ isPlain: true }).open('p', BANK);
  await tokens.change('42', (slot) => slot.write(login));
  const late = await tokens.change('42', async (slot) => ({ slot, spent: await slot.read() }));
  const other = await stores.holding(
    `update psd2.tokens set generation = 2, origin = 2, secrets = '{"accessToken":"newer","refreshToken":null}'`,
  );
  const replacing = late.slot.replace(late.spent, { ...login, accessToken: 'late' });
  expect(await stores.waits(replacing)).toBe(true);
  await other.end();
  expect(await replacing).toMatchObject({ accessToken: 'newer' });
  expect(await tokens.read('42')).toMatchObject({ accessToken: 'newer' });
});

it('more flows than one statement reads are all listed and copied', async () => {
  await stores.init();
  const { transactionId, order } = TRANSFER_BEGIN('');
  const { flows } = worker();
  await begun(flows, 'transfer', {
    transactionId,
    commits: 'on execute',
    order: { ...order, reference: null },
  });
  stores.sql(`insert into psd2.flows
      select profile, left(flow, -5) || id, kind, state, standing, resource_id, transaction_id, reference, under_way,
        created_at, updated_at from psd2.flows, generate_series(10001, 10200) id;
    insert into psd2.flow_events
      select profile, left(flow, -5) || id, n, writer, at, event from psd2.flow_events, generate_series(10001, 10200) id`);
  expect(await allOf(flows, 'transfer')).toHaveLength(201);
  const copied = new Set<string>();
  for await (const record of databaseSide(stores.database(undefined, true), keySources, false)
    .open('p')
    .records())
    if (record.kind === 'flow') copied.add(record.flow);
  expect(copied.size).toBe(201);
});

describe('the pace that the bank demands', () => {
  const RETRY_MS = 600_000;
  let now = 0;
  let slept: number[] = [];
  let own = 0;
  beforeEach(async () => {
    await stores.init();
    [now, slept, own] = [0, [], 0];
  });
  const turns = () =>
    new PostgresTurns(
      stores.database(),
      'p',
      {
        clock: () => now,
        sleep: async (milliseconds) => {
          slept.push(milliseconds);
        },
      },
      {
        turn: async () => {
          own += 1;
        },
        slowDown: async () => {},
        goOn: async () => {},
      },
    );
  /** Workers have been refused three times, and wait no longer. */
  const gap = (milliseconds: number) =>
    stores.sql(`insert into psd2.pace (profile, next_turn, gap_ms, held_until, holds)
      values ('p', clock_timestamp() - interval '1 hour', ${milliseconds}, '-infinity', 3)
      on conflict (profile) do update set gap_ms = excluded.gap_ms, holds = 3`);
  const pace = () => stores.sql('select holds, gap_ms from psd2.pace');

  it('a worker that the bank refused waits, though it has taken turns in advance', async () => {
    const one = turns();
    await one.turn();
    await one.slowDown(RETRY_MS);
    expect([own, slept]).toEqual([1, []]);
    await one.turn();
    expect([own, slept]).toEqual([2, [expect.any(Number)]]);
    expect(slept[0]).toBeGreaterThan(RETRY_MS / 2);
    expect(slept[0]).toBeLessThanOrEqual(RETRY_MS);
  });

  it('when the bank has refused one worker, the others wait too, a second later at most', async () => {
    const [one, other] = [turns(), turns()];
    await other.turn();
    await one.slowDown(RETRY_MS);
    now = 1_001;
    await other.turn();
    expect(slept).toEqual([expect.any(Number)]);
    expect(slept[0]).toBeGreaterThan(RETRY_MS / 2);
  });

  it('refusals of calls that were under way together count as one', async () => {
    const one = turns();
    await one.turn();
    for (let times = 0; times < 3; times += 1) await one.slowDown(RETRY_MS);
    expect(pace()).toBe('1|20');
  });

  it('calls begin one gap apart, and the turns of a second are taken at once', async () => {
    gap(100);
    const one = turns();
    for (let call = 0; call < 10; call += 1) await one.turn();
    expect(slept.map(Math.round)).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900]);
    const before = stores.sql('select next_turn from psd2.pace');
    await one.turn();
    expect(stores.sql(`select next_turn > '${before}' from psd2.pace`)).toBe('t');
  });

  it('turns taken in advance are valid until a second after the last one', async () => {
    gap(100);
    const one = turns();
    await one.turn();
    const taken = stores.sql('select next_turn from psd2.pace');
    now = 1_800;
    slept = [];
    await one.turn();
    expect([slept, stores.sql('select next_turn from psd2.pace')]).toEqual([[], taken]);
    now = 2_500;
    await one.turn();
    expect(stores.sql(`select next_turn > '${taken}' from psd2.pace`)).toBe('t');
  });

  it.each([
    [100, '0|90'],
    [10, '0|9'],
    [9.9, '0|0'],
  ])(
    'after an answer, a gap of %d ms becomes shorter, and the refusals are forgotten',
    async (milliseconds, expected) => {
      gap(milliseconds);
      const one = turns();
      await one.turn();
      await one.goOn();
      expect(pace()).toBe(expected);
    },
  );

  it('a worker at full speed leaves the gap to those who were refused', async () => {
    const one = turns();
    await one.turn();
    gap(100);
    await one.goOn();
    expect(pace()).toBe('3|100');
  });

  it.each([
    ['names no time', null, 250],
    ['asks for ten minutes', 600_000, 600_000],
  ])('the first refusal holds the calls of all workers, if it %s', async (_, asked, held) => {
    const before = stores.sql('select clock_timestamp()');
    await turns().slowDown(asked);
    const since = `extract(epoch from held_until - '${before}')`;
    expect(
      stores.sql(`select ${since} * 1000 >= ${held}, ${since} * 1000 < ${held} + 60000 from psd2.pace`),
    ).toBe('t|t');
    expect(pace()).toBe('1|20');
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
    expect(tables('psd2_reader', 'select')).toEqual([
      'accounts',
      'balances',
      'pending_transactions',
      'sync_progress',
      'transactions',
    ]);
    expect(tables('psd2_reader', 'insert, update, delete, truncate, references, trigger')).toEqual([]);
  });

  it('psd2_worker writes rows, and makes no tables but those of months, and cannot mark the store', () => {
    const all = stores
      .sql(`select tablename from pg_tables where schemaname = 'psd2' order by 1`)
      .split('\n');
    expect(tables('psd2_worker', 'select')).toEqual(all);
    const closed = ['store', 'audit', 'audit_heads', 'audit_beginnings', 'pseudonyms'];
    expect(tables('psd2_worker', 'insert')).toEqual(all.filter((name) => !closed.includes(name)));
    const changeable = tables('psd2_worker', 'update, delete');
    for (const name of [...closed, 'keys', 'flow_events']) expect(changeable).not.toContain(name);
    expect(tables('psd2_worker', 'truncate, trigger')).toEqual([]);
    const may = (role: string) =>
      stores.sql(
        `select has_schema_privilege('${role}', 'psd2', 'create'), has_function_privilege('${role}', 'psd2.make_month(date)', 'execute')`,
      );
    expect([may('psd2_worker'), may('psd2_reader')]).toEqual(['f|t', 'f|f']);
  });
});

describe('what doctor says of a database', () => {
  beforeEach(async () => {
    await stores.init();
  });
  const checks = async (store = stores.worker()) => {
    const found: Record<string, string> = {};
    for await (const { name, status } of store.check()) found[name] = status;
    return found;
  };

  it('doctor warns of tokens in clear text, and fails if only the database has chosen them', async () => {
    expect(await checks(stores.worker({ isPlain: true }))).toMatchObject({ 'store tokens': 'warn' });
    expect(await checks()).toMatchObject({ 'store tokens': 'fail' });
    await stores
      .worker({ isPlain: true })
      .open('p', BANK)
      .tokens.change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = false');
    expect(await checks()).toMatchObject({ 'store tokens': 'fail' });
    await worker().tokens.change('42', (slot) => slot.write(login));
    expect(await checks()).not.toHaveProperty('store tokens');
  });

  it('doctor warns of a clock that differs', async () => {
    expect(await checks()).toMatchObject({ 'store clock': 'ok' });
    for (const seconds of [-60, 60]) {
      const now = () => new Date(Date.now() + seconds * 1000);
      expect(await checks(stores.worker({ now }))).toMatchObject({ 'store clock': 'warn' });
    }
  });

  it('doctor fails for a user who may only read, and a login begins for nobody who cannot store it', async () => {
    stores.sql(`create role clerk login; grant usage on schema psd2 to clerk;
      grant select on all tables in schema psd2 to clerk`);
    const address = parseAddress(stores.server().url(stores.name()).replace('psd2@', 'clerk@'), {});
    const reader = stores.worker({ address });
    expect(await checks(reader)).toMatchObject({ store: 'ok', 'store rights': 'fail' });
    await expect(reader.open('p', BANK).tokens.ready()).rejects.toMatchObject({
      code: 'config',
      message: `Tokens cannot be written at ${address.shown}`,
      hint: 'Name the primary server in PSD2_STORE, and give its user the role psd2_worker.',
    });
    await expect(stores.worker().open('p', BANK).tokens.ready()).resolves.toBeDefined();
    // Whoever cannot encrypt tokens sends no customer to the bank.
    const unable = stores.worker({ isPlain: true, mayBePlain: false }).open('p', BANK);
    await expect(unable.tokens.ready()).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('The passphrase for the tokens of p is missing'),
    });
  });
});

it('psd2 store status counts logins that there are, and shows claims that are held now', async () => {
  await stores.init();
  const store = stores.worker();
  const { tokens, flows } = store.open('p', BANK);
  await tokens.change(null, (slot) => slot.write(login));
  for (const customerId of ['1', '2']) await tokens.change(customerId, (slot) => slot.write(login));
  await tokens.forget('2');
  await flows.begin('transfer', TRANSFER_BEGIN('a'), async ({ current: { flow } }) => {
    const status = await store.status();
    expect(status).toMatchObject({
      home: 'postgres',
      profiles: [{ profile: 'p', customers: 1, flows: [{ kind: 'transfer', state: 'created', count: 1 }] }],
      claims: [
        {
          ...{ profile: 'p', kind: 'flow', name: flow },
          worker: expect.stringMatching(`^process ${process.pid} on `),
        },
      ],
    });
    expect(status.claims).toHaveLength(1);
    expect(status.bytes).toBeGreaterThan(0);
  });
  expect((await store.status()).claims).toEqual([]);
});

it('no role may change, remove or write lines of the audit log: workers may only append through the database', async () => {
  await stores.init({ roles: true });
  const { audit } = stores.worker({ isPlain: true }).open('bank');
  await audit.append({ action: 'exported', customerId: '1000001', about: 'csv "1"' });
  await audit.append({ action: 'logged-out' });
  const may = (role: string, right: string) =>
    ['audit', 'audit_heads', 'audit_beginnings', 'pseudonyms'].map((table) =>
      stores.sql(`select has_table_privilege('${role}', 'psd2.${table}', '${right}')`),
    );
  for (const right of ['insert', 'update', 'delete', 'truncate']) {
    expect(may('psd2_worker', right)).toEqual(['f', 'f', 'f', 'f']);
    expect(may('psd2_reader', right)).toEqual(['f', 'f', 'f', 'f']);
  }
  expect(may('psd2_worker', 'select')).toEqual(['t', 't', 't', 't']);
  for (const statement of [
    "update psd2.audit set line = ''",
    'delete from psd2.audit',
    'truncate psd2.audit',
  ])
    expect(() => stores.sql(statement)).toThrow('the audit log of psd2 can only grow');
  expect(() => stores.sql("set role psd2_worker; select psd2.audit_keep('bank', 9, now(), 'x')")).toThrow(
    'permission denied',
  );
  expect(await checkChain(audit.lines(), await audit.head())).toMatchObject({ lines: 2, broken: null });
  // Whoever owns the table can still do it, but not unseen.
  stores.sql('alter table psd2.audit disable trigger all; delete from psd2.audit where n = 2');
  expect((await checkChain(audit.lines(), await audit.head())).broken).not.toBeNull();
  stores.sql('delete from psd2.audit; delete from psd2.audit_heads');
  await audit.append({ action: 'logged-out' });
  const { lines, broken } = await checkChain(audit.lines(), await audit.head(), await audit.beginning());
  expect([lines, broken?.why]).toEqual([1, 'all lines before the first one were removed']);
});
