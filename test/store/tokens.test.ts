import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FileTokens } from '../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Holder, StoredTokens, TokenSlot, Tokens } from '../../src/store/ports/tokens.ts';
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
let store: FileTokens;

beforeEach(() => {
  folder = newConfigFolder(temporary);
  store = new FileTokens(folder, 'sandbox', bank);
});

/** Writes the tokens of a new login. */
function write(store: Tokens, holder: Holder, login: StoredTokens): Promise<void> {
  return store.change(holder, (slot) => slot.write(login));
}

/** What another process writes that has no claim any more. */
function lateSlot(store: Tokens): Promise<TokenSlot> {
  return store.change('1234567', async (slot) => slot);
}

it('keeps the tokens of each customer and of the application apart', async () => {
  await write(store, '1234567', tokens);
  await write(store, '7654321', { ...tokens, accessToken: 'access-2' });
  await write(store, null, { ...tokens, accessToken: 'application' });
  expect(await store.read('1234567')).toMatchObject(tokens);
  expect((await store.read('7654321'))?.accessToken).toBe('access-2');
  expect((await store.read(null))?.accessToken).toBe('application');
  expect(await store.read('1111111')).toBeUndefined();
});

it.each(['https://other.example/psd2', 'https://bank.example/', 'https://bank.example:8443/psd2'])(
  'has none of this bank for %s',
  async (baseUrl) => {
    await write(store, '1234567', tokens);
    expect(await new FileTokens(folder, 'sandbox', new URL(baseUrl)).read('1234567')).toBeUndefined();
  },
);

it('has none of another profile', async () => {
  await write(store, '1234567', tokens);
  expect(await new FileTokens(folder, 'other', bank).read('1234567')).toBeUndefined();
});

it('is readable by its owner alone', async () => {
  await write(store, '1234567', tokens);
  await store.remember('1234567');
  const place = folder.tokens('sandbox');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const stored = readdirSync(place, { recursive: true, withFileTypes: true });
  expect(stored.map(({ name }) => name).sort()).toEqual(['1.json', 'customer-1234567', 'last-login.json']);
  for (const entry of stored)
    expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
});

it('does not believe a login in a folder that others can write to', async () => {
  await write(store, '1234567', tokens);
  const login = join(folder.tokens('sandbox'), 'customer-1234567');
  chmodSync(login, 0o777);
  await expect(store.read('1234567')).rejects.toMatchObject({
    code: 'config',
    message: `${login} can be changed by others (mode 0777)`,
    hint: `Run: chmod 700 ${login}`,
  });
});

it('forgets the tokens of one customer', async () => {
  await write(store, '1234567', tokens);
  await write(store, null, tokens);
  await store.forget('1234567');
  await store.forget('1234567');
  expect(await store.read('1234567')).toBeUndefined();
  expect(await store.read(null)).toBeDefined();
});

it('lists the customers whose tokens are kept', async () => {
  expect(await store.customers()).toEqual([]);
  await write(store, '7654321', tokens);
  await write(store, '1234567', tokens);
  await write(store, null, tokens);
  await store.remember('1234567');
  // These would name folders of psd2 sync.
  for (const name of ['customer-...json', 'customer-1234567 (copy).json'])
    writeFileSync(join(folder.tokens('sandbox'), name), '{}', { mode: 0o600 });
  expect(await store.customers()).toEqual(['1234567', '7654321']);
});

it('keeps the session id of the bank with them', async () => {
  await write(store, '1234567', { ...tokens, apiTrackId: '0123456789' });
  expect((await store.read('1234567'))?.apiTrackId).toBe('0123456789');
});

it('remembers who logged in last', async () => {
  expect(await store.last()).toBeUndefined();
  await store.remember('1234567');
  await store.remember('7654321');
  expect(await store.last()).toBe('7654321');
});

it('refuses a damaged file without showing what is in it', async () => {
  await write(store, '1234567', tokens);
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
    await write(store, '1234567', tokens);
    const spent = await read();
    await store.rewrite();
    await (await lateSlot(store)).replace(spent, newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('are kept where the spent ones had been encrypted anew before', async () => {
    await write(store, '1234567', tokens);
    await store.rewrite();
    await (await lateSlot(store)).replace(await read(), newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('are kept where the spent ones were encrypted anew, and refused to another process then', async () => {
    await write(store, '1234567', tokens);
    const spent = await read();
    await store.rewrite();
    await (await lateSlot(store)).refuse(await read());
    await (await lateSlot(store)).replace(spent, newer);
    expect(await store.read('1234567')).toMatchObject(newer);
  });

  it('do not take the place of a newer login, which is given back', async () => {
    await write(store, '1234567', tokens);
    const spent = await read();
    await write(store, '1234567', { ...tokens, accessToken: 'access-of-login' });
    expect(await (await lateSlot(store)).replace(spent, newer)).toMatchObject({
      accessToken: 'access-of-login',
    });
    expect(await store.read('1234567')).toMatchObject({ accessToken: 'access-of-login' });
  });

  it('do not bring back what was removed with its folder', async () => {
    await write(store, '1234567', tokens);
    const spent = await read();
    const place = join(folder.tokens('sandbox'), 'customer-1234567');
    const vault = new Vault(folder, 'sandbox');
    const slow = await lateSlot(new FileTokens(folder, 'sandbox', bank, () => {}, vault));
    vi.spyOn(vault, 'key').mockImplementation(async () => {
      rmSync(place, { recursive: true, force: true });
      return undefined;
    });
    expect(await slow.replace(spent, newer)).toBeUndefined();
    await slow.refuse(spent);
    expect(existsSync(place)).toBe(false);
  });

  it('take the place of the file that psd2 0.1 kept', async () => {
    const place = folder.tokens('sandbox');
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const old = join(place, 'customer-1234567.json');
    writeFileSync(old, JSON.stringify({ ...tokens, baseUrl: bank.href }), { mode: 0o600 });
    await (await lateSlot(store)).replace(await read(), newer);
    expect(await store.read('1234567')).toMatchObject({ ...newer, generation: 1 });
    expect(existsSync(old)).toBe(false);
  });
});

it('only the newest tokens are the newest', async () => {
  await write(store, '1234567', tokens);
  const first = await store.read('1234567');
  if (!first) throw new TypeError('There are no tokens');
  expect(await store.change('1234567', (slot) => slot.isOurs(first))).toBe(true);
  await write(store, '1234567', tokens);
  expect(await store.change('1234567', (slot) => slot.isOurs(first))).toBe(false);
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
  await Promise.all([1, 2, 3].map(() => store.change('1234567', work)));
  expect(most).toBe(1);
});
