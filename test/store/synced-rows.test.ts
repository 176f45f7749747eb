import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fstatSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SyncedRows } from '../../src/store/files/sync/rows.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();
const newFile = () => join(folder, `rows-${randomUUID()}.ndjson`);
const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): string => JSON.parse(line).id);
const on = (day: number, id: string) => ({ id, bookingDate: `2026-11-${String(day).padStart(2, '0')}` });

describe('a file of synced rows', () => {
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

  it('a file of synced rows loses only a last line that a crash cut short', () => {
    const path = newFile();
    new SyncedRows(path, 0).append([on(1, 'a')]);
    appendFileSync(path, '{"id":"b","bookingDa');
    expect(new SyncedRows(path, 0).append([on(2, 'b')])).toBe(1);
    appendFileSync(path, '\0\0\0');
    expect(new SyncedRows(path, 0).append([on(2, 'b')])).toBe(0);
    expect(idsIn(path)).toEqual(['a', 'b']);
  });

  it('a file that has other content stays unchanged', () => {
    const path = newFile();
    writeFileSync(path, 'a letter without an end of line');
    expect(() => new SyncedRows(path, 0)).toThrow(`${path} is damaged at byte 0`);
    expect(readFileSync(path, 'utf8')).toBe('a letter without an end of line');
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
    expect(() => rows.append([on(2, 'b')])).toThrow(`${path} was changed by another program`);
  });

  it('the error for a damaged file of synced rows names the file and the place', () => {
    const path = newFile();
    new SyncedRows(path, 0).append([on(1, 'a')]);
    appendFileSync(path, 'junk\n');
    expect(() => new SyncedRows(path, 0)).toThrow(/rows-.*\.ndjson is damaged at byte \d+/);
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
});

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
