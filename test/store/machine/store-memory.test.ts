import fs, { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { type RememberedStore, StoreMemory } from '../../../src/store/machine/store-choice.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
const FILES: RememberedStore = { home: 'files', isSet: false };
const DATABASE: RememberedStore = {
  home: 'postgres',
  id: 'id-1',
  shown: 'db/bank',
  address: 'postgres://ada@db/bank',
  isSet: true,
};

let folder: StoreFolder;
let path: string;
let copy: string;
beforeEach(() => {
  folder = newConfigFolder(temporary);
  path = join(folder.root, 'stores', 'p.json');
  copy = join(folder.root, 'stores', 'copies', 'p.json');
});
/** The memory as the next command reads it. */
const memory = (profile = 'p') => new StoreMemory(folder, profile);
const namesIn = (place: string) => readdirSync(join(folder.root, place)).sort();

it('nothing is remembered at first, and reading writes nothing', () => {
  expect(memory().read()).toBeUndefined();
  expect(existsSync(folder.root)).toBe(false);
});

it.each([FILES, DATABASE, { ...DATABASE, id: null }])(
  'a store is remembered in two files that only the owner can read: %j',
  (store) => {
    expect(memory().add(store)).toEqual(store);
    expect(memory().read()).toEqual(store);
    expect(memory('q').read()).toBeUndefined();
    for (const file of [path, copy]) {
      expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(store, null, '\t'));
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    expect(namesIn('stores')).toEqual(['copies', 'p.json']);
    expect(namesIn('stores/copies')).toEqual(['p.json']);
  },
);

it('the store that was remembered first stays, until the operator replaces it', () => {
  memory().add(FILES);
  expect(memory().add(DATABASE)).toEqual(FILES);
  expect(memory().read()).toEqual(FILES);
  memory().replace(DATABASE);
  expect(memory().read()).toEqual(DATABASE);
  expect(readFileSync(copy, 'utf8')).toBe(readFileSync(path, 'utf8'));
  expect(namesIn('stores')).toEqual(['copies', 'p.json']);
  expect(namesIn('stores/copies')).toEqual(['p.json']);
});

it.each(['the file', 'its copy'])('without %s the other one counts, and the lost one comes back', (which) => {
  memory().add(DATABASE);
  const lost = which === 'the file' ? path : copy;
  rmSync(lost);
  expect(memory().read()).toEqual(DATABASE);
  expect(memory().add(FILES)).toEqual(DATABASE);
  expect(JSON.parse(readFileSync(lost, 'utf8'))).toEqual(DATABASE);
});

it('of two processes that remember different stores at the same moment, both get the first one', () => {
  once('linkSync', (goOn) => {
    // The other process is between the same two steps, and faster.
    new StoreMemory(folder, 'p').add(DATABASE);
    return goOn();
  });
  expect(memory().add(FILES)).toEqual(DATABASE);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(DATABASE);
  expect(JSON.parse(readFileSync(copy, 'utf8'))).toEqual(DATABASE);
  expect(namesIn('stores')).toEqual(['copies', 'p.json']);
});

it.each(['the file', 'its copy'])('damage of %s is reported, and no store is assumed', (which) => {
  memory().add(DATABASE);
  const damaged = which === 'the file' ? path : copy;
  if (damaged === copy) rmSync(path);
  writeFileSync(damaged, '{"home":"postgres","isSet":true}');
  for (const use of [() => memory().read(), () => memory().add(FILES)])
    expect(thrownBy(use)).toMatchObject({
      code: 'config',
      message: expect.stringContaining(`${damaged} is damaged`),
    });
});

it.each(['EROFS', 'EACCES', 'EPERM', 'ENOENT'])(
  'in a folder that is read-only (%s) nothing is remembered, and commands that read still work',
  (code) => {
    replaceForStore(fs, 'mkdirSync', failing(code));
    expect(memory().add(FILES)).toEqual(FILES);
    expect(memory().read()).toBeUndefined();
  },
);

it('in a folder that became read-only, what was remembered still counts', () => {
  memory().add(DATABASE);
  rmSync(copy);
  replaceForStore(fs, 'mkdirSync', failing('EROFS'));
  expect(memory().add(FILES)).toEqual(DATABASE);
});

it('a full disk is reported, since a store that is not remembered could be mixed up with another one', () => {
  once('linkSync', failing('ENOSPC'));
  expect(thrownBy(() => memory().add(FILES))).toMatchObject({
    code: 'config',
    message: `${path} cannot be written: the disk is full`,
    hint: 'Check the free space, and who owns the folder.',
  });
  expect(namesIn('stores')).toEqual([]);
  expect(memory().read()).toBeUndefined();
});

it('a store that cannot be replaced because the folder is read-only is an error', () => {
  memory().add(FILES);
  replaceForStore(fs, 'renameSync', failing('EROFS'));
  expect(thrownBy(() => memory().replace(DATABASE))).toMatchObject({
    code: 'config',
    message: `${copy} cannot be written: the file system is read-only`,
  });
  expect(memory().read()).toEqual(FILES);
  expect(namesIn('stores/copies')).toEqual(['p.json']);
});
