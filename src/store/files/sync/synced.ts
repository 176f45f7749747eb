import { join } from 'node:path';
import type * as z from 'zod/mini';
import { dayOfRow } from '../../../domain/booked-ids.ts';
import type { IsoDate } from '../../../domain/calendar.ts';
import { Psd2Error } from '../../../errors.ts';
import { listFolder, readPlainFile } from '../../disk/files.ts';
import type {
  SyncedAccount,
  SyncedBalance,
  SyncedBookings,
  SyncedData,
  SyncedDays,
} from '../../ports/synced.ts';
import { newestFirst, syncedAccount, syncedBalance, syncedBooking } from '../../synced-rows.ts';
import { customerOfName, nameOfAccount, nameOfCustomer } from '../file-names.ts';
import { type Products, storedProgress } from './claim.ts';

/** Reads the folder of `psd2 sync --out`, also while a sync writes into it. */
export class SyncedFolder implements SyncedData {
  readonly #out: string;

  constructor(out: string) {
    this.#out = out;
  }

  async customers(): Promise<string[]> {
    const customers = listFolder(this.#out).flatMap((name) => customerOfName(name) ?? []);
    return customers.filter((customerId) => this.#current(customerId).length > 0).sort();
  }

  async accounts(customerId: string): Promise<SyncedAccount[]> {
    return this.#rows(customerId, 'account', syncedAccount);
  }

  async balance(customerId: string, productId: string): Promise<SyncedBalance | undefined> {
    const balances = this.#rows(customerId, 'balance', syncedBalance);
    return balances.find((each) => each.productId === productId);
  }

  async days(customerId: string, productId: string): Promise<SyncedDays | undefined> {
    return this.#progress(customerId, productId);
  }

  async booked(customerId: string, productId: string, from: IsoDate): Promise<SyncedBookings | undefined> {
    // First the progress: a sync may append rows at any time.
    const progress = this.#progress(customerId, productId);
    if (!progress) return undefined;
    const path = join(this.#folder(customerId), 'transactions', `${nameOfAccount(productId)}.ndjson`);
    const lines = completeLines(path, progress.size);
    const all = lines.map((line) => parseSyncedLine(path, line, syncedBooking));
    // The last line of a row that does not count any more says so. A text of the bank has its quotes escaped.
    const marked = new Set(
      all.flatMap(({ id }, at) => (/"(?:cancelled|replaced)":true/.test(lines[at] ?? '') ? id : [])),
    );
    const rows = all.filter(({ id }) => !marked.has(id));
    return {
      from: progress.from,
      through: progress.through,
      balance: progress.balance ?? null,
      difference: progress.difference ?? null,
      contradictions: progress.contradictions ?? [],
      rows: newestFirst(rows.filter((row) => (dayOfRow(row) ?? from) >= from)),
    };
  }

  #progress(customerId: string, productId: string): Products[string] | undefined {
    const products = storedProgress(this.#folder(customerId));
    return Object.hasOwn(products, productId) ? products[productId] : undefined;
  }

  #folder(customerId: string): string {
    return join(this.#out, nameOfCustomer(customerId));
  }

  #current(customerId: string): string[] {
    return completeLines(join(this.#folder(customerId), 'current.ndjson'));
  }

  #rows<T>(customerId: string, kind: 'account' | 'balance', schema: z.ZodMiniType<T>): T[] {
    const path = join(this.#folder(customerId), 'current.ndjson');
    return this.#current(customerId)
      .filter((line) => line.startsWith(`{"kind":"${kind}"`))
      .map((line) => parseSyncedLine(path, line, schema));
  }
}

/**
 * The complete lines of a file. A sync may be writing the last one, or a crash has cut it short.
 *
 * @param size the bytes that count; default: all
 */
function completeLines(path: string, size?: number): string[] {
  const text = readPlainFile(path)?.subarray(0, size).toString('utf8') ?? '';
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean);
}

/** @throws Psd2Error `config` */
function parseSyncedLine<T>(path: string, line: string, schema: z.ZodMiniType<T>): T {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Psd2Error(
      'config',
      `${path} is damaged: ${JSON.stringify(line.slice(0, 40))} is not a row of psd2 sync`,
      {
        hint: 'Move the file away. The next sync then fetches its rows again.',
        cause,
      },
    );
  }
}
