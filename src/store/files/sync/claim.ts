import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod/mini';
import { type Decimal, isDecimal } from '../../../domain/decimal.ts';
import { isoDate } from '../../../domain/events.ts';
import { jsonIn } from '../../../domain/json.ts';
import { Psd2Error } from '../../../errors.ts';
import { cannotRead, cannotWrite, isMissing, systemCode, withFile } from '../../disk/files.ts';
import { holderOf } from '../../disk/lock.ts';
import { accountName } from '../../placed-accounts.ts';
import { contradiction } from '../../synced-rows.ts';

const count = z.int().check(z.gte(0));

const decimal = z.custom<Decimal>((value) => typeof value === 'string' && isDecimal(value));
const productProgress = z.object({
  /** `from` and `through`: the first and the last day whose booked transactions are in the file. */
  from: isoDate,
  through: isoDate,
  /** Bytes at the beginning of the file whose rows cannot come again. */
  settled: count,
  /** The booked balance that the rows lead to, up to `size`. */
  balance: z.optional(z.object({ amount: decimal, currency: z.string() })),
  /** What the bank's balance has beyond that of the rows. */
  difference: z.optional(decimal),
  contradictions: z.optional(z.readonly(z.array(contradiction))),
  /** The bank's reference of the newest row, at a bank that gives what comes after it. */
  newest: z.optional(z.string()),
  /** How the bank has named the account. */
  account: z.optional(accountName),
  /** Size of the file in bytes when this was written. Absent: no row was ever stored. */
  size: z.optional(count),
});
const products = z.record(z.string(), productProgress);

/** Which days are synced, for each product of a customer. */
export type Products = z.infer<typeof products>;

/** A line of a claim's file: the complete progress at that moment. The last complete line counts. */
const stateLine = z.object({
  claim: count,
  /** The run that has the claim. */
  run: z.string(),
  /** Whether the run writes nothing more into the folder. */
  ended: z.boolean(),
  products,
});
type State = z.infer<typeof stateLine>;

/** A claim begins a new file if the current one is larger than this. */
const MAX_BYTES = 64 * 1024;
/** How long another run may work in the folder before this one gives up. */
const PATIENCE_MS = 10_000;
/** A claim that names no run yet is taken over after this long. */
const UNKNOWN_FOR_MS = 5_000;

/**
 * How the last run left the folder. `ended`: it writes nothing more, and its rows are on the disk. `begun`: it has not ended,
 * and may only be stopped.
 */
type Left = 'ended' | 'begun';

/** A run of `psd2 sync`. Its claims contain its id, and a lock shows that it is alive. */
export interface RunName {
  id: string;
  /** The path that the lock of a run is for. */
  pathOf(id: string): string;
}

/**
 * The right of one run to write into a customer's folder. Each run has a number. Only one run can create the file
 * `sync-<number>.ndjson`, and the highest number counts. The file also holds the progress, so what an overtaken run writes
 * no longer counts.
 *
 * If the run before has ended, its file continues under the next name, as a second link to it. If that run has not ended, it
 * may be stopped and still have its file open, so this run begins a new file.
 */
export class SyncClaim {
  readonly number: number;
  /** The progress that the folder's last run has stored. */
  readonly found: Products;
  readonly left: Left;
  readonly #folder: string;
  readonly #run: string;
  #isLost = false;

  private constructor(folder: string, run: string, number: number, progress: Products, left: Left) {
    this.#folder = folder;
    this.#run = run;
    this.number = number;
    this.found = progress;
    this.left = left;
  }

  /**
   * Takes the next number of a folder. Waits for a run that works in it. Takes over from one that does not respond.
   *
   * @throws Psd2Error `config` if another run works in it for too long, or stored data is damaged
   */
  static async take(folder: string, run: RunName, signal: AbortSignal): Promise<SyncClaim> {
    const began = performance.now();
    let unknown: { number: number; since: number } | undefined;
    for (; ; await delay(20 + Math.random() * 60)) {
      const numbers = claimsIn(folder);
      const last = numbers.at(-1);
      if (last === undefined) {
        const claim = SyncClaim.#begin(folder, run.id, 1, {}, 'ended');
        if (claim) return claim;
        continue;
      }
      const state = readState(claimPath(folder, last));
      if (state === 'gone') continue;
      if (state?.ended && state.claim === last) {
        const claim = SyncClaim.#goOn(folder, run.id, last, state.products);
        if (claim) return claim;
        continue;
      }
      signal.throwIfAborted();
      const now = performance.now();
      if (state?.claim === last) {
        const holder = await holderOf(run.pathOf(state.run));
        if (holder !== undefined) {
          if (now - began > PATIENCE_MS) throw inUse(folder, holder);
          continue;
        }
        const again = readState(claimPath(folder, last));
        if (again === 'gone' || again?.claim !== last || again.ended) continue;
      } else {
        // Another run has created the claim, and has not written its first line yet.
        if (unknown?.number !== last) unknown = { number: last, since: now };
        if (now - unknown.since < UNKNOWN_FOR_MS) continue;
      }
      const products = lastProducts(folder, numbers);
      const claim = products && SyncClaim.#begin(folder, run.id, last + 1, products, 'begun');
      if (claim) return claim;
    }
  }

  /** @returns undefined if another run was faster */
  static #begin(
    folder: string,
    run: string,
    number: number,
    progress: Products,
    left: Left,
  ): SyncClaim | undefined {
    const path = claimPath(folder, number);
    try {
      closeSync(openSync(path, 'wx', 0o600));
    } catch (cause) {
      if (systemCode(cause) === 'EEXIST') return undefined;
      throw notStored(path, cause);
    }
    // If this run was stopped since it looked, the number may be outdated.
    if (claimsIn(folder).at(-1) !== number) {
      rmSync(path, { force: true });
      return undefined;
    }
    const claim = new SyncClaim(folder, run, number, progress, left);
    claim.write(progress, false);
    if (number > 1) {
      // The copy of the progress must be on the disk before the original goes.
      claim.#onFile('r', fdatasyncSync);
      claim.#removeEarlier();
    }
    return claim;
  }

  /** @returns undefined if another run was faster */
  static #goOn(folder: string, run: string, last: number, progress: Products): SyncClaim | undefined {
    const [before, path] = [claimPath(folder, last), claimPath(folder, last + 1)];
    try {
      if (statSync(before).size > MAX_BYTES)
        return SyncClaim.#begin(folder, run, last + 1, progress, 'ended');
      linkSync(before, path);
    } catch {
      // The file system has no hard links, or another run was faster. Then that run has the number.
      return SyncClaim.#begin(folder, run, last + 1, progress, 'ended');
    }
    const claim = new SyncClaim(folder, run, last + 1, progress, 'ended');
    claim.#removeEarlier();
    claim.write(progress, false);
    return claim;
  }

  /** Whether no other run has taken the folder over. */
  #isHeld(): boolean {
    // Check in this order: the next number's file is removed only after this one's.
    return (
      !existsSync(claimPath(this.#folder, this.number + 1)) &&
      existsSync(claimPath(this.#folder, this.number))
    );
  }

  /** @throws Psd2Error `overtaken` if another run has taken the folder over */
  assertHeld(): void {
    if (this.#isHeld()) return;
    this.#isLost = true;
    throw new Psd2Error('overtaken', `Another psd2 sync has taken over the folder ${this.#folder}`, {
      hint: 'This sync did not respond for some seconds, and has stopped. The other one continues.',
    });
  }

  /** Whether {@link assertHeld} has thrown. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Writes the progress. It counts while this claim has the highest number.
   *
   * @param ended whether this run writes nothing more into the folder
   * @throws Psd2Error `config`
   */
  write(now: Products, ended: boolean): void {
    const state: State = { claim: this.number, run: this.#run, ended, products: now };
    // Do not create the file: if it is gone, another run has taken over.
    this.#onFile(WRITE_AT_END, (file) => writeFileSync(file, `${JSON.stringify(state)}\n`));
  }

  #onFile(flags: string | number, work: (file: number) => void): void {
    const path = claimPath(this.#folder, this.number);
    try {
      withFile(path, flags, work);
    } catch (cause) {
      this.assertHeld();
      throw notStored(path, cause);
    }
  }

  /** Removes the lowest number first: {@link #isHeld} relies on this order. */
  #removeEarlier(): void {
    for (const number of claimsIn(this.#folder)) {
      if (number < this.number) rmSync(claimPath(this.#folder, number), { force: true });
    }
  }
}

/** Flags to append to an existing file. */
export const WRITE_AT_END = constants.O_WRONLY | constants.O_APPEND;

function claimPath(folder: string, number: number): string {
  return join(folder, `sync-${number}.ndjson`);
}

/** The numbers of all claims that were not removed, sorted. */
function claimsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => {
        const [, number] = /^sync-([1-9]\d{0,14})\.ndjson$/.exec(name) ?? [];
        return number === undefined ? [] : Number(number);
      })
      .sort((a, b) => a - b);
  } catch (cause) {
    throw cannotRead(`The folder ${folder}`, cause);
  }
}

/**
 * The last complete line of a claim's file. Skips an incomplete line that a kill or a power cut left.
 *
 * @returns undefined if there is none yet, `gone` if the file does not exist any more
 * @throws Psd2Error `config` if the file contains something else
 */
function readState(path: string): State | 'gone' | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return 'gone';
    throw cannotRead(path, cause, 'Check who owns it.');
  }
  for (let end = text.lastIndexOf('\n'); end !== -1; ) {
    const begin = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    const state = stateLine.safeParse(jsonIn(text.slice(begin, end))).data;
    if (state) return state;
    end = begin - 1;
  }
  if (text.replaceAll('\0', '') === '' || BEGUN_LINE.startsWith(text.slice(0, BEGUN_LINE.length)))
    return undefined;
  throw new Psd2Error('config', `${path} is damaged: it is not the progress that psd2 sync wrote`, {
    hint: `Restore it, or move it away. The next sync then reads everything again, and adds what is missing: mv ${path} ${path}.damaged`,
  });
}

const BEGUN_LINE = '{"claim":';

/** The progress of the highest claim that has written any; undefined if another run removed a claim in the meantime. */
function lastProducts(folder: string, numbers: readonly number[]): Products | undefined {
  for (const number of numbers.toReversed()) {
    const state = readState(claimPath(folder, number));
    if (state === 'gone') return undefined;
    if (state) return state.products;
  }
  return {};
}

/**
 * The progress that a customer's folder has now. A sync may write it at the same time.
 *
 * @returns nothing for a folder that no sync has used
 * @throws Psd2Error `config` if it is damaged
 */
export function storedProgress(folder: string): Products {
  if (!existsSync(folder)) return {};
  for (;;) {
    const progress = lastProducts(folder, claimsIn(folder));
    if (progress) return progress;
  }
}

function inUse(folder: string, holder: string): Psd2Error {
  return new Psd2Error('config', `The folder ${folder} is in use by another psd2: ${holder}`, {
    hint: 'Wait for it to end.',
  });
}

/** The error for a file of a sync that cannot be written. */
export function notStored(path: string, cause: unknown): Psd2Error {
  return cannotWrite(path, cause, 'What is in the files stays. The next sync continues.');
}
