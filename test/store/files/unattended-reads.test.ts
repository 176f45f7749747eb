import fs, {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import { FileUnattendedReads } from '../../../src/store/files/access.ts';
import type { AccountRead } from '../../../src/store/ports/access.ts';
import { openBelow } from '../open-files.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const newFolder = () => newConfigFolder(temporary);
const TODAY = parseDate('today', '2026-11-21');
const read = (productId: string | null, day: IsoDate = TODAY) => ({ day, customerId: '1048262', productId });

/** Lets `count` runs, each with its own process, read the same account. */
async function runs(folder: ReturnType<typeof newFolder>, count: number, budget: number): Promise<boolean[]> {
  const taken: boolean[] = [];
  for (let run = 0; run < count; run += 1)
    taken.push(await take(new FileUnattendedReads(folder, 'bank'), read('0010482620'), budget));
  return taken;
}
const take = async (reads: FileUnattendedReads, which: AccountRead, budget: number) =>
  (await reads.take(which, { budget })) === 'taken';

test('a line that a power cut left incomplete does not count', async () => {
  const folder = newFolder();
  await runs(folder, 1, 9);
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
  writeFileSync(file, '1048262 0010482620\n1048262 00104');
  expect(await take(new FileUnattendedReads(folder, 'bank'), read('0010482638'), 1)).toBe(true);
});

test('a run does not count the reads that it has counted already, however many calls it makes', async () => {
  const folder = newFolder();
  const reads = new FileUnattendedReads(folder, 'bank');
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
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

test('a read that another process takes at the same moment is refused, and given back', async () => {
  const folder = newFolder();
  const reads = new FileUnattendedReads(folder, 'bank');
  await runs(folder, 1, 9);
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
  expect(await take(reads, read('0010482638'), 2)).toBe(true);
  const { writeSync } = fs;
  replace(fs, 'writeSync', (to: never, line: never) => {
    if (!String(line).includes('back')) appendFileSync(file, '1048262 0010482620\n');
    return writeSync(to, line);
  });
  expect(await take(reads, read('0010482620'), 2)).toBe(false);
  expect(readFileSync(file, 'utf8')).toMatch(/(1048262 0010482620\n(.*\n)*){3}1048262 0010482620 back\n$/);
});

test('after midnight a read of the day before is neither given back nor noted, since nobody counts it', async () => {
  const folder = newFolder();
  const reads = new FileUnattendedReads(folder, 'bank');
  const tomorrow = parseDate('tomorrow', '2026-11-22');
  const [late, later, early] = [read('0010482620'), read('0010482638'), read('0010482620', tomorrow)];
  for (const each of [late, later, early]) expect(await take(reads, each, 4)).toBe(true);
  await reads.giveBack(late, 1439);
  await reads.succeeded(later);
  expect(readdirSync(join(folder.tokens('bank'), 'unattended-reads'))).toEqual([tomorrow]);
  const file = join(folder.tokens('bank'), 'unattended-reads', tomorrow);
  expect(readFileSync(file, 'utf8')).toBe('1048262 0010482620\n');
});

test('a read of the day before that failed does not lengthen the pauses of today', async () => {
  const folder = newFolder();
  const file = (day: IsoDate) => join(folder.tokens('bank'), 'unattended-reads', day);
  const reads = new FileUnattendedReads(folder, 'bank');
  for (const minute of [600, 700]) {
    await reads.take(read('0010482620'), { budget: 9 });
    await reads.giveBack(read('0010482620'), minute);
  }
  expect(readFileSync(file(TODAY), 'utf8')).toMatch(/ failed 1 605\n.*\n.* failed 2 710\n$/);
  const tomorrow = parseDate('tomorrow', '2026-11-22');
  await reads.take(read('0010482620', tomorrow), { budget: 9 });
  await reads.giveBack(read('0010482620', tomorrow), 60);
  expect(readFileSync(file(tomorrow), 'utf8')).toMatch(/ failed 1 65\n$/);
});

test('data is noted only if it ends a pause', async () => {
  const folder = newFolder();
  const reads = new FileUnattendedReads(folder, 'bank');
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
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

test('the file of a day stays open until the day ends; what is put in its place counts from its beginning', async () => {
  const folder = newFolder();
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
  const reads = new FileUnattendedReads(folder, 'bank');
  for (const id of ['0010482620', '0010482638', '0010482646'])
    expect(await take(reads, read(id), 4)).toBe(true);
  expect(openBelow(folder.root)).toHaveLength(1);

  rmSync(file);
  writeFileSync(file, '1048262 0010482620\n', { mode: 0o600 });
  reads.begin();
  expect(await take(reads, read('0010482638'), 1)).toBe(true);
  expect(await take(reads, read('0010482620'), 1)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('1048262 0010482620\n1048262 0010482638\n');

  await take(reads, read('0010482620', parseDate('tomorrow', '2026-11-22')), 4);
  expect(openBelow(folder.root)).toHaveLength(1);
});

test('a note about a read that cannot be written is an error, and names the file', async () => {
  const folder = newFolder();
  const reads = new FileUnattendedReads(folder, 'bank');
  await reads.take(read(null));
  const file = join(folder.tokens('bank'), 'unattended-reads', TODAY);
  once('writeSync', failing('ENOSPC'));
  await expect(reads.giveBack(read(null))).rejects.toMatchObject({
    code: 'config',
    message: `The count of reads ${file} cannot be written: the disk is full`,
  });
});

test('a count of reads that cannot be written is an error, and names the file', async () => {
  const folder = newFolder();
  const place = join(folder.tokens('bank'), 'unattended-reads');
  mkdirSync(join(place, TODAY), { recursive: true, mode: 0o700 });
  await expect(new FileUnattendedReads(folder, 'bank').take(read(null), { budget: 1 })).rejects.toMatchObject(
    {
      code: 'config',
      message: `The count of reads ${join(place, TODAY)} cannot be written: a folder has that name`,
      hint: 'Check the free space, and who owns the folder.',
    },
  );
  rmSync(place, { recursive: true });
  writeFileSync(place, '');
  await expect(new FileUnattendedReads(folder, 'bank').take(read(null))).rejects.toMatchObject({
    code: 'config',
  });
});
