import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import { makePrivateFolder } from '../disk/files.ts';
import { withLock } from '../disk/lock.ts';
import { replaceDurably } from '../disk/replace.ts';

/** A bit longer than it takes to see that another process is dead. */
const PATIENCE_MS = 10_000;
/** How long a record stays: longer than any command runs that is no round of a sync. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

const record = z.object({ at: z.iso.datetime(), salt: z.string(), words: z.array(z.string()) });
type Forgotten = z.infer<typeof record>;

/**
 * Whom psd2 has forgotten on this machine since this command began, as salted hashes. A command that began before still knows
 * the customer, and must not write them into the log of calls any more. No clock says what came first.
 */
export class ForgottenCustomers {
  readonly #path: string;
  /** The lines that were there when this command began. */
  #before = '';
  #seen: { version: string; since: Forgotten[] } | undefined;

  constructor(path: string) {
    this.#path = path;
    this.begin();
  }

  /** The record as it was when this command began, for its other threads. */
  get before(): string {
    return this.#before;
  }

  /**
   * From now on only those count whom psd2 forgets later.
   *
   * @param before the record of the thread that started this one. Absent: this command begins anew, and keeps nothing of before
   */
  begin(before = versionOf(this.#path) === '' ? '' : readForgotten(this.#path)): void {
    this.#before = before;
    this.#seen = undefined;
  }

  /** Whether one of the words names a customer who was forgotten, or is one of their ids. */
  has(profile: string, words: () => readonly string[]): boolean {
    const version = versionOf(this.#path);
    if (version === '') return false;
    if (this.#seen?.version !== version) {
      const before = new Set(this.#before.split('\n'));
      const lines = readForgotten(this.#path).split('\n');
      this.#seen = {
        version,
        since: lines
          .filter((line) => !before.has(line))
          .flatMap((line) => record.safeParse(jsonIn(line)).data ?? []),
      };
    }
    return this.#seen.since.some((each) =>
      words().some((word) => each.words.includes(hashOfWord(each.salt, profile, word))),
    );
  }

  /** Whether psd2 has forgotten a customer of a profile since this command began. */
  readonly isForgotten = (profile: string, customerId: string): boolean =>
    this.has(profile, () => [customerId]);

  /** Records that psd2 forgets a customer, durably. @throws Psd2Error `config` */
  async add(profile: string, words: readonly string[], now: Date): Promise<void> {
    makePrivateFolder(dirname(this.#path));
    const salt = randomUUID();
    const added = {
      at: now.toISOString(),
      salt,
      words: words.map((word) => hashOfWord(salt, profile, word)),
    };
    await withLock(
      this.#path,
      'The record of forgotten customers',
      async () => {
        const earlierLines = readForgotten(this.#path)
          .split('\n')
          .filter(
            (line) => Date.parse(record.safeParse(jsonIn(line)).data?.at ?? '') > now.getTime() - KEPT_MS,
          );
        replaceDurably(this.#path, `${[...earlierLines, JSON.stringify(added)].join('\n')}\n`);
      },
      PATIENCE_MS,
    );
  }
}

/** Changes with each record. Empty: there is none, or what should be the folder of the log is none, so nothing is written there. */
function versionOf(path: string): string {
  try {
    // It is asked for each call, and nearly always missing: an error would cost more than all else here.
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : '';
  } catch {
    return '';
  }
}

/** Empty if it cannot be read: then everything in it counts as new. */
function readForgotten(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function hashOfWord(salt: string, profile: string, word: string): string {
  return createHash('sha256').update(`${salt} ${profile} ${word}`).digest('hex');
}
