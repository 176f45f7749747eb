import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { SCHEMA_VERSION, STEPS } from '../../../src/store/postgres/schema.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { allOf, begun, opened } from '../flows.ts';
import { BANK, granted, granting } from '../whole-store.ts';
import { TRANSFER_BEGIN } from './orders.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
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
/** Undoes the step to version 5. */
const BACK_TO_VERSION_4 = `drop trigger flow_events_audit on psd2.flow_events; drop function psd2.audit_flow_event,
  psd2.audit_append, psd2.audit_keep, psd2.pseudonym_of; drop table psd2.audit, psd2.audit_heads, psd2.pseudonyms; drop function psd2.refuse_audit_change;
  drop table psd2.batch_events, psd2.batch_lines, psd2.batches; drop trigger flow_events_approved on psd2.flow_events;
  drop function psd2.check_batch_event, psd2.refuse_unapproved, psd2.approvals_missing, psd2.is_batch_event, psd2.count_batch_event,
  psd2.refuse_more_lines, psd2.is_copying;
  drop table psd2.read_results;
  drop index psd2.flows_newest, psd2.flows_attention, psd2.flow_events_customer;
  alter table psd2.sync_progress drop column newest, drop column balance, drop column balance_currency,
    drop column balance_difference;
  alter table psd2.transactions drop column future, drop column cancelled;
  alter table psd2.balances drop column reason, alter column amount set not null, alter column currency set not null;
  ${['transactions', 'pending_transactions']
    .map(
      (table) => `alter table psd2.${table} drop column transaction_id,
    drop column entry_reference, drop column end_to_end_id, drop column counterparty_name,
    drop column counterparty_iban, drop column remittance, drop column bank_transaction_code,
    drop column counterparty_account, drop column remittance_structured, drop column ultimate_debtor,
    drop column ultimate_creditor, drop column mandate_id, drop column creditor_id, drop column purpose_code,
    drop column original_amount, drop column original_currency, drop column exchange_rate, drop column fee_amount,
    drop column fee_currency, drop column internal_transaction_id;`,
    )
    .join('\n')}
  update psd2.store set version = 4`;
/** Undoes the step to version 4, too. */
const BACK_TO_VERSION_3 = `${BACK_TO_VERSION_4}; drop table psd2.customers; update psd2.store set version = 3`;
/** Undoes the steps to versions 3 and 4. */
const BACK_TO_VERSION_2 = `${BACK_TO_VERSION_3}; do $$ declare one record; begin
    for one in select conrelid::regclass as name from pg_constraint where conname = 'ids' and conislocal loop
      execute format('alter table %s drop constraint ids', one.name);
    end loop;
  end $$;
  update psd2.store set version = 2`;
/** Undoes the steps to versions 2 to 4. */
const BACK_TO_VERSION_1 = `${BACK_TO_VERSION_2}; drop table psd2.flow_resources, psd2.tokens_of_schema_1;
  drop function psd2.is_owner; alter table psd2.flows drop column events; update psd2.store set version = 1`;
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

  it('a resource belongs to the flow that had it first, even if two flows had it', async () => {
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
    const back = () => stores.sql(BACK_TO_VERSION_1);
    back();
    await stores.init();
    expect(may()).toBe('t');
    back();
    stores.sql('revoke insert on psd2.flows from psd2_worker');
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

describe('a database of version 2', () => {
  const DAY = parseDate('--date', '2026-11-21');
  const readsOfAnother = () => stores.worker().open('p', BANK).reads;

  beforeEach(async () => {
    await stores.init();
    stores.sql(BACK_TO_VERSION_2);
  });

  it('is refused until psd2 store init brings it up to date', async () => {
    await expect(allOf(flowsOfAnother(), 'transfer')).rejects.toMatchObject({
      message: expect.stringContaining('has schema 2, and this psd2 needs schema 5'),
      next: [['store', 'init']],
    });
    expect(await stores.init()).toBe(2);
    expect(await allOf(flowsOfAnother(), 'transfer')).toEqual([]);
  });

  it('pauses of accounts go on after the upgrade', async () => {
    for (const [product, reads] of [
      ['A1', 2],
      ['failed:A1', 3],
      ['paused:A1', 600],
      ['paused:', 700],
    ] as const)
      stores.sql(`insert into psd2.unattended_reads values ('p', '${DAY}', '7', '${product}', ${reads})`);
    await stores.init();
    const take = (productId: string | null, minute: number) =>
      readsOfAnother().take({ day: DAY, customerId: '7', productId }, { budget: 9, minute });
    expect([await take('A1', 599), await take('A1', 600)]).toEqual(['paused', 'taken']);
    expect([await take(null, 699), await take(null, 700)]).toEqual(['paused', 'taken']);
  });

  it('ids with letters are taken after the upgrade, and other texts are not', async () => {
    await stores.init();
    const login = (id: string) =>
      stores.sql(`insert into psd2.last_logins values ('${id || 'none'}', '${id}')`);
    for (const id of ['7', 'Anna.B-c_d', 'x'.repeat(64)]) login(id);
    for (const id of ['', '.', '..', 'a b', 'a/b', 'x'.repeat(65)])
      expect(() => login(id)).toThrow(/violates check constraint "ids"/);
    const account = (id: string) =>
      stores.sql(
        `insert into psd2.accounts (profile, customer_id, product_id, currency) values ('p', '7', '${id}', 'EUR')`,
      );
    for (const id of ['0000012345', 'urn:bank:1/2', '~'.repeat(70)]) account(id);
    for (const id of ['', 'a b', 'è', '~'.repeat(71)])
      expect(() => account(id)).toThrow(/violates check constraint "ids"/);
  });

  it('rows with other ids that an older psd2 wrote do not stop the upgrade', async () => {
    stores.sql(`insert into psd2.last_logins values ('p', 'a b')`);
    expect(await stores.init()).toBe(2);
  });
});

describe('a database of version 3', () => {
  const customersOfAnother = () => stores.worker().open('p', BANK).customers;

  it('is refused until psd2 store init brings it up to date, and then keeps customers', async () => {
    await stores.init();
    stores.sql(BACK_TO_VERSION_3);
    await expect(customersOfAnother().list()).rejects.toMatchObject({
      message: expect.stringContaining('has schema 3, and this psd2 needs schema 5'),
      next: [['store', 'init']],
    });
    expect(await stores.init()).toBe(3);
    await customersOfAnother().change('ada', granting('co-1'));
    expect(await customersOfAnother().read('ada')).toMatchObject({ consents: [granted('co-1')] });
  });

  it('customers are as they would be in a new database', async () => {
    await stores.init();
    const columns = () =>
      stores.sql(`select a.attname, a.attnotnull, format_type(a.atttypid, null) from pg_attribute a
        where attrelid = 'psd2.customers'::regclass and attnum > 0 order by attnum`);
    const before = columns();
    stores.sql(BACK_TO_VERSION_1);
    expect(await stores.init()).toBe(1);
    expect(columns()).toBe(before);
  });

  it('workers without the right to make tables may use the new one, and readers may not', async () => {
    await stores.init({ roles: true });
    const may = (role: string) =>
      stores.sql(`select has_table_privilege('${role}', 'psd2.customers', 'select, insert, update')`);
    expect([may('psd2_worker'), may('psd2_reader')]).toEqual(['t', 'f']);
    stores.sql(BACK_TO_VERSION_3);
    await stores.init();
    expect([may('psd2_worker'), may('psd2_reader')]).toEqual(['t', 'f']);
    stores.sql(`${BACK_TO_VERSION_3}; revoke insert on psd2.flows from psd2_worker`);
    await stores.init();
    expect(may('psd2_worker')).toBe('f');
  });

  it('names that no customer has are not taken', async () => {
    await stores.init();
    for (const name of ['', '.', '..', 'a b', 'a/b', 'x'.repeat(65)])
      await expect(customersOfAnother().change(name, granting('co-1'))).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('violates check constraint "ids"'),
      });
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
