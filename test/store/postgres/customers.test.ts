import { beforeEach, describe, expect, it } from 'vitest';
import type { Customers } from '../../../src/store/ports/customers.ts';
import { BANK, granted, granting } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const WRITING = /insert into psd2\.customers/;
const customersOf = () => stores.worker().open('p', BANK).customers;
const flowsOf = async (customer: string) =>
  (await customersOf().read(customer))?.consents.map(({ flow }) => flow).sort();
const rows = () => stores.sql('select generation, cardinality(changes), kept is null from psd2.customers');

beforeEach(async () => {
  await stores.init();
});

it('each change makes the next generation, and the last 16 of them are known', async () => {
  const customers = customersOf();
  for (let number = 1; number <= 18; number += 1) await customers.change('ada', granting(`co-${number}`));
  expect(rows()).toBe('18|16|f');
  await customers.forget('ada');
  await customers.forget('ada');
  await customers.forget('bob');
  expect(rows()).toBe('19|16|t');
});

it('a worker that stands still between reading and writing changes what another one wrote', async () => {
  const customers = customersOf();
  await customers.change('ada', granting('co-1'));
  let times = 0;
  await customers.change('ada', (before) => {
    times += 1;
    const consents = JSON.stringify([...before.consents, granted('co-2')]);
    const kept = `jsonb_set(kept::jsonb, '{consents}', '${consents}')`;
    if (times === 1)
      stores.sql(
        `update psd2.customers set generation = 2, changes = array['other'] || changes, kept = ${kept}`,
      );
    return granting('co-3')(before);
  });
  expect(times).toBe(2);
  expect(await flowsOf('ada')).toEqual(['co-1', 'co-2', 'co-3']);
});

it('a store that was copied away refuses workers, also those that were there before', async () => {
  const customers = customersOf();
  await customers.change('ada', granting('co-1'));
  stores.sql(`update psd2.store set moved_to = 'there', moved_to_id = 'x'`);
  const refused = { code: 'config', message: expect.stringMatching(/was copied to there/) };
  await expect(customers.change('ada', granting('co-2'))).rejects.toMatchObject(refused);
  await expect(customers.change('bob', granting('co-2'))).rejects.toMatchObject(refused);
  await expect(customers.forget('ada')).rejects.toMatchObject(refused);
  await expect(customers.forgetAll()).rejects.toMatchObject(refused);
  expect(rows()).toBe('1|1|f');
});

it('a record that another program wrote is damaged', async () => {
  await customersOf().change('ada', granting('co-1'));
  stores.sql(`update psd2.customers set kept = '{"psu": {}}'`);
  const damaged = { code: 'config', message: expect.stringContaining('data that psd2 did not write') };
  await expect(customersOf().read('ada')).rejects.toMatchObject(damaged);
  await expect(customersOf().change('ada', granting('co-2'))).rejects.toMatchObject(damaged);
  expect(await customersOf().list()).toEqual(['ada']);
});

describe('a connection that is lost', () => {
  let proxy: Awaited<ReturnType<typeof stores.proxied>>['proxy'];
  let customers: Customers;
  beforeEach(async () => {
    const started = await stores.proxied();
    proxy = started.proxy;
    customers = stores.worker({ address: started.through }).open('p', BANK).customers;
    await customers.change('ada', granting('co-1'));
  });

  it.each([
    ['only the answer was lost', () => proxy.cutNext(WRITING)],
    ['it never arrived, since psd2 makes it again', () => proxy.dropNext(undefined, WRITING)],
  ])('a change is made once if %s', async (_what, lose) => {
    lose();
    await customers.change('ada', granting('co-2'));
    expect([proxy.cuts(), rows(), await flowsOf('ada')]).toEqual([1, '2|2|f', ['co-1', 'co-2']]);
  });

  it('a change that never arrived is made after that of another worker', async () => {
    const kept = JSON.stringify({ ...(await customers.read('ada')), consents: [granted('co-3')] });
    const other = `update psd2.customers set generation = 2, changes = array['other'] || changes, kept = '${kept}'`;
    proxy.dropNext(() => void stores.sql(other), WRITING);
    await customers.change('ada', granting('co-2'));
    expect([rows(), await flowsOf('ada')]).toEqual(['3|3|f', ['co-2', 'co-3']]);
  });

  it.each([
    ['forgets one', (of: Customers) => of.forget('ada'), WRITING],
    ['forgets all', (of: Customers) => of.forgetAll(), /update psd2\.customers/],
  ])('a worker that %s does so also if the answer was lost', async (_, work, statement) => {
    proxy.cutNext(statement);
    await work(customers);
    expect([proxy.cuts(), await customersOf().list()]).toEqual([1, []]);
    expect(rows()).toMatch(/^2\|\d\|t$/);
  });
});
