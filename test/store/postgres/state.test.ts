import { beforeEach, describe, expect, it } from 'vitest';
import { checkChain } from '../../../src/store/audit/chain.ts';
import type { StoredRecord } from '../../../src/store/ports/copy.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
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

it('more flows than one statement reads are all listed', async () => {
  await stores.init();
  const begin = TRANSFER_BEGIN('');
  const { flows } = worker();
  await begun(flows, 'transfer', { ...begin, order: { ...begin.order, reference: null } });
  stores.sql(`insert into psd2.flows
      select profile, left(flow, -5) || id, kind, state, standing, resource_id, transaction_id, reference, under_way,
        created_at, updated_at from psd2.flows, generate_series(10001, 10200) id;
    insert into psd2.flow_events
      select profile, left(flow, -5) || id, n, writer, at, event from psd2.flow_events, generate_series(10001, 10200) id`);
  expect(await allOf(flows, 'transfer')).toHaveLength(201);
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

it.each<[string, (data: ProfileData) => Promise<unknown>, boolean]>([
  ['nothing', async () => {}, false],
  ['tokens of a customer', ({ tokens }) => tokens.change('42', (slot) => slot.write(login)), true],
  ['tokens of the application', ({ tokens }) => tokens.change(null, (slot) => slot.write(login)), true],
  [
    'a login that has ended',
    async ({ tokens }) => {
      await tokens.change('42', (slot) => slot.write(login));
      await tokens.forget('42');
    },
    false,
  ],
  ['a flow', ({ flows }) => begun(flows, 'transfer', TRANSFER_BEGIN('a')), true],
])('a database with %s of a profile has its data or not', async (_, fill, hasData) => {
  await stores.init();
  await fill(worker());
  const found: [profile: string, hasData: boolean][] = [];
  const database = stores.database();
  for (const profile of ['p', 'other'])
    database.guard(profile, {
      needsToKnowData: true,
      found: (_id, has) => void found.push([profile, has]),
      remember: () => {},
    });
  await database.checked();
  expect(found).toEqual([
    ['p', hasData],
    ['other', false],
  ]);
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
    const plain = stores.worker({ isPlain: true }).open('p', BANK);
    await plain.tokens.change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = false');
    expect(await checks()).toMatchObject({ 'store tokens': 'fail' });
    await worker().tokens.change('42', (slot) => slot.write(login));
    const fine = {
      ...{ store: 'ok', 'store schema': 'ok', 'store TLS': 'ok', 'store clock': 'ok', 'store rights': 'ok' },
    };
    expect(await checks()).toEqual(fine);
    // Of a login that has ended, nothing is in clear text.
    await worker().tokens.forget('42');
    expect(await checks()).toEqual(fine);
  });

  it.each([
    [false, 0, undefined],
    [true, 0, 'the database says that tokens are in clear text; 0 logins are stored in clear text'],
    [true, 1, 'the database says that tokens are in clear text; 1 login is stored in clear text'],
    [false, 1, '1 login is stored in clear text'],
    [false, 2, '2 logins are stored in clear text'],
  ])('doctor counts the logins in clear text: chosen %s, %i of them', async (isPlain, count, detail) => {
    const plain = stores.worker({ isPlain: true }).open('p', BANK);
    for (let n = 0; n < count; n += 1) await plain.tokens.change(`${n}`, (slot) => slot.write(login));
    for (const holder of ['7', null]) await worker().tokens.change(holder, (slot) => slot.write(login));
    await worker().tokens.forget('7');
    stores.sql(`update psd2.store set plain_tokens = ${isPlain}`);
    const found: (string | undefined)[] = [];
    for await (const each of stores.worker().check())
      if (each.name === 'store tokens') found.push(each.detail);
    expect(found).toEqual(detail === undefined ? [] : [detail]);
  });

  it('doctor warns of a clock that differs', async () => {
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
    expect(await flows.atWork()).toMatchObject([{ flow }]);
    // Its worker has died.
    stores.sql('update psd2.claims set until = clock_timestamp()');
    expect([(await store.status()).claims, await flows.atWork()]).toEqual([[], []]);
  });
  expect([(await store.status()).claims, await flows.atWork()]).toEqual([[], []]);
});

it('nobody changes or removes lines of the audit log, and workers append through the database alone', async () => {
  await stores.init({ roles: true });
  const { audit } = stores.worker({ isPlain: true }).open('bank');
  await audit.append({ action: 'exported', customerId: '1000001', about: 'csv "1"' });
  await audit.append({ action: 'logged-out' });
  for (const change of ["update psd2.audit set line = ''", 'delete from psd2.audit', 'truncate psd2.audit'])
    expect(() => stores.sql(change)).toThrow('the audit log of psd2 can only grow');
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
