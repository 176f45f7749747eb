import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RememberedStore } from '../../../src/store/machine/store-choice.ts';
import type { How } from '../command.ts';

/** The databases of this machine's network by their addresses: what psd2 finds there, and a folder that has its data. */
const { databases, world } = vi.hoisted(() => {
  vi.resetModules();
  return {
    databases: new Map<string, { id: string | null; shown: string; root: string }>(),
    world: { isInterrupted: false, closed: 0 },
  };
});
vi.mock(import('../../../src/store/open.ts'), async (original) => {
  const real = await original();
  const { openFiles } = await import('../../../src/store/files/backend.ts');
  const { storeFolder } = await import('../../../src/store/machine/folder.ts');
  const { Psd2Error } = await import('../../../src/errors.ts');
  const find = (address: string, option = 'PSD2_STORE') => {
    const found = databases.get(address);
    if (found) return { ...found, address };
    throw new Psd2Error('config', `The database of ${option} cannot be reached`);
  };
  const counting = (store: Awaited<ReturnType<typeof real.openRemembered>>) => {
    const close = store.close.bind(store);
    store.close = async () => {
      world.closed += 1;
      await close();
    };
    return store;
  };
  return {
    ...real,
    findDatabase: async (address, _env, _signal, option) => {
      const { root: _, ...found } = find(address, option);
      return found;
    },
    openRemembered: async (settings, store) => {
      if (world.isInterrupted) throw new Psd2Error('interrupted', 'Interrupted');
      if (store.home === 'files') return counting(await real.openRemembered(settings, store));
      const { root, id } = find(store.address);
      if (id === null) throw new TypeError('A database without tables is not opened');
      return counting(openFiles({ ...settings, folder: storeFolder(root) }));
    },
  };
});
const { storeFolder } = await import('../../../src/store/machine/folder.ts');
const { StoreMemory } = await import('../../../src/store/machine/store-choice.ts');
const { newConfigFolder, temporaryFolder } = await import('../../store/temporary-folder.ts');
const { storeOperation } = await import('../access.ts');
const { openCommand, ranIn, useFolder } = await import('../command.ts');
const { storeTransfer } = await import('../customer/stored.ts');
const { failureOf } = await import('../failure.ts');
afterAll(() => vi.resetModules());

const temporary = temporaryFolder();
const NOW = '2026-03-01T10:00:00.000Z';
const ONE = 'postgres://ada@one.example/bank';
const TWO = 'postgres://ada@two.example/bank';
const EMPTY = 'postgres://ada@empty.example/bank';
const [SHOWN_ONE, SHOWN_TWO] = ['one.example:5432/bank', 'two.example:5432/bank'];
const inOne = { home: 'postgres', id: 'one', shown: SHOWN_ONE, address: ONE, isSet: true } as const;
const inTwo = { ...inOne, id: 'two', shown: SHOWN_TWO, address: TWO } as const;
const AWAY = { ...inOne, address: 'postgres://away/b', shown: 'away:5432/b' } as const;

const folder = useFolder(temporary);
beforeEach(async () => {
  databases.clear();
  for (const [address, id, shown] of [
    [ONE, 'one', SHOWN_ONE],
    [TWO, 'two', SHOWN_TWO],
    [EMPTY, null, 'empty.example:5432/bank'],
  ] as const)
    databases.set(address, { id, shown, root: newConfigFolder(temporary).root });
  await open().context.profiles.write('bank', { baseUrl: 'https://bank.example/' });
});

const open = ({ env, ...how }: How = {}, where = folder) =>
  openCommand(where, NOW, { ...how, env: { PSD2_BASE_URL: undefined, ...env } });
/** Runs `psd2 profile set bank --store …`. */
const setStore = (store: string, how: How = {}, name = 'bank') =>
  ranIn(open({ format: 'table', ...how }), 'profile', 'set', name, '--store', store);
const remembered = (name = 'bank') => new StoreMemory(folder, name).read();
const remember = (store: RememberedStore) => new StoreMemory(folder, 'bank').replace(store);
/** A command with the data of the profile in a store. */
function inStore(address?: string) {
  const at = address === undefined ? undefined : databases.get(address);
  return open({ globals: { profile: 'bank' } }, at ? storeFolder(at.root) : folder).context;
}
/** Stores a payment of the profile in a store. */
async function pay(reached: Parameters<typeof storeTransfer>[2], changes = {}, address?: string) {
  const context = inStore(address);
  if (address !== undefined) await context.profiles.write('bank', { baseUrl: 'https://bank.example/' });
  return storeTransfer(context, '1000001', reached, changes);
}
const YES = { globals: { yes: true } } as const;
const LEAVE = 'To take them along, copy the store with psd2 store copy. To leave them there, add --yes.';

it('psd2 remembers the database with its id, and the files again', async () => {
  const said = (place: string) => `The profile bank uses PostgreSQL at ${place} from now on.\n`;
  expect(await setStore(ONE)).toMatchObject({ printed: '', said: said(SHOWN_ONE) });
  expect(remembered()).toEqual(inOne);
  expect((await setStore(TWO)).said).toBe(said(SHOWN_TWO));
  expect(remembered()).toEqual(inTwo);
  const store = { value: `files in ${folder.root}`, source: 'profile' };
  expect(await setStore('files', { format: 'json' })).toMatchObject({
    data: { settings: { store } },
    said: '',
  });
  expect(remembered()).toEqual({ home: 'files', isSet: true });
});

it('a database without tables can be set, and is not opened', async () => {
  await setStore(EMPTY);
  expect(remembered()).toMatchObject({ home: 'postgres', id: null, address: EMPTY, isSet: true });
});

it.each([
  [' files', 'usage', '--store does not name a store'],
  ['', 'usage', '--store does not name a store'],
  ['postgres://a:hush@one.example/bank', 'usage', expect.stringMatching(/^--store contains a password/)],
  ['postgres://ada@away.example/bank', 'config', 'The database of --store cannot be reached'],
])('%j is no store of the profile', async (store, code, message) => {
  const failure = await failureOf(setStore(store));
  expect(failure).toMatchObject({ code, message });
  expect(JSON.stringify(failure)).not.toContain('hush');
  expect(remembered()).toBeUndefined();
});

it('only a profile that exists has a store, and env only if the environment has one', async () => {
  expect(await failureOf(setStore('files', {}, 'bnak'))).toEqual({
    ...{ code: 'no_profile', exitCode: 3, message: 'There is no profile "bnak"' },
    hint: 'Did you mean bank? Existing profiles: bank.',
  });
  expect(await failureOf(setStore('files', {}, 'env'))).toMatchObject({
    ...{ code: 'no_profile', message: expect.stringContaining('PSD2_BASE_URL is not set') },
  });
  await setStore(ONE, { env: { PSD2_BASE_URL: 'https://env.example' } }, 'env');
  expect([remembered('env'), remembered('bnak'), remembered()]).toEqual([inOne, undefined, undefined]);
});

it('a store that was copied to another one cannot be set', async () => {
  await pay('settled');
  await ranIn(open(), 'store', 'copy', '--from', 'files', '--to', newConfigFolder(temporary).root);
  remember(inOne);
  expect(await failureOf(setStore('files'))).toMatchObject({
    ...{ code: 'config', message: expect.stringContaining('was copied to') },
  });
  expect(remembered()).toEqual(inOne);
});

describe('payments that would stay behind', () => {
  const unasked = (left: string) => ({
    ...{ code: 'confirmation_needed', exitCode: 2, hint: LEAVE },
    message: `${left}, and psd2 cannot ask without a terminal`,
  });

  it.each<[Parameters<typeof storeTransfer>[2], object, number]>([
    ['created', {}, 1],
    ['unknown', {}, 1],
    ['executed', { instant: true }, 1],
    ['executed', { instant: false }, 0],
    ['settled', {}, 0],
    // The refusal alone does not say that no money moved.
    ['failed', {}, 1],
    ['cancelled', {}, 0],
  ])('one that is %s (%j): %i unfinished', async (reached, changes, unfinished) => {
    await pay(reached, changes);
    const left = `1 payment of the profile bank would stay behind in the files in ${folder.root}, ${unfinished} of them unfinished`;
    expect(await failureOf(setStore(ONE))).toEqual(unasked(left));
    expect(remembered()).toEqual({ home: 'files', isSet: false });
  });

  it('every payment and operation counts, a damaged one as unfinished, and no consent does', async () => {
    for (const reference of ['1', '2']) await pay('settled', { reference });
    const damaged = await pay('settled', { reference: '3' });
    await storeOperation(inStore(), {});
    appendFileSync(join(folder.flows('bank'), `${damaged}.ndjson`), 'damaged\n{}\n');
    const { message } = await failureOf(setStore(ONE));
    expect(message).toContain('4 payments of the profile bank would stay behind in the files');
    expect(message).toContain(', 2 of them unfinished, ');
  });

  it('psd2 asks at a terminal, and a no changes nothing', async () => {
    await pay('settled');
    const confirm = vi.fn(async (_: string) => true).mockResolvedValueOnce(false);
    const asking = { operator: { confirm: (text: string) => confirm(text) } };
    expect(await failureOf(setStore(ONE, asking))).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was changed' },
    });
    expect(remembered()).toMatchObject({ home: 'files' });
    await setStore(ONE, asking);
    expect(remembered()).toEqual(inOne);
    const left = `1 payment of the profile bank would stay behind in the files in ${folder.root}, 0 of them unfinished`;
    const asked = `${left}. psd2 would not see them, and their references could be used again. Use PostgreSQL at ${SHOWN_ONE}?`;
    expect(confirm.mock.calls).toEqual([[asked], [asked]]);
  });

  it('those in a database stay behind too, and --yes leaves them there', async () => {
    remember(inOne);
    await pay('unknown', {}, ONE);
    const left = `1 payment of the profile bank would stay behind in PostgreSQL at ${SHOWN_ONE}, 1 of them unfinished`;
    for (const store of [TWO, EMPTY, 'files'])
      expect(await failureOf(setStore(store))).toEqual(unasked(left));
    await setStore(TWO, YES);
    expect(remembered()).toEqual(inTwo);
  });

  it('those in the wanted store do not, nor those of another profile', async () => {
    await pay('unknown', {}, ONE);
    await open().context.profiles.write('other', { baseUrl: 'https://other.example/' });
    await storeTransfer(open({ globals: { profile: 'other' } }).context, '1000001', 'unknown');
    await setStore(ONE);
    expect(remembered()).toEqual(inOne);
  });

  it.each<[string, RememberedStore, string]>([
    ['the files', { home: 'files', isSet: false }, 'files'],
    ['the database at another address', { ...AWAY, id: 'one' }, ONE],
    ['a database that had no tables yet', { ...inOne, id: null }, ONE],
  ])('none stay behind if the store stays %s', async (_, before, wanted) => {
    await pay('unknown', {}, wanted === 'files' ? undefined : wanted);
    remember(before);
    await setStore(wanted);
    expect(remembered()).toEqual(wanted === 'files' ? { home: 'files', isSet: true } : inOne);
  });

  it.each<[string, RememberedStore]>([
    ['that had no tables yet', { ...AWAY, id: null }],
    ['that cannot be reached', { ...AWAY, id: 'away' }],
  ])('psd2 asks if it cannot look into the current database, one %s', async (_, before) => {
    remember(before);
    const left =
      'Payments of the profile bank may stay behind in PostgreSQL at away:5432/b, where psd2 cannot look (The database of PSD2_STORE cannot be reached)';
    expect(await failureOf(setStore(ONE))).toEqual(unasked(left));
    expect(remembered()).toEqual(before);
    await setStore(ONE, YES);
    expect(remembered()).toEqual(inOne);
  });

  it('a payment that another psd2 works on keeps the store, also with --yes', async () => {
    const flow = await pay('unknown');
    const { flows } = await inStore().store();
    await flows.resume('transfer', flow, async () => {
      expect(await failureOf(setStore(ONE, YES))).toEqual({
        ...{ code: 'config', exitCode: 3, message: `Another psd2 is working on ${flow} of the profile bank` },
        hint: 'Wait until it has ended, or interrupt it. Nothing was changed.',
      });
    });
    expect(remembered()).toMatchObject({ home: 'files' });
  });

  it('psd2 closes each store that it looked into', async () => {
    world.closed = 0;
    const ends: (() => Promise<void>)[] = [];
    const onEnd = (end: () => Promise<void>) => void ends.push(end);
    await setStore(ONE, { changes: () => ({ onEnd }) });
    await Promise.all(ends.map((end) => end()));
    expect(world.closed).toBe(2);
  });

  it('an interruption while psd2 looks ends it', async () => {
    world.isInterrupted = true;
    expect(await failureOf(setStore(EMPTY, YES))).toMatchObject({ code: 'interrupted' });
    world.isInterrupted = false;
    expect(remembered()).toBeUndefined();
  });
});

describe('PSD2_STORE beside the store that is set', () => {
  const SAME = 'postgresql://ada@one.example:5432/bank';
  const WARNING =
    'PSD2_STORE names another store. psd2 refuses commands of the profile until you unset it.\n';
  const uses = (place: string) => `The profile bank uses ${place} from now on.\n`;

  it.each([
    ['is empty', '', 'files', ''],
    ['names a database, but the files are set', ONE, 'files', WARNING],
    ['names one that cannot be reached, but the files are set', AWAY.address, 'files', WARNING],
    ['names another database', TWO, ONE, WARNING],
    ['names the same one', ONE, ONE, ''],
    ['names the same one in another way', SAME, ONE, ''],
    ['names one that cannot be reached', AWAY.address, ONE, ''],
  ])('%s', async (_, variable, store, warning) => {
    databases.set(SAME, { id: 'one', shown: SHOWN_ONE, root: newConfigFolder(temporary).root });
    const { said } = await setStore(store, { env: { PSD2_STORE: variable } });
    const place = store === 'files' ? `the files in ${folder.root}` : `PostgreSQL at ${SHOWN_ONE}`;
    expect(said).toBe(`${warning}${uses(place)}`);
  });

  it.each([ONE, 'files'])('is not the address of a database, so %s is not set', async (store) => {
    remember(inTwo);
    expect(await failureOf(setStore(store, { env: { PSD2_STORE: 'files' }, ...YES }))).toEqual({
      ...{ code: 'config', exitCode: 3, message: 'PSD2_STORE is not the address of a database' },
      hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
    });
    expect(remembered()).toEqual(inTwo);
  });
});

it('a memory that is damaged is an error, and stays', async () => {
  await setStore(ONE);
  writeFileSync(join(folder.root, 'stores', 'bank.json'), '{', { mode: 0o600 });
  expect((await failureOf(setStore('files'))).code).toBe('config');
});
