import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { FileCallCount } from '../../../src/store/files/access.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const today = parseDate('--date', '2026-11-21');
const tomorrow = parseDate('--date', '2026-11-22');

it('only the owner can read the count of calls', async () => {
  const folder = newConfigFolder(temporary);
  await new FileCallCount(folder.tokens('bank')).count(today);
  const place = join(folder.tokens('bank'), 'client-credentials-calls');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(readdirSync(place).map((file) => statSync(join(place, file)).mode & 0o777)).toEqual([0o600]);
});

it('a count of calls that cannot be written is an error, and something else in its place counts as none', async () => {
  const folder = newConfigFolder(temporary);
  const path = join(folder.tokens('bank'), 'client-credentials-calls', today);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const counter = new FileCallCount(folder.tokens('bank'));
  expect(await counter.on(today)).toBe(0);
  await expect(counter.count(today)).rejects.toMatchObject({
    code: 'config',
    message: `The count of calls ${path} cannot be written: a folder has that name`,
    hint: 'Check the free space, and who owns the folder.',
  });
});

it('the first call of a day removes the counts of other days, also of days to come', async () => {
  const folder = newConfigFolder(temporary);
  const place = join(folder.tokens('bank'), 'client-credentials-calls');
  const counter = new FileCallCount(folder.tokens('bank'));
  await counter.count(tomorrow);
  await counter.count(today);
  expect(readdirSync(place)).toEqual([today]);
  writeFileSync(join(place, 'later'), '');
  await counter.count(today);
  expect(readdirSync(place).sort()).toEqual([today, 'later']);
});
