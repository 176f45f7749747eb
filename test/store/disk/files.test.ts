import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  appendDurably,
  entriesBelow,
  listFolder,
  makePrivateFolder,
  readJsonFile,
  readOwnFile,
  readPlainFile,
  removeHalfWritten,
  removeStored,
  syncFolder,
  takeName,
  writeJsonFile,
} from '../../../src/store/disk/files.ts';
import { refuseUnsafe, refuseUnsafeFilesIn, UnsafeFile } from '../../../src/store/disk/permissions.ts';
import { thrownBy } from '../../support/thrown.ts';
import { recordDisk } from '../disk.ts';
import { openBelow } from '../open-files.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { failing, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
const schema = z.object({ name: z.string(), depth: z.optional(z.object({ 'a.b': z.number() })) });
let folder: string;
let path: string;
let notices: string[];

beforeEach(() => {
  folder = mkdtempSync(join(temporary, 'place-'));
  path = join(newConfigFolder(temporary).root, 'some', 'name.of.it.json');
  notices = [];
});

const write = (value: z.infer<typeof schema>) =>
  writeJsonFile(path, value, schema, (text) => notices.push(text));

function place(content: string, mode = 0o600): void {
  put(path, content);
  chmodSync(path, mode);
}

it('readJsonFile returns what writeJsonFile wrote, and nothing before', async () => {
  expect(readJsonFile(path, schema)).toBeUndefined();
  await write({ name: 'Caffè', depth: { 'a.b': 1 } });
  expect(readJsonFile(path, schema)).toEqual({ name: 'Caffè', depth: { 'a.b': 1 } });
  await write({ name: 'other' });
  expect(readJsonFile(path, schema)).toEqual({ name: 'other' });
});

it('only the owner can read the written file, and no other file is left behind', async () => {
  await write({ name: 'x' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toEqual(['name.of.it.json']);
});

it('a file that others could read is private after the next write', async () => {
  place('{"name":"x"}', 0o644);
  await write({ name: 'y' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

describe('a damaged file', () => {
  it.each(['', '{', 'null', '[]', '{"name":7}', '{}'])(
    'the damaged file %j is refused, and the hint says how to continue',
    (content) => {
      place(content);
      expect(thrownBy(() => readJsonFile(path, schema))).toMatchObject({
        code: 'config',
        message: expect.stringContaining(`${path} is damaged: `),
        hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
      });
    },
  );

  it('the error of a damaged file names the wrong field', () => {
    place('{"name":"x","depth":{"a.b":"1"}}');
    expect(() => readJsonFile(path, schema)).toThrow('is damaged: depth.a.b is not as psd2 wrote it');
  });

  it.each(['null', '[]'])('a file with %s is wrong as a whole', (content) => {
    place(content);
    expect(() => readJsonFile(path, schema)).toThrow('is damaged: its content is not as psd2 wrote it');
  });

  it('a damaged file that cannot be kept is not replaced', async () => {
    place('{');
    replaceForStore(fs, 'renameSync', failing('EACCES'));
    await expect(write({ name: 'whole' })).rejects.toMatchObject({
      code: 'config',
      message: `${path} is damaged: it is not JSON, and it cannot be moved away: permission is denied`,
      hint: 'Check who owns the folder.',
    });
    expect(readFileSync(path, 'utf8')).toBe('{');
  });

  it('the name of a kept file has the time in UTC', async () => {
    place('{');
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-22T12:34:56.789Z') });
    onTestFinished(() => void vi.useRealTimers());
    await write({ name: 'whole' });
    expect(readdirSync(dirname(path))).toContain('name.of.it.json.damaged-20261122T123456789Z');
  });

  it.each(['{"name":', '', '{"name":7}', '{"name":"x","version":2}'])(
    'the damaged file %j is kept when a new one replaces it',
    async (content) => {
      place(content);
      await write({ name: 'whole' });
      expect(readJsonFile(path, schema)).toEqual({ name: 'whole' });
      const [kept = ''] = readdirSync(dirname(path)).filter((name) => name.includes('.damaged-'));
      expect(readFileSync(join(dirname(path), kept), 'utf8')).toBe(content);
      expect(notices).toEqual([
        expect.stringMatching(/ is damaged: | was written by a newer psd2 \(format 2\)/),
      ]);
      expect(notices[0]).toContain(`psd2 keeps it as ${join(dirname(path), kept)} and writes a new one.`);
    },
  );
});

it('a file of a newer psd2 is refused, and the error says so', () => {
  place('{"name":"x","version":2}');
  expect(thrownBy(() => readJsonFile(path, schema))).toMatchObject({
    code: 'config',
    message: `${path} was written by a newer psd2 (format 2)`,
    hint: expect.stringContaining('Update psd2'),
  });
});

it('a version that is not a number is not a version', () => {
  place('{"name":"x","version":"2"}');
  expect(readJsonFile(path, schema)).toEqual({ name: 'x' });
});

it.each([0o640, 0o604, 0o666, 0o620])('a file with the mode %i (decimal) is refused', (mode) => {
  place('{"name":"x"}', mode);
  expect(thrownBy(() => readJsonFile(path, schema))).toMatchObject({
    code: 'config',
    message: `${path} can be ${mode & 0o022 ? 'changed' : 'read'} by others (mode 0${mode.toString(8)})`,
    hint: `Run: chmod 600 ${path}`,
  });
});

const places: [string, string, () => void][] = [
  ['a folder', 'is a folder, not a file', () => mkdirSync(path)],
  ['a device', 'is a device or socket, not a file', () => symlinkSync('/dev/null', path)],
  ['a named pipe', 'is a named pipe, not a file', () => execFileSync('mkfifo', ['-m', '600', path])],
  ['a link to nothing', 'is a link to gone.json, which does not exist', () => symlinkSync('gone.json', path)],
  ['a link to itself', 'cannot be read: the links form a loop', () => symlinkSync(path, path)],
];

it.each(places)('%s is refused at once, and kept when a file replaces it', async (_, what, make) => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  make();
  expect(thrownBy(() => readJsonFile(path, schema))).toMatchObject({
    code: 'config',
    message: `${path} ${what}`,
    hint: what.includes('cannot be read')
      ? 'Check who owns it and its mode.'
      : `Restore it, or move it away: mv ${path} ${path}.damaged`,
  });
  await write({ name: 'whole' });
  expect(readJsonFile(path, schema)).toEqual({ name: 'whole' });
  expect(readdirSync(dirname(path)).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
  expect(notices).toEqual([expect.stringContaining(`${path} ${what}. psd2 keeps it as `)]);
});

describe('a link to a file elsewhere', () => {
  let target: string;
  beforeEach(async () => {
    target = join(dirname(dirname(path)), 'target.json');
    await write({ name: 'before' });
    renameSync(path, target);
    symlinkSync(target, path);
  });

  it('a link to a file is followed for reading, and replaced by writing', async () => {
    expect(readJsonFile(path, schema)).toEqual({ name: 'before' });
    await write({ name: 'after' });
    expect(lstatSync(path).isFile()).toBe(true);
    expect(readJsonFile(path, schema)).toEqual({ name: 'after' });
    expect(readJsonFile(target, schema)).toEqual({ name: 'before' });
    expect(notices).toEqual([]);
  });

  it('a link to a file stays if the new content cannot be written', async () => {
    const program = `
      import * as z from 'zod/mini';
      import { writeJsonFile } from '../../../src/store/disk/files.ts';
      const schema = z.object({ name: z.string() });
      await writeJsonFile(process.argv[2], { name: 'after' }, schema).catch((error) =>
        process.stdout.write(error.code + ': ' + error.message));`;
    const { output } = await startProgram(program, temporary, { arguments: [path], blocks: 0 });
    expect(await output).toBe(
      `config: ${path} cannot be written: the limit for the size of a file is reached`,
    );
    expect(readlinkSync(path)).toBe(target);
    expect(readJsonFile(path, schema)).toEqual({ name: 'before' });
  });
});

it.each([false, true])(
  'on a full disk the error says so, and a link is no further error (link: %s)',
  async (isLink) => {
    if (isLink) {
      place('{"name":"before"}');
      renameSync(path, `${path}.target`);
      symlinkSync(`${path}.target`, path);
    }
    replaceForStore(fs, 'fsyncSync', failing('ENOSPC'));
    await expect(write({ name: 'after' })).rejects.toMatchObject({
      code: 'config',
      message: `${path} cannot be written: the disk is full`,
      hint: 'Check the free space, and who owns the folder.',
    });
  },
);

it('the half-written copies of a file are removed, and nothing else', () => {
  const own = 'name.of.it.json';
  const others = [own, 'another.json.tmp-1', `x.${own}.tmp-1`, `${own}.damaged-1`];
  makePrivateFolder(dirname(path));
  for (const name of [...others, `${own}.tmp-1`, `${own}.tmp-2`])
    writeFileSync(join(dirname(path), name), '');
  removeHalfWritten(path);
  expect(readdirSync(dirname(path)).sort()).toEqual(others.sort());
});

it('a file cannot be written if its folder is not a folder', async () => {
  mkdirSync(dirname(dirname(path)), { recursive: true, mode: 0o700 });
  writeFileSync(dirname(path), '');
  await expect(write({ name: 'x' })).rejects.toMatchObject({
    code: 'config',
    message: `psd2 cannot create the folder ${dirname(path)}: something else has that name`,
    hint: 'Check who owns the folder above it, or set PSD2_CONFIG_DIR.',
  });
});

const OF_IT = 'Check who owns it and its mode.';
const OF_FOLDER = 'Check who owns the folder.';
const LOOPS = 'The folder … cannot be read: the links form a loop';
it.each<[string, () => string, (path: string) => unknown, string, string]>([
  // Nothing is mapped at the address 0 of a process.
  ['a file on a bad disk', () => '/proc/self/mem', readPlainFile, '… cannot be read: EIO', 'Check the disk.'],
  ['a folder with a loop of links', looping, listFolder, LOOPS, OF_IT],
  ['a path that is too long', longPath, removeStored, '… cannot be removed: ENAMETOOLONG', OF_FOLDER],
])('psd2 says what is wrong with %s', (_what, make, use, message, hint) => {
  const path = make();
  expect(thrownBy(() => use(path))).toMatchObject({
    code: 'config',
    message: message.replace('…', path),
    hint,
  });
});

function longPath(): string {
  return join(folder, 'x'.repeat(300));
}

/** A link to itself. */
function looping(): string {
  const path = join(folder, 'circle');
  symlinkSync(path, path);
  return path;
}

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
  const names = entriesBelow(folder).map(({ name }) => name);
  expect(names.sort()).toEqual(['a', 'b', 'file', 'up']);
});

const take = (name: string) => takeName(join(folder, name), join(folder, 'taken'));

it('only one process gets a name', () => {
  for (const name of ['mine', 'theirs']) writeFileSync(join(folder, name), name);
  take('mine');
  expect(thrownBy(() => take('theirs'))).toMatchObject({ code: 'EEXIST' });
  expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
});

describe('on a file system that does not link', () => {
  const linkFailsWith = (code: string) => replaceForStore(fs, 'linkSync', failing(code));

  it.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])('after %s a name still has one taker', (code) => {
    writeFileSync(join(folder, 'mine'), 'mine');
    const disk = recordDisk();
    linkFailsWith(code);
    take('mine');
    expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
    expect(disk).toContain('fsync taken');
    expect(openBelow(folder)).toEqual([]);
    expect(thrownBy(() => take('mine'))).toMatchObject({ code: 'EEXIST' });
  });

  it.each(['EIO', 'ENOSPC'])('after %s nobody has the name', (code) => {
    writeFileSync(join(folder, 'mine'), 'mine');
    linkFailsWith(code);
    expect(thrownBy(() => take('mine'))).toMatchObject({ code });
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
    writeFileSync(join(folder, 'a'), '', { mode: 0o600 });
    writeFileSync(join(folder, 'b'), '', { mode: 0o640 });
    expect(() => refuseUnsafeFilesIn(folder)).toThrow(UnsafeFile);
    expect(thrownBy(() => refuseUnsafeFilesIn(folder))).toMatchObject({
      message: `${join(folder, 'b')} can be read by others (mode 0640)`,
      hint: `Run: chmod 600 ${join(folder, 'b')}`,
    });
    refuseUnsafe(join(folder, 'b'), 'public');
    refuseUnsafeFilesIn(join(folder, 'missing'));
  });
});
