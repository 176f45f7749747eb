import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readPlainFile } from '../../../src/store/disk/files.ts';
import { GrowingLines } from '../../../src/store/disk/growing-lines.ts';
import { openBelow } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let path: string;
let reads: number;
let lines: GrowingLines<string>;
beforeEach(() => {
  path = join(mkdtempSync(join(temporary, 'lines-')), 'file');
  reads = 0;
  lines = new GrowingLines(path, {
    read: () => {
      reads += 1;
      return readPlainFile(path) ?? Buffer.alloc(0);
    },
    // A line is complete with its dot.
    parse: (text) => (text.endsWith('.') ? text : undefined),
  });
});

const write = (text: string) => writeFileSync(path, text, { mode: 0o600 });
const next = (isAnew: boolean, ...expected: string[]) =>
  expect(lines.next()).toEqual({ lines: expected, isAnew });

it('a file that grows gives each line once, and is read as a whole only once', () => {
  write('one.\ntwo.\n');
  next(true, 'one.', 'two.');
  next(false);
  appendFileSync(path, 'three.\n');
  next(false, 'three.');
  appendFileSync(path, `${'x'.repeat(200)}.\n`);
  appendFileSync(path, 'è😀.\n');
  next(false, `${'x'.repeat(200)}.`, 'è😀.');
  next(false);
  expect(reads).toBe(1);
  expect(openBelow(path)).toEqual([]);
});

it('a line that is being written comes when it is complete, also without its line break', () => {
  write('one.\ntw');
  next(true, 'one.');
  next(false);
  appendFileSync(path, 'o');
  next(false);
  appendFileSync(path, '.');
  next(false, 'two.');
  appendFileSync(path, '\nthr');
  next(false);
  appendFileSync(path, 'ee.\n');
  next(false, 'three.');
  expect(reads).toBe(1);
});

it('a damaged line is passed over, and the ones behind it count', () => {
  write('one.\ndamaged\n\ntwo.\n');
  next(true, 'one.', 'two.');
  appendFileSync(path, 'damaged\nthree.\n');
  next(false, 'three.');
});

it('a file that is missing has no lines until it is there', () => {
  next(true);
  next(true);
  write('one.\n');
  next(true, 'one.');
  rmSync(path);
  next(true);
  write('one.\n');
  next(true, 'one.');
});

it.each<[string, () => void, string[]]>([
  ['is shorter', () => write('one.\n'), ['one.']],
  ['is empty', () => write(''), []],
  ['is as long, with other lines', () => write('six.\nten.\n'), ['six.', 'ten.']],
  ['is longer, and does not begin as it did', () => write('six.\nten.\nnew.\n'), ['six.', 'ten.', 'new.']],
  [
    'is another file that begins in the same way',
    () => {
      writeFileSync(`${path}.new`, 'one.\ntwo.\nnew.\n', { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
    ['one.', 'two.', 'new.'],
  ],
])('a file that %s is read anew', (_, change, expected) => {
  write('one.\ntwo.\n');
  next(true, 'one.', 'two.');
  // The clock of a file system has a grain.
  utimesSync(path, 1, 1);
  lines.next();
  change();
  next(true, ...expected);
  next(false);
});

it('a file that is as long as before, and ends as it did, is read anew if it was written since', () => {
  const end = `${'x'.repeat(200)}.`;
  write(`one.\n${end}\n`);
  next(true, 'one.', end);
  // The clock of a file system has a grain.
  utimesSync(path, 1, 1);
  lines.next();
  write(`six.\n${end}\n`);
  next(true, 'six.', end);
  next(false);
});

it('what cannot be parsed now is given again', () => {
  let isRefused = true;
  const refusing = new GrowingLines(path, {
    read: () => readPlainFile(path) ?? Buffer.alloc(0),
    parse: (text) => {
      if (isRefused && text === 'two.') throw new RangeError('not now');
      return text.endsWith('.') ? text : undefined;
    },
  });
  write('one.\n');
  expect(refusing.next().lines).toEqual(['one.']);
  appendFileSync(path, 'new.\ntwo.\n');
  expect(() => refusing.next()).toThrow('not now');
  isRefused = false;
  expect(refusing.next()).toEqual({ lines: ['new.', 'two.'], isAnew: false });
});

it('a file that others can write is refused, and a folder is left to who reads all of it', () => {
  write('one.\n');
  next(true, 'one.');
  chmodSync(path, 0o666);
  expect(() => lines.next()).toThrow(path);
  rmSync(path);
  mkdirSync(path, { mode: 0o700 });
  expect(() => lines.next()).toThrow();
});
