import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../src/make-folder.ts';
import { temporaryFolder } from './store/temporary-folder.ts';

const temporary = temporaryFolder();

it('a folder is made with those above it, for its owner alone, and one that exists stays', () => {
  const path = join(temporary, 'one', 'two', 'three');
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  mkdirSync(join(temporary, 'open'), { mode: 0o755 });
  makeFolder(join(temporary, 'open'));
  expect(statSync(join(temporary, 'open')).mode & 0o777).toBe(0o755);
});

it('where something else is in the way, the error of the system says so', () => {
  const file = join(temporary, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'below'))).toThrow(/ENOTDIR|EEXIST/);
});

it.runIf(existsSync('/proc'))('where the system makes no folder, it ends with an error', () => {
  expect(() => makeFolder('/proc/psd2/below')).toThrow('ENOENT');
});
