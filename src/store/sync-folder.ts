import { closeSync, fdatasync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { Psd2Error } from '../errors.ts';
import { readPlainFile } from './files.ts';
import { makePrivateFolder, readJsonFile } from './json-file.ts';
import { withLock } from './lock.ts';
import { SyncedRows } from './synced-rows.ts';
import { isMissing, reasonOf, systemCode } from './system-error.ts';

const isoDate = z.custom<IsoDate>((value) => typeof value === 'string' && isIsoDate(value));

const progress = z.object({
  /** The first and the last day whose booked transactions are in the file. */
  from: isoDate,
  through: isoDate,
  /** Bytes at the beginning of the file whose rows can't come again. */
  settled: z.int().check(z.gte(0)),
  /** `through` was compared with the bank's own day. Earlier syncs went by this machine's clock, which may have been ahead. */
  checked: z.optional(z.literal(true)),
});
const state = z.object({ products: z.record(z.string(), progress) });

/** How far the transactions of a product are synced. */
export type Progress = z.infer<typeof progress>;

/**
 * What `psd2 sync` keeps of one customer, in a folder of the customer's own. What is said here stands in the files
 * after {@link commit}: the disk is waited for once for all of them, and off the main thread, since a sync of many
 * customers would wait for little else.
 */
export class SyncFolder {
  readonly #path: string;
  readonly #rows: SyncedRows[] = [];
  /** What is to be replaced, by its path. */
  readonly #replacements = new Map<string, string>();
  #products: Record<string, Progress>;

  private constructor(path: string) {
    this.#path = path;
    this.#products = readJsonFile(join(path, STATE), state, readPlainFile)?.products ?? {};
  }

  /**
   * Works in the folder of a customer, one process at a time. What the work has said until it ended, well or not, is
   * committed.
   *
   * @throws Psd2Error `config` when it can't be made or written, another sync is at work in it, or its `sync.json` is
   *   damaged
   */
  static async within<T>(
    out: string,
    customerId: string,
    work: (folder: SyncFolder) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const path = join(out, customerId);
    makePrivateFolder(join(path, 'transactions'));
    makePrivateFolder(join(path, 'pending'));
    const locked = async () => {
      const folder = new SyncFolder(path);
      try {
        return await work(folder);
      } finally {
        await folder.commit();
      }
    };
    return withLock(join(path, 'sync'), `The folder ${path}`, locked, 10_000, signal);
  }

  progressOf(productId: string): Progress | undefined {
    return Object.hasOwn(this.#products, productId) ? this.#products[productId] : undefined;
  }

  /** To be said after the rows it tells of were appended. */
  remember(productId: string, progressNow: Progress): void {
    this.#products = { ...this.#products, [productId]: progressNow };
    this.#replacements.set(join(this.#path, STATE), JSON.stringify({ products: this.#products }, null, 2));
  }

  /** The booked transactions of a product. @param settled see {@link Progress} */
  booked(productId: string, settled: number): SyncedRows {
    const rows = new SyncedRows(join(this.#path, 'transactions', `${productId}.ndjson`), settled);
    this.#rows.push(rows);
    return rows;
  }

  /** @param name `accounts`, `balances` or `pending/<productId>` */
  replace(name: string, rows: readonly object[]): void {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    this.#replacements.set(join(this.#path, `${name}.ndjson`), text);
  }

  /**
   * Makes what was said durable. The progress takes its place after everything that it tells of is on the disk, so
   * a kill or a power cut in between has rows fetched again and found, and none lost.
   *
   * @throws Psd2Error `config` when it can't be written
   */
  async commit(): Promise<void> {
    const statePath = join(this.#path, STATE);
    const replacements = [...this.#replacements]
      .filter(([path, text]) => contentOf(path) !== text)
      // The progress last.
      .sort(([a], [b]) => Number(a === statePath) - Number(b === statePath));
    this.#replacements.clear();
    const files: Unflushed[] = [];
    try {
      for (const rows of this.#rows) {
        const file = orRefuse(rows.path, () => rows.takeUnflushed());
        if (file !== undefined) files.push({ path: rows.path, file });
      }
      // A new file is found after a power cut when its folder is on the disk, too.
      if (files.length > 0) files.push(...openFolder(join(this.#path, 'transactions')));
      for (const [path, text] of replacements) {
        const file = createBeside(path);
        files.push({ path, file });
        orRefuse(path, () => writeFileSync(file, text));
      }
      const flushed = await Promise.allSettled(files.map(({ file }) => flush(file)));
      flushed.forEach((outcome, index) => {
        if (outcome.status === 'rejected') throw cannotWrite(files[index]?.path ?? '', outcome.reason);
      });
    } finally {
      for (const { file } of files) closeSync(file);
    }
    for (const [path] of replacements) orRefuse(path, () => renameSync(besideOf(path), path));
  }
}

/** An opened file that may not be on the disk yet. */
interface Unflushed {
  path: string;
  file: number;
}

const STATE = 'sync.json';
const flush = promisify(fdatasync);

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw cannotWrite(path, error);
  }
}

function besideOf(path: string): string {
  return `${path}.new`;
}

/** Opens what is to take the place of `path`; one that a kill left is removed, under the folder's lock. */
function createBeside(path: string): number {
  const create = () => openSync(besideOf(path), 'wx', 0o600);
  try {
    return create();
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST') throw cannotWrite(path, cause);
    return orRefuse(path, () => {
      rmSync(besideOf(path));
      return create();
    });
  }
}

function openFolder(path: string): Unflushed[] {
  // Windows has no such thing.
  return process.platform === 'win32' ? [] : [{ path, file: orRefuse(path, () => openSync(path, 'r')) }];
}

function orRefuse<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw cannotWrite(path, cause);
  }
}

function cannotWrite(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder. What is in the files stays; the next sync goes on.',
    cause,
  });
}
