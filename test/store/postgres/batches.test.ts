import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countedApprovals } from '../../../src/domain/batch/batch.ts';
import { batchesBegun, LINES_AT_ONCE } from '../../../src/store/postgres/batches.ts';
import { batchAdded } from '../../domain/batch/lines.ts';
import { batchLine } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');

const LINE = batchLine();
const added = batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' });

it('a worker may change nothing of a batch', async () => {
  await stores.init({ roles: true });
  const rights = ['profile', 'batch', 'sha256', 'message_id', 'events'].map((column) =>
    stores.sql(`select has_column_privilege('psd2_worker', 'psd2.batches', '${column}', 'update')`),
  );
  expect(rights).toEqual(['f', 'f', 'f', 'f', 'f']);
});

it('completion offers the batches that were added last, whatever their ids', async () => {
  await stores.init({ roles: true });
  const ids: string[] = [];
  for (const n of [1, 2, 3, 4]) {
    const now = () => new Date(`2026-11-21T10:00:0${n}Z`);
    const { batches } = stores.worker({ isPlain: true, now }).open('bank');
    ids.unshift((await batches.add({ added, lines: [batchLine(1, `${n}.00`)], again: false })).batch);
  }
  expect([ids, ids.toReversed()]).not.toContainEqual(ids.toSorted());
  const begun = async (most: number, profile = 'bank') => batchesBegun(stores.database(), profile, most);
  expect((await begun(9)).map(({ batch }) => batch)).toEqual(ids);
  expect(await begun(2)).toMatchObject([
    { batch: ids[0], at: '2026-11-21T10:00:04.000Z', event: { by: 'ada' } },
    { batch: ids[1], at: '2026-11-21T10:00:03.000Z' },
  ]);
  expect(await begun(9, 'other')).toEqual([]);
});

it('whatever the row of a batch says, its content is stored once, and its lines begin once', async () => {
  await stores.init({ roles: true });
  const open = () => stores.worker({ isPlain: true }).open('bank').batches;
  const [one, other] = [open(), open()];
  const { batch } = await one.add({ added, lines: [LINE], again: false });
  const begin = (batches: typeof one, flow: string) =>
    batches.change(batch, (now) => (now.flows.has(1) ? null : { type: 'line-begun', line: 1, flow }));
  expect((await begin(other, 'tr-1')).recorded).toBe(true);
  stores.sql(`update psd2.batches set events = 1, sha256 = '00'`);
  expect((await begin(one, 'tr-2')).recorded).toBe(false);
  expect((await one.find(batch)).flows).toEqual(new Map([[1, 'tr-1']]));
  await expect(one.add({ added, lines: [LINE], again: false })).rejects.toMatchObject({
    message: `The batch ${batch} has the same content`,
  });
  expect((await one.add({ added, lines: [LINE], again: true })).batch).toBe(`${batch}-2`);
});

/** What a worker of the role `user` gets if it runs SQL: what failed, or nothing. */
async function asRole(user: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: stores.server().url(stores.name()) });
  await client.connect();
  try {
    await client.query(`set session authorization ${user}`);
    await client.query(sql);
    return '';
  } catch (error) {
    return error instanceof pg.DatabaseError ? `${error.code}` : String(error);
  } finally {
    await client.end();
  }
}

const event = (batch: string, n: number, content: object) =>
  `insert into psd2.batch_events (profile, batch, n, writer, at, event)
   values ('bank', '${batch}', ${n}, 'w', now(), '${JSON.stringify(content)}')`;
const BEGUN = { type: 'line-begun', line: 1, flow: 'tr-1' };
const BULK_BEGUN = { type: 'bulk-begun', flow: 'op-1', lines: [1] };

/** A batch that needs approvals, and logins of the database: one that only works, and others that may approve too. */
async function withRoles(approvalsNeeded: number) {
  await stores.init({ roles: true });
  const names = ['one', 'two', 'three'].map((name) => `${stores.name()}_${name}`);
  for (const [index, name] of names.entries())
    stores.sql(`create role ${name} login in role psd2_worker${index === 0 ? '' : ', psd2_approver'}`);
  onTestFinished(() => {
    for (const name of names) stores.sql(`drop role ${name}`);
  });
  const { batches } = stores.worker({ isPlain: true }).open('bank');
  const { batch } = await batches.add({ added: { ...added, approvalsNeeded }, lines: [LINE], again: false });
  return { names, batches, batch };
}

it('the database begins no payment of a batch without its approvals, each of another role than the one that added it', async () => {
  const { names, batches, batch } = await withRoles(2);
  const [one = '', two = '', three = ''] = names;
  const approved = { type: 'approved', sha256: batch, by: 'Eve', user: 'eve', machine: 'm' };
  const created = `insert into psd2.flows (profile, flow, kind, state, standing, transaction_id, under_way, created_at, updated_at)
      values ('bank', 'tr-1', 'transfer', 'created', 'open', 't', false, now(), now());
    insert into psd2.flow_events values ('bank', 'tr-1', 1, 'w', now(), '${JSON.stringify({ type: 'created', order: { batch: { batch, line: 1 } } })}')`;
  const refused = async (n: number) =>
    expect([await asRole(one, event(batch, n, BEGUN)), await asRole(one, created)]).toEqual([
      'PD004',
      'PD004',
    ]);
  await refused(2);
  // The role that added it is the owner of this test.
  await batches.change(batch, () => ({ ...approved, type: 'approved' }));
  await refused(3);
  expect(await asRole(one, event(batch, 3, approved))).toBe('PD003');
  expect(await asRole(two, event(batch, 3, approved))).toBe('');
  expect(await asRole(two, event(batch, 4, { ...approved, by: 'Another name' }))).toBe('');
  await refused(5);
  expect(countedApprovals(await batches.find(batch))).toHaveLength(1);
  expect(await asRole(three, event(batch, 5, { ...approved, sha256: '00' }))).toBe('');
  await refused(6);
  expect(await asRole(three, event(batch, 6, approved))).toBe('');
  expect(countedApprovals(await batches.find(batch)).map(({ role }) => role)).toEqual([two, three]);
  expect([await asRole(one, event(batch, 7, BEGUN)), await asRole(one, created)]).toEqual(['', '']);
});

it.each<[string, (batch: string) => string, string]>([
  ['one more line', (batch) => `insert into psd2.batch_lines values ('bank', '${batch}', 2, '{}')`, 'PD005'],
  ['an event after a gap', (batch) => event(batch, 3, BEGUN), 'PD005'],
  ['an event that psd2 does not know', (batch) => event(batch, 2, { type: 'x' }), 'PD005'],
  ['an event without a type', (batch) => event(batch, 2, {}), 'PD005'],
  ['an event without its fields', (batch) => event(batch, 2, { type: 'line-begun', line: '1' }), 'PD005'],
  ['a list that is none', (batch) => event(batch, 2, { ...BULK_BEGUN, lines: ['1'] }), 'PD005'],
  ['a first event once more', (batch) => event(batch, 2, { type: 'added' }), 'PD005'],
  ['pseudonyms', (batch) => event(batch, 2, { type: 'pseudonymised', sha256: '00' }), 'PD005'],
  ['another number of events', () => 'update psd2.batches set events = 9', '42501'],
])('a worker cannot make a batch unreadable by %s', async (_what, sql, code) => {
  const { names, batches, batch } = await withRoles(0);
  expect(await asRole(names[0] ?? '', sql(batch))).toBe(code);
  expect((await batches.lines(await batches.find(batch))).length).toBe(1);
  for (const [index, each] of [
    BEGUN,
    BULK_BEGUN,
    { type: 'line-refused', line: 1, reason: 'Late' },
    { type: 'link-given', line: 1, flow: 'tr-1' },
    { type: 'lines-cancelled', lines: [], by: 'a', user: 'a', machine: 'm' },
  ].entries())
    expect(await asRole(names[0] ?? '', event(batch, index + 2, each))).toBe('');
  expect((await batches.find(batch)).flows.get(1)).toBe('tr-1');
});

it('what people wrote of a batch is gone once psd2 has forgotten a customer of it', async () => {
  await stores.init();
  const { batches } = stores.worker({ isPlain: true }).open('bank');
  const { batch, sha256 } = await batches.add({
    added: { ...added, note: 'Ada' },
    lines: [LINE],
    again: false,
  });
  const person = { by: 'bob', user: 'bob', machine: 'm' };
  await batches.change(batch, () => ({ type: 'rejected', sha256, note: 'Ada again', ...person }));
  await batches.pseudonymise(await batches.find(batch), (line) => ({ ...line, name: 'X' }));
  expect(stores.sql(`select count(*) from psd2.batch_events where event::text like '%Ada%'`)).toBe('0');
  const read = await stores.worker({ isPlain: true }).open('bank').batches.find(batch);
  expect([read.note, read.rejection?.note]).toEqual([null, '']);
});

describe('a batch in the database that somebody has damaged', () => {
  const open = () => stores.worker({ isPlain: true }).open('bank').batches;
  /** Two batches of two lines, the second one with two events. @returns the first one, and the second one */
  const twoBatches = async () => {
    await stores.init();
    const order = (amount: string) => ({
      ...{ added: { ...added, messageId: null }, again: false },
      lines: [batchLine(1, amount), batchLine(2, amount)],
    });
    const whole = (await open().add(order('1.00'))).batch;
    const { batch, sha256 } = await open().add(order('2.00'));
    await open().change(batch, () => ({ type: 'approved', sha256, by: 'bea', user: 'bea', machine: 'm' }));
    return { whole, batch };
  };
  const remove = (which: string) => `delete from psd2.batch_events where batch = 'BATCH' ${which}`;
  const set = (content: string, n: number) =>
    `update psd2.batch_events set ${content} where batch = 'BATCH' and n = ${n}`;
  const setLine = (content: string) =>
    `update psd2.batch_lines set ${content} where batch = 'BATCH' and line = 2`;
  /** As the owner, past the checks for workers. */
  const damage = (batch: string, sql: string) =>
    stores.sql(`set session_replication_role = replica; ${sql.replaceAll('BATCH', batch)}`);

  it.each([
    ['lacks its first event', remove('and n = 1'), 'events of its journal are missing'],
    ['lacks its last event', remove('and n = 2'), 'events of its journal are missing'],
    ['lacks all events', remove(''), 'events of its journal are missing'],
    ['has a gap', set('n = 3', 2), 'events of its journal are missing'],
    [
      'has another first event',
      set(`event = '{"type":"approved"}'`, 1),
      'psd2 did not write its first event',
    ],
    [
      'has an event that psd2 does not know',
      set(`event = '{"type":"x"}'`, 2),
      'psd2 did not write the event 2',
    ],
  ])('and that %s is told, and hides no other one', async (_, sql, what) => {
    const { whole, batch } = await twoBatches();
    damage(batch, sql);
    const expected = { code: 'config', message: `The batch ${batch} is damaged: ${what}` };
    await expect(open().find(batch)).rejects.toMatchObject(expected);
    await expect(open().change(batch, () => null)).rejects.toMatchObject(expected);
    const [listed, told]: [string[], unknown[]] = [[], []];
    const onDamaged = (error: Error, id: string) => void told.push([error.message, id]);
    for await (const each of open().list(onDamaged)) listed.push(each.batch);
    expect([listed, told]).toEqual([[whole], [[expected.message, batch]]]);
    const all = async () => {
      for await (const each of open().list()) listed.push(each.batch);
    };
    await expect(all()).rejects.toMatchObject(expected);
  });

  it.each([
    ['has a line that is none', setLine(`content = '{}'`), 'is damaged: psd2 did not write its lines'],
    ['has a line of another number', setLine('line = 3'), 'is damaged: psd2 did not write its lines'],
    [
      'lacks a line',
      `delete from psd2.batch_lines where batch = 'BATCH' and line = 2`,
      'are not those that were added',
    ],
    [
      'lacks all lines',
      `delete from psd2.batch_lines where batch = 'BATCH'`,
      'are not those that were added',
    ],
    [
      'has another amount',
      setLine(`content = replace(content::text, '2.00', '9.00')::json`),
      'are not those that were added',
    ],
  ])('and that %s is paid by nobody', async (_, sql, what) => {
    const { batch } = await twoBatches();
    damage(batch, sql);
    await expect(open().lines(await open().find(batch))).rejects.toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(what) },
    });
  });
});

it('a batch of more lines than one statement writes or reads has all of them, in their order', async () => {
  await stores.init();
  const open = () => stores.worker({ isPlain: true }).open('bank').batches;
  for (const count of [LINES_AT_ONCE, LINES_AT_ONCE + 1]) {
    const lines = Array.from({ length: count }, (_, index) => batchLine(index + 1));
    const batch = await open().add({ added: { ...added, messageId: null }, lines, again: false });
    expect(await open().lines(await open().find(batch.batch))).toEqual(lines);
  }
});
