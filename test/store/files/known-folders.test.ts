import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { FileCustomers } from '../../../src/store/files/customers.ts';
import { nameOfBank } from '../../../src/store/files/file-names.ts';
import { checkedLine } from '../../../src/store/files/flows/checked-lines.ts';
import { KnownFolders } from '../../../src/store/files/known-folders.ts';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { BANK, granted, granting } from '../whole-store.ts';

const temporary = temporaryFolder();
const MINUTE = 60_000;
const tokensAt = (place: StoreFolder, bank = BANK) => new FileTokens(place, 'bank', bank);
let root: string;
let path: string;
let folder: string;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE });
  root = newConfigFolder(temporary).root;
  path = join(root, 'lasting');
  folder = join(root, 'customer-1');
  mkdirSync(folder, { mode: 0o700, recursive: true });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One look at the folder, whose text would be `text`. */
function look(text: string): string {
  const known = new KnownFolders(path);
  const found = known.textOf(folder, () => text);
  known.keep();
  return found;
}

it('a folder that has not changed is not read again', () => {
  expect([look('first'), look('second')]).toEqual(['first', 'first']);
  expect(readFileSync(path, 'utf8')).not.toContain('customer-1');
  expect(readFileSync(path, 'utf8')).toMatch(/^\n[0-9a-f]{8} \d+ [\d.]+ first\n$/);
});

it('nothing is kept of a folder that does not exist', () => {
  rmSync(folder, { recursive: true });
  expect([look('first'), look('second'), existsSync(path)]).toEqual(['first', 'second', false]);
});

const makeAgain = () => {
  mkdirSync(`${folder}-new`);
  rmSync(folder, { recursive: true });
  mkdirSync(folder, { mode: 0o700, recursive: true });
};
const damage = () => writeFileSync(path, readFileSync(path, 'utf8').replace('first', 'fi'));
it.each<[string, () => void]>([
  ['another file', () => writeFileSync(join(folder, '2.json'), '')],
  ['another mode', () => chmodSync(folder, 0o711)],
  ['the name of another folder', makeAgain],
  ['no file of what is known', () => rmSync(path)],
  ['a damaged file of what is known', damage],
])('with %s, it is read again', (_, change) => {
  look('first');
  change();
  expect(look('second')).toBe('second');
});

it('a folder of the last two seconds is read again, since a file system may give the same time twice', () => {
  vi.setSystemTime(Date.now() - MINUTE);
  expect([look('first'), look('second')]).toEqual(['first', 'second']);
});

it('half a line of a process that was stopped does not harm the next one', () => {
  writeFileSync(path, 'ffffffff 12 34', { mode: 0o600 });
  expect([look('first'), look('second')]).toEqual(['first', 'first']);
});

it('a pipe in the place of the file stops no command', () => {
  execFileSync('mkfifo', ['-m', '600', path]);
  expect([look('first'), look('second')]).toEqual(['first', 'second']);
});

it('a folder and a file that others can write to are not trusted', () => {
  look('first');
  chmodSync(folder, 0o777);
  expect(() => look('second')).toThrow(`${folder} can be changed by others (mode 0777)`);
  chmodSync(path, 0o666);
  expect(() => look('second')).toThrow(`${path} can be changed by others (mode 0666)`);
});

it.each([
  [10_000, false, true],
  [10_001, false, false],
  // A folder that is still known makes up for two that have changed.
  [10_001, true, true],
  [10_002, true, false],
])('of %i folders that have changed, with one that has not: %s, it is kept: %s', (count, hasOne, isKept) => {
  if (hasOne) look('first');
  const known = hasOne ? readFileSync(path, 'utf8') : '';
  const old = Array.from({ length: count }, (_, inode) => checkedLine(`${-inode} 5 old`));
  writeFileSync(path, `${known}${old.join('')}`, { mode: 0o600 });
  look('first');
  expect(existsSync(path)).toBe(isKept);
});

it.each([
  [2_000, 'second'],
  [2_001, 'first'],
])('a folder that has changed %i ms ago gives then: %s', (age, expected) => {
  vi.setSystemTime(Math.floor(statSync(folder).ctimeMs) + age);
  expect([look('first'), look('second')]).toEqual(['first', expected]);
});

it('a login that has not changed is known without its tokens, until the customer is forgotten', async () => {
  const place = newConfigFolder(temporary);
  const login = {
    accessTokenExpiresAt: null,
    refreshTokenExpiresAt: '2026-11-21T11:00:00.000Z',
    scope: 'oob',
  };
  const write = (refreshToken: string, bank = BANK) =>
    tokensAt(place, bank).change('Ada', (slot) =>
      slot.write({ ...login, accessToken: 'secret', refreshToken }),
    );
  const logins = (bank = BANK) => tokensAt(place, bank).logins();
  const file = join(place.tokens('bank'), 'known-logins');
  expect(await logins()).toEqual([]);
  await write('one');
  for (const _ of [1, 2]) expect(await logins()).toEqual([{ customerId: 'Ada', login }]);
  expect(await logins(new URL('https://other.example/'))).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toMatch(/secret|one|Ada/);
  await tokensAt(place).forget('Ada');
  for (const _ of [1, 2]) expect(await logins()).toEqual([]);
  await tokensAt(place).erase('Ada');
  expect(existsSync(file)).toBe(false);
});

it('a record of a customer that has not changed is known without its names, until it is erased', async () => {
  const place = newConfigFolder(temporary);
  const customers = () => new FileCustomers(place, 'bank', BANK);
  const looks = async () => [await customers().list(), await customers().lasting()];
  const file = join(place.tokens('bank'), 'customers', nameOfBank(BANK.href), 'lasting');
  await customers().change('Ada', granting('co-1'));
  const endOfSca = addDays(bankDay(new Date(granted('co-1').grantedAt)), 180);
  const lasting = [{ customer: 'Ada', flow: 'co-1', validUntil: endOfSca }];
  for (const _ of [1, 2]) expect(await looks()).toEqual([['Ada'], lasting]);
  expect(readFileSync(file, 'utf8')).not.toContain('Ada');
  await customers().forget('Ada');
  for (const _ of [1, 2]) expect(await looks()).toEqual([[], []]);
  // An earlier version had another file.
  const older = file.replace(/lasting$/, 'known');
  writeFileSync(older, '{}');
  await customers().erase('Ada');
  expect([existsSync(file), existsSync(older)]).toEqual([false, false]);
});
