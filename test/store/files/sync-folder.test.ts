import { randomUUID } from 'node:crypto';
import fs, {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { isDecimal } from '../../../src/domain/decimal.ts';
import { type SyncFolder, SyncRun } from '../../../src/store/files/sync/folder.ts';
import { putInPlace, SyncedRows, takeOwnCopy } from '../../../src/store/files/sync/rows.ts';
import { thrownBy } from '../../support/thrown.ts';
import { rowOf } from '../row-of.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const { signal } = new AbortController();
const day = parseDate('--date', '2026-11-21');
const progress = { from: day, through: day, settled: 0 };
const decimal = (text: string) => (isDecimal(text) ? text : expect.unreachable());
const row = (id: string) => ({ id, bookingDate: day });
let out: string;

beforeEach(() => {
  out = mkdtempSync(join(temporary, 'out-'));
});

const sync = <T>(work: (folder: SyncFolder) => Promise<T>) =>
  SyncRun.within(out, signal, (run) => run.customer('7', work));
const place = (...names: string[]) => join(out, '7', ...names);
const current = () => readFileSync(place('current.ndjson'), 'utf8').split('\n').slice(0, -1);
const rowsFile = (productId: string) => place('transactions', `${productId}.ndjson`);
/** The newest progress that is stored. */
const stored = () => {
  const [name = ''] = readdirSync(place()).filter((each) => each.startsWith('sync-'));
  return JSON.parse(readFileSync(place(name), 'utf8').trimEnd().split('\n').at(-1) ?? '');
};
/** A sync that stores a row of a product. */
const syncRow = (productId: string, id: string) =>
  sync(async (folder) => {
    folder.booked(productId, 0).append([row(id)]);
    folder.remember(productId, progress);
  });
/** Leaves the folder as a run does that was killed. */
const kill = () => {
  const { claim } = stored();
  writeFileSync(place(`sync-${claim}.ndjson`), `${JSON.stringify({ ...stored(), ended: false })}\n`);
};

it.each([['7'], ['7/transactions']])(
  '%s that is a link leads no data of the customer elsewhere',
  async (name) => {
    const elsewhere = mkdtempSync(join(temporary, 'elsewhere-'));
    if (name !== '7') mkdirSync(join(out, '7'));
    symlinkSync(elsewhere, join(out, name));
    await expect(syncRow('A1', 'r1')).rejects.toMatchObject({ code: 'config' });
    expect(readdirSync(elsewhere)).toEqual([]);
  },
);

describe('the current state of a customer', () => {
  it('accounts come before balances, and balances before pending transactions, each in their order', async () => {
    await sync(async (folder) => {
      folder.replace('pending/A1', [{ details: 'second' }, { details: 'first' }]);
      folder.replace('balances', [{ productId: 'A1', amount: '1.00' }]);
      folder.replace('accounts', [{ productId: 'B2' }, { productId: 'A1' }, {}]);
    });
    expect(current()).toEqual([
      '{"kind":"account","productId":"B2"}',
      '{"kind":"account","productId":"A1"}',
      '{"kind":"account"}',
      '{"kind":"balance","productId":"A1","amount":"1.00"}',
      '{"kind":"pending","productId":"A1","details":"second"}',
      '{"kind":"pending","productId":"A1","details":"first"}',
    ]);
    expect(statSync(place('current.ndjson')).mode & 0o777).toBe(0o600);
    expect(readdirSync(place()).sort()).toEqual(['current.ndjson', 'sync-1.ndjson', 'transactions']);
  });

  it('what a sync does not read stays, and what it reads is replaced, even by nothing', async () => {
    await sync(async (folder) => {
      folder.replace('accounts', [{ productId: 'A1' }]);
      folder.replace('balances', [{ amount: '1.00' }]);
      folder.replace('pending/A1', [{ details: 'of A1' }]);
      folder.replace('pending/A10', [{ details: 'of A10' }]);
    });
    await sync(async (folder) => {
      folder.replace('balances', [{ amount: '2.00' }]);
      folder.replace('pending/A1', []);
    });
    expect(current()).toEqual([
      '{"kind":"account","productId":"A1"}',
      '{"kind":"balance","amount":"2.00"}',
      '{"kind":"pending","productId":"A10","details":"of A10"}',
    ]);
  });

  it('a state that has not changed is not written again, and neither is an empty one, or one that was not read', async () => {
    await sync(async (folder) => folder.replace('accounts', []));
    expect(existsSync(place('current.ndjson'))).toBe(false);
    const same = () => sync(async (folder) => folder.replace('accounts', [{ productId: 'A1' }]));
    await same();
    const { ino } = statSync(place('current.ndjson'));
    await same();
    await sync(async () => {});
    expect(statSync(place('current.ndjson')).ino).toBe(ino);
    await sync(async (folder) => folder.replace('accounts', []));
    expect(readFileSync(place('current.ndjson'), 'utf8')).toBe('');
  });

  it('a current state that cannot be read is named', async () => {
    mkdirSync(place('current.ndjson'), { recursive: true });
    await expect(sync(async (folder) => folder.replace('accounts', []))).rejects.toMatchObject({
      code: 'config',
      message: `${place('current.ndjson')} cannot be written: a folder has that name`,
      hint: 'Check the free space, and who owns the folder. What is in the files stays. The next sync continues.',
    });
  });
});

describe('the progress of a customer', () => {
  it('progress is stored with the size of its rows, if there are any, and found by the next sync', async () => {
    await sync(async (folder) => folder.remember('C3', progress));
    expect(stored().products).toEqual({ C3: progress });
    await syncRow('A1', 'a');
    const { size } = statSync(rowsFile('A1'));
    expect(stored()).toMatchObject({ claim: 2, ended: true, products: { A1: { ...progress, size } } });
    await sync(async (folder) => {
      expect(folder.progressOf('C3')).toEqual(progress);
      expect(folder.progressOf('A1')).toEqual({ ...progress, size });
      expect(folder.progressOf('B2')).toBeUndefined();
      expect(folder.progressOf('toString')).toBeUndefined();
    });
  });

  it('progress does not count if rows are missing, but if there are more of them', async () => {
    await syncRow('A1', 'a');
    const whole = readFileSync(rowsFile('A1'), 'utf8');
    truncateSync(rowsFile('A1'), whole.length - 1);
    await sync(async (folder) => expect(folder.progressOf('A1')).toBeUndefined());
    rmSync(rowsFile('A1'));
    await sync(async (folder) => expect(folder.progressOf('A1')).toBeUndefined());
    writeFileSync(rowsFile('A1'), whole + whole.replace('"a"', '"b"'));
    await sync(async (folder) => expect(folder.progressOf('A1')).toMatchObject(progress));
  });

  it('progress counts from each commit on, and at the end even if the sync failed', async () => {
    const failing = sync(async (folder) => {
      folder.remember('A1', progress);
      expect(stored().products).toEqual({});
      await folder.commit();
      expect(stored()).toMatchObject({ ended: false, products: { A1: progress } });
      folder.remember('B2', progress);
      throw new RangeError('the bank is away');
    });
    await expect(failing).rejects.toThrow('the bank is away');
    expect(stored()).toMatchObject({ ended: true, products: { A1: progress, B2: progress } });
  });
});

describe('rows of a sync', () => {
  /** Whether the next sync waits for the disk, for the rows of a product that it only reads. */
  async function waitsForTheDisk(): Promise<boolean> {
    const taken = vi.spyOn(SyncedRows.prototype, 'takeUnflushed');
    onTestFinished(() => taken.mockRestore());
    await sync(async (folder) => void folder.booked('A1', 0));
    return taken.mock.results.some(({ value }) => value !== undefined);
  }

  it('rows of a sync that has ended are on the disk, and stay in their file', async () => {
    await syncRow('A1', 'a');
    const { ino } = statSync(rowsFile('A1'));
    expect(await waitsForTheDisk()).toBe(false);
    expect(statSync(rowsFile('A1')).ino).toBe(ino);
  });

  it('rows of a sync that may only be stopped are copied, so that it cannot write into them', async () => {
    await syncRow('A1', 'a');
    kill();
    const before = statSync(rowsFile('A1'));
    const content = readFileSync(rowsFile('A1'), 'utf8');
    expect(await waitsForTheDisk()).toBe(true);
    expect(statSync(rowsFile('A1')).ino).not.toBe(before.ino);
    expect(readFileSync(rowsFile('A1'), 'utf8')).toBe(content);
    expect(statSync(rowsFile('A1')).mode & 0o777).toBe(0o600);
    expect(readdirSync(place('transactions'))).toEqual(['A1.ndjson']);
  });

  it('a copy of the rows that is not on the disk does not replace them', async () => {
    await syncRow('A1', 'a');
    kill();
    const { ino } = statSync(rowsFile('A1'));
    await expect(
      sync(async (folder) => {
        once('fdatasyncSync', failing('ENOSPC'));
        folder.booked('A1', 0);
      }),
    ).rejects.toMatchObject({
      code: 'config',
      message: `${rowsFile('A1')} cannot be written: the disk is full`,
    });
    expect(statSync(rowsFile('A1')).ino).toBe(ino);
  });

  it('what a stopped sync was about to put in place is removed, and nothing else', async () => {
    await syncRow('A1', 'a');
    const beside = ['current.ndjson.new-1', 'x.ndjson.new-12'];
    const others = ['current.ndjson.new', 'x.new-1', 'x.ndjson.new-1.old'];
    const all = [...beside, ...others].flatMap((name) => [place(name), place('transactions', name)]);
    for (const path of all) writeFileSync(path, '');
    await sync(async () => {});
    expect(all.filter((path) => !existsSync(path))).toEqual([]);
    kill();
    await sync(async () => {});
    const gone = beside.flatMap((name) => [place(name), place('transactions', name)]);
    expect(all.filter((path) => !existsSync(path)).sort()).toEqual(gone.sort());
  });

  it('if the disk does not take the rows, no progress is stored beyond them', async () => {
    const [opened, closed]: [number[], number[]] = [[], []];
    vi.spyOn(SyncedRows.prototype, 'takeUnflushed').mockImplementation(() => {
      // A device cannot be flushed.
      const file = openSync('/dev/null', 'r');
      opened.push(file);
      return file;
    });
    const { closeSync } = fs;
    replace(fs, 'closeSync', (file: never) => {
      closed.push(file);
      closeSync(file);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(syncRow('A1', 'a')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(`^${rowsFile('A1')} cannot be written: E[A-Z]+$`),
      hint: 'Check the free space, and who owns the folder. What is in the files stays. The next sync continues.',
    });
    expect(opened).toHaveLength(1);
    expect(stored().products).toEqual({});
    expect(closed).toContain(opened[0]);
  });
});

describe('a sync that another has overtaken', () => {
  it.each([true, false])(
    'a sync that was overtaken stops, and leaves to the other what is stored (commits: %s)',
    async (commits) => {
      const late = sync(async (folder) => {
        folder.remember('A1', progress);
        folder.replace('accounts', [{ productId: 'late' }]);
        renameSync(place('sync-1.ndjson'), place('sync-2.ndjson'));
        if (commits) await folder.commit();
      });
      await expect(late).rejects.toMatchObject({ code: 'overtaken' });
      expect(stored()).toMatchObject({ claim: 1, ended: false, products: {} });
      expect(existsSync(place('current.ndjson'))).toBe(false);
    },
  );

  it('a sync that learns only at its end that it was overtaken writes nothing', async () => {
    const late = sync(async (folder) => {
      folder.remember('A1', progress);
      writeFileSync(place('sync-2.ndjson'), '');
    });
    await expect(late).rejects.toMatchObject({ code: 'overtaken' });
    expect(readFileSync(place('sync-1.ndjson'), 'utf8')).not.toContain('A1');
  });

  const lost = () => {
    throw new RangeError('taken over');
  };

  it('a run puts a file in place only while it holds the folder', () => {
    const path = join(out, 'file.ndjson');
    writeFileSync(`${path}.new-3`, 'new');
    expect(() => putInPlace(path, { number: 3, assertHeld: lost })).toThrow('taken over');
    expect(existsSync(path)).toBe(false);
    putInPlace(path, { number: 3, assertHeld: () => {} });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  it('a file that is gone means that the folder was taken over, or is an error of the disk', () => {
    const path = join(out, 'file.ndjson');
    let checks = 0;
    const heldOnce = () => {
      checks += 1;
      if (checks > 1) lost();
    };
    expect(() => putInPlace(path, { number: 3, assertHeld: heldOnce })).toThrow('taken over');
    expect(() => putInPlace(path, { number: 3, assertHeld: () => {} })).toThrow(/ENOENT/);
    checks = 0;
    mkdirSync(path);
    writeFileSync(`${path}.new-3`, '');
    expect(() => putInPlace(path, { number: 3, assertHeld: heldOnce })).toThrow(/EISDIR|EEXIST|ENOTEMPTY/);
  });

  it('a file that does not exist needs no copy', () => {
    takeOwnCopy(join(out, 'file.ndjson'), { number: 3, assertHeld: lost });
    expect(readdirSync(out)).toEqual([]);
  });
});

it('a run shows that it is alive with one lock, for as long as it works', async () => {
  await SyncRun.within(out, signal, async (run) => {
    const locks = () => readdirSync(out).filter((name) => name.endsWith('.lock'));
    expect(locks()).toEqual([expect.stringMatching(/^sync-[0-9a-f-]{36}\.lock$/)]);
    await run.customer('7', async () => {});
    expect(`sync-${stored().run}.lock`).toBe(locks()[0]);
    expect(await run.customer('8', async () => 'done')).toBe('done');
  });
  expect(readdirSync(out).sort()).toEqual(['7', '8']);
  for (const name of ['7', join('7', 'transactions')])
    expect(statSync(join(out, name)).mode & 0o777).toBe(0o700);
});

const newFile = () => join(temporary, `rows-${randomUUID()}.ndjson`);
let path: string;
beforeEach(() => {
  path = newFile();
});
const idsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): string => JSON.parse(line).id);
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const on = (day: number, id: string) => ({ id, bookingDate: `2026-11-${String(day).padStart(2, '0')}` });

it('a file of synced rows takes each row once, and is only appended to', () => {
  expect(new SyncedRows(path, 0).append([on(1, 'a'), on(2, 'b')])).toBe(2);
  const before = readFileSync(path, 'utf8');
  expect(new SyncedRows(path, 0).append([on(2, 'b'), on(2, 'c'), on(3, 'd')])).toBe(2);
  expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true);
  expect(idsIn(path)).toEqual(['a', 'b', 'c', 'd']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a marked row comes once more, and the line before says that it does not count', async () => {
  const rows = new SyncedRows(path, 0);
  const booked = { ...rowOf('a', '2026-11-01', '-1.00'), description: 'say "status":"booked"' };
  const others = [rowOf('b', '2026-11-01', '-1.00'), rowOf('c', '2026-11-02', '-1.00')];
  await rows.add([...others, booked]);
  await rows.mark([booked], 'replaced');
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const hidden = { ...booked, status: 'hidden' };
  expect(lines.map((line) => JSON.parse(line))).toEqual([...others, hidden, { ...hidden, replaced: true }]);
  expect(await new SyncedRows(path, 0).find(new Set(['2026-11-01']))).toMatchObject([
    { id: 'b', status: 'booked' },
    { id: 'a', status: 'hidden', replaced: true },
  ]);
});

it('after a kill that left rows without their progress, the balance does not count', async () => {
  const known = {
    ...progress,
    ...{ balance: { amount: decimal('1.00'), currency: 'EUR' }, difference: decimal('0.50') },
  };
  await sync(async (folder) => {
    folder.booked('A1', 0).append([row('r1')]);
    folder.remember('A1', known);
  });
  const read = () => sync(async (folder) => folder.progressOf('A1'));
  expect(await read()).toMatchObject({ balance: known.balance, difference: known.difference });
  appendFileSync(rowsFile('A1'), `${JSON.stringify(row('r2'))}\n`);
  expect(await read()).toMatchObject({ through: day, balance: undefined, difference: undefined });
});

it('settled rows of a file are not read again', () => {
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), on(2, 'b'), on(3, 'c')]);
  const settled = rows.settle('2026-11-03');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"a"', '!!!'));
  expect(new SyncedRows(path, settled).append([on(3, 'c'), on(4, 'd')])).toBe(1);
  expect(() => new SyncedRows(path, 0)).toThrow(`${path} is damaged at byte 0`);
});

it('rows without a booking date are always looked up', () => {
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), { id: 'b', bookingDate: null }, on(3, 'c')]);
  expect(new SyncedRows(path, rows.settle('2026-11-04')).append([{ id: 'b', bookingDate: null }])).toBe(0);
});

it('a file of synced rows is read again if somebody shortened it', () => {
  const rows = new SyncedRows(path, 0);
  rows.append([on(1, 'a'), on(2, 'b')]);
  const settled = rows.settle('2026-11-05');
  truncateSync(path, settled / 2);
  expect(new SyncedRows(path, settled).append([on(1, 'a'), on(2, 'b')])).toBe(1);
  expect(idsIn(path)).toEqual(['a', 'b']);
});

it('rows that a killed sync may have left must be flushed before progress is stored beyond them', () => {
  new SyncedRows(path, 0).append([on(1, 'a'), on(2, 'b')]);
  const claim = { assertHeld: () => {} };
  const file = new SyncedRows(path, 0, { claim, isFlushed: false }).takeUnflushed();
  expect(file === undefined ? 0 : fstatSync(file).size).toBe(statSync(path).size);
  if (file !== undefined) closeSync(file);
  expect(new SyncedRows(path, 0, { claim, isFlushed: true }).takeUnflushed()).toBeUndefined();
});

it('only the holder of the folder writes to a file of synced rows, even if the file is already open', () => {
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
  new SyncedRows(path, 0).append([on(1, 'a')]);
  const { size } = statSync(path);
  appendFileSync(path, rest);
  if (isOfCrash) expect(new SyncedRows(path, 0).size).toBe(size);
  else expect(() => new SyncedRows(path, 0)).toThrow(`${path} is damaged at byte ${size}`);
  expect(statSync(path).size).toBe(isOfCrash ? size : size + rest.length);
});

it('a row whose day is not a text counts as one without a day, which may always come again', () => {
  writeFileSync(path, '{"id":"a","bookingDate":7}\n{"id":"b"}\n');
  const rows = new SyncedRows(path, 0);
  expect(rows.settle('2026-11-30')).toBe(0);
  expect(rows.append(['a', 'b'].map((id) => ({ id, bookingDate: null })))).toBe(0);
});

it('the last day is the latest of a row that may come again, up to a day', async () => {
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
        path = newFile();
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
