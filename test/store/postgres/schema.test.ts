import { describe, expect, it } from 'vitest';
import { findDatabase } from '../../../src/store/postgres/init.ts';
import { SCHEMA_VERSION } from '../../../src/store/postgres/schema.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { allOf, begun, opened, TRANSFER_BEGIN } from '../flows.ts';
import { BANK, granting } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
const SENT = { requestId: 'r', digest: null };
const ofAnother = () => stores.worker().open('p', BANK);
const flowsOfAnother = () => ofAnother().flows;

describe('the tables of a database', () => {
  it.each([SCHEMA_VERSION + 1, 5])('of schema %i are refused, and not changed', async (version) => {
    await stores.init();
    stores.sql(`update psd2.store set version = ${version}`);
    const refused = {
      code: 'config',
      message: `The store at ${stores.database().shown} has schema ${version}, and this psd2 knows schema ${SCHEMA_VERSION}`,
      hint: 'Update psd2 on this machine.',
    };
    await expect(allOf(flowsOfAnother(), 'transfer')).rejects.toMatchObject(refused);
    await expect(stores.init()).rejects.toMatchObject(refused);
    expect(stores.sql('select version from psd2.store')).toBe(`${version}`);
  });

  it('are missing until psd2 store init makes them, which does nothing more the second time', async () => {
    await expect(allOf(flowsOfAnother(), 'transfer')).rejects.toMatchObject({
      code: 'config',
      next: [['store', 'init']],
    });
    expect([await stores.init(), await stores.init()]).toEqual([0, SCHEMA_VERSION]);
    expect(await allOf(flowsOfAnother(), 'transfer')).toEqual([]);
  });

  it('take the ids of customers and accounts, and no other texts', async () => {
    await stores.init();
    const login = (id: string) =>
      stores.sql(`insert into psd2.last_logins values ('${id || 'none'}', '${id}')`);
    for (const id of ['7', 'Anna.B-c_d', 'x'.repeat(64)]) login(id);
    for (const id of ['', '.', '..', 'a b', 'a/b', 'x'.repeat(65)]) {
      expect(() => login(id)).toThrow(/violates check constraint "ids"/);
      await expect(ofAnother().customers.change(id, granting('co-1'))).rejects.toMatchObject({
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
