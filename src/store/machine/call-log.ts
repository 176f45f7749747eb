import {
  closeSync,
  fchmodSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../disk/json-file.ts';
import { isMissing } from '../disk/system-error.ts';

/** A call that psd2 sent to the bank or tried to send. It contains no secrets. Times are ISO 8601, UTC. */
export interface LoggedCall {
  /** When psd2 sent it. */
  at: string;
  profile: string;
  /** Host and port of the bank's interface. */
  host: string;
  method: string;
  /** As sent, without the query. */
  path: string;
  /** Null if no usable answer came. `failure` says why. */
  status: number | null;
  failure: string | null;
  milliseconds: number;
  /** Our `TPP-Request-ID`. */
  tppRequestId: string;
  /** Our `TPP-Transaction-ID`. */
  transactionId: string;
  /** `result.requestId` of the bank's answer, every digit. */
  requestId: string | null;
  /** The bank's `cb-apitrack-id`. */
  apiTrackId: string | null;
  /** The local id of the flow that the call belongs to. */
  flow: string | null;
  /** No byte of the request left. Absent: bytes may have left. */
  neverLeft?: true | undefined;
  /** It was `execute` or `confirm`, which cannot be taken back. Absent: it was not, or psd2 0.2 wrote the line. */
  irrevocable?: true | undefined;
}

const CURRENT = 'calls.ndjson';
const LARGEST_FILE = 10 * 1024 * 1024;
/** Total size of the full files that psd2 keeps. */
const MOST_KEPT = 40 * 1024 * 1024;

/**
 * The log of calls, `calls.ndjson`: one line of JSON per call, the newest last. psd2 renames a full file, and removes the
 * oldest ones if they exceed 40 MiB together. It writes each line at once, so lines of parallel processes never mix. It does
 * not fsync, since the journal is the record of payments.
 */
export class CallLog {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws Error of the file system, Psd2Error `config` if the folder cannot be created */
  append(call: LoggedCall): void {
    const path = join(this.#folder, CURRENT);
    const file = openForAppending(path, this.#folder);
    try {
      const { size, mode, ino } = fstatSync(file);
      if ((mode & 0o077) !== 0) fchmodSync(file, 0o600);
      writeSync(file, `${JSON.stringify(call)}\n`);
      if (size > LARGEST_FILE) this.#putAside(path, ino, call.at);
    } finally {
      closeSync(file);
    }
  }

  /** Several processes may do this at once. Their names differ, and a late one finds a new file or none. */
  #putAside(path: string, ino: number, at: string): void {
    try {
      if (statSync(path).ino !== ino) return;
      renameSync(path, join(this.#folder, `calls-${at.replaceAll(':', '')}-${process.pid}.ndjson`));
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    let kept = 0;
    for (const file of fullFiles(this.#folder)) {
      kept += statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (kept > MOST_KEPT) rmSync(file, { force: true });
    }
  }
}

/** The files of the log, the newest first. */
export function logFiles(folder: string): string[] {
  return [join(folder, CURRENT), ...fullFiles(folder)];
}

function fullFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^calls-.*\.ndjson$/.test(name))
      .sort()
      .reverse()
      .map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function openForAppending(path: string, folder: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    makePrivateFolder(folder);
    return openSync(path, 'a', 0o600);
  }
}
