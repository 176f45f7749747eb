import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { reserveSpace } from '../../../src/store/disk/reserve-space.ts';
import { FileFlows } from '../../../src/store/files/flows/flows.ts';
import { ReferenceClaims } from '../../../src/store/files/flows/references.ts';
import { Generations } from '../../../src/store/files/token-file.ts';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { recordDisk } from '../disk.ts';
import { begunTransfer } from '../flows.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace, replaceForStore } from '../waiting.ts';
import { BANK, login } from '../whole-store.ts';

// A power cut can lose what was not synced to disk (fsync) before the writer continues. Tests cannot cause a power cut, so
// they check what the store asks of the disk, and in which order.

const temporary = temporaryFolder();
let folder: StoreFolder;

beforeEach(() => {
  folder = newConfigFolder(temporary);
});

describe('the durable writes of a flow', () => {
  let journal: FileFlows;
  beforeEach(() => {
    journal = new FileFlows(folder.flows('sandbox'), { now: () => new Date(), random: Math.random });
  });
  const begin = () => begunTransfer(journal);
  const sent = { requestId: 'q1', digest: null };

  it('a flow and its name are durable with the first event, before anyone continues with it', async () => {
    const calls = recordDisk();
    const file = `${(await begin()).current.flow}.ndjson`;
    expect(calls.slice(calls.indexOf(`write ${file}.new`))).toEqual([
      `write ${file}.new`,
      `fsync ${file}.new`,
      `link ${file}`,
      'fsync sandbox',
    ]);
  });

  it('each further event of a flow is durable before anyone acts on it', async () => {
    const open = await begin();
    const calls = recordDisk();
    await open.record({ type: 'verify-sent', ...sent });
    const file = `${open.current.flow}.ndjson`;
    expect(calls).toEqual([`write ${file}`, `fsync ${file}`]);
  });

  /** A transfer that is ready to execute. */
  async function authorised() {
    const open = await begin();
    await open.record({ type: 'verify-sent', ...sent });
    await open.record({ ...VERIFIED, resourceId: 'r1' });
    await open.record({ type: 'accepted' });
    await open.record({ type: 'sca-started' });
    await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
    return open;
  }

  it('a flow reserves space for its outcome before it announces execute, and frees it for the outcome', async () => {
    const open = await authorised();
    const file = `${open.current.flow}.ndjson`;
    const calls = recordDisk();
    await open.record({ type: 'execute-sent', ...sent });
    // The index comes last: a process that is killed before it has sent nothing, and the journal says that it may have.
    const index = ['write index', 'fsync index'];
    expect(calls).toEqual(['write .space-*', 'fsync .space-*', `write ${file}`, `fsync ${file}`, ...index]);
    calls.length = 0;
    await open.record({ type: 'executed', cro: '1' });
    expect(calls).toEqual(['give back .space-*', `write ${file}`, `fsync ${file}`]);
  });

  it('a flow without space for its outcome is not executed', async () => {
    const open = await authorised();
    const path = join(folder.flows('sandbox'), `${open.current.flow}.ndjson`);
    const before = readFileSync(path, 'utf8');
    replaceForStore(fs, 'writeFileSync', failing('ENOSPC'));
    await expect(open.record({ type: 'execute-sent', ...sent })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^Nothing can be stored in /),
    });
    expect(open.current.state).toBe('authorized');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

it('a generation is durable before it counts, and its name before the previous one is removed', async () => {
  const place = join(folder.root, 'login');
  mkdirSync(place, { recursive: true });
  const generations = new Generations(place);
  generations.add(1, 'one');
  const calls = recordDisk();
  replaceForStore(fs, 'rmSync', (path: never) => void calls.push(`remove ${basename(path)}`));
  generations.add(2, 'two');
  const named = calls.filter((call) => !call.startsWith('remove .'));
  expect(named).toEqual(['write .*', 'fsync .*', 'link 2.json', 'fsync login', 'remove 1.json']);
});

it("a customer's first tokens are durable, together with their folder", async () => {
  const store = new FileTokens(folder, 'sandbox', BANK);
  const calls = recordDisk();
  await store.change('1234567', (slot) => slot.write(login));
  expect(calls).toEqual(['write .*', 'fsync .*', 'link 1.json', 'fsync customer-1234567', 'fsync sandbox']);
});

it('a reference is durable before anything is paid with it', async () => {
  const flows = folder.flows('sandbox');
  mkdirSync(flows, { recursive: true, mode: 0o700 });
  const calls = recordDisk();
  new ReferenceClaims(flows).take('INV-1', 'tr-1', () => false);
  expect(calls).toEqual([
    expect.stringMatching(/^write [0-9a-f]{32}\.1\.tr-1$/),
    expect.stringMatching(/^fsync [0-9a-f]{32}\.1\.tr-1$/),
    expect.stringMatching(/^link [0-9a-f]{32}\.1$/),
    'fsync references',
  ]);
});

const newFolder = () => newConfigFolder(temporary).flows('bank');

/** Notes the files that are opened and closed from now on, and what is written. */
function watchFiles() {
  const seen = { open: new Set<number>(), written: '', synced: 0, modes: new Set<unknown>() };
  const { openSync, closeSync, writeFileSync: write, fsyncSync } = fs;
  replace(fs, 'openSync', (path: never, flags: never, mode: never) => {
    const file = openSync(path, flags, mode);
    seen.open.add(file);
    seen.modes.add(mode);
    return file;
  });
  replace(fs, 'closeSync', (file: never) => {
    seen.open.delete(file);
    closeSync(file);
  });
  replace(fs, 'writeFileSync', (file: never, data: never) => {
    write(file, data);
    seen.written += data;
  });
  replace(fs, 'fsyncSync', (file: never) => {
    fsyncSync(file);
    seen.synced += 1;
  });
  return seen;
}

it('space is held by files without names, durably, until it is given back', () => {
  const folder = newFolder();
  const seen = watchFiles();
  const giveBack = reserveSpace(folder, { bytes: 5_000, names: 3 });
  // It is on the disk, and not a hole in a file.
  expect(seen).toMatchObject({ written: '.'.repeat(5_000), synced: 1, modes: new Set([0o600]) });
  expect(seen.open.size).toBe(3);
  expect(readdirSync(folder)).toEqual([]);
  giveBack();
  expect(seen.open.size).toBe(0);
  // A second call must not close a file that something else has opened since.
  const other = fs.openSync(join(folder, 'other'), 'w');
  giveBack();
  expect(seen.open).toEqual(new Set([other]));
  fs.closeSync(other);
});

it('without names there is nothing to hold', () => {
  const seen = watchFiles();
  reserveSpace(newFolder(), { bytes: 10, names: 0 })();
  expect(seen).toMatchObject({ written: '', synced: 0 });
});

it.each(['openSync', 'writeFileSync'] as const)(
  'a full disk is an error before anything is sent, and no file stays open (%s)',
  (name) => {
    const folder = newFolder();
    const seen = watchFiles();
    once(name, failing('ENOSPC'));
    expect(thrownBy(() => reserveSpace(folder, { bytes: 10, names: 2 }))).toMatchObject({
      code: 'config',
      message: `Nothing can be stored in ${folder}: the disk is full`,
      hint: 'Check the free space, and who owns the folder. Until then psd2 sends nothing more to the bank.',
    });
    expect(seen.open.size).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  },
);

it('a place where no folder can be made is an error', () => {
  const folder = newFolder();
  mkdirSync(join(folder, '..'), { recursive: true });
  chmodSync(join(folder, '..'), 0o700);
  writeFileSync(folder, '');
  expect(thrownBy(() => reserveSpace(folder, { bytes: 10, names: 1 }))).toMatchObject({ code: 'config' });
});
