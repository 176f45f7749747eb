import fs, {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import {
  addReadLines,
  type DayOfAccount,
  FileCallCount,
  FileUnattendedReads,
  writeReadLine,
} from '../../../src/store/files/access.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { AccountRead } from '../../../src/store/ports/access.ts';
import { openBelow } from '../open-files.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const TODAY = parseDate('today', '2026-11-21');
const TOMORROW = parseDate('tomorrow', '2026-11-22');
const AFTER_TOMORROW = parseDate('the day after tomorrow', '2026-11-23');
const read = (productId: string | null, day: IsoDate = TODAY) => ({ day, customerId: '1048262', productId });

let folder: StoreFolder;
let reads: FileUnattendedReads;
const fileOf = (day: IsoDate) => join(folder.tokens('bank'), 'unattended-reads', day);
/** What is counted today. */
let file: string;
beforeEach(() => {
  folder = newConfigFolder(temporary);
  reads = new FileUnattendedReads(folder, 'bank');
  file = fileOf(TODAY);
});

const take = async (reads: FileUnattendedReads, which: AccountRead, budget: number) =>
  (await reads.take(which, { budget })) === 'taken';

it('a line that a power cut left incomplete does not count', async () => {
  await take(reads, read('0010482620'), 9);
  writeFileSync(file, '1048262 0010482620\n1048262 00104');
  expect(await take(new FileUnattendedReads(folder, 'bank'), read('0010482638'), 1)).toBe(true);
});

it('a run does not count the reads that it has counted already, however many calls it makes', async () => {
  for (let run = 0; run < 3; run += 1) {
    reads.begin();
    expect(await take(reads, read('0010482620'), 3)).toBe(true);
    expect(await take(reads, read(null), 9)).toBe(true);
  }
  expect(readFileSync(file, 'utf8')).toBe('1048262 0010482620\n1048262 *\n'.repeat(3));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  reads.begin();
  expect(await take(reads, read('0010482620'), 3)).toBe(false);
  // A refused read is not counted.
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(7);
  expect(await take(reads, read(null), 4)).toBe(true);
});

it('a read that another process takes at the same moment is refused, and given back', async () => {
  await take(new FileUnattendedReads(folder, 'bank'), read('0010482620'), 9);
  expect(await take(reads, read('0010482638'), 2)).toBe(true);
  const { writeSync } = fs;
  replace(fs, 'writeSync', (to: never, line: never) => {
    if (!String(line).includes('back')) appendFileSync(file, '1048262 0010482620\n');
    return writeSync(to, line);
  });
  expect(await take(reads, read('0010482620'), 2)).toBe(false);
  expect(readFileSync(file, 'utf8')).toMatch(/(1048262 0010482620\n(.*\n)*){3}1048262 0010482620 back\n$/);
});

it('after midnight a read of the day before is neither given back nor noted, since nobody counts it', async () => {
  const [late, later, early] = [read('0010482620'), read('0010482638'), read('0010482620', TOMORROW)];
  for (const each of [late, later, early]) expect(await take(reads, each, 4)).toBe(true);
  await reads.giveBack(late, 1439);
  await reads.succeeded(later);
  expect(readdirSync(dirname(file))).toEqual([TOMORROW]);
  expect(readFileSync(fileOf(TOMORROW), 'utf8')).toBe('1048262 0010482620\n');
});

it('a read of the day before that failed does not lengthen the pauses of today', async () => {
  for (const minute of [600, 700]) {
    await reads.take(read('0010482620'), { budget: 9 });
    await reads.giveBack(read('0010482620'), minute);
  }
  expect(readFileSync(file, 'utf8')).toMatch(/ failed 1 605\n.*\n.* failed 2 710\n$/);
  await reads.take(read('0010482620', TOMORROW), { budget: 9 });
  await reads.giveBack(read('0010482620', TOMORROW), 60);
  expect(readFileSync(fileOf(TOMORROW), 'utf8')).toMatch(/ failed 1 65\n$/);
});

it('data is noted only if it ends a pause', async () => {
  await reads.take(read(null), { budget: 9 });
  await reads.succeeded(read(null));
  expect(readFileSync(file, 'utf8')).toBe('1048262 *\n');
  reads.begin();
  await reads.take(read(null), { budget: 9 });
  await reads.giveBack(read(null), 600);
  await reads.take(read(null), { budget: 9 });
  for (const _again of [1, 2]) await reads.succeeded(read(null));
  expect(readFileSync(file, 'utf8')).toBe(
    '1048262 *\n1048262 *\n1048262 * failed 1 605\n1048262 *\n1048262 * ok\n',
  );
});

it('the file of a day stays open until the day ends; what is put in its place counts from its beginning', async () => {
  for (const id of ['0010482620', '0010482638', '0010482646'])
    expect(await take(reads, read(id), 4)).toBe(true);
  expect(openBelow(folder.root)).toHaveLength(1);

  rmSync(file);
  writeFileSync(file, '1048262 0010482620\n', { mode: 0o600 });
  reads.begin();
  expect(await take(reads, read('0010482638'), 1)).toBe(true);
  expect(await take(reads, read('0010482620'), 1)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('1048262 0010482620\n1048262 0010482638\n');

  await take(reads, read('0010482620', TOMORROW), 4);
  expect(openBelow(folder.root)).toHaveLength(1);
});

it('a note about a read that cannot be written is an error, and names the file', async () => {
  await reads.take(read(null));
  once('writeSync', failing('ENOSPC'));
  await expect(reads.giveBack(read(null))).rejects.toMatchObject({
    code: 'config',
    message: `The count of reads ${file} cannot be written: the disk is full`,
  });
});

it('a count of reads that cannot be written is an error, and names the file', async () => {
  mkdirSync(file, { recursive: true, mode: 0o700 });
  await expect(take(reads, read(null), 1)).rejects.toMatchObject({
    code: 'config',
    message: `The count of reads ${file} cannot be written: a folder has that name`,
    hint: 'Check the free space, and who owns the folder.',
  });
  rmSync(dirname(file), { recursive: true });
  writeFileSync(dirname(file), '');
  await expect(new FileUnattendedReads(folder, 'bank').take(read(null))).rejects.toMatchObject({
    code: 'config',
  });
});

describe('the count of calls', () => {
  let counter: FileCallCount;
  let place: string;
  beforeEach(() => {
    counter = new FileCallCount(folder.tokens('bank'));
    place = join(folder.tokens('bank'), 'client-credentials-calls');
  });

  it('a count of calls that cannot be written is an error, and something else in its place counts as none', async () => {
    const path = join(place, TODAY);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    expect(await counter.on(TODAY)).toBe(0);
    await expect(counter.count(TODAY)).rejects.toMatchObject({
      code: 'config',
      message: `The count of calls ${path} cannot be written: a folder has that name`,
      hint: 'Check the free space, and who owns the folder.',
    });
  });

  it('the first call of a day removes the counts of the days before it, and only the owner can read it', async () => {
    await counter.count(TOMORROW);
    await counter.count(TODAY);
    expect(readdirSync(place).sort()).toEqual([TODAY, TOMORROW]);
    expect([place, join(place, TODAY)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    await counter.count(TOMORROW);
    expect(readdirSync(place).sort()).toEqual([TODAY, TOMORROW]);
    await counter.count(AFTER_TOMORROW);
    expect(readdirSync(place)).toEqual([AFTER_TOMORROW]);
  });
});

describe('the lines of reads', () => {
  /** What lines say of each account. */
  function saidBy(...lines: string[]): Record<string, DayOfAccount> {
    const accounts = new Map<string, DayOfAccount>();
    addReadLines(accounts, lines);
    return Object.fromEntries(accounts);
  }
  const A = '42 0010482620';
  const lineOf = (line: Parameters<typeof writeReadLine>[1]) => writeReadLine(A, line).replace(/\n$/, '');
  const TAKEN = lineOf({ kind: 'taken' });
  const BACK = lineOf({ kind: 'back' });
  const OK = lineOf({ kind: 'succeeded' });
  const FAILED = lineOf({ kind: 'failed', failures: 2, pausedUntil: 615 });

  it('each line ends, and says what happened', () => {
    expect(writeReadLine('42 *', { kind: 'taken' })).toBe('42 *\n');
    expect(writeReadLine('42 *', { kind: 'back' })).toBe('42 * back\n');
    expect(writeReadLine('42 *', { kind: 'succeeded' })).toBe('42 * ok\n');
    expect(writeReadLine('42 *', { kind: 'failed', failures: 1, pausedUntil: 1439 })).toBe(
      '42 * failed 1 1439\n',
    );
  });

  it.each([
    ['reads are counted', [TAKEN, TAKEN], [2, 0, 0]],
    ['a read that was given back does not count', [TAKEN, TAKEN, BACK], [1, 0, 0]],
    ['no more reads are given back than were taken', [BACK, BACK, TAKEN], [1, 0, 0]],
    ['a failed read is given back, and begins a pause', [TAKEN, FAILED], [0, 2, 615]],
    ['a read that was given back ends no pause', [FAILED, TAKEN, BACK], [0, 2, 615]],
    ['a read with data ends the pause, and counts', [FAILED, TAKEN, OK], [1, 0, 0]],
  ])('%s', (_what, lines, [reads, failures, pausedUntil]) => {
    expect(saidBy(...lines)).toEqual({ [A]: { reads, failures, pausedUntil } });
  });

  it('accounts are counted separately, and what was known before is kept', () => {
    const accounts = new Map([[A, { reads: 3, failures: 1, pausedUntil: 60 }]]);
    addReadLines(accounts, ['42 *', TAKEN]);
    expect(Object.fromEntries(accounts)).toEqual({
      [A]: { reads: 4, failures: 1, pausedUntil: 60 },
      '42 *': { reads: 1, failures: 0, pausedUntil: 0 },
    });
  });

  it.each([
    ...['', '42', ` ${A}`, `${A} `, `${A} x`, `${A} back again`, `x ${A} back`, `${A} failed`],
    ...[`${A} failed 1`, `${A} failed x 1`, `${A} failed 1 x`],
    ...[`${A} failed 1234567890 1`, `${A} failed 1 1234567890`],
  ])('a line that psd2 did not write does not count: %j', (line) => {
    expect(saidBy(line)).toEqual({});
  });
});
