import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../src/domain/calendar.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { type RememberedStore, StoreMemory } from '../../src/store/machine/store-choice.ts';
import { glanceAt, openRemembered, openStore } from '../../src/store/open.ts';
import type { StoreCheck } from '../../src/store/ports/store.ts';
import { parseAddress } from '../../src/store/postgres/address.ts';
import { openDatabases, type ReadyDatabases } from './postgres/databases.ts';
import { settingsOf } from './settings.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';
import { BANK, login } from './whole-store.ts';

const temporary = temporaryFolder();
const DAY = parseDate('--date', '2026-11-21');
const FILES: RememberedStore = { home: 'files', isSet: false };
const ELSEWHERE: RememberedStore = {
  home: 'postgres',
  id: 'id-1',
  shown: 'db.example:5432/bank',
  address: 'postgres://ada@db.example/bank',
  isSet: false,
};
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const settings = (PSD2_STORE?: string, profile?: string) => ({
  ...settingsOf(folder, { PSD2_STORE, PSD2_STORE_PLAIN_TOKENS: '1' }),
  profile,
});
const open = (address?: string, profile?: string) => openStore(settings(address, profile));
const memory = () => new StoreMemory(folder, 'bank');
async function checksOf(store: Awaited<ReturnType<typeof open>>, profile?: string): Promise<StoreCheck[]> {
  const checks: StoreCheck[] = [];
  for await (const check of store.check(profile)) checks.push(check);
  return checks;
}
const giveTokens = async () =>
  (await open()).open('bank', BANK).tokens.change('42', (slot) => slot.write(login));

describe('the store of a profile', () => {
  it('is the one that the operator chose for it, and PSD2_STORE counts before that', async () => {
    memory().replace({ ...ELSEWHERE, isSet: true });
    expect(await open(undefined, 'bank')).toMatchObject({
      place: 'in PostgreSQL at db.example:5432/bank',
      source: 'profile',
    });
    expect(await open('postgres://ada@other.example/bank', 'bank')).toMatchObject({ source: 'environment' });
    expect(await open(undefined, 'other')).toMatchObject({ source: 'default', place: `in ${folder.root}` });
    expect(await open()).toMatchObject({ source: 'default' });
  });

  it('on disk is remembered before the first tokens, flow or row of a sync is written', async () => {
    await giveTokens();
    expect(memory().read()).toEqual(FILES);
    await expect((async () => (await open(ELSEWHERE.address)).open('bank'))()).rejects.toMatchObject({
      code: 'config',
      message: `The data of the profile "bank" is in the files in ${folder.root}, but this command would use PostgreSQL at db.example:5432/bank`,
      next: [
        ['store', 'copy', '--from', 'files', '--to', ELSEWHERE.address],
        ['profile', 'set', 'bank', '--store', ELSEWHERE.address],
      ],
    });
  });

  it('on disk is refused if a database has the data, at the latest when psd2 writes', async () => {
    const early = (await open()).open('bank', BANK);
    memory().replace(ELSEWHERE);
    await expect((async () => (await open()).open('bank'))()).rejects.toThrow(
      'is in PostgreSQL at db.example:5432/bank, but this command would use the files in',
    );
    await expect(early.tokens.change('42', (slot) => slot.write(login))).rejects.toThrow(
      'is in PostgreSQL at db.example:5432/bank',
    );
    expect((await open()).open('other')).toBeDefined();
  });

  it('is read once for a command, so that all of it uses one store', async () => {
    memory().replace(FILES);
    const store = await open(undefined, 'bank');
    store.open('bank');
    writeFileSync(join(folder.root, 'stores', 'bank.json'), 'garbage', { mode: 0o600 });
    store.open('bank');
    await expect(open(undefined, 'bank')).rejects.toThrow('is damaged');
  });
});

describe('the check of a store on disk', () => {
  it('says where the store is set, and whether it is remembered', async () => {
    const isFine = async (how: string, profile?: string) => {
      const check = { name: 'store', status: 'ok', detail: `files in ${folder.root} (${how})` };
      expect(await checksOf(await open(undefined, profile), profile)).toMatchObject([check]);
    };
    await isFine('default', 'bank');
    await giveTokens();
    await isFine('default; remembered', 'bank');
    await isFine('default');
    memory().replace({ home: 'files', isSet: true });
    await isFine('setting of the profile; remembered', 'bank');
  });

  it('fails if a database has the data, or the store was copied away, and says what to do', async () => {
    memory().replace(ELSEWHERE);
    expect(await checksOf(await open(), 'bank')).toEqual([
      {
        name: 'store',
        status: 'fail',
        detail: expect.stringContaining('is in PostgreSQL at db.example:5432/bank'),
        fix: expect.objectContaining({
          hint: expect.stringContaining('Is PSD2_STORE missing here?'),
          next: expect.arrayContaining([['profile', 'set', 'bank', '--store', ELSEWHERE.address]]),
        }),
      },
    ]);
    const moved = { id: 'x', movedTo: { id: 'y', place: '/new' }, copiedFrom: null };
    writeFileSync(join(folder.root, 'store.json'), JSON.stringify(moved), { mode: 0o600 });
    expect(await checksOf(await open())).toMatchObject([
      { status: 'fail', detail: expect.stringContaining('was copied to /new') },
    ]);
  });
});

it('completion offers what is in the files, and nothing if a database has the data', async () => {
  await giveTokens();
  const offered = async () => (await glanceAt(folder, 'bank', {})).customers();
  expect(await offered()).toEqual(['42']);
  memory().replace(ELSEWHERE);
  expect([await offered(), await (await glanceAt(folder, 'bank', {})).begun('transfer', 9)]).toEqual([
    [],
    [],
  ]);
});

describe('a store in PostgreSQL', () => {
  let running: ReadyDatabases | undefined;
  let server: ReadyDatabases;
  beforeEach(async () => {
    running ??= openDatabases();
    server = running;
    for (const name of ['psd2_one', 'psd2_two']) {
      if (server.sql('postgres', `select 1 from pg_database where datname = '${name}'`) === '1') continue;
      await server.ready(name);
    }
  });
  afterAll(() => {
    running?.stop();
    running = undefined;
  });

  it('is remembered with its first data, can be looked at, and is distinguished from another one at its address', async () => {
    const store = await open(server.url('psd2_one'), 'bank');
    await store.open('bank', BANK).tokens.change('42', (slot) => slot.write(login));
    await store.close();
    const remembered = memory().read();
    if (remembered?.home !== 'postgres') throw new Error('The database is not remembered.');
    expect(remembered).toMatchObject({ isSet: false, address: server.url('psd2_one') });
    // Looking takes neither PSD2_STORE nor the guard of the profile into account.
    memory().replace(FILES);
    rmSync(join(folder.root, 'tokens'), { recursive: true, force: true });
    const looked = await openRemembered(settings(server.url('psd2_two')), remembered);
    expect(await looked.open('bank', BANK).tokens.customers()).toEqual(['42']);
    await looked.close();
    expect(memory().read()).toEqual(FILES);
    const other = { ...remembered, id: 'id-of-another' };
    await expect(openRemembered(settings(), other)).rejects.toMatchObject({
      code: 'config',
      message: `PostgreSQL at ${remembered.shown} is not the remembered database`,
    });
    const glance = await glanceAt(folder, 'bank', { PSD2_STORE: server.url('psd2_one') });
    expect(await glance.customers()).toEqual(['42']);
    server.sql(
      'psd2_one',
      `insert into psd2.batches (profile, batch, sha256, events) values ('bank', 'b1', 'b1', 1);
       insert into psd2.batch_events (profile, batch, n, writer, at, event)
         values ('bank', 'b1', 1, 'w', '2026-11-21T12:00:00Z', '{"type":"added","count":2}')`,
    );
    expect(await glance.batches(9)).toEqual([
      { batch: 'b1', at: '2026-11-21T12:00:00.000Z', event: { type: 'added', count: 2 } },
    ]);
  });

  it('that the operator chose is opened without PSD2_STORE', async () => {
    memory().replace({
      ...ELSEWHERE,
      id: null,
      shown: parseAddress(server.url('psd2_two'), {}).shown,
      address: server.url('psd2_two'),
      isSet: true,
    });
    const store = await open(undefined, 'bank');
    await store.open('bank').calls.count(DAY);
    await store.close();
    expect(memory().read()).toMatchObject({ home: 'postgres', id: expect.any(String), isSet: true });
    expect(await (await glanceAt(folder, 'bank', {})).customers()).toEqual([]);
  });

  it('files that are remembered can be looked at while a database is the store', async () => {
    await giveTokens();
    memory().replace(ELSEWHERE);
    const looked = await openRemembered(settings(ELSEWHERE.address), FILES);
    expect(looked).toMatchObject({ place: `in ${folder.root}`, source: 'default' });
    expect(await looked.open('bank', BANK).tokens.customers()).toEqual(['42']);
    expect(await checksOf(looked, 'bank')).toMatchObject([
      { status: 'ok', detail: `files in ${folder.root} (default)` },
    ]);
  });
});
