import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fdatasync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Psd2Error } from '../../../errors.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { withLock } from '../../disk/lock.ts';
import { reasonOf } from '../../disk/system-error.ts';
import { type Products, type RunName, SyncClaim } from './claim.ts';
import { besideOf, isBeside, putInPlace, takeOwnCopy } from './own-copy.ts';
import { SyncedRows, sizeOf } from './rows.ts';

/** How far the transactions of a product are synced. */
export type Progress = Omit<Products[string], 'size'>;

/** One `psd2 sync` over the folders of many customers. */
export class SyncRun {
  readonly #out: string;
  readonly #name: RunName;
  readonly #signal: AbortSignal;

  private constructor(out: string, id: string, signal: AbortSignal) {
    this.#out = out;
    this.#name = { id, pathOf: (run) => lockOf(out, run) };
    this.#signal = signal;
  }

  /**
   * Shows other runs that this one is alive, while `work` runs: that is a lock of its own, in the folder of them all.
   *
   * @throws Psd2Error `config` when the folder can't be made
   */
  static async within<T>(out: string, signal: AbortSignal, work: (run: SyncRun) => Promise<T>): Promise<T> {
    const id = randomUUID();
    makePrivateFolder(out);
    return withLock(
      lockOf(out, id),
      `The run ${id}`,
      () => work(new SyncRun(out, id, signal)),
      RUN_PATIENCE_MS,
      signal,
    );
  }

  /**
   * Works in the folder of a customer, one run at a time. What the work has said until it ended, well or not, is
   * committed.
   *
   * @throws Psd2Error `config` when it can't be made or written, another sync is at work in it or has taken it over, or
   *   what is stored is damaged
   */
  async customer<T>(customerId: string, work: (folder: SyncFolder) => Promise<T>): Promise<T> {
    const path = join(this.#out, customerId);
    makePrivateFolder(join(path, 'transactions'));
    const folder = new SyncFolder(path, await SyncClaim.take(path, this.#name, this.#signal));
    try {
      return await work(folder);
    } finally {
      await folder.end();
    }
  }
}

/**
 * What `psd2 sync` keeps of one customer, in a folder of the customer's own. What is said here stands in the files
 * after {@link commit}. The disk is waited for off the main thread, and for rows alone: progress that a power cut takes
 * has them fetched again and found.
 */
export class SyncFolder {
  readonly #path: string;
  readonly #claim: SyncClaim;
  readonly #rows = new Map<string, SyncedRows>();
  /** What is as it is now, by its name. */
  readonly #current = new Map<string, readonly object[]>();
  #products: Products;

  constructor(path: string, claim: SyncClaim) {
    this.#path = path;
    this.#claim = claim;
    this.#products = claim.found;
    if (claim.left === 'begun') orRefuse(path, () => this.#clearAway());
  }

  /** {@link SyncRun.customer} of a run that has no other one. */
  static within<T>(
    out: string,
    customerId: string,
    work: (folder: SyncFolder) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return SyncRun.within(out, signal, (run) => run.customer(customerId, work));
  }

  /** None where the rows that it tells of are not all there: they are fetched again then. */
  progressOf(productId: string): Progress | undefined {
    const known = this.#progressOf(productId);
    if (known?.size === undefined) return known;
    const path = this.#rowsPath(productId);
    return orRefuse(path, () => sizeOf(path)) < known.size ? undefined : known;
  }

  /** To be said after the rows it tells of were appended. */
  remember(productId: string, progress: Progress): void {
    const size = this.#rows.get(productId)?.size;
    const now = { ...progress, ...(size !== undefined && { size }) };
    this.#products = { ...this.#products, [productId]: now };
  }

  /** The booked transactions of a product. @param settled see {@link Progress} */
  booked(productId: string, settled: number): SyncedRows {
    const path = this.#rowsPath(productId);
    const { left } = this.#claim;
    if (left === 'begun') orRefuse(path, () => takeOwnCopy(path, this.#claim));
    const rows = new SyncedRows(path, settled, { claim: this.#claim, isFlushed: left === 'ended' });
    this.#rows.set(productId, rows);
    return rows;
  }

  /** @param name `accounts`, `balances` or `pending/<productId>` */
  replace(name: string, rows: readonly object[]): void {
    this.#current.set(name, rows);
  }

  /**
   * Makes what was said of booked transactions durable. The progress is written after everything that it tells of is on
   * the disk, so a kill or a power cut in between has rows fetched again and found, and none lost.
   *
   * @throws Psd2Error `config` when it can't be written, or another run has taken the folder over
   */
  async commit(): Promise<void> {
    await this.#flushRows();
    this.#claim.write(this.#products, false);
  }

  /** Commits, and says that this run writes nothing more here. @throws Psd2Error `config` as {@link commit} */
  async end(): Promise<void> {
    if (this.#claim.isLost) return;
    await this.#flushRows();
    this.#replaceCurrent();
    this.#claim.assertHeld();
    this.#claim.write(this.#products, true);
  }

  async #flushRows(): Promise<void> {
    const files: { path: string; file: number }[] = [];
    try {
      for (const rows of this.#rows.values()) {
        const file = orRefuse(rows.path, () => rows.takeUnflushed());
        if (file !== undefined) files.push({ path: rows.path, file });
      }
      const flushed = await Promise.allSettled(files.map(({ file }) => flush(file)));
      flushed.forEach((outcome, index) => {
        if (outcome.status === 'rejected') throw cannotWrite(files[index]?.path ?? '', outcome.reason);
      });
    } finally {
      for (const { file } of files) closeSync(file);
    }
  }

  /**
   * Replaces `current.ndjson`. What was not said anew stays as it was. The disk is not waited for: the next sync
   * writes anew what differs.
   */
  #replaceCurrent(): void {
    if (this.#current.size === 0) return;
    const path = join(this.#path, CURRENT);
    const before = contentOf(path) ?? '';
    const text = mergeCurrent(before, this.#current);
    if (text === before) return;
    orRefuse(path, () => {
      writeFileSync(besideOf(path, this.#claim), text, { mode: 0o600 });
      putInPlace(path, this.#claim);
    });
    if (this.#claim.left === 'old') this.#removeOld();
  }

  /** What others were about to put in place, before anything is written: see {@link putInPlace}. */
  #clearAway(): void {
    for (const folder of [this.#path, join(this.#path, 'transactions')]) {
      for (const name of readdirSync(folder)) {
        if (isBeside(name)) rmSync(join(folder, name), { force: true });
      }
    }
  }

  /** The files of psd2 before 0.2 that `current.ndjson` takes the place of. */
  #removeOld(): void {
    for (const name of ['accounts.ndjson', 'balances.ndjson', 'pending'])
      rmSync(join(this.#path, name), { recursive: true, force: true });
  }

  #progressOf(productId: string): Products[string] | undefined {
    return Object.hasOwn(this.#products, productId) ? this.#products[productId] : undefined;
  }

  #rowsPath(productId: string): string {
    return join(this.#path, 'transactions', `${productId}.ndjson`);
  }
}

const CURRENT = 'current.ndjson';
/** A run's own lock is held by nobody else. */
const RUN_PATIENCE_MS = 10_000;
const flush = promisify(fdatasync);

/** What the lock of a run is beside. */
function lockOf(out: string, run: string): string {
  return join(out, `sync-${run}`);
}

const KINDS: Record<string, string> = { accounts: 'account', balances: 'balance', pending: 'pending' };

/** What a line of `current.ndjson` begins with that belongs to `name`. */
function beginOf(name: string): string {
  const [kind = '', productId] = name.split('/');
  const begin = `{"kind":"${KINDS[kind] ?? kind}"`;
  return productId === undefined ? begin : `${begin},"productId":${JSON.stringify(productId)}`;
}

/** Lines of `before` that tell of what is in `current` go; its own take their place, in a fixed order. */
function mergeCurrent(before: string, current: ReadonlyMap<string, readonly object[]>): string {
  const groups = [...current].map(([name, rows]) => ({ begin: beginOf(name), rows }));
  const kept = before
    .split('\n')
    .filter((line) => line !== '' && !groups.some(({ begin }) => line.startsWith(begin)));
  const lines = groups.flatMap(({ begin, rows }) =>
    rows.map((row) => {
      const rest = JSON.stringify(row).slice(1);
      return rest === '}' ? `${begin}}` : `${begin},${rest}`;
    }),
  );
  return [...kept, ...lines]
    .sort((a, b) => orderOf(a) - orderOf(b))
    .map((line) => `${line}\n`)
    .join('');
}

/** Accounts before balances before pending ones; within these the order stays. */
function orderOf(line: string): number {
  return line.startsWith('{"kind":"account"') ? 0 : line.startsWith('{"kind":"balance"') ? 1 : 2;
}

function contentOf(path: string): string | undefined {
  // An error that is thrown and caught costs more than to look first.
  if (!existsSync(path)) return undefined;
  return orRefuse(path, () => readFileSync(path, 'utf8'));
}

function orRefuse<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw cannotWrite(path, cause);
  }
}

function cannotWrite(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder. What is in the files stays; the next sync goes on.',
    cause,
  });
}
