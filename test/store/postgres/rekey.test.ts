import { expect, it } from 'vitest';
import { addPassphrase, dropOthers } from '../../../src/store/postgres/admin.ts';
import { BANK, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();

it('a worker that has opened the key goes on while and after the passphrase changes, and new workers read what it stores', async () => {
  await stores.init({ plainTokens: false });
  const old = stores.worker({ passphrase: 'old' }).open('bank', BANK).tokens;
  await old.change('42', (slot) => slot.write(login));
  expect(await addPassphrase(stores.database(), { old: 'old', new: 'new' })).toEqual(['bank']);
  const both = ['old', 'new'].map((passphrase) => stores.worker({ passphrase }).open('bank', BANK).tokens);
  for (const { read } of both.map((tokens) => ({ read: () => tokens.read('42') })))
    expect(await read()).toMatchObject({ refreshToken: 'secret-refresh' });
  expect(await dropOthers(stores.database(), 'new')).toEqual(['bank']);
  await old.change('42', (slot) => slot.write({ ...login, refreshToken: 'renewed' }));
  const next = stores.worker({ passphrase: 'new' }).open('bank', BANK).tokens;
  expect(await next.read('42')).toMatchObject({ refreshToken: 'renewed' });
  const late = stores.worker({ passphrase: 'old' }).open('bank', BANK).tokens;
  await expect(late.read('42')).rejects.toThrow('does not open the tokens of bank');
});

it('the passphrases of all profiles change together or not at all', async () => {
  await stores.init({ plainTokens: false });
  await stores
    .worker({ passphrase: 'old' })
    .open('bank', BANK)
    .tokens.change('42', (slot) => slot.write(login));
  await stores
    .worker({ passphrase: 'other' })
    .open('zoo', BANK)
    .tokens.change('42', (slot) => slot.write(login));
  const before = stores.sql('select key from psd2.keys order by profile');
  await expect(addPassphrase(stores.database(), { old: 'old', new: 'new' })).rejects.toThrow(
    'PSD2_CONFIG_PASSPHRASE does not open the tokens of zoo',
  );
  expect(stores.sql('select key from psd2.keys order by profile')).toBe(before);
  await expect(addPassphrase(stores.database(), { old: undefined, new: 'new' })).rejects.toThrow(
    'does not open the tokens of bank',
  );
  expect(await dropOthers(stores.database(), 'old')).toEqual([]);
});
