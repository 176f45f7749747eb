import fs, { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import {
  chooseStore,
  containsPassword,
  describeChoice,
  hidePassword,
  isDatabaseAddress,
  type RememberedStore,
  refusePassword,
  StoreGuard,
  StoreMemory,
} from '../../../src/store/machine/store-choice.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
const FILES: RememberedStore = { home: 'files', isSet: false };
const CHOSEN_FILES: RememberedStore = { home: 'files', isSet: true };
const at = (host: string, id: string) => ({
  id,
  shown: `${host}/bank`,
  address: `postgres://ada@${host}/bank`,
});
const ONE = at('one', 'id-1');
const TWO = at('two', 'id-2');
/** The database of ONE, reached at another address. */
const ALIAS = at('alias', 'id-1');
/** Another database at the address of ONE. */
const ANEW = at('one', 'id-3');
const inPostgres = (database: { id: string | null; shown: string; address: string }, isSet = false) =>
  ({ home: 'postgres', ...database, isSet }) as const;
const DATABASE = inPostgres(ONE, true);
const unprepared = inPostgres({ ...ONE, id: null }, true);

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
const setStore = (store: RememberedStore) => memory().replace(store);
const namesIn = (place: string) => readdirSync(join(folder.root, place)).sort();

describe('the choice of a store', () => {
  it.each([
    ['without settings it is the files', undefined, undefined, 'default', undefined],
    ['PSD2_STORE that is empty counts as not set', '', undefined, 'default', undefined],
    ['PSD2_STORE counts', ONE.address, undefined, 'environment', ONE.address],
    ['PSD2_STORE counts before the profile', ONE.address, CHOSEN_FILES, 'environment', ONE.address],
    ['the database of the profile counts', undefined, DATABASE, 'profile', ONE.address],
    ['the files of the profile count', undefined, CHOSEN_FILES, 'profile', undefined],
    ['a store that was only used is not chosen by that', undefined, inPostgres(ONE), 'default', undefined],
  ] as const)('%s', (_case, set, remembered, source, address) => {
    expect(chooseStore({ PSD2_STORE: set }, remembered)).toEqual({ source, address });
  });

  it.each(['files', 'mysql://db/bank', 'db/postgres://', '/var/lib/psd2', ' postgres://x', 'postgres'])(
    'PSD2_STORE with %s is refused, and not repeated: it may contain a password',
    (text) => {
      expect(thrownBy(() => chooseStore({ PSD2_STORE: text }, DATABASE))).toMatchObject({
        code: 'config',
        message: 'PSD2_STORE is not the address of a database',
        hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
      });
    },
  );

  it.each([
    ['environment', 'PSD2_STORE'],
    ['profile', 'setting of the profile'],
    ['default', 'default'],
  ] as const)('the operator reads where it comes from: %s', (source, words) => {
    expect(describeChoice(source, false)).toBe(words);
    expect(describeChoice(source, true)).toBe(`${words}; remembered`);
  });
});

it.each([
  ['postgres://db/bank', true],
  ['postgresql://db/bank', true],
  ['Postgres:///bank', true],
  ['files', false],
  ['postgresq://db/bank', false],
  ['my-postgres://db/bank', false],
  ['postgres', false],
])('whether %s is meant as the address of a database: %s', (text, isAddress) => {
  expect(isDatabaseAddress(text)).toBe(isAddress);
});

describe('a password in an address', () => {
  it.each([
    ['postgres://ada:secret@db/bank', 'postgres://ada@db/bank'],
    ['postgres://:secret@db/bank', 'postgres://@db/bank'],
    ['postgres://ada:@db/bank', 'postgres://ada@db/bank'],
    ['postgres://ada:sec:ret@x@db:5432/bank', 'postgres://ada@db:5432/bank'],
    ['postgres://ada:sec\nret@db/bank', 'postgres://ada@db/bank'],
    ['postgres://db/bank?password=secret', 'postgres://db/bank?password=…'],
    ['postgres://db/bank?sslmode=require&PassWord=secret', 'postgres://db/bank?sslmode=require&PassWord=…'],
    [
      'postgres://db/b?sslpassword=secret&a=b&password=secret',
      'postgres://db/b?sslpassword=…&a=b&password=…',
    ],
    ['postgres://ada:secret@db/bank?password=secret', 'postgres://ada@db/bank?password=…'],
  ])('%s is refused in an option, and shown as %s', (address, shown) => {
    expect(containsPassword(address)).toBe(true);
    expect(hidePassword(address)).toBe(shown);
    expect(thrownBy(() => refusePassword('--store', address))).toMatchObject({
      code: 'usage',
      message: '--store contains a password, which others can read in the list of processes',
      hint: 'Leave it out, and set PGPASSWORD or PGPASSFILE. Or set the address in PSD2_STORE.',
    });
  });

  const OTHERS = ['db/bank', 'db:5432/bank', 'ada@db:5432/bank', 'db/bank?passwordless=yes&nopassword=1'];
  it.each([...OTHERS.map((rest) => `postgres://${rest}`), 'files'])(
    '%s has none, and stays as it is',
    (address) => {
      expect(containsPassword(address)).toBe(false);
      expect(hidePassword(address)).toBe(address);
      refusePassword('--store', address);
    },
  );
});

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

/** A guard as the next command makes it. */
const guard = (hasDataInFiles = false) => new StoreGuard(folder, 'p', () => hasDataInFiles);

describe('a command that would use the files', () => {
  it('is free if neither store has data, and nothing is remembered', () => {
    guard().checkFiles();
    expect(guard().remembered).toBeUndefined();
    expect(existsSync(folder.root)).toBe(false);
  });

  it('remembers them if they have data', () => {
    const command = guard(true);
    command.checkFiles();
    expect(command.remembered).toEqual(FILES);
    expect(guard().remembered).toEqual(FILES);
    guard().checkFiles();
  });

  it('remembers them before it writes the first data', () => {
    const command = guard();
    expect(command.remembered).toBeUndefined();
    command.rememberFiles();
    expect(command.remembered).toEqual(FILES);
    expect(memory().read()).toEqual(FILES);
  });

  it.each([true, false])('is refused if a database has the data, also before the first write', (isSet) => {
    setStore(inPostgres(ONE, isSet));
    const refusal = {
      code: 'config',
      message: `The data of the profile "p" is in PostgreSQL at one/bank, but this command would use the files in ${folder.root}`,
      hint: 'Is PSD2_STORE missing here? Set it, or store the address in the profile. Or copy the data to the files:',
      next: [
        ['profile', 'set', 'p', '--store', ONE.address],
        ['store', 'copy', '--from', ONE.address, '--to', 'files'],
      ],
    };
    expect(thrownBy(() => guard().checkFiles())).toMatchObject(refusal);
    expect(thrownBy(() => guard(true).checkFiles())).toMatchObject(refusal);
    expect(thrownBy(() => guard().rememberFiles())).toMatchObject(refusal);
  });

  it('reads the memory once, so that all of the command uses one store', () => {
    setStore(FILES);
    const [reader, writer] = [guard(), guard()];
    expect(reader.remembered).toEqual(FILES);
    writer.rememberFiles();
    writeFileSync(path, 'garbage', { mode: 0o600 });
    for (const command of [reader, writer]) expect(command.remembered).toEqual(FILES);
    expect(() => guard().remembered).toThrow('is damaged');
  });

  it('is refused if another process has begun in a database in the meantime', () => {
    const command = guard();
    command.checkFiles();
    guard().rememberFound(ONE);
    expect(() => command.rememberFiles()).toThrow('is in PostgreSQL at one/bank');
    expect(() => command.checkFiles()).toThrow('is in PostgreSQL at one/bank');
  });
});

describe('a command that would use a database', () => {
  it('is free if neither store has data, and nothing is remembered', () => {
    const command = guard();
    command.checkNamed(ONE);
    expect(command.needsToKnowData).toBe(true);
    command.checkFound({ ...ONE, hasData: false });
    expect(guard().remembered).toBeUndefined();
    guard().checkFiles();
  });

  it('remembers it if it has data, and says so at once', () => {
    const command = guard();
    command.checkFound({ ...ONE, hasData: true });
    expect(command.remembered).toEqual(inPostgres(ONE));
    expect(command.needsToKnowData).toBe(false);
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('remembers it before it writes the first data', () => {
    const command = guard();
    command.checkFound({ ...ONE, hasData: false });
    command.rememberFound(ONE);
    expect(command.remembered).toEqual(inPostgres(ONE));
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('is refused if the files have the data, remembered or not', () => {
    const refusal = {
      code: 'config',
      message: `The data of the profile "p" is in the files in ${folder.root}, but this command would use PostgreSQL at one/bank`,
      hint: 'To continue with the files, unset PSD2_STORE. To use the database, copy the data to it, or begin there without it:',
      next: [
        ['store', 'copy', '--from', 'files', '--to', ONE.address],
        ['profile', 'set', 'p', '--store', ONE.address],
      ],
    };
    guard(true).checkNamed(ONE);
    expect(thrownBy(() => guard(true).checkFound({ ...ONE, hasData: false }))).toMatchObject(refusal);
    expect(guard().remembered).toBeUndefined();
    guard(true).rememberFiles();
    expect(thrownBy(() => guard(true).checkNamed(ONE))).toMatchObject(refusal);
    expect(thrownBy(() => guard(true).rememberFound(ONE))).toMatchObject(refusal);
    expect(guard().remembered).toEqual(FILES);
  });

  it('of an old installation is accepted if both stores have data: the operator has chosen it', () => {
    guard(true).checkFound({ ...ONE, hasData: true });
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('is accepted if the remembered files have no data any more', () => {
    setStore(FILES);
    const command = guard();
    command.checkNamed(ONE);
    expect(command.needsToKnowData).toBe(true);
    command.checkFound({ ...ONE, hasData: true });
    expect(command.remembered).toEqual(inPostgres(ONE));
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('is refused if the operator chose the files, even without data', () => {
    setStore(CHOSEN_FILES);
    expect(() => guard().checkNamed(ONE)).toThrow('is in the files in');
    expect(() => guard().rememberFound(ONE)).toThrow('is in the files in');
    expect(guard().remembered).toEqual(CHOSEN_FILES);
  });

  it('accepts the same database at another address, and keeps the first address', () => {
    setStore(inPostgres(ONE));
    const command = guard();
    command.checkNamed(ALIAS);
    command.checkFound({ ...ALIAS, hasData: true });
    expect(command.remembered).toEqual(inPostgres(ONE));
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('restores a lost file of the memory when it finds the remembered database again', () => {
    setStore(inPostgres(ONE));
    rmSync(path);
    guard().checkFound({ ...ONE, hasData: false });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(inPostgres(ONE));
  });

  it.each([true, false])('is refused if another database has the data (it has some: %s)', (hasData) => {
    setStore(inPostgres(ONE));
    const refusal = {
      code: 'config',
      message: `The data of the profile "p" is in PostgreSQL at one/bank, but this command would use PostgreSQL at two/bank`,
      hint: 'To continue with the first one, name it in PSD2_STORE. To use the other one, copy the data to it, or begin there without it:',
      next: [
        ['store', 'copy', '--from', ONE.address, '--to', TWO.address],
        ['profile', 'set', 'p', '--store', TWO.address],
      ],
    };
    // Until psd2 has connected, it may be another address of the same database.
    guard().checkNamed({ shown: TWO.shown, address: TWO.address });
    expect(thrownBy(() => guard().checkFound({ ...TWO, hasData }))).toMatchObject(refusal);
    expect(thrownBy(() => guard().rememberFound(TWO))).toMatchObject(refusal);
    expect(guard().remembered).toEqual(inPostgres(ONE));
  });

  it('is refused if a new database has the address of the one with the data', () => {
    setStore(inPostgres(ONE));
    const refusal = {
      code: 'config',
      message: 'PostgreSQL at one/bank is not the database with the data of the profile "p"',
      hint: 'Was it recreated? Then restore the earlier one from its backup. Or start in this one, without the earlier data:',
      next: [['profile', 'set', 'p', '--store', ONE.address]],
    };
    expect(thrownBy(() => guard().checkFound({ ...ANEW, hasData: false }))).toMatchObject(refusal);
    expect(thrownBy(() => guard().rememberFound(ANEW))).toMatchObject(refusal);
  });

  it('is refused if another process has begun in another store in the meantime', () => {
    const [first, second] = [guard(), guard()];
    for (const each of [first, second]) each.checkFound({ ...ONE, hasData: false });
    guard().rememberFound(TWO);
    expect(() => first.rememberFound(ONE)).toThrow('is in PostgreSQL at two/bank');
    setStore(CHOSEN_FILES);
    expect(() => second.rememberFound(ONE)).toThrow('is in the files in');
  });
});

describe('a database that the operator chose before it had tables', () => {
  it('gets its id from the first command that finds it, and stays chosen', () => {
    setStore(unprepared);
    const command = guard(true);
    command.checkNamed(ONE);
    expect(command.needsToKnowData).toBe(false);
    command.checkFound({ ...ONE, hasData: false });
    expect(guard().remembered).toEqual(inPostgres(ONE, true));
    expect(() => guard().checkFound({ ...ANEW, hasData: true })).toThrow('is not the database');
  });

  it('refuses a database at another address before psd2 connects to it, since the id cannot tell them apart', () => {
    setStore(unprepared);
    expect(() => guard().checkNamed(TWO)).toThrow('is in PostgreSQL at one/bank');
    expect(() => guard().checkFound({ ...TWO, hasData: true })).toThrow('is in PostgreSQL at one/bank');
    expect(guard().remembered).toEqual(unprepared);
  });
});
