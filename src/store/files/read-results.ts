import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import { cannotWrite, makePrivateFolder, readOwnFile, withFile } from '../disk/files.ts';
import { GrowingLines } from '../disk/growing-lines.ts';
import { withLock } from '../disk/lock.ts';
import type { ReadsRecord } from '../ports/copy.ts';
import type {
  CustomerReads,
  Doubt,
  FailedRead,
  OutdatedCustomer,
  ReadResult,
  ReadResults,
} from '../ports/read-results.ts';
import { addResult, customerReads, failedSince, outdatedBefore } from '../read-results.ts';

/** A bit longer than it takes to see that another process is dead. */
const PATIENCE_MS = 10_000;
/** A file with more old lines than new ones is written again if it has more lines than this. */
const MANY_LINES = 10_000;

const line = z.object({ customerId: z.string(), reads: customerReads });

/**
 * The results of one profile's syncs, in the file `read-results.ndjson` beside its tokens. A line has all that is known of a
 * customer, and replaces the customer's earlier lines. A line that a power cut has damaged does not count.
 */
export class FileReadResults implements ReadResults {
  readonly #path: string;
  readonly #lines: GrowingLines<z.infer<typeof line>>;
  /** What this process has read of the file: how many lines, and what they said. */
  #seen = { lines: 0, known: new Map<string, CustomerReads>() };

  /** @param path of the file */
  constructor(path: string) {
    this.#path = path;
    this.#lines = new GrowingLines(path, {
      read: () => readOwnFile(path) ?? Buffer.alloc(0),
      parse: (text) => line.safeParse(jsonIn(text)).data,
    });
  }

  async add(results: readonly ReadResult[]): Promise<void> {
    if (results.length === 0) return;
    await this.#change((allReads) => {
      for (const result of results) {
        const reads = addResult(allReads.get(result.customerId), result);
        allReads.set(result.customerId, reads);
      }
      return new Set(results.map(({ customerId }) => customerId));
    });
  }

  async failed(since: Date): Promise<FailedRead[]> {
    return [...this.#read()].flatMap(([customerId, reads]) => failedSince(customerId, reads, since));
  }

  async outdated(before: Date): Promise<OutdatedCustomer[]> {
    return [...this.#read()].flatMap(
      ([customerId, reads]) => outdatedBefore(customerId, reads, before) ?? [],
    );
  }

  async doubts(): Promise<(Doubt & { customerId: string })[]> {
    return [...this.#read()].flatMap(([customerId, { doubts }]) =>
      doubts.map((doubt) => ({ customerId, ...doubt })),
    );
  }

  /** All that is kept, for `store copy`. */
  *records(): Generator<ReadsRecord> {
    for (const customerId of [...this.#read().keys()]) {
      const record = this.record(customerId);
      if (record) yield record;
    }
  }

  /** What is kept of a customer, for `store copy`. */
  record(customerId: string): ReadsRecord | undefined {
    const reads = this.#read().get(customerId);
    return reads && { kind: 'reads', customerId, reads };
  }

  /** Stores a copied record. @throws Psd2Error `config` */
  async keep({ customerId, reads }: ReadsRecord): Promise<void> {
    await this.#change((allReads) => {
      allReads.set(customerId, reads);
      return new Set([customerId]);
    });
  }

  async forget(customerId: string): Promise<void> {
    if (!existsSync(this.#path)) return;
    await this.#exclusively(() => {
      const allReads = this.#read();
      allReads.delete(customerId);
      this.#replace(allReads);
    });
  }

  /** @param change changes what is known, and gives the customers that it has changed */
  #change(change: (allReads: Map<string, CustomerReads>) => Set<string>): Promise<void> {
    return this.#exclusively(() => {
      const allReads = this.#read();
      const changed = change(allReads);
      if (this.#seen.lines > MANY_LINES && this.#seen.lines > 2 * allReads.size) this.#replace(allReads);
      else {
        const added = [...changed].map((customerId) => writeLine(customerId, allReads.get(customerId)));
        // The line break before ends a line that was cut short.
        withFile(this.#path, 'a', (file) => writeFileSync(file, `\n${added.join('')}`));
      }
    });
  }

  #exclusively(work: () => void): Promise<void> {
    makePrivateFolder(dirname(this.#path));
    return withLock(
      this.#path,
      'The results of syncs',
      async () => {
        try {
          work();
        } catch (cause) {
          throw cause instanceof Psd2Error ? cause : cannotWrite(`The file ${this.#path}`, cause);
        }
      },
      PATIENCE_MS,
    );
  }

  #replace(allReads: Map<string, CustomerReads>): void {
    const beside = `${this.#path}.${process.pid}`;
    writeFileSync(beside, [...allReads].map((each) => writeLine(...each)).join(''), { mode: 0o600 });
    renameSync(beside, this.#path);
  }

  /** Reads the lines that this process has not read yet. */
  #read(): Map<string, CustomerReads> {
    const { lines, isAnew } = this.#lines.next();
    if (isAnew) this.#seen = { lines: 0, known: new Map() };
    for (const { customerId, reads } of lines) this.#seen.known.set(customerId, reads);
    this.#seen.lines += lines.length;
    return this.#seen.known;
  }
}

function writeLine(customerId: string, reads: CustomerReads | undefined): string {
  return reads === undefined ? '' : `${JSON.stringify({ customerId, reads })}\n`;
}
