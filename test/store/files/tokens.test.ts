import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Holder, StoredTokens, TokenSlot, Tokens } from '../../../src/store/ports/tokens.ts';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

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

/** A slot for writes of another process, which has lost its claim. */
function lateSlot(store: Tokens): Promise<TokenSlot> {
  return store.change('1234567', async (slot) => slot);
}

it('only the owner can read tokens', async () => {
  await write(store, '1234567', tokens);
  await store.remember('1234567');
  const place = folder.tokens('sandbox');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const stored = readdirSync(place, { recursive: true, withFileTypes: true });
  expect(stored.map(({ name }) => name).sort()).toEqual(['1.json', 'customer-1234567', 'last-login.json']);
  for (const entry of stored)
    expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
});

it('psd2 does not trust a login in a folder that others can write to', async () => {
  await write(store, '1234567', tokens);
  const login = join(folder.tokens('sandbox'), 'customer-1234567');
  chmodSync(login, 0o777);
  await expect(store.read('1234567')).rejects.toMatchObject({
    code: 'config',
    message: `${login} can be changed by others (mode 0777)`,
    hint: `Run: chmod 700 ${login}`,
  });
});

it('a damaged file of tokens is refused without showing its content', async () => {
  await write(store, '1234567', tokens);
  const file = join(folder.tokens('sandbox'), 'customer-1234567', '1.json');
  writeFileSync(file, '{"accessToken":"access-1","refreshToken":"refr');
  await expect(store.read('1234567')).rejects.toMatchObject({
    code: 'config',
    message: `${file} is damaged: it is not JSON`,
  });
});

describe('tokens that the bank gave for a refresh token', () => {
  const newer: StoredTokens = { ...tokens, accessToken: 'access-2', refreshToken: 'refresh-2' };
  const read = async () => {
    const stored = await store.read('1234567');
    if (!stored) throw new TypeError('There are no tokens');
    return stored;
  };

  it('late tokens do not bring back a login that was removed with its folder', async () => {
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
});
