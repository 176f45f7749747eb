import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { countedApprovals } from '../../../src/domain/batch/batch.ts';
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
