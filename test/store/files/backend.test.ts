import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { hasDataInFiles } from '../../../src/store/files/has-data.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { openStore } from '../../../src/store/open.ts';
import { consentCategories } from '../../domain/orders.ts';
import { begun, TRANSFER_BEGIN } from '../flows.ts';
import { append, rowOf } from '../row-of.ts';
import { settingsOf } from '../settings.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { BANK, login } from '../whole-store.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;

beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const open = (env: Environment = {}) => openStore(settingsOf(folder, env));
const backend = async () => (await open()).open('bank', BANK);

describe('the chosen store', () => {
  it('without PSD2_STORE it is the configuration folder, which looking does not make', async () => {
    const store = await open();
    expect([store.place, store.needsFolder]).toEqual([`in ${folder.root}`, true]);
    const nothing = { schema: null, profiles: [], claims: [], bytes: 0 };
    expect(await store.status()).toEqual({ home: 'files', place: folder.root, ...nothing });
    for await (const check of store.check())
      expect(check).toMatchObject({ status: 'ok', detail: `files in ${folder.root} (default)` });
    expect(existsSync(folder.root)).toBe(false);
    await store.close();
  });

  it('with PSD2_STORE it is that database', async () => {
    const store = await open({ PSD2_STORE: 'PostgreSQL://ada@db.example/psd2' });
    expect([store.place, store.needsFolder]).toEqual([expect.stringContaining('db.example'), false]);
    await store.close();
    await expect(open({ PSD2_STORE: 'postgres' })).rejects.toMatchObject({ code: 'config' });
  });
});

describe('the status of a store on disk', () => {
  it('flows are counted by kind and state, with the damaged ones, and logins by customer', async () => {
    const { tokens, flows } = await backend();
    for (const customerId of ['42', '43', '44']) await tokens.change(customerId, (slot) => slot.write(login));
    await tokens.forget('44');
    await tokens.change(null, (slot) => slot.write(login));
    const [first, second, third, fourth] = await Promise.all(
      ['a', 'b', 'c', 'd'].map((reference) => begun(flows, 'transfer', TRANSFER_BEGIN(reference))),
    );
    for (const open of [first, second]) await open?.record({ type: 'cancelled' });
    for (const open of [third, fourth])
      writeFileSync(join(folder.flows('bank'), `${open?.current.flow}.ndjson`), 'garbage');
    await begun(flows, 'transfer', TRANSFER_BEGIN('e'));
    await begun(flows, 'consent', { transactionId: 't', customerId: '42', categories: consentCategories() });
    const { tokens: others } = (await open()).open('other', BANK);
    await others.change('7', (slot) => slot.write(login));
    const { profiles, claims } = await (await open()).status();
    expect(profiles).toEqual([
      {
        profile: 'bank',
        customers: 2,
        flows: [
          { kind: 'transfer', state: 'cancelled', count: 2 },
          { kind: 'transfer', state: 'created', count: 1 },
          { kind: 'transfer', state: 'damaged', count: 2 },
          { kind: 'consent', state: 'created', count: 1 },
        ],
        batches: 0,
      },
      { profile: 'other', customers: 1, flows: [], batches: 0 },
    ]);
    expect(claims).toEqual([]);
  });

  it('a flow that somebody works on is a claim without an end', async () => {
    const { flows } = await backend();
    await flows.begin('transfer', TRANSFER_BEGIN('Rent'), async ({ current }) => {
      expect((await (await open()).status()).claims).toEqual([
        {
          profile: 'bank',
          kind: 'flow',
          name: current.flow,
          worker: expect.stringMatching(`^process ${process.pid} on `),
          until: null,
        },
      ]);
    });
  });

  it('the size is that of profiles, tokens, flows and keys, and of nothing else', async () => {
    const { tokens } = await backend();
    await tokens.change('42', (slot) => slot.write(login));
    const sizes = (place: string): number[] =>
      readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
    const before = sizes(folder.tokens('bank')).reduce((sum, size) => sum + size, 0);
    expect(before).toBeGreaterThan(0);
    for (const [index, name] of ['profiles', 'protection', 'flows', 'log'].entries())
      put(join(folder.root, name, 'below', 'file'), 'x'.repeat(10 ** (3 + index)));
    expect((await (await open()).status()).bytes).toBe(before + 111_000);
  });
});

describe('the rows of a sync on disk', () => {
  const day = parseDate('--date', '2026-11-21');
  const signal = new AbortController().signal;
  const sync = async (out?: string) => {
    const { sync: into } = await backend();
    await into(out).run(signal, (run) =>
      run.customer('42', async (to) => {
        to.replace('accounts', [{ productId: 'A1' }]);
        const booked = await to.booked('A1', false);
        await append(booked, [rowOf('a', day)]);
        to.remember('A1', { from: day, through: day }, day);
      }),
    );
  };

  it.each([
    ['the folder that the operator names', () => join(folder.root, 'elsewhere')],
    ['the folder sync', () => undefined],
  ])('rows are in %s', async (_, out) => {
    await sync(out());
    const place = join(out() ?? join(folder.root, 'sync'), '42');
    expect(readdirSync(place).sort()).toEqual(['current.ndjson', 'sync-1.ndjson', 'transactions']);
  });

  it('a sync of a store that was copied away stops before it reads a customer', async () => {
    const { sync: into } = await backend();
    let isRead = false;
    const late = into(undefined).run(signal, async (run) => {
      const moved = { id: 'x', movedTo: { id: 'y', place: '/new' }, copiedFrom: null };
      writeFileSync(join(folder.root, 'store.json'), JSON.stringify(moved), { mode: 0o600 });
      await run.customer('42', async () => {
        isRead = true;
      });
    });
    await expect(late).rejects.toThrow(
      `The store in ${folder.root} was copied to /new, and is no longer used`,
    );
    expect(isRead).toBe(false);
  });

  it('each process keeps its own pace', async () => {
    const own = { next: async () => {} };
    const { turns } = await backend();
    expect(turns(Object.assign(own))).toBe(own);
  });
});

/** Whether a configuration folder with these files has data of the profile `bank`. */
function hasData(files: Record<string, string>): boolean {
  const folder = newConfigFolder(temporary);
  for (const [name, content] of Object.entries(files)) put(join(folder.root, name), content);
  return hasDataInFiles(folder, 'bank');
}

const [OF_42, OF_43] = ['tokens/bank/customer-42', 'tokens/bank/customer-43'];
it.each([
  ['a flow', { 'flows/bank/tr-1.ndjson': '' }],
  ['a flow beside the index', { 'flows/bank/index': '', 'flows/bank/co-1.ndjson': '' }],
  ['tokens of a customer', { 'tokens/bank/customer-42/1.json': '{}' }],
  ['tokens of the application', { 'tokens/bank/client-credentials/7.json': '{}' }],
  ['tokens after a logout', { [`${OF_42}/1.json`]: 'null', [`${OF_42}/2.json`]: '{}' }],
  ['tokens of another than has logged out', { [`${OF_42}/1.json`]: 'null', [`${OF_43}/1.json`]: '{}' }],
  ['damaged tokens', { 'tokens/bank/customer-42/1.json': 'garbage' }],
])('%s are data', (_what, files) => {
  expect(hasData(files)).toBe(true);
});

it.each([
  ['no file', {}],
  ['the data of another profile', { 'flows/b/tr-1.ndjson': '', 'tokens/b/customer-42/1.json': '{}' }],
  ['an index, and claims of references', { 'flows/bank/index': '', 'flows/bank/references/x.1': '' }],
  ['a half-written journal', { 'flows/bank/tr-1.ndjson.new': '' }],
  ['a logout', { 'tokens/bank/customer-42/2.json': 'null', 'tokens/bank/customer-42/1.json': '{}' }],
  ['a login that was not finished', { 'tokens/bank/customer-42/.5f0c': '{}' }],
  ['counts of reads', { 'tokens/bank/unattended-reads/2026-11-21': '42 *\n' }],
  ['notes', { 'tokens/bank/last.json': '{}' }],
  ['what is kept of a customer', { 'tokens/bank/customers/bank.example/customer-ada/1.json': '{}' }],
  ['a folder of another name', { 'tokens/bank/customer-42.old/1.json': '{}' }],
  ['a folder that ends like one of tokens', { 'tokens/bank/old-client-credentials/1.json': '{}' }],
  ['a name without the number of a customer', { 'tokens/bank/customer-/1.json': '{}' }],
  ['a name that psd2 gives to no customer', { 'tokens/bank/customer-Ada/1.json': '{}' }],
])('%s is no data', (_what, files) => {
  expect(hasData(files)).toBe(false);
});
