import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  countBanks,
  Generations,
  LOGIN_SPACE,
  tokenGeneration,
} from '../../../src/store/files/token-file.ts';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Holder, ReadTokens } from '../../../src/store/ports/tokens.ts';
import { placeOfTokens } from '../../../src/store/secrets/sealed.ts';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { openBelow } from '../open-files.ts';
import { useKeyring } from '../system-keyring.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { failing, heldByAnother, once, replaceForStore } from '../waiting.ts';
import { login } from '../whole-store.ts';

const temporary = temporaryFolder();
const bank = new URL('https://bank.example/psd2');
let folder: StoreFolder;
let notices: string[];

beforeEach(() => {
  folder = newConfigFolder(temporary);
  notices = [];
});

/** The tokens, as another process opens them. */
const tokens = (of: URL | undefined = bank) =>
  new FileTokens(folder, 'bank', of, (text) => notices.push(text));
const write = (holder: Holder, stored = login, of = bank) =>
  tokens(of).change(holder, (slot) => slot.write(stored));
async function read(): Promise<ReadTokens> {
  const found = await tokens().read('42');
  if (!found) throw new TypeError('There are no tokens');
  return found;
}
const place = (...names: string[]) => join(folder.tokens('bank'), ...names);
const protect = () => new Vault(folder, 'bank').protect({ kind: 'keyring' });
/** Tokens of another customer, as psd2 keeps them. */
const putKept = (customerId: string) =>
  put(place(`customer-${customerId}`, '1.json'), JSON.stringify({ ...login, baseUrl: bank.href }));

describe('a logout', () => {
  it('a logout leaves one generation without tokens, however often it is repeated', async () => {
    await write('42');
    for (let times = 0; times < 3; times += 1) await tokens().forget('42');
    expect(readdirSync(place('customer-42'))).toEqual(['2.json']);
    expect(readFileSync(place('customer-42', '2.json'), 'utf8')).toBe('null');
    expect(await tokens().read('42')).toBeUndefined();
    expect(await tokens().login('42')).toBeUndefined();
    expect(await tokens().customers()).toEqual([]);
  });

  it('a logout of a customer who never logged in writes nothing', async () => {
    await tokens().forget('42');
    expect(readdirSync(place())).toEqual([]);
  });

  it('a logout removes damaged tokens', async () => {
    const name = '1.json';
    put(place('customer-42', name), 'garbage');
    expect(await tokens().customers()).toEqual(['42']);
    await tokens().forget('42');
    expect(await tokens().read('42')).toBeUndefined();
    expect(existsSync(place('customer-42', name))).toBe(false);
  });

  it('a logout from everything waits for nobody who has ended, and leaves the other profiles', async () => {
    for (const holder of ['42', 'x y', null]) await write(holder);
    putKept('7');
    put(place('notes'), '');
    const other = new FileTokens(folder, 'other', bank);
    await other.change('42', (slot) => slot.write(login));
    await tokens().forgetAll();
    expect(readdirSync(dirname(place()))).toEqual(['other']);
    expect(await other.read('42')).toMatchObject(login);
  });

  it.each([
    ['a customer', '42', 'customer-42', 'The login of customer 42'],
    ['the application', null, 'client-credentials', 'The login of the application'],
  ])('a logout waits for %s whose tokens are renewed', async (_, holder, name, what) => {
    await write(holder);
    const busy = { code: 'config', message: `${what} is in use by another psd2: process 7 on h since now` };
    const time = heldByAnother(place(`${name}.json.lock`));
    await expect(tokens().forgetAll()).rejects.toMatchObject(busy);
    expect(time.seconds).toBe(151);
    await expect(tokens().forget(holder)).rejects.toMatchObject(busy);
    expect(await tokens().read(holder)).toMatchObject(login);
  });
});

describe('what is in the folder of tokens', () => {
  it('holders are those with tokens of any psd2, and those who log in for the first time', async () => {
    await write('42');
    putKept('7');
    put(place('customer-8.json.lock'), '');
    put(place('client-credentials.json.lock'), '');
    for (const name of ['last-login.json', 'my-customer-9', 'client-credentials2']) put(place(name), '');
    expect(tokens().holders().sort()).toEqual(['42', '7', '8', null]);
  });

  it('customers are those with tokens that count, in order', async () => {
    for (const customerId of ['7', '42', '8']) await write(customerId);
    await write(null);
    await tokens().forget('8');
    putKept('5');
    for (const name of ['my-customer-9.json', 'customer-10.json.old', 'customer-A.json'])
      put(place(name), '{}');
    expect(await tokens().customers()).toEqual(['42', '5', '7']);
  });

  it('damaged tokens are kept when new ones replace them, and found again', async () => {
    put(place('customer-42', '1.json'), 'garbage');
    put(place('client-credentials', '1.json'), 'garbage');
    put(place('my-customer-9', '1.json.damaged-x'), '');
    expect(await tokens().damaged()).toEqual([]);
    await write('42');
    await write(null);
    // Also what is not of one login: who logged in last.
    put(place('last-login.json'), 'garbage');
    await tokens().remember('42');
    const damaged = await tokens().damaged();
    expect(damaged.sort()).toEqual([
      expect.stringMatching(`^${place('client-credentials', '1.json.damaged-')}\\d+T\\d+Z$`),
      expect.stringMatching(`^${place('customer-42', '1.json.damaged-')}\\d+T\\d+Z$`),
      expect.stringMatching(`^${place('last-login.json.damaged-')}\\d+T\\d+Z$`),
    ]);
    expect(notices).toHaveLength(3);
    expect(await tokens().read('42')).toMatchObject({ ...login, generation: 2 });
    expect(await tokens().customers()).toEqual(['42']);
  });

  it.each([
    ['a line break in a token', { accessToken: 'a\nb' }],
    ['a letter that no header carries', { accessToken: 'a\u0100' }],
    ['no token', { accessToken: undefined }],
    ['no bank', { baseUrl: undefined }],
    ['a number for a time', { accessTokenExpiresAt: 7 }],
    ['a number for the scope', { scope: 7 }],
    ['a session id with a line break', { apiTrackId: 'a\nb' }],
    ['half a generation', { origin: 1.5 }],
  ])('a file with %s is damaged', async (_, change) => {
    const content = { ...login, baseUrl: bank.href, ...change };
    put(place('customer-42', '1.json'), JSON.stringify(content));
    await expect(tokens().read('42')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(`^${place('customer-42', '1.json')} is damaged: `),
    });
  });

  it('tokens with a session id and tabs or accents are whole', async () => {
    await write('42', { ...login, accessToken: 'a\tb ~\u00e9', apiTrackId: 'track-1' });
    expect(await tokens().read('42')).toMatchObject({ accessToken: 'a\tb ~\u00e9', apiTrackId: 'track-1' });
  });
});

describe('tokens of a profile that becomes protected', () => {
  const everything = () =>
    readdirSync(place(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
      .join();

  it('rewritten tokens are encrypted, keep their origin, and leave nothing half-written', async () => {
    useKeyring();
    await write('42');
    await write(null, { ...login, refreshToken: null });
    putKept('7');
    await tokens().forget('9');
    for (const name of ['customer-42.json.tmp-1', 'client-credentials.json.tmp-1'])
      put(place(name), 'secret-');
    await protect();
    await tokens().rewrite();
    expect(everything()).not.toContain('secret-');
    expect(await tokens().read('42')).toMatchObject({ ...login, generation: 2, origin: 1 });
    expect(await tokens().read(null)).toMatchObject({ refreshToken: null, generation: 2, origin: 1 });
    expect(await tokens().read('7')).toMatchObject({ ...login, generation: 2, origin: 1 });
    await tokens().rewrite();
    expect(await tokens().read('42')).toMatchObject({ ...login, generation: 3, origin: 1 });
  });

  it('a rewrite does not bring back a login', async () => {
    useKeyring();
    await write('42');
    await tokens().forget('42');
    await protect();
    await tokens().rewrite();
    expect(readdirSync(place('customer-42'))).toEqual(['2.json']);
  });

  it('encrypted tokens do not open for another customer or another bank', async () => {
    useKeyring();
    await protect();
    await write('42');
    const stored = readFileSync(place('customer-42', '1.json'), 'utf8');
    expect(stored).not.toContain('secret-');
    put(place('customer-43', '1.json'), stored);
    put(place('client-credentials', '1.json'), stored);
    put(place('customer-44', '1.json'), stored.replace('bank.example', 'evil.example'));
    for (const holder of ['43', null])
      await expect(tokens().read(holder)).rejects.toThrow('was written for another place');
    await expect(tokens(new URL('https://evil.example/psd2')).read('44')).rejects.toThrow(
      `${place('customer-44', '1.json')} is damaged`,
    );
  });

  it('without the key, encrypted tokens are neither read nor replaced, and the error says what to do', async () => {
    useKeyring();
    await protect();
    await write('42');
    rmSync(folder.protection('bank'));
    const gone = (path: string) => ({
      code: 'config',
      message: `${path} is encrypted, and the profile's key is gone`,
      hint: `Restore the folder protection, or remove the file (rm ${path}) and log in again:`,
      next: [['auth', 'login']],
    });
    await expect(tokens().read('42')).rejects.toMatchObject(gone(place('customer-42', '1.json')));
    await expect(write('42')).rejects.toMatchObject(gone(place('customer-42.json')));
    // What is not encrypted can be used.
    expect(await tokens().login('42')).toMatchObject({ scope: 'oob' });
    put(place('customer-43', '1.json'), 'garbage');
    await write('43');
    expect(await tokens().read('43')).toMatchObject(login);
  });

  it('tokens that the bank refused stay encrypted', async () => {
    useKeyring();
    await protect();
    await write('42');
    await tokens().change('42', async (slot) => {
      const read = await slot.read();
      if (read) await slot.refuse(read);
    });
    expect(everything()).not.toContain('secret-');
    expect(await tokens().read('42')).toMatchObject({
      accessToken: 'secret-access',
      refreshToken: null,
      generation: 2,
      origin: 1,
    });
  });
});

describe('the files of a login', () => {
  it('only the owner can read tokens', async () => {
    await write('42');
    await tokens().remember('42');
    expect(statSync(place()).mode & 0o777).toBe(0o700);
    const stored = readdirSync(place(), { recursive: true, withFileTypes: true });
    expect(stored.map(({ name }) => name).sort()).toEqual(['1.json', 'customer-42', 'last-login.json']);
    for (const entry of stored)
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
  });

  it('psd2 does not trust a login in a folder that others can write to', async () => {
    await write('42');
    chmodSync(place('customer-42'), 0o777);
    await expect(tokens().read('42')).rejects.toMatchObject({
      code: 'config',
      message: `${place('customer-42')} can be changed by others (mode 0777)`,
      hint: `Run: chmod 700 ${place('customer-42')}`,
    });
  });

  it('late tokens do not bring back a login that was removed with its folder', async () => {
    await write('42');
    const spent = await read();
    const vault = new Vault(folder, 'bank');
    // A slot for writes of another process, which has lost its claim.
    const slow = await new FileTokens(folder, 'bank', bank, () => {}, vault).change(
      '42',
      async (slot) => slot,
    );
    vi.spyOn(vault, 'key').mockImplementation(async () => {
      rmSync(place('customer-42'), { recursive: true, force: true });
      return undefined;
    });
    expect(await slow.replace(spent, { ...login, accessToken: 'access-2' })).toBeUndefined();
    await slow.refuse(spent);
    expect(existsSync(place('customer-42'))).toBe(false);
  });
});

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

  it('a login of a protected profile needs its key, before the customer logs in', async () => {
    const vault = new Vault(folder, 'bank');
    await vault.protect({ kind: 'passphrase', passphrase: 'secret' });
    const closed = new FileTokens(folder, 'bank', bank, () => {}, new Vault(folder, 'bank'));
    await expect(closed.ready()).rejects.toMatchObject({
      message: 'The profile bank is protected by a passphrase',
    });
    expect(openBelow(folder.root)).toEqual([]);
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

it('in a folder that was copied away no tokens are changed', async () => {
  const moved = { id: 'x', movedTo: { id: 'y', place: '/new' }, copiedFrom: null };
  put(join(folder.root, 'store.json'), JSON.stringify(moved));
  await expect(write('42')).rejects.toThrow('was copied to /new');
});

describe('the generations of a login', () => {
  let folder: string;
  let generations: Generations;

  beforeEach(() => {
    folder = join(newConfigFolder(temporary).root, 'login');
    mkdirSync(folder, { recursive: true });
    generations = new Generations(folder);
  });

  it('the newest generation counts, 10 comes after 9, and earlier ones are removed', () => {
    expect(generations.newest()).toBe(0);
    expect(generations.add(1, 'one')).toBe(true);
    expect(generations.add(9, 'nine')).toBe(true);
    expect(generations.add(10, 'ten')).toBe(true);
    expect(generations.newest()).toBe(10);
    expect(readFileSync(generations.pathOf(10), 'utf8')).toBe('ten');
    expect(readdirSync(folder)).toEqual(['10.json']);
  });

  it.each([true, false])('a generation is written once, on a file system with hard links: %s', (canLink) => {
    if (!canLink) replaceForStore(fs, 'linkSync', failing('EPERM'));
    expect(generations.add(1, 'first')).toBe(true);
    expect(generations.add(1, 'second')).toBe(false);
    expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('first');
    expect(readdirSync(folder)).toEqual(['1.json']);
  });

  it('a process that stalled while others continued cannot bring back an older generation', () => {
    for (const generation of [1, 2, 3]) generations.add(generation, String(generation));
    expect(generations.add(2, 'late')).toBe(false);
    expect(generations.newest()).toBe(3);
    expect(readdirSync(folder)).toEqual(['3.json']);
  });

  it('files that killed processes left half written are removed, and damaged files are kept', () => {
    writeFileSync(join(folder, '.11111111-1111-4111-8111-111111111111'), 'half');
    writeFileSync(join(folder, '1.json.damaged-20261121T100000000Z'), 'damaged');
    generations.add(2, 'two');
    expect(readdirSync(folder).sort()).toEqual(['1.json.damaged-20261121T100000000Z', '2.json']);
  });

  it('a process that stalled cannot bring back a login that was removed', () => {
    const gone = new Generations(join(folder, 'gone'));
    expect(gone.add(5, 'late')).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of two processes that write the same generation at the same time, the faster one wins', () => {
    once('linkSync', (link) => {
      expect(new Generations(folder).add(1, 'faster')).toBe(true);
      return link();
    });
    expect(generations.add(1, 'slower')).toBe(false);
    expect(readFileSync(generations.pathOf(1), 'utf8')).toBe('faster');
  });

  it('a process writes again what another one took for half written, and removed', () => {
    generations.add(1, 'one');
    once('linkSync', (link) => {
      for (const name of readdirSync(folder)) if (name.startsWith('.')) rmSync(join(folder, name));
      return link();
    });
    expect(generations.add(2, 'two')).toBe(true);
    expect(readFileSync(generations.pathOf(2), 'utf8')).toBe('two');
  });
});
