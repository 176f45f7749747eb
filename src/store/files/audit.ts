import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod/mini';
import { nextLine, parseAuditLine, sha256Of, withoutForgotten } from '../audit/chain.ts';
import {
  appendDurably,
  cannotWrite,
  makePrivateFolder,
  readJsonFile,
  refuseOtherThanFile,
  syncFolder,
  writeJsonFile,
} from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import { refuseUnsafe } from '../disk/permissions.ts';
import type { Actor, Audit, AuditEntry, AuditHead, AuditLine } from '../ports/audit.ts';
import type { IsForgotten, Pseudonym } from '../ports/personal.ts';
import { FilePseudonyms } from './pseudonyms.ts';

/** A bit longer than it takes to see that another process is dead. */
const PATIENCE_MS = 10_000;
/** No line is longer. */
const MAX_LINE = 16_384;

const storedBeginning = z.object({ sha256: z.string() });
const storedHead = z.object({ n: z.int().check(z.gte(1)), sha256: z.string() });

/** What the audit log of a profile needs from the program. */
interface AuditSetting {
  profile: string;
  /** Who works. Only a copy needs none. */
  worker?: {
    actor: Actor;
    now: () => Date;
    /** Refuses workers if the store was copied to another backend. @throws Psd2Error `config` */
    assertHere: () => void;
    wasCopied: () => boolean;
    isForgotten?: IsForgotten;
  };
  /** The operator's Ctrl-C, which ends the wait for other processes. */
  interrupted: AbortSignal | undefined;
}

/**
 * The audit log of one profile on the disk: `<profile>.ndjson`, and beside it `<profile>.head.json`. The line is written first,
 * so after a kill the head may be one line behind. The SHA-256 of the first line is in `audit-begun/<profile>.json`. If lines are missing, the next one continues from the head: psd2 goes on
 * working, and the gap stays visible.
 */
export class FileAudit implements Audit {
  readonly #path: string;
  readonly #setting: AuditSetting;
  readonly #pseudonyms: FilePseudonyms;

  /** @param path of the lines */
  constructor(path: string, setting: AuditSetting) {
    this.#path = path;
    this.#setting = setting;
    this.#pseudonyms = new FilePseudonyms(path.replace(/\.ndjson$/, '.pseudonyms.ndjson'));
  }

  async append(entry: AuditEntry): Promise<void> {
    const { profile, worker, interrupted } = this.#setting;
    if (!worker) throw new TypeError('A copy appends nothing of its own');
    await this.#exclusively(async () => {
      worker.assertHere();
      const at = worker.now().toISOString();
      const storedEntry = withoutForgotten(entry, profile, worker.isForgotten);
      const line = nextLine(await this.#newest(), this.#pseudonymous(storedEntry), worker.actor, {
        profile,
        at,
      });
      await this.#write(line);
    }, interrupted);
  }

  /** The pseudonym of a customer or of an account of theirs. @throws Psd2Error `config` */
  pseudonymOf(customerId: string, word: string): Promise<string> {
    return this.#exclusively(async () => this.#pseudonyms.of(customerId, word), this.#setting.interrupted);
  }

  /** All pseudonyms. @throws Psd2Error `config` */
  pseudonyms(): Pseudonym[] {
    return this.#pseudonyms.all();
  }

  /** Adds a pseudonym of another backend, for `store copy`. @throws Psd2Error `config` */
  keepPseudonym(pseudonym: Pseudonym): Promise<void> {
    return this.#exclusively(async () => this.#pseudonyms.keep(pseudonym), undefined);
  }

  /** Forgets whose the pseudonyms of a customer are. @throws Psd2Error `config` */
  forgetPseudonyms(customerId: string): Promise<void> {
    return this.#exclusively(async () => this.#pseudonyms.forget(customerId), this.#setting.interrupted);
  }

  async *lines(): AsyncGenerator<AuditLine> {
    if (!isThere(this.#path)) return;
    let n = 0;
    for await (const text of createInterface({ input: createReadStream(this.#path), crlfDelay: 0 })) {
      n += 1;
      yield { n, text };
    }
  }

  async head(): Promise<AuditHead | undefined> {
    return readJsonFile(this.#headPath, storedHead);
  }

  async beginning(): Promise<string | undefined> {
    return readJsonFile(this.#beginningPath, storedBeginning)?.sha256;
  }

  async mayLackCopied(): Promise<boolean> {
    return this.#setting.worker?.wasCopied() ?? false;
  }

  /** Adds lines of another backend as they are, for `store copy`. @throws Psd2Error `config` */
  async keep({ text }: AuditLine): Promise<void> {
    const n = parseAuditLine(text)?.n ?? ((await this.#newest())?.n ?? 0) + 1;
    await this.#exclusively(() => this.#write({ n, text }), undefined);
  }

  #pseudonymous({ account, ...entry }: AuditEntry): AuditEntry {
    const { customerId, about } = entry;
    if (!customerId) return entry;
    const nameOf = (word: string) => this.#pseudonyms.of(customerId, word);
    const words = [about, account !== undefined && nameOf(account)].filter(Boolean);
    return { ...entry, customerId: nameOf(customerId), about: words.length > 0 ? words.join(' ') : null };
  }

  /** In another folder, so that whoever removes the log leaves it there. */
  get #beginningPath(): string {
    return join(dirname(dirname(this.#path)), 'audit-begun', `${basename(this.#path, '.ndjson')}.json`);
  }

  get #headPath(): string {
    return this.#path.replace(/\.ndjson$/, '.head.json');
  }

  #exclusively<T>(work: () => Promise<T>, interrupted: AbortSignal | undefined): Promise<T> {
    makePrivateFolder(dirname(this.#path));
    return withLock(this.#path, 'The audit log', work, PATIENCE_MS, interrupted);
  }

  async #write({ n, text }: AuditLine): Promise<void> {
    const isNew = !existsSync(this.#path);
    try {
      appendDurably(this.#path, 'a', `${text}\n`);
      if (isNew) syncFolder(dirname(this.#path));
    } catch (cause) {
      throw cannotWrite(
        `The audit log ${this.#path}`,
        cause,
        'psd2 does nothing that it cannot record first.',
      );
    }
    await writeJsonFile(this.#headPath, { n, sha256: sha256Of(text) }, storedHead);
    if (existsSync(this.#beginningPath)) return;
    for await (const first of this.lines()) {
      makePrivateFolder(dirname(this.#beginningPath));
      await writeJsonFile(this.#beginningPath, { sha256: sha256Of(first.text) }, storedBeginning);
      return;
    }
  }

  /** The line to continue from: the last one, or the head if lines are missing. */
  async #newest(): Promise<AuditHead | undefined> {
    const head = await this.head();
    const text = lastLine(this.#path);
    const last = text === undefined ? undefined : parseAuditLine(text);
    if (text === undefined || last === undefined) return head;
    return head && head.n > last.n ? head : { n: last.n, sha256: sha256Of(text) };
  }
}

/** @throws Psd2Error `config` if it is no file, or others can read it */
function isThere(path: string): boolean {
  refuseUnsafe(path, 'secret');
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats) refuseOtherThanFile(path, stats);
  return stats !== undefined;
}

/** The last line of a file, which no other process writes now. Removes an end that a crash has cut short: it never counted. */
function lastLine(path: string): string | undefined {
  if (!isThere(path)) return undefined;
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, 2 * MAX_LINE));
    const start = size - bytes.length;
    const text = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)).toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    if (end < text.length) ftruncateSync(file, start + end);
    const whole = Buffer.from(text.slice(0, end), 'latin1').toString('utf8').trimEnd();
    return whole === '' ? undefined : whole.slice(whole.lastIndexOf('\n') + 1);
  } finally {
    closeSync(file);
  }
}
