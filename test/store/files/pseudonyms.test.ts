import { appendFileSync, chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { FilePseudonyms } from '../../../src/store/files/pseudonyms.ts';
import { thrownBy } from '../../support/thrown.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { failing, once } from '../waiting.ts';

const temporary = temporaryFolder();
let path: string;
beforeEach(() => {
  path = join(newConfigFolder(temporary).root, 'audit', 'bank.pseudonyms.ndjson');
});

const process = () => new FilePseudonyms(path);
const line = (pseudonym: string, customerId: string, word: string) =>
  JSON.stringify({ pseudonym, customerId, word });

it('the file belongs to its owner alone, and each process sees what another has added, changed or removed', () => {
  const [one, other] = [process(), process()];
  expect([one.all(), other.all()]).toEqual([[], []]);
  const made = one.of('1', 'A');
  expect([join(path, '..'), path].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(other.of('1', 'A')).toBe(made);
  const second = other.of('2', 'A');
  expect(one.all().map(({ pseudonym }) => pseudonym)).toEqual([made, second]);
  other.forget('1');
  expect(one.all()).toEqual([{ pseudonym: second, customerId: '2', word: 'A' }]);
  expect(readFileSync(path, 'utf8')).not.toContain(made);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('of two lines of a word the first counts, and what is kept of another store replaces none', () => {
  put(path, `${line('p1', '1', 'A')}\n${line('p2', '1', 'A')}\n`);
  const known = process();
  known.keep({ pseudonym: 'p3', customerId: '1', word: 'A' });
  known.keep({ pseudonym: 'p4', customerId: '1', word: 'B' });
  for (const each of [known, process()]) expect([each.of('1', 'A'), each.of('1', 'B')]).toEqual(['p1', 'p4']);
});

it('damaged lines say nothing, and one that was cut short does not spoil the next one', () => {
  put(path, `nothing\n${line('p1', '1', 'A')}\nnull\n{"pseudonym":7}\n\n`);
  appendFileSync(path, line('p2', '2', 'A').slice(0, -3));
  const known = process();
  expect(known.all().map(({ pseudonym }) => pseudonym)).toEqual(['p1']);
  const made = known.of('2', 'A');
  expect(process().of('2', 'A')).toBe(made);
  expect(made).not.toBe('p2');
});

it('to forget nobody writes nothing', () => {
  put(path, `damaged\n${line('p1', '1', 'A')}\n`);
  const before = statSync(path);
  process().forget('A');
  process().forget('2');
  expect(statSync(path).ino).toBe(before.ino);
  process().forget('1');
  expect(readFileSync(path, 'utf8')).toBe('');
});

it('who cannot add one is told, and has none', () => {
  const known = process();
  known.of('1', 'A');
  once('fsyncSync', failing('ENOSPC'));
  expect(thrownBy(() => known.of('1', 'B'))).toMatchObject({
    ...{ code: 'config', message: expect.stringContaining(`The pseudonyms ${path} cannot be written`) },
  });
  expect(
    process()
      .all()
      .some(({ word }) => word === 'A'),
  ).toBe(true);
});

it('a file that another user may have written is refused', () => {
  put(path, `${line('p1', '1', 'A')}\n`);
  chmodSync(path, 0o666);
  expect(thrownBy(() => process().all())).toMatchObject({
    ...{ code: 'config', message: expect.stringContaining(path) },
  });
});

it('a folder in its place is refused', () => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  expect(thrownBy(() => process().of('1', 'A'))).toMatchObject({ code: 'config' });
});
