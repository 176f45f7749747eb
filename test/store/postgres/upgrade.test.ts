import { beforeEach, describe, expect, it } from 'vitest';
import { SCHEMA_VERSION, STEPS } from '../../../src/store/postgres/schema.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { allOf, begun, opened } from '../flows.ts';
import { BANK } from '../whole-store.ts';
import { TRANSFER_BEGIN } from './orders.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const SENT = { requestId: 'r', digest: null };
const EXECUTED = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'R1' },
  { type: 'accepted' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', ...SENT },
];
const REFUSED = [...EXECUTED, { type: 'execute-refused', description: 'no' }];
let count = 0;

/** Writes a flow as psd2 did with version 1 of the schema. @returns its id */
function write(reference: string, state: string, standing: string, events: object[]): string {
  count += 1;
  const flow = `tr-0mi7x7x8x0000${count}`;
  const at = `2026-11-22T12:00:0${count}Z`;
  const created = { type: 'created', flow, ...TRANSFER_BEGIN(reference) };
  stores.sql(`insert into psd2.flows values ('p', '${flow}', 'transfer', '${state}', '${standing}', 'R1', 't',
    ${reference ? `'${reference}'` : 'null'}, false, '${at}', '${at}')`);
  for (const [index, event] of [created, ...events].entries())
    stores.sql(
      `insert into psd2.flow_events values ('p', '${flow}', ${index + 1}, 'w', '${at}', '${JSON.stringify(event)}')`,
    );
  return flow;
}
const flowsOfAnother = () => stores.worker().open('p', BANK).flows;
const standingOf = (flow: string) => stores.sql(`select standing from psd2.flows where flow = '${flow}'`);

describe('a database of version 1', () => {
  beforeEach(async () => {
    count = 0;
    stores.sql(`${STEPS[0]} insert into psd2.store (version, plain_tokens) values (1, true)`);
  });

  it('is refused until psd2 store init brings it up to date', async () => {
    await expect(allOf(flowsOfAnother(), 'transfer')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`has schema 1, and this psd2 needs schema ${SCHEMA_VERSION}`),
      next: [['store', 'init']],
    });
    expect(await stores.init()).toBe(1);
    expect(await allOf(flowsOfAnother(), 'transfer')).toEqual([]);
    expect(await stores.init()).toBe(SCHEMA_VERSION);
  });

  it('a flow whose execute was only refused has its reference back, unless another flow has it', async () => {
    const alone = write('alone', 'failed', 'refused', REFUSED);
    const unnamed = write('', 'failed', 'refused', REFUSED);
    const first = write('again', 'failed', 'refused', REFUSED);
    const second = write('again', 'executed', 'done', [...EXECUTED, { type: 'executed', cro: null }]);
    const earlier = write('twice', 'failed', 'refused', REFUSED);
    const later = write('twice', 'failed', 'refused', REFUSED);
    const verified = write('verified', 'failed', 'refused', [{ type: 'verify-refused' }]);
    await stores.init();
    const flows = [alone, unnamed, first, second, earlier, later, verified];
    const standings = ['sent', 'sent', 'refused', 'done', 'refused', 'sent', 'refused'];
    expect(flows.map(standingOf)).toEqual(standings);
    for (const [reference, flow] of [
      ['alone', alone],
      ['again', second],
      ['twice', later],
    ] as const)
      await expect(begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN(reference))).rejects.toMatchObject({
        code: 'duplicate_reference',
        flow,
      });
    await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('verified'));
  });

  it('a flow that lost its reference to another one can still be resolved', async () => {
    const first = write('again', 'failed', 'refused', REFUSED);
    const second = write('again', 'executed', 'done', [...EXECUTED, { type: 'executed', cro: null }]);
    await stores.init();
    const open = await opened(flowsOfAnother(), 'transfer', first);
    await open.record({ type: 'resolved', outcome: 'executed', by: 'ada', note: null });
    expect([standingOf(first), standingOf(second)]).toEqual(['done', 'done']);
    await expect(begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('again'))).rejects.toMatchObject({
      flow: second,
    });
  });

  it('a resource belongs to the flow that had it first, also if two flows had it', async () => {
    const first = write('', 'executed', 'done', [...EXECUTED, { type: 'executed', cro: null }]);
    write('', 'executed', 'done', [...EXECUTED, { type: 'executed', cro: null }]);
    await stores.init();
    expect(stores.sql('select resource_id, flow from psd2.flow_resources')).toBe(`r1|${first}`);
    const open = await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('a'));
    await expect(open.record({ ...VERIFIED, resourceId: 'r1' })).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(`belongs to ${first}`),
    });
  });

  it('workers without the right to make tables may use the new one', async () => {
    await stores.init();
    stores.sql('drop schema psd2 cascade');
    await stores.init({ roles: true });
    const may = () =>
      stores.sql(`select has_table_privilege('psd2_worker', 'psd2.flow_resources', 'insert')`);
    expect(may()).toBe('t');
    stores.sql(`drop table psd2.flow_resources; alter table psd2.flows drop column events;
      update psd2.store set version = 1`);
    await stores.init();
    expect(may()).toBe('t');
    stores.sql(`revoke insert on psd2.flows from psd2_worker; drop table psd2.flow_resources;
      alter table psd2.flows drop column events; update psd2.store set version = 1`);
    await stores.init();
    expect(may()).toBe('f');
  });

  it('old events that were restored after the upgrade are noticed', async () => {
    const flow = write('', 'executed', 'done', [...EXECUTED, { type: 'executed', cro: null }]);
    await stores.init();
    stores.sql(`delete from psd2.flow_events where n > 4`);
    expect((await opened(flowsOfAnother(), 'transfer', flow)).current.state).toBe('unknown');
  });
});

it('a flow whose events are missing is damaged, and the list does not end with it', async () => {
  await stores.init();
  const flows = flowsOfAnother();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c'])
    ids.unshift((await begun(flows, 'transfer', TRANSFER_BEGIN(name))).current.flow);
  stores.sql(`delete from psd2.flow_events where flow = '${ids[1]}'`);
  const damaged: string[] = [];
  const found = await allOf(flowsOfAnother(), 'transfer', { onDamaged: (_, flow) => damaged.push(flow) });
  expect(found.map(({ flow }) => flow)).toEqual([ids[0], ids[2]]);
  expect(damaged).toEqual([ids[1]]);
});

it('events that an old backup brought back before execute was sent are not continued', async () => {
  await stores.init();
  const open = await begun(flowsOfAnother(), 'transfer', TRANSFER_BEGIN('a'));
  await open.record({ type: 'verify-sent', ...SENT });
  await open.record({ ...VERIFIED, resourceId: 'r1' });
  const { flow } = open.current;
  for (const events of [2, 1]) {
    stores.sql(`delete from psd2.flow_events where n > ${events}`);
    await expect(opened(flowsOfAnother(), 'transfer', flow)).rejects.toMatchObject({
      code: 'config',
      message: `The journal of ${flow} at ${stores.database().shown} is older than what psd2 knows about ${flow}`,
    });
    expect((await flowsOfAnother().find('transfer', flow)).state).toBe('created');
  }
  // Nothing cancels it, which would free its reference.
  stores.sql(`update psd2.claims set until = '-infinity'`);
  expect(await flowsOfAnother().leftBehind(5)).toEqual({ flows: [], more: 0 });
  expect((await flowsOfAnother().find('transfer', flow)).state).toBe('created');
});
