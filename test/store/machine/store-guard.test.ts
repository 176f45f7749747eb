import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { StoreGuard, StoreMemory } from '../../../src/store/machine/store-choice.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const FILES = { home: 'files', isSet: false } as const;
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
const unprepared = inPostgres({ ...ONE, id: null }, true);

/** A guard as the next command makes it. */
const guard = (hasDataInFiles = false) => new StoreGuard(folder, 'p', () => hasDataInFiles);
const memory = () => new StoreMemory(folder, 'p');
const setStore = (store: Parameters<StoreMemory['replace']>[0]) => memory().replace(store);

function refusalOf(work: () => void): { code: string; message: string; hint: unknown; next: unknown } {
  try {
    work();
  } catch (error) {
    if (error instanceof Psd2Error) {
      const { code, message, hint, next } = error;
      return { code, message, hint, next };
    }
    throw error;
  }
  throw new Error('It was not refused.');
}

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
    expect(refusalOf(() => guard().checkFiles())).toEqual(refusal);
    expect(refusalOf(() => guard(true).checkFiles())).toEqual(refusal);
    expect(refusalOf(() => guard().rememberFiles())).toEqual(refusal);
  });

  it('reads the memory once, so that all of the command uses one store', () => {
    setStore(FILES);
    const [reader, writer] = [guard(), guard()];
    expect(reader.remembered).toEqual(FILES);
    writer.rememberFiles();
    writeFileSync(join(folder.root, 'stores', 'p.json'), 'garbage', { mode: 0o600 });
    for (const command of [reader, writer]) expect(command.remembered).toEqual(FILES);
    expect(() => guard().remembered).toThrow('is damaged');
  });

  it('is refused if another process has begun in a database in the meantime', () => {
    const command = guard();
    command.checkFiles();
    guard().rememberFound(ONE);
    expect(refusalOf(() => command.rememberFiles()).message).toContain('is in PostgreSQL at one/bank');
    expect(refusalOf(() => command.checkFiles()).message).toContain('is in PostgreSQL at one/bank');
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
    expect(refusalOf(() => guard(true).checkFound({ ...ONE, hasData: false }))).toEqual(refusal);
    expect(guard().remembered).toBeUndefined();
    guard(true).rememberFiles();
    expect(refusalOf(() => guard(true).checkNamed(ONE))).toEqual(refusal);
    expect(refusalOf(() => guard(true).rememberFound(ONE))).toEqual(refusal);
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
    setStore({ home: 'files', isSet: true });
    expect(refusalOf(() => guard().checkNamed(ONE)).message).toContain('is in the files in');
    expect(refusalOf(() => guard().rememberFound(ONE)).message).toContain('is in the files in');
    expect(guard().remembered).toEqual({ home: 'files', isSet: true });
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
    const path = join(folder.root, 'stores', 'p.json');
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
    expect(refusalOf(() => guard().checkFound({ ...TWO, hasData }))).toEqual(refusal);
    expect(refusalOf(() => guard().rememberFound(TWO))).toEqual(refusal);
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
    expect(refusalOf(() => guard().checkFound({ ...ANEW, hasData: false }))).toEqual(refusal);
    expect(refusalOf(() => guard().rememberFound(ANEW))).toEqual(refusal);
  });

  it('is refused if another process has begun in another store in the meantime', () => {
    const [first, second] = [guard(), guard()];
    for (const each of [first, second]) each.checkFound({ ...ONE, hasData: false });
    guard().rememberFound(TWO);
    expect(refusalOf(() => first.rememberFound(ONE)).message).toContain('is in PostgreSQL at two/bank');
    setStore({ home: 'files', isSet: true });
    expect(refusalOf(() => second.rememberFound(ONE)).message).toContain('is in the files in');
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
    expect(refusalOf(() => guard().checkFound({ ...ANEW, hasData: true })).message).toContain(
      'is not the database',
    );
  });

  it('refuses a database at another address before psd2 connects to it, since the id cannot tell them apart', () => {
    setStore(unprepared);
    expect(refusalOf(() => guard().checkNamed(TWO)).message).toContain('is in PostgreSQL at one/bank');
    expect(refusalOf(() => guard().checkFound({ ...TWO, hasData: true })).message).toContain(
      'is in PostgreSQL at one/bank',
    );
    expect(guard().remembered).toEqual(unprepared);
  });
});
