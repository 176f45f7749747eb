import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { rememberSyncFolder, syncFoldersOf } from '../../../src/store/machine/sync-folders.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** A folder of `--out`. */
function out(name: string): string {
  const path = join(folder.root, 'out', name);
  mkdirSync(path, { recursive: true });
  return path;
}

it('each folder is remembered once, by its whole path, in the order of the first time, for its profile', async () => {
  expect(syncFoldersOf(folder, 'bank')).toEqual([]);
  const [one, two] = [out('one'), out('two')];
  for (const path of [two, one, two, `${one}/`, join(one, '..', 'two', '.')])
    await rememberSyncFolder(folder, 'bank', path);
  expect(syncFoldersOf(folder, 'bank')).toEqual([two, one]);
  expect(syncFoldersOf(folder, 'other')).toEqual([]);
  await rememberSyncFolder(folder, 'other', one);
  expect(syncFoldersOf(folder, 'other')).toEqual([one]);
  expect(syncFoldersOf(folder, 'bank')).toEqual([two, one]);
});

it('a folder that is gone is left out, and counts again when it is back', async () => {
  const [one, two] = [out('one'), out('two')];
  for (const path of [one, two]) await rememberSyncFolder(folder, 'bank', path);
  rmSync(one, { recursive: true });
  expect(syncFoldersOf(folder, 'bank')).toEqual([two]);
  await rememberSyncFolder(folder, 'bank', out('three'));
  out('one');
  expect(syncFoldersOf(folder, 'bank')).toEqual([one, two, join(folder.root, 'out', 'three')]);
});

it('of many that are remembered at once, all are', async () => {
  const all = ['1', '2', '3', '4', '5'].map(out);
  await Promise.all(
    all.flatMap((path) => [path, path]).map((path) => rememberSyncFolder(folder, 'bank', path)),
  );
  expect(syncFoldersOf(folder, 'bank').toSorted()).toEqual(all);
});

it.each(['no JSON', '{"folders":"/one"}', '{}'])(
  'a list that is damaged is said, and stays: %s',
  async (text) => {
    const path = folder.syncFolders('bank');
    put(path, text);
    expect(thrownBy(() => syncFoldersOf(folder, 'bank'))).toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(path) },
    });
    await expect(rememberSyncFolder(folder, 'bank', out('one'))).rejects.toMatchObject({ code: 'config' });
  },
);
