import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
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
  makePrivateFolder,
  readJsonFile,
  removeHalfWritten,
  writeJsonFile,
} from '../../../src/store/disk/files.ts';
import { thrownBy } from '../../support/thrown.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, replaceForStore } from '../waiting.ts';

const temporary = temporaryFolder();
const schema = z.object({ name: z.string(), depth: z.optional(z.object({ 'a.b': z.number() })) });
let path: string;
let notices: string[];

beforeEach(() => {
  path = join(newConfigFolder(temporary).root, 'some', 'name.of.it.json');
  notices = [];
});

const write = (value: z.infer<typeof schema>) =>
  writeJsonFile(path, value, schema, (text) => notices.push(text));

function place(content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode });
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

describe('a place that is not a file', () => {
  const places: [string, string, () => void][] = [
    ['a folder', 'is a folder, not a file', () => mkdirSync(path)],
    ['a named pipe', 'is a named pipe, not a file', () => execFileSync('mkfifo', ['-m', '600', path])],
    [
      'a link to nothing',
      'is a link to elsewhere.json, which does not exist',
      () => symlinkSync('elsewhere.json', path),
    ],
    ['a link to itself', 'cannot be read: the links form a loop', () => symlinkSync(path, path)],
  ];

  it.each(places)('%s is refused at once, and kept when a file replaces it', async (_, what, make) => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    make();
    expect(thrownBy(() => readJsonFile(path, schema))).toMatchObject({
      code: 'config',
      message: `${path} ${what}`,
    });
    await write({ name: 'whole' });
    expect(readJsonFile(path, schema)).toEqual({ name: 'whole' });
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
    expect(notices).toEqual([expect.stringContaining(`${path} ${what}. psd2 keeps it as `)]);
  });
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
  const others = [
    'name.of.it.json',
    'another.json.tmp-1',
    'x.name.of.it.json.tmp-1',
    'name.of.it.json.damaged-1',
  ];
  makePrivateFolder(dirname(path));
  for (const name of [...others, 'name.of.it.json.tmp-1', 'name.of.it.json.tmp-2'])
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
