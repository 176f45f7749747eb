import fs, { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { countBanks, LOGIN_SPACE, tokenGeneration } from '../../../src/store/files/token-file.ts';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Holder, ReadTokens, StoredTokens } from '../../../src/store/ports/tokens.ts';
import { placeOfTokens } from '../../../src/store/secrets/sealed.ts';
import { openBelow } from '../open-files.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const bank = new URL('https://bank.example/psd2');
const login: StoredTokens = {
  accessToken: 'access-1',
  accessTokenExpiresAt: '2026-11-21T11:00:00.000Z',
  refreshToken: 'refresh-1',
  refreshTokenExpiresAt: null,
  scope: 'oob',
};
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** The tokens, as another process opens them. */
const tokens = (of: URL | undefined = bank) => new FileTokens(folder, 'bank', of);
const write = (holder: Holder, stored = login, of = bank) =>
  tokens(of).change(holder, (slot) => slot.write(stored));
const place = (...names: string[]) => join(folder.tokens('bank'), ...names);
function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}
async function read(): Promise<ReadTokens> {
  const found = await tokens().read('42');
  if (!found) throw new TypeError('There are no tokens');
  return found;
}

describe('logins at other banks', () => {
  const of = (baseUrl: string, count: number) => ({ baseUrl, count });

  it('the bank with the most logins comes first, then they are in order', () => {
    expect(countBanks(['b', 'a', 'c', undefined, 'd', 'c', 'd', 'd'], undefined)).toEqual([
      of('d', 3),
      of('c', 2),
      of('a', 1),
      of('b', 1),
    ]);
    expect(countBanks(['a', 'b', 'a'], undefined)).toEqual([of('a', 2), of('b', 1)]);
    expect(countBanks(['c', 'b', 'a'], 'b')).toEqual([of('a', 1), of('c', 1)]);
    expect(countBanks(['a', 'c', 'b'], 'b')).toEqual([of('a', 1), of('c', 1)]);
    expect(countBanks([undefined], undefined)).toEqual([]);
  });

  it('damaged tokens count for no bank', async () => {
    const other = new URL('https://other.example/');
    await write('42', login, other);
    put(place('customer-43', '1.json'), 'garbage');
    expect(await tokens().otherBanks()).toEqual([{ baseUrl: other.href, logins: 1 }]);
  });
});

describe('the form of stored tokens', () => {
  it('tokens are sealed for a generation of a holder at a bank, which stays so', () => {
    const of = { baseUrl: 'https://bank.example/', generation: 7 };
    const place = (holder: string) => ['tokens', holder, 'https://bank.example/', '7'];
    expect(placeOfTokens({ ...of, holder: '42' })).toEqual(place('customer-42'));
    expect(placeOfTokens({ ...of, holder: null })).toEqual(place('client-credentials'));
  });

  it('tokens are unproven or nothing is said about it', () => {
    const stored = { ...login, baseUrl: bank.href };
    expect(tokenGeneration.parse({ ...stored, unproven: true })).toEqual({ ...stored, unproven: true });
    expect(tokenGeneration.parse(null)).toBeNull();
    for (const unproven of [false, 1, 'true'])
      expect(tokenGeneration.safeParse({ ...stored, unproven }).success).toBe(false);
  });

  it('each field has a line of its own, and new tokens repeat no generation', async () => {
    await write('42');
    expect(readFileSync(place('customer-42', '1.json'), 'utf8')).toBe(
      JSON.stringify({ ...login, baseUrl: bank.href }, null, '\t'),
    );
  });

  it('a login needs space for its tokens and for six names', async () => {
    expect(LOGIN_SPACE.bytes).toBeGreaterThanOrEqual(16_384);
    expect(LOGIN_SPACE.names).toBeGreaterThanOrEqual(6);
    const giveBack = await tokens().ready();
    expect(openBelow(folder.root)).toHaveLength(LOGIN_SPACE.names);
    await giveBack();
    expect(openBelow(folder.root)).toEqual([]);
    once('openSync', failing('ENOSPC'));
    await expect(tokens().ready()).rejects.toMatchObject({ code: 'config' });
  });
});

it('proven tokens are still those of the generation in which the bank gave them', async () => {
  await write('42', { ...login, unproven: true });
  await tokens().rewrite();
  expect(await read()).toMatchObject({ unproven: true, generation: 2, origin: 1 });
  const unproven = await read();
  await tokens().change('42', (slot) => slot.prove(unproven, true));
  const proven = await read();
  expect(proven).toMatchObject({ ...login, generation: 3, origin: 1 });
  expect(proven).not.toHaveProperty('unproven');
});

describe('tokens that are copied', () => {
  it.each([true, undefined])('stay unproven if they are (%s)', async (unproven) => {
    await write('42', { ...login, ...(unproven && { unproven }) });
    const kept = await tokens().kept('42');
    expect(kept?.tokens?.unproven).toBe(unproven);
    expect(Object.hasOwn(kept?.tokens ?? {}, 'unproven')).toBe(unproven === true);
    if (kept) await tokens().keep({ ...kept, holder: '43' });
    expect((await tokens().read('43'))?.unproven).toBe(unproven);
  });

  it('repeat an earlier generation only if they did before', async () => {
    const record = { kind: 'login', holder: '42', generation: 3, baseUrl: bank.href, tokens: login } as const;
    await tokens().keep({ ...record, origin: 3 });
    expect(await read()).toEqual({ ...login, baseUrl: bank.href, generation: 3 });
    await tokens().keep({ ...record, generation: 5, origin: 4 });
    expect(await read()).toMatchObject({ generation: 5, origin: 4 });
  });
});

it('nobody is at work on tokens that nobody changes', async () => {
  await write('42');
  await write(null);
  expect(await tokens().atWork()).toEqual([]);
});

it('customers are in order, however the disk lists them', async () => {
  for (const customerId of ['1', '2', '3']) await write(customerId);
  const { readdirSync: list } = fs;
  replace(fs, 'readdirSync', (...args: never[]) => {
    const names: unknown = Reflect.apply(list, fs, args);
    return Array.isArray(names) ? names.reverse() : names;
  });
  expect(await tokens().customers()).toEqual(['1', '2', '3']);
});

it('in a folder that was copied away no tokens are changed', async () => {
  const moved = { id: 'x', movedTo: { id: 'y', place: '/new' }, copiedFrom: null };
  put(join(folder.root, 'store.json'), JSON.stringify(moved));
  await expect(write('42')).rejects.toThrow('was copied to /new');
});
