import { constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { jsonIn } from '../../domain/json.ts';
import { newPseudonym } from '../audit/pseudonyms.ts';
import { appendDurably, cannotWrite, makePrivateFolder, readOwnFile, syncFolder } from '../disk/files.ts';
import { replaceDurably } from '../disk/replace.ts';
import type { Pseudonym } from '../ports/personal.ts';

const pseudonym = z.object({ pseudonym: z.string(), customerId: z.string(), word: z.string() });

/**
 * The pseudonyms of a profile on the disk: one line for each word. The holder of the audit log's lock alone changes the file. It
 * is read again only after another process has changed it.
 */
export class FilePseudonyms {
  readonly #path: string;
  #known = new Map<string, Pseudonym>();
  #seen = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** The pseudonym of a word. Makes one, durably, if it has none. @throws Psd2Error `config` */
  of(customerId: string, word: string): string {
    const existing = this.#read().get(wordKey({ customerId, word }));
    if (existing) return existing.pseudonym;
    const made = { pseudonym: newPseudonym(), customerId, word };
    this.keep(made);
    return made.pseudonym;
  }

  all(): Pseudonym[] {
    return [...this.#read().values()];
  }

  /** Adds a pseudonym, durably, if its word has none. @throws Psd2Error `config` */
  keep(added: Pseudonym): void {
    const pseudonyms = this.#read();
    if (pseudonyms.has(wordKey(added))) return;
    try {
      makePrivateFolder(dirname(this.#path));
      const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
      // The line break before it ends a line that a crash may have cut short.
      const line = `\n${JSON.stringify(added)}\n`;
      appendDurably(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, line);
      syncFolder(dirname(this.#path));
    } catch (cause) {
      throw cannotWrite(`The pseudonyms ${this.#path}`, cause);
    }
    pseudonyms.set(wordKey(added), added);
    this.#seen = this.#look();
  }

  /** Removes the pseudonyms of a customer. @throws Psd2Error `config` */
  forget(customerId: string): void {
    const all = this.all();
    const others = all.filter((each) => each.customerId !== customerId);
    if (others.length === all.length) return;
    replaceDurably(this.#path, others.map((each) => `${JSON.stringify(each)}\n`).join(''));
  }

  #read(): Map<string, Pseudonym> {
    const seen = this.#look();
    if (seen === this.#seen) return this.#known;
    this.#known = new Map();
    for (const line of (readOwnFile(this.#path)?.toString('utf8') ?? '').split('\n')) {
      const { data } = pseudonym.safeParse(jsonIn(line));
      if (data && !this.#known.has(wordKey(data))) this.#known.set(wordKey(data), data);
    }
    this.#seen = seen;
    return this.#known;
  }

  /** Tells one state of the file from another. */
  #look(): string {
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : '';
  }
}

function wordKey({ customerId, word }: Pick<Pseudonym, 'customerId' | 'word'>): string {
  return JSON.stringify([customerId, word]);
}
