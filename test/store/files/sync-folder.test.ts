import fs, {
  existsSync,
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
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type SyncFolder, SyncRun } from '../../../src/store/files/sync/folder.ts';
import { putInPlace, SyncedRows, takeOwnCopy } from '../../../src/store/files/sync/rows.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace } from '../waiting.ts';

const temporary = temporaryFolder();
const { signal } = new AbortController();
const day = parseDate('--date', '2026-11-21');
const progress = { from: day, through: day, settled: 0 };
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

describe('a run over many customers', () => {
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
});
