import { join } from 'node:path';
import * as z from 'zod/mini';
import { type IsoDate, isIsoDate } from '../domain/calendar.ts';
import { Psd2Error } from '../errors.ts';
import { makePrivateFolder, readJsonFile, writeJsonFile } from './json-file.ts';
import { withLock } from './lock.ts';
import { SyncedRows } from './synced-rows.ts';

const isoDate = z.custom<IsoDate>((value) => typeof value === 'string' && isIsoDate(value));

const progress = z.object({
  /** The first and the last day whose booked transactions are in the file. */
  from: isoDate,
  through: isoDate,
  /** Bytes at the beginning of the file whose rows can't come again. */
  settled: z.int().check(z.gte(0)),
});
const state = z.object({ products: z.record(z.string(), progress) });

/** How far the transactions of a product are synced. */
export type Progress = z.infer<typeof progress>;

/** What `psd2 sync` keeps of one customer, in a folder of the customer's own. */
export class SyncFolder {
  readonly #path: string;
  #products: Record<string, Progress>;

  private constructor(path: string, products: Record<string, Progress>) {
    this.#path = path;
    this.#products = products;
  }

  /**
   * Works in the folder of a customer, one process at a time.
   *
   * @throws Psd2Error `config` when it can't be made, another sync is at work in it, or its `sync.json` is damaged
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
    return withLock(
      join(path, 'sync'),
      `The folder ${path}`,
      () => work(new SyncFolder(path, readJsonFile(join(path, 'sync.json'), state)?.products ?? {})),
      10_000,
      signal,
    );
  }

  progressOf(productId: string): Progress | undefined {
    return Object.hasOwn(this.#products, productId) ? this.#products[productId] : undefined;
  }

  /** Written after the rows it tells of, so that a kill in between fetches them again and finds them there. */
  async remember(productId: string, progressNow: Progress): Promise<void> {
    this.#products = { ...this.#products, [productId]: progressNow };
    await writeJsonFile(join(this.#path, 'sync.json'), { products: this.#products }, state);
  }

  /** The booked transactions of a product. @param settled see {@link Progress} */
  booked(productId: string, settled: number): SyncedRows {
    return new SyncedRows(join(this.#path, 'transactions', `${productId}.ndjson`), settled);
  }

  /** @param name `accounts`, `balances` or `pending/<productId>`. @throws Psd2Error `config` */
  async replace(name: string, rows: readonly object[]): Promise<void> {
    const path = join(this.#path, `${name}.ndjson`);
    const { writeFileSync } = await import('atomically');
    try {
      writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { mode: 0o600 });
    } catch (cause) {
      throw new Psd2Error('config', `${path} cannot be written`, {
        hint: 'Check the free space, and who owns the folder.',
        cause,
      });
    }
  }
}
