import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { SyncedRows } from '../../../src/store/files/sync/rows.ts';
import { thrownBy } from '../../support/thrown.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folder = temporaryFolder();
const newFile = () => join(folder, `rows-${randomUUID()}.ndjson`);
const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): string => JSON.parse(line).id);
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const on = (day: number, id: string) => ({ id, bookingDate: `2026-11-${String(day).padStart(2, '0')}` });

it('a file of synced rows takes each row once, and is only appended to', () => {
  const path = newFile();
  expect(new SyncedRows(path, 0).append([on(1, 'a'), on(2, 'b')])).toBe(2);
  const before = readFileSync(path, 'utf8');
  expect(new SyncedRows(path, 0).append([on(2, 'b'), on(2, 'c'), on(3, 'd')])).toBe(2);
  expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true);
  expect(idsIn(path)).toEqual(['a', 'b', 'c', 'd']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('settled rows of a file are not read again', () => {
  const path = newFile();
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), on(2, 'b'), on(3, 'c')]);
  const settled = rows.settle('2026-11-03');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"a"', '!!!'));
  expect(new SyncedRows(path, settled).append([on(3, 'c'), on(4, 'd')])).toBe(1);
  expect(() => new SyncedRows(path, 0)).toThrow(`${path} is damaged at byte 0`);
});

it('rows without a booking date are always looked up', () => {
  const path = newFile();
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), { id: 'b', bookingDate: null }, on(3, 'c')]);
  expect(new SyncedRows(path, rows.settle('2026-11-04')).append([{ id: 'b', bookingDate: null }])).toBe(0);
});

it('a file of synced rows is read again if somebody shortened it', () => {
  const path = newFile();
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), on(2, 'b')]);
  const settled = rows.settle('2026-11-05');
  truncateSync(path, settled / 2);
  expect(new SyncedRows(path, settled).append([on(1, 'a'), on(2, 'b')])).toBe(1);
  expect(idsIn(path)).toEqual(['a', 'b']);
});

it('rows that a killed sync may have left must be flushed before progress is stored beyond them', () => {
  const path = newFile();
  new SyncedRows(path, 0).append([on(1, 'a'), on(2, 'b')]);
  const claim = { assertHeld: () => {} };
  const file = new SyncedRows(path, 0, { claim, isFlushed: false }).takeUnflushed();
  expect(file === undefined ? 0 : fstatSync(file).size).toBe(statSync(path).size);
  if (file !== undefined) closeSync(file);
  expect(new SyncedRows(path, 0, { claim, isFlushed: true }).takeUnflushed()).toBeUndefined();
});

it('only the holder of the folder writes to a file of synced rows, even if the file is already open', () => {
  const path = newFile();
  new SyncedRows(path, 0).append([on(1, 'a')]);
  const before = readFileSync(path, 'utf8');
  const lost = () => {
    throw new Error('taken over');
  };
  const rows = new SyncedRows(path, 0, { claim: { assertHeld: lost }, isFlushed: true });
  expect(() => rows.append([on(2, 'b')])).toThrow();
  appendFileSync(path, '{"id":"c","book');
  expect(() => new SyncedRows(path, 0, { claim: { assertHeld: lost }, isFlushed: true })).toThrow();
  expect(readFileSync(path, 'utf8')).toBe(`${before}{"id":"c","book`);
});

it('psd2 does not write to a file of synced rows that another program has changed', () => {
  const path = newFile();
  new SyncedRows(path, 0).append([on(1, 'a')]);
  const rows = new SyncedRows(path, 0);
  appendFileSync(path, 'a line of another program\n');
  expect(thrownBy(() => rows.append([on(2, 'b')]))).toMatchObject({
    code: 'config',
    message: `${path} was changed by another program while psd2 sync worked on it`,
    hint: 'Do not write to the files of psd2 sync. Run it again.',
  });
});

it.each([
  ['a number', '7'],
  ['a text', '"id"'],
  ['null', 'null'],
  ['a row without an id', '{"bookingDate":"2026-11-01"}'],
  ['a row whose id is a number', '{"id":7}'],
  ['half a row', '{"id":"b"'],
])('%s is no row, and the file stays unchanged', (_, line) => {
  const path = newFile();
  new SyncedRows(path, 0).append([on(1, 'a')]);
  const at = statSync(path).size;
  appendFileSync(path, `${line}\n`);
  expect(thrownBy(() => new SyncedRows(path, 0))).toMatchObject({
    code: 'config',
    message: `${path} is damaged at byte ${at}: it is not a row of psd2 sync`,
    hint: 'Repair that line, or move the file away. The next sync then fetches its rows again.',
  });
  expect(statSync(path).size).toBe(at + line.length + 1);
});

it.each([
  ...['{"id":"a', '{"i', '\0\0'].map((rest) => [rest, true] as const),
  ...['{"x":"a', 'id', '\0x', ' '].map((rest) => [rest, false] as const),
])('an incomplete last line %j is cut off if a crash leaves that: %s', (rest, isOfCrash) => {
  const path = newFile();
  new SyncedRows(path, 0).append([on(1, 'a')]);
  const { size } = statSync(path);
  appendFileSync(path, rest);
  if (isOfCrash) expect(new SyncedRows(path, 0).size).toBe(size);
  else expect(() => new SyncedRows(path, 0)).toThrow(`${path} is damaged at byte ${size}`);
  expect(statSync(path).size).toBe(isOfCrash ? size : size + rest.length);
});

it('a row whose day is not a text counts as one without a day, which may always come again', () => {
  const path = newFile();
  writeFileSync(path, '{"id":"a","bookingDate":7}\n{"id":"b"}\n');
  const rows = new SyncedRows(path, 0);
  expect(rows.settle('2026-11-30')).toBe(0);
  expect(rows.append(['a', 'b'].map((id) => ({ id, bookingDate: null })))).toBe(0);
});

it('the last day is the latest of a row that may come again, up to a day', async () => {
  const path = newFile();
  const rows = new SyncedRows(path, 0);
  const dayOf = (day: number) => parseDate('--date', on(day, '').bookingDate);
  expect(await rows.lastDay(dayOf(30))).toBeUndefined();
  rows.append([on(3, 'a'), on(7, 'b'), on(5, 'c'), { id: 'd', bookingDate: null }]);
  const lastDays = () => Promise.all([2, 3, 4, 6, 7, 30].map((most) => rows.lastDay(dayOf(most))));
  expect(await lastDays()).toEqual([undefined, dayOf(3), dayOf(3), dayOf(5), dayOf(7), dayOf(7)]);
  rows.settle(on(7, '').bookingDate);
  expect(await rows.lastDay(dayOf(6))).toBe(dayOf(5));
  expect(await rows.lastDay(dayOf(4))).toBeUndefined();
});

it('a file whose rows are all settled holds none of them, and one without rows needs no disk', () => {
  const path = newFile();
  const rows = new SyncedRows(path, 0);
  expect(rows.takeUnflushed()).toBeUndefined();
  rows.append([on(1, 'a'), on(2, 'b')]);
  expect(rows.settle('2026-11-03')).toBe(statSync(path).size);
  expect(rows.append([on(2, 'b')])).toBe(1);
  const file = rows.takeUnflushed();
  if (file !== undefined) closeSync(file);
  expect(rows.takeUnflushed()).toBeUndefined();
  expect(rows.append([])).toBe(0);
  const shared = { claim: { assertHeld() {} }, isFlushed: false };
  expect(new SyncedRows(path, statSync(path).size, shared).takeUnflushed()).toBeUndefined();
});

it('a file of rows that cannot be read or written is named', () => {
  const path = newFile();
  mkdirSync(path);
  expect(thrownBy(() => new SyncedRows(path, 0))).toMatchObject({
    code: 'config',
    message: `${path} cannot be read`,
    hint: 'Check who owns it.',
  });
  const other = newFile();
  const rows = new SyncedRows(other, 0);
  mkdirSync(other);
  expect(thrownBy(() => rows.append([on(1, 'a')]))).toMatchObject({
    code: 'config',
    message: `${other} cannot be written`,
    hint: 'Check the free space, and who owns the folder. What is in the file stays. The next sync continues.',
  });
  expect(rows.size).toBe(0);
});

it('a file of synced rows has every row once and in order, whatever overlaps and wherever it was cut off', () => {
  const days = fc.integer({ min: 1, max: 28 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ through: days, cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })) }), {
        maxLength: 6,
      }),
      fc.integer({ min: 1, max: 400 }),
      (syncs, width) => {
        const path = newFile();
        // Rows of different lengths, two a day.
        const all = Array.from({ length: 56 }, (_, number) => ({
          ...on(1 + Math.floor(number / 2), `row-${number}`),
          text: 'é'.repeat((number * 7) % width),
        }));
        let settled = 0;
        let through = 0;
        for (const sync of [...syncs, { through: 28, cut: null }]) {
          const rows = new SyncedRows(path, settled);
          const from = through - 3;
          const until = Math.max(through, sync.through);
          const size = sizeOf(path);
          rows.append(
            all.filter((_, number) => number / 2 + 1 > from && Math.floor(number / 2) + 1 <= until),
          );
          if (sync.cut !== null) {
            // Killed before the progress was written, with only a part of the appended rows on disk.
            truncateSync(path, size + Math.floor((sizeOf(path) - size) * sync.cut));
            continue;
          }
          through = until;
          settled = rows.settle(on(Math.max(1, through - 3), '').bookingDate);
        }
        expect(idsIn(path)).toEqual(all.map(({ id }) => id));
      },
    ),
    { numRuns: 60 },
  );
});
