import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  linkSync,
  lstatSync,
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
import { type IsoDate, isIsoDate } from '../../../domain/calendar.ts';
import { Psd2Error } from '../../../errors.ts';
import { readPlainFile } from '../../disk/files.ts';
import { readJsonFile } from '../../disk/json-file.ts';
import { holderOf } from '../../disk/lock.ts';
import { isMissing, reasonOf, systemCode } from '../../disk/system-error.ts';

const isoDate = z.custom<IsoDate>((value) => typeof value === 'string' && isIsoDate(value));
const count = z.int().check(z.gte(0));

const productProgress = z.object({
  /** The first and the last day whose booked transactions are in the file. */
  from: isoDate,
  through: isoDate,
  /** Bytes at the beginning of the file whose rows cannot come again. */
  settled: count,
  /** `through` was compared with the bank's own day. Earlier syncs went by this machine's clock, which may have been ahead. */
  checked: z.optional(z.literal(true)),
  /** Bytes that the file had when this was written; missing in a folder of psd2 before 0.2. */
  size: z.optional(count),
});
const products = z.record(z.string(), productProgress);

/** How far each product of a customer is synced. */
export type Products = z.infer<typeof products>;

/** A line of a claim's file: everything that is known at that moment. The last whole line counts. */
const stateLine = z.object({
  claim: count,
  /** The run that has the claim. */
  run: z.string(),
  /** The run writes nothing more into the folder. */
  ended: z.boolean(),
  products,
});
type State = z.infer<typeof stateLine>;

/** The file of psd2 before 0.2. */
const OLD_STATE = 'sync.json';
const oldState = z.object({ products });

/** A file of claims that is larger is begun anew. */
const LARGEST = 64 * 1024;
/** How long another run may work in the folder before this one gives up. */
const PATIENCE_MS = 10_000;
/** A claim whose run is not known is taken over when nothing happened for so long. */
const UNKNOWN_FOR_MS = 5_000;

/**
 * How a folder was left: by a run that has ended, so that nobody else writes to it and its rows are on the disk; by one
 * that has begun, and may be asleep; or by psd2 before 0.2, whose rows may not be on the disk.
 */
export type Left = 'ended' | 'begun' | 'old';

/** A run of `psd2 sync`: its claims name it, and a lock beside `path` shows that it lives. */
export interface RunName {
  id: string;
  /** Where the lock of a run is. */
  pathOf(id: string): string;
}

/**
 * The right of one run to write into a customer's folder. Each run has a number; the file `sync-<number>.ndjson` is made
 * exclusively, so the disk decides who has it, and the highest number counts. It holds the progress, so a run that was
 * overtaken while it stood still can write only what no longer counts.
 *
 * Where the run before has ended, its file goes on under the next name (a second link to it: nobody writes to it any
 * more). Where it has not, it may be asleep, with the file open: then a file of its own is begun.
 */
export class SyncClaim {
  readonly number: number;
  /** What the folder's last run has stored. */
  readonly found: Products;
  readonly left: Left;
  readonly #folder: string;
  readonly #run: string;
  #isTold = false;

  private constructor(folder: string, run: string, number: number, found: Products, left: Left) {
    this.#folder = folder;
    this.#run = run;
    this.number = number;
    this.found = found;
    this.left = left;
  }

  /**
   * Takes the next number of a folder. Waits for a run that works in it, and takes over from one that shows no sign of
   * life.
   *
   * @throws Psd2Error `config` when another run works in it for too long, or what is stored is damaged
   */
  static async take(folder: string, run: RunName, signal: AbortSignal): Promise<SyncClaim> {
    const began = performance.now();
    let unknown: { number: number; since: number } | undefined;
    for (; ; await delay(20 + Math.random() * 60)) {
      const numbers = claimsIn(folder);
      const last = numbers.at(-1);
      if (last === undefined) {
        const old = readOldState(folder);
        const claim = SyncClaim.#begin(folder, run.id, 1, old ?? {}, old === undefined ? 'ended' : 'old');
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
        // Between the making of a claim and its first line.
        if (unknown?.number !== last) unknown = { number: last, since: now };
        if (now - unknown.since < UNKNOWN_FOR_MS) continue;
      }
      const claim = SyncClaim.#begin(folder, run.id, last + 1, lastProducts(folder, numbers), 'begun');
      if (claim) return claim;
    }
  }

  /** @returns undefined where another run was quicker */
  static #begin(
    folder: string,
    run: string,
    number: number,
    found: Products,
    left: Left,
  ): SyncClaim | undefined {
    const path = claimPath(folder, number);
    try {
      closeSync(openSync(path, 'wx', 0o600));
    } catch (cause) {
      if (systemCode(cause) === 'EEXIST') return undefined;
      throw cannotWrite(path, cause);
    }
    // Whoever looked at the folder long ago makes a name that had its time.
    if (claimsIn(folder).at(-1) !== number) {
      rmSync(path, { force: true });
      return undefined;
    }
    const claim = new SyncClaim(folder, run, number, found, left);
    claim.write(found, false);
    if (number > 1 || left !== 'ended') {
      // Before what it is a copy of goes.
      claim.#flush();
      claim.#removeEarlier();
    }
    return claim;
  }

  /** @returns undefined where another run was quicker */
  static #goOn(folder: string, run: string, last: number, found: Products): SyncClaim | undefined {
    const [before, path] = [claimPath(folder, last), claimPath(folder, last + 1)];
    try {
      if (statSync(before).size > LARGEST) return SyncClaim.#begin(folder, run, last + 1, found, 'ended');
      linkSync(before, path);
    } catch (cause) {
      if (systemCode(cause) === 'EEXIST' || isMissing(cause)) return undefined;
      // There are file systems without links.
      return SyncClaim.#begin(folder, run, last + 1, found, 'ended');
    }
    const claim = new SyncClaim(folder, run, last + 1, found, 'ended');
    claim.#removeEarlier();
    claim.write(found, false);
    return claim;
  }

  /** Whether no other run has taken the folder over. */
  #isHeld(): boolean {
    // In this order: the next number goes only after this one.
    return (
      !existsSync(claimPath(this.#folder, this.number + 1)) &&
      existsSync(claimPath(this.#folder, this.number))
    );
  }

  /** @throws Psd2Error `config` when another run has taken the folder over */
  assertHeld(): void {
    if (this.#isHeld()) return;
    this.#isTold = true;
    throw new Psd2Error('config', `Another psd2 sync has gone on with the folder ${this.#folder}`, {
      hint: 'This one stood still for some seconds, and has stopped. What the other one writes is good.',
    });
  }

  /** Whether {@link assertHeld} has thrown. */
  get isLost(): boolean {
    return this.#isTold;
  }

  /**
   * Writes the progress, which counts while this claim is the highest.
   *
   * @param ended nothing more is written into the folder
   * @throws Psd2Error `config`
   */
  write(now: Products, ended: boolean): void {
    const path = claimPath(this.#folder, this.number);
    const state: State = { claim: this.number, run: this.#run, ended, products: now };
    try {
      // Not made here: a name that is gone was taken over.
      const file = openSync(path, WRITE_AT_END);
      try {
        writeFileSync(file, `${JSON.stringify(state)}\n`);
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      if (isMissing(cause)) this.assertHeld();
      throw cannotWrite(path, cause);
    }
  }

  #flush(): void {
    const path = claimPath(this.#folder, this.number);
    try {
      const file = openSync(path, 'r');
      try {
        fdatasyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      if (isMissing(cause)) this.assertHeld();
      throw cannotWrite(path, cause);
    }
  }

  /** The lowest first: whether another run is overtaken is told by that. */
  #removeEarlier(): void {
    for (const number of claimsIn(this.#folder)) {
      if (number < this.number) rmSync(claimPath(this.#folder, number), { force: true });
    }
    rmSync(join(this.#folder, OLD_STATE), { force: true });
  }
}

/** For a file that is there already. */
export const WRITE_AT_END = constants.O_WRONLY | constants.O_APPEND;

function claimPath(folder: string, number: number): string {
  return join(folder, `sync-${number}.ndjson`);
}

/** The numbers that were taken and are not cleared away, sorted. */
function claimsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => {
        const [, number] = /^sync-([1-9]\d{0,14})\.ndjson$/.exec(name) ?? [];
        return number === undefined ? [] : Number(number);
      })
      .sort((a, b) => a - b);
  } catch (cause) {
    throw new Psd2Error('config', `The folder ${folder} cannot be read: ${reasonOf(cause)}`, {
      hint: 'Check who owns it and its mode.',
      cause,
    });
  }
}

/**
 * The last whole line of a claim's file. What a kill or a power cut left of a later one is passed over.
 *
 * @returns undefined when there is none yet, `gone` when there is no such file any more
 * @throws Psd2Error `config` when there is something else in it
 */
function readState(path: string): State | 'gone' | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (isMissing(cause)) return 'gone';
    throw new Psd2Error('config', `${path} cannot be read: ${reasonOf(cause)}`, {
      hint: 'Check who owns it.',
      cause,
    });
  }
  for (let end = text.lastIndexOf('\n'); end !== -1; ) {
    const begin = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    const state = parseState(text.slice(begin, end));
    if (state) return state;
    end = begin - 1;
  }
  if (text.replaceAll('\0', '') === '' || BEGUN_LINE.startsWith(text.slice(0, BEGUN_LINE.length)))
    return undefined;
  throw new Psd2Error('config', `${path} is damaged: it is not the progress that psd2 sync wrote`, {
    hint: `Restore it, or move it away: then the next sync reads everything again, and adds what is missing: mv ${path} ${path}.damaged`,
  });
}

const BEGUN_LINE = '{"claim":';

function parseState(line: string): State | undefined {
  try {
    return stateLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Of the highest number that came to write any. */
function lastProducts(folder: string, numbers: readonly number[]): Products {
  for (const number of numbers.toReversed()) {
    const state = readState(claimPath(folder, number));
    if (state !== undefined && state !== 'gone') return state.products;
  }
  return readOldState(folder) ?? {};
}

/** What psd2 before 0.2 knew of a folder; undefined where it never was there. */
function readOldState(folder: string): Products | undefined {
  const path = join(folder, OLD_STATE);
  // An error that is thrown and caught costs more than to look first.
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  return readJsonFile(path, oldState, readPlainFile)?.products;
}

function inUse(folder: string, holder: string): Psd2Error {
  return new Psd2Error('config', `The folder ${folder} is in use by another psd2: ${holder}`, {
    hint: 'Wait for it to end.',
  });
}

function cannotWrite(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder. What is in the files stays; the next sync goes on.',
    cause,
  });
}
