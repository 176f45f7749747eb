import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import {
  appendDurably,
  entriesBelow,
  listFolder,
  readOwnFile,
  readPlainFile,
  removeStored,
  syncFolder,
  takeName,
} from '../../../src/store/disk/files.ts';
import { refuseUnsafe, refuseUnsafeFilesIn, UnsafeFile } from '../../../src/store/disk/permissions.ts';
import { thrownBy } from '../../support/thrown.ts';
import { recordDisk } from '../disk.ts';
import { openBelow } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { failing, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(temporary, 'place-'));
});

/** The error that the operator sees for a refused action. */
function refusalOf(action: () => unknown): { message: string; hint: string | null } {
  try {
    action();
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'config')
      return { message: error.message, hint: error.hint ?? null };
    throw error;
  }
  throw new Error('psd2 did not refuse this');
}

describe('what psd2 says of a path that it cannot use', () => {
  const damaged = (path: string) => `Restore it, or move it away: mv ${path} ${path}.damaged`;
  const inFolder = (name: string, target = name) => {
    const path = join(folder, name);
    symlinkSync(target, path);
    return path;
  };
  // Nothing is mapped at the address 0 of a process.
  it.each<[string, () => string, (path: string) => unknown, string, string | ((path: string) => string)]>([
    ['a folder in place of a file', () => folder, readPlainFile, '… is a folder, not a file', damaged],
    [
      'a link to nothing',
      () => inFolder('link', 'nowhere'),
      ...([readPlainFile, '… is a link to nowhere, which does not exist', damaged] as const),
    ],
    ['a device', () => '/dev/null', readPlainFile, '… is a device or socket, not a file', damaged],
    [
      'a file that cannot be opened',
      () => inFolder('circle'),
      ...([
        readPlainFile,
        '… cannot be read: the links form a loop',
        'Check who owns it and its mode.',
      ] as const),
    ],
    [
      'a file on a bad disk',
      () => '/proc/self/mem',
      readPlainFile,
      '… cannot be read: EIO',
      'Check the disk.',
    ],
    [
      'a folder that cannot be listed',
      () => inFolder('circle'),
      ...([listFolder, 'The folder … cannot be read: the links form a loop'] as const),
      'Check who owns it and its mode.',
    ],
    [
      'a path that cannot be removed',
      () => join(folder, 'x'.repeat(300)),
      ...([removeStored, '… cannot be removed: ENAMETOOLONG', 'Check who owns the folder.'] as const),
    ],
  ])('%s', (_what, make, use, message, hint) => {
    const path = make();
    expect(refusalOf(() => use(path))).toEqual({
      message: message.replace('…', path),
      hint: typeof hint === 'string' ? hint : hint(path),
    });
  });
});

it('no file counts as nothing, and no folder as an empty one', () => {
  writeFileSync(join(folder, 'file'), '');
  for (const path of [join(folder, 'missing'), join(folder, 'file', 'below')]) {
    expect(readPlainFile(path)).toBeUndefined();
    expect(readOwnFile(path)).toBeUndefined();
    expect(listFolder(path)).toEqual([]);
    removeStored(join(folder, 'missing'));
  }
});

it('psd2 leaves no file open, whether it could use it or not', () => {
  const path = join(folder, 'file');
  appendDurably(path, 'wx', 'one\n');
  appendDurably(path, 'a', 'two\n');
  expect(readOwnFile(path)?.toString()).toBe('one\ntwo\n');
  expect(thrownBy(() => appendDurably(path, 'r', 'three\n'))).toMatchObject({ code: 'EBADF' });
  expect(() => readPlainFile(folder)).toThrow('is a folder');
  syncFolder(folder);
  expect(openBelow(folder)).toEqual([]);
});

it('everything below a folder is listed, and what a link leads to is not', () => {
  mkdirSync(join(folder, 'a', 'b'), { recursive: true });
  writeFileSync(join(folder, 'a', 'b', 'file'), '');
  symlinkSync('..', join(folder, 'a', 'b', 'up'));
  expect(
    entriesBelow(folder)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['a', 'b', 'file', 'up']);
});

it('only one process gets a name', () => {
  for (const name of ['mine', 'theirs']) writeFileSync(join(folder, name), name);
  takeName(join(folder, 'mine'), join(folder, 'taken'));
  expect(thrownBy(() => takeName(join(folder, 'theirs'), join(folder, 'taken')))).toMatchObject({
    code: 'EEXIST',
  });
  expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
});

describe('on a file system that does not link', () => {
  const linkFailsWith = (code: string) => replaceForStore(fs, 'linkSync', failing(code));

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])('after %s a name still has one taker', (code) => {
    writeFileSync(join(folder, 'mine'), 'mine');
    const disk = recordDisk();
    linkFailsWith(code);
    takeName(join(folder, 'mine'), join(folder, 'taken'));
    expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
    expect(disk).toContain('fsync taken');
    expect(openBelow(folder)).toEqual([]);
    expect(thrownBy(() => takeName(join(folder, 'mine'), join(folder, 'taken')))).toMatchObject({
      code: 'EEXIST',
    });
  });

  it.each(['EIO', 'ENOSPC'])('after %s nobody has the name', (code) => {
    writeFileSync(join(folder, 'mine'), 'mine');
    linkFailsWith(code);
    expect(thrownBy(() => takeName(join(folder, 'mine'), join(folder, 'taken')))).toMatchObject({ code });
    expect(readdirSync(folder)).toEqual(['mine']);
  });
});

describe('the modes of files that psd2 trusts', () => {
  it('a file that does not exist, and a pipe, have no mode to judge', () => {
    execFileSync('mkfifo', ['-m', '666', join(folder, 'pipe')]);
    for (const name of ['missing', 'missing/below', 'pipe'])
      expect(() => refuseUnsafe(join(folder, name), 'secret')).not.toThrow();
  });

  it('one open file among several is found, and named', () => {
    for (const [name, mode] of [
      ['a', 0o600],
      ['b', 0o640],
    ] as const)
      writeFileSync(join(folder, name), '', { mode });
    expect(() => refuseUnsafeFilesIn(folder)).toThrow(UnsafeFile);
    expect(refusalOf(() => refuseUnsafeFilesIn(folder))).toEqual({
      message: `${join(folder, 'b')} can be read by others (mode 0640)`,
      hint: `Run: chmod 600 ${join(folder, 'b')}`,
    });
    refuseUnsafe(join(folder, 'b'), 'public');
    refuseUnsafeFilesIn(join(folder, 'missing'));
  });
});
