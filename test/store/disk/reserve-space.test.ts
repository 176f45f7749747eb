import fs, { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reserveSpace } from '../../../src/store/disk/reserve-space.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
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
