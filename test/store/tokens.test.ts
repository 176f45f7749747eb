import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type StoredTokens, TokenStore } from '../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { Vault } from '../../src/store/secrets/vault.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
const bank = new URL('https://bank.example/psd2');
const tokens: StoredTokens = {
  accessToken: 'access-1',
  accessTokenExpiresAt: '2026-11-21T11:00:00.000Z',
  refreshToken: 'refresh-1',
  refreshTokenExpiresAt: null,
  scope: 'oob',
};

let folder: StoreFolder;
let store: TokenStore;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  store = new TokenStore(folder, 'sandbox', bank);
});

it('keeps the tokens of each customer and of the application apart', async () => {
  await store.write('1234567', tokens);
  await store.write('7654321', { ...tokens, accessToken: 'access-2' });
  await store.write(null, { ...tokens, accessToken: 'application' });
  expect(await store.read('1234567')).toMatchObject(tokens);
  expect((await store.read('7654321'))?.accessToken).toBe('access-2');
  expect((await store.read(null))?.accessToken).toBe('application');
  expect(await store.read('1111111')).toBeUndefined();
});

it.each(['https://other.example/psd2', 'https://bank.example/', 'https://bank.example:8443/psd2'])(
  'has none of this bank for %s',
  async (baseUrl) => {
    await store.write('1234567', tokens);
    expect(await new TokenStore(folder, 'sandbox', new URL(baseUrl)).read('1234567')).toBeUndefined();
  },
);

it('has none of another profile', async () => {
  await store.write('1234567', tokens);
  expect(await new TokenStore(folder, 'other', bank).read('1234567')).toBeUndefined();
});

it('is readable by its owner alone', async () => {
  await store.write('1234567', tokens);
  await store.rememberCustomer('1234567');
  const place = folder.tokens('sandbox');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const stored = readdirSync(place, { recursive: true, withFileTypes: true });
  expect(stored.map(({ name }) => name).sort()).toEqual(['1.json', 'customer-1234567', 'last-login.json']);
  for (const entry of stored)
    expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
});

it('does not believe a login in a folder that others can write to', async () => {
  await store.write('1234567', tokens);
  const login = join(folder.tokens('sandbox'), 'customer-1234567');
  chmodSync(login, 0o777);
  await expect(store.read('1234567')).rejects.toMatchObject({
    code: 'config',
    message: `${login} can be changed by others (mode 0777)`,
    hint: `Run: chmod 700 ${login}`,
  });
});

it('forgets the tokens of one customer', async () => {
  await store.write('1234567', tokens);
  await store.write(null, tokens);
  store.remove('1234567');
  store.remove('1234567');
  expect(await store.read('1234567')).toBeUndefined();
  expect(await store.read(null)).toBeDefined();
});

it('lists the customers whose tokens are kept', async () => {
  expect(store.customers()).toEqual([]);
  await store.write('7654321', tokens);
  await store.write('1234567', tokens);
  await store.write(null, tokens);
  await store.rememberCustomer('1234567');
  // These would name folders of psd2 sync.
  for (const name of ['customer-...json', 'customer-1234567 (copy).json'])
    writeFileSync(join(folder.tokens('sandbox'), name), '{}', { mode: 0o600 });
  expect(store.customers()).toEqual(['1234567', '7654321']);
});

it('keeps the session id of the bank with them', async () => {
  await store.write('1234567', { ...tokens, apiTrackId: '0123456789' });
  expect((await store.read('1234567'))?.apiTrackId).toBe('0123456789');
});

it('remembers who logged in last', async () => {
  expect(store.lastCustomer()).toBeUndefined();
  await store.rememberCustomer('1234567');
  await store.rememberCustomer('7654321');
  expect(store.lastCustomer()).toBe('7654321');
});

it('refuses a damaged file without showing what is in it', async () => {
  await store.write('1234567', tokens);
  const file = join(folder.tokens('sandbox'), 'customer-1234567', '1.json');
  writeFileSync(file, '{"accessToken":"access-1","refreshToken":"refr');
  await expect(store.read('1234567')).rejects.toThrow(
    expect.objectContaining({ code: 'config', message: `${file} is damaged: it is not JSON` }),
  );
});

describe('tokens that the bank gave for a refresh token', () => {
  const newer: StoredTokens = { ...tokens, accessToken: 'access-2', refreshToken: 'refresh-2' };
  const read = async () => {
    const stored = await store.read('1234567');
    if (!stored) throw new TypeError('There are no tokens');
    return stored;
  };

  it('are kept also where the spent ones were encrypted anew in the meantime', async () => {
    await store.write('1234567', tokens);
    const spent = await read();
    await store.rewrite();
    await store.replace('1234567', spent, newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('are kept where the spent ones had been encrypted anew before', async () => {
    await store.write('1234567', tokens);
    await store.rewrite();
    await store.replace('1234567', await read(), newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('are kept where the spent ones were encrypted anew, and refused to another process then', async () => {
    await store.write('1234567', tokens);
    const spent = await read();
    await store.rewrite();
    await store.refuse('1234567', await read());
    await store.replace('1234567', spent, newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('do not take the place of a newer login, which is given back', async () => {
    await store.write('1234567', tokens);
    const spent = await read();
    await store.write('1234567', { ...tokens, accessToken: 'access-of-login' });
    expect(await store.replace('1234567', spent, newer)).toMatchObject({ accessToken: 'access-of-login' });
    expect(await store.read('1234567')).toMatchObject({ accessToken: 'access-of-login' });
  });

  it('do not bring back what was removed with its folder', async () => {
    await store.write('1234567', tokens);
    const spent = await read();
    const place = join(folder.tokens('sandbox'), 'customer-1234567');
    const vault = new Vault(folder, 'sandbox');
    vi.spyOn(vault, 'key').mockImplementation(async () => {
      rmSync(place, { recursive: true, force: true });
      return undefined;
    });
    const slow = new TokenStore(folder, 'sandbox', bank, () => {}, vault);
    expect(await slow.replace('1234567', spent, newer)).toBeUndefined();
    await slow.refuse('1234567', spent);
    expect(existsSync(place)).toBe(false);
  });

  it('take the place of the file that psd2 0.1 kept', async () => {
    const place = folder.tokens('sandbox');
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const old = join(place, 'customer-1234567.json');
    writeFileSync(old, JSON.stringify({ ...tokens, baseUrl: bank.href }), { mode: 0o600 });
    await store.replace('1234567', await read(), newer);
    expect(await store.read('1234567')).toMatchObject({ ...newer, generation: 1 });
    expect(existsSync(old)).toBe(false);
  });
});

it('only the newest tokens are the newest', async () => {
  await store.write('1234567', tokens);
  const first = await store.read('1234567');
  if (!first) throw new TypeError('There are no tokens');
  expect(store.isNewest('1234567', first)).toBe(true);
  await store.write('1234567', tokens);
  expect(store.isNewest('1234567', first)).toBe(false);
});

it('lets one at a time spend a refresh token', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all([1, 2, 3].map(() => store.locked('1234567', work)));
  expect(most).toBe(1);
});
