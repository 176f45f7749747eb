import { expect, it } from 'vitest';
import { findDatabase } from '../../../src/store/postgres/init.ts';
import { useStores } from './stores.ts';

const stores = useStores();
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
