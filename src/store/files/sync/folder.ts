import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jsonIn } from '../../../domain/json.ts';
import type { StoredAccount } from '../../../domain/same-accounts.ts';
import { Psd2Error } from '../../../errors.ts';
import { makePrivateFolder } from '../../disk/files.ts';
import { withLock } from '../../disk/lock.ts';
import { KnownRows } from '../../known-rows.ts';
import { byIdsOfToday } from '../../placed-accounts.ts';
import type { Sync, SyncTarget } from '../../ports/sync.ts';
import type { SyncedAccount } from '../../ports/synced.ts';
import { syncedAccount } from '../../synced-rows.ts';
import { nameOfAccount, nameOfCustomer } from '../file-names.ts';
import { notStored, type Products, type RunName, SyncClaim } from './claim.ts';
import { besideOf, isBeside, putInPlace, SyncedRows, sizeOf, takeOwnCopy } from './rows.ts';

/** Which days of a product's transactions are synced. */
type Progress = Omit<Products[string], 'size'>;

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
   * Runs `work`, and shows other runs that this one is alive. For that it holds a lock of its own in the folder of `--out`.
   *
   * @throws Psd2Error `config` if the folder cannot be created
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
   * Works in the folder of a customer, one run at a time. When `work` ends, even with an error, it commits what `work` stored
   * so far.
   *
   * @throws Psd2Error `config` if the folder cannot be created or written, another sync works in it, or stored data is
   *   damaged; `overtaken` if another sync has taken it over
   */
  async customer<T>(customerId: string, work: (folder: SyncFolder) => Promise<T>): Promise<T> {
    const path = join(this.#out, nameOfCustomer(customerId));
    refuseLink(path);
    refuseLink(join(path, 'transactions'));
    makePrivateFolder(join(path, 'transactions'));
    const folder = new SyncFolder(path, await SyncClaim.take(path, this.#name, this.#signal));
    try {
      return await work(folder);
    } finally {
      await folder.end();
    }
  }
}

/** Whoever may write to the folder of `--out` could lead a customer's data elsewhere by a link. @throws Psd2Error `config` */
function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Psd2Error(
      'config',
      `${path} is a link, and psd2 does not follow links when it writes a customer's data`,
      {
        hint: 'Move it away. --out itself may be a link.',
      },
    );
}

/**
 * The synced data of one customer, in a folder. {@link commit} writes it to the files. psd2 waits for the disk outside the
 * main thread, and only for rows: if a power cut loses the progress, the next sync fetches the rows again and finds them.
 */
export class SyncFolder {
  readonly #path: string;
  readonly #claim: SyncClaim;
  readonly #rows = new Map<string, SyncedRows>();
  /** Rows of the current state, by name: accounts, balances, pending transactions. */
  readonly #current = new Map<string, readonly object[]>();
  #products: Products;

  constructor(path: string, claim: SyncClaim) {
    this.#path = path;
    this.#claim = claim;
    this.#products = claim.found;
    if (claim.left === 'begun') orRefuse(path, () => this.#clearAway());
  }

  /** The accounts of which something is stored. Without a name, the accounts of the last sync have it. */
  stored(): StoredAccount[] {
    const all = Object.entries(this.#products).map(([productId, { account }]) => ({ productId, account }));
    const listed = all.every(({ account }) => account) ? [] : this.#lastAccounts();
    return all.map(({ productId, account }) => {
      const own = account ?? listed.find((each) => each.productId === productId);
      return { ...own, bankId: own?.bankId ?? productId, productId };
    });
  }

  #lastAccounts(): SyncedAccount[] {
    return (readIfThere(join(this.#path, CURRENT)) ?? '')
      .split('\n')
      .filter((line) => line.startsWith(beginOf('accounts')))
      .flatMap((line) => syncedAccount.safeParse(jsonIn(line)).data ?? []);
  }

  /** Undefined if not all rows are there that the progress counts on. The caller fetches them again then. */
  progressOf(productId: string): Progress | undefined {
    const stored = this.#progressOf(productId);
    if (stored?.size === undefined) return stored;
    const path = this.#rowsPath(productId);
    const size = orRefuse(path, () => sizeOf(path));
    if (size < stored.size) return undefined;
    // A kill came after rows were written: the balance does not have them.
    return size > stored.size ? { ...stored, balance: undefined, difference: undefined } : stored;
  }

  /** Stores the progress. Call it after the rows were appended. */
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

  /** @param name `accounts`, `balances`, `balances/<account>` or `pending/<account>` */
  replace(name: string, rows: readonly object[]): void {
    this.#current.set(name, rows);
  }

  /**
   * Makes booked transactions and their progress durable. It writes the progress after the rows are on the disk. If a kill
   * or a power cut comes in between, the next sync fetches the rows again and finds them. None is lost.
   *
   * @throws Psd2Error `config` if it cannot be written; `overtaken` if another run has taken the folder over
   */
  async commit(): Promise<void> {
    await this.#flushRows();
    this.#claim.write(this.#products, false);
  }

  /** Commits, and records that this run writes nothing more here. @throws Psd2Error `config` as {@link commit} */
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
        if (outcome.status === 'rejected') throw notStored(files[index]?.path ?? '', outcome.reason);
      });
    } finally {
      for (const { file } of files) closeSync(file);
    }
  }

  /**
   * Replaces `current.ndjson`. Keeps what this run did not read. It does not wait for the disk, since the next sync writes
   * again what differs.
   */
  #replaceCurrent(): void {
    if (this.#current.size === 0) return;
    const path = join(this.#path, CURRENT);
    const before = readIfThere(path) ?? '';
    const text = mergeCurrent(before, this.#current);
    if (text === before) return;
    orRefuse(path, () => {
      writeFileSync(besideOf(path, this.#claim), text, { mode: 0o600 });
      putInPlace(path, this.#claim);
    });
  }

  /** Removes files that other runs were about to put in place, before this run writes anything: see {@link putInPlace}. */
  #clearAway(): void {
    for (const folder of [this.#path, join(this.#path, 'transactions')]) {
      for (const name of readdirSync(folder)) {
        if (isBeside(name)) rmSync(join(folder, name), { force: true });
      }
    }
  }

  #progressOf(productId: string): Products[string] | undefined {
    return Object.hasOwn(this.#products, productId) ? this.#products[productId] : undefined;
  }

  #rowsPath(productId: string): string {
    return join(this.#path, 'transactions', `${nameOfAccount(productId)}.ndjson`);
  }
}

const CURRENT = 'current.ndjson';
/** Any time will do: no other process holds a run's own lock. */
const RUN_PATIENCE_MS = 10_000;
const flush = promisify(fdatasync);

/** The path that the lock of a run is for. */
function lockOf(out: string, run: string): string {
  return join(out, `sync-${run}`);
}

const KINDS: Record<string, string> = { accounts: 'account', balances: 'balance', pending: 'pending' };

/** The beginning of the lines of `current.ndjson` that belong to `name`. */
function beginOf(name: string): string {
  const [, kind = name, productId] = /^([a-z]+)\/(.*)$/s.exec(name) ?? [];
  const begin = `{"kind":"${KINDS[kind] ?? kind}"`;
  return productId === undefined ? begin : `${begin},"productId":${JSON.stringify(productId)}`;
}

/** Replaces the lines of `before`that `current` replaces. The lines are in a fixed order. */
function mergeCurrent(before: string, current: ReadonlyMap<string, readonly object[]>): string {
  const groups = [...current].map(([name, rows]) => ({ begin: beginOf(name), rows }));
  const unchanged = before
    .split('\n')
    .filter((line) => line !== '' && !groups.some(({ begin }) => line.startsWith(begin)));
  const lines = groups.flatMap(({ begin, rows }) =>
    rows.map((row) => {
      const rest = JSON.stringify(row).slice(1);
      return rest === '}' ? `${begin}}` : `${begin},${rest}`;
    }),
  );
  return [...unchanged, ...lines]
    .sort((a, b) => orderOf(a) - orderOf(b))
    .map((line) => `${line}\n`)
    .join('');
}

/** Sorts accounts before balances, and balances before pending transactions. Keeps the order within each. */
function orderOf(line: string): number {
  return line.startsWith('{"kind":"account"') ? 0 : line.startsWith('{"kind":"balance"') ? 1 : 2;
}

function readIfThere(path: string): string | undefined {
  // To look first is faster than to throw and catch an error.
  if (!existsSync(path)) return undefined;
  return orRefuse(path, () => readFileSync(path, 'utf8'));
}

function orRefuse<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw notStored(path, cause);
  }
}

/** Stores what a sync reads in files, with a folder for each customer. */
export function syncIntoFolder(out: string): Sync {
  return {
    run: (signal, work) =>
      SyncRun.within(out, signal, (run) =>
        work({
          customer: (customerId, sync) => run.customer(customerId, (folder) => sync(targetOf(folder))),
        }),
      ),
  };
}

function targetOf(folder: SyncFolder): SyncTarget {
  const booked = new Map<string, SyncedRows>();
  return byIdsOfToday({
    stored: async () => folder.stored(),
    progress: async (productId) => folder.progressOf(productId),
    booked: async (productId, readsAll) => {
      const rows = folder.booked(productId, readsAll ? 0 : (folder.progressOf(productId)?.settled ?? 0));
      booked.set(productId, rows);
      return new KnownRows(rows);
    },
    replace: (name, rows) => folder.replace(name, rows),
    remember: (productId, progress, settled) =>
      folder.remember(productId, { ...progress, settled: booked.get(productId)?.settle(settled) ?? 0 }),
    commit: () => folder.commit(),
  });
}
