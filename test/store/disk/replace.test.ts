import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { replaceDurably, replaceReadable } from '../../../src/store/disk/replace.ts';
import { thrownBy } from '../../support/thrown.ts';
import { recordDisk } from '../disk.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(temporary, 'replace-'));
  path = join(folder, 'file.prom');
});

/** The disk fails for a reason that nobody knows. */
function failing(call: 'renameSync' | 'writeFileSync'): void {
  vi.spyOn(fs, call).mockImplementation(() => {
    throw new Error('no code');
  });
  untilEnd();
}

/** The store uses what was replaced, until the test ends. */
function untilEnd(): void {
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe.each([
  ['a durable file', replaceDurably, 0o600],
  ['a file for others', replaceReadable, 0o644],
] as const)('%s', (_, replace, mode) => {
  it('has the new content alone, whatever it had before', () => {
    for (const text of ['a longer text\n', 'short', '']) {
      replace(path, text);
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
    expect(readdirSync(folder)).toEqual(['file.prom']);
  });

  it('has its own rights, also if the file before or the process has others', () => {
    const { writeFileSync: write } = fs;
    vi.spyOn(fs, 'writeFileSync').mockImplementation((file, text) => write(file, text, { mode: 0o600 }));
    untilEnd();
    writeFileSync(path, 'before');
    chmodSync(path, 0o666);
    replace(path, 'after');
    expect(modeOf(path)).toBe(mode);
  });

  it.each<[string, () => void, string, string[]]>([
    ['a folder', () => mkdirSync(join(path, 'full'), { recursive: true }), 'EISDIR', ['file.prom']],
    ['no folder', () => fs.rmSync(folder, { recursive: true }), 'ENOENT', []],
  ])('cannot be written if there is %s, and nothing is left of it', (_what, spoil, reason, left) => {
    spoil();
    expect(thrownBy(() => replace(path, 'after'))).toMatchObject({
      ...{ code: 'config', message: expect.stringContaining(path), cause: { code: reason } },
    });
    expect(fs.existsSync(folder) ? readdirSync(folder) : []).toEqual(left);
  });

  it('keeps the old content if the new one cannot be put in its place', () => {
    replace(path, 'before');
    failing('renameSync');
    expect(thrownBy(() => replace(path, 'after'))).toMatchObject({ code: 'config' });
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['file.prom']);
  });
});

it('a durable file is on the disk before it has its name, and then its name is', () => {
  const calls = recordDisk();
  replaceDurably(path, 'text');
  expect(calls).toEqual(['write .*', 'fsync .*', `fsync ${basename(folder)}`]);
});

it('who cannot write a file for others is told why', () => {
  const missing = join(folder, 'no', 'file');
  expect(thrownBy(() => replaceReadable(missing, 'x'))).toMatchObject({
    message: `The file ${missing} cannot be written (ENOENT)`,
    hint: 'Give a file in an existing folder that this user can write to.',
  });
  failing('writeFileSync');
  expect(thrownBy(() => replaceReadable(path, 'x'))).toMatchObject({
    message: `The file ${path} cannot be written (unknown)`,
  });
});
