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

/** A call that was sent to the bank, or tried to be. Nothing here is secret; times are ISO 8601, UTC. */
export interface LoggedCall {
  /** When it was sent. */
  at: string;
  profile: string;
  /** Host and port of the bank's interface. */
  host: string;
  method: string;
  /** As sent, without the query. */
  path: string;
  /** Null when no usable answer came; `failure` says why. */
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
}

const CURRENT = 'calls.ndjson';
const LARGEST_FILE = 10 * 1024 * 1024;
/** Of the files that were full, together. */
const MOST_KEPT = 40 * 1024 * 1024;

/**
 * The log of calls: a line of JSON each, the newest last, in `calls.ndjson`. A file that is full is put aside
 * under its time; the oldest of those go when there are more than 40 MiB. One write a line, so that processes
 * side by side never mix theirs. No fsync: the record of money is the journal.
 */
export class CallLog {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws Error of the file system, Psd2Error `config` when the folder can't be made */
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

  /** Another process may do the same at this moment: names differ, and who is second finds another file or none. */
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
