import { rmSync, statSync } from 'node:fs';
import { faultOf } from '../disk/permissions.ts';
import { addCheckedLines, checkedLine, checkedLines } from './flows/checked-lines.ts';

/** A folder that has changed within this time may change again without a new time: those of a file system have a grain. */
const SETTLED_MS = 2_000;
/** So many lines of folders that have changed since are not worth a new file. */
const FEW_OLD = 10_000;

/**
 * What was read in each of very many folders, as a short text without secrets, in a file beside them. A line counts only while the
 * folder is the same one and nothing in it was added, removed or renamed (its inode and the time of its last change).
 *
 * Nothing depends on it. If the file or a line is missing or damaged, the folder is read and the line written again. No line names
 * its folder.
 */
export class KnownFolders {
  readonly #path: string;
  readonly #known: ReadonlyMap<string, string>;
  readonly #learnt: string[] = [];
  #found = 0;

  /** @param path of the file. @throws Psd2Error `config` if another user may have written it */
  constructor(path: string) {
    this.#path = path;
    this.#known = new Map(
      checkedLines(path).map((line) => {
        const end = line.indexOf(' ', line.indexOf(' ') + 1);
        return [line.slice(0, end), line.slice(end + 1)];
      }),
    );
  }

  /**
   * The text of a folder.
   *
   * @param read reads the folder, if nothing is known of it
   * @throws Psd2Error `config` if another user may have written to the folder; what `read` throws
   */
  textOf(folder: string, read: () => string): string {
    const stats = statSync(folder, { throwIfNoEntry: false });
    const fault = stats && faultOf(folder, stats, 'folder');
    if (fault) throw fault;
    const place = stats ? `${stats.ino} ${stats.ctimeMs}` : '';
    const knownText = this.#known.get(place);
    this.#found += knownText === undefined ? 0 : 1;
    if (knownText !== undefined) return knownText;
    const text = read();
    if (stats && Date.now() - stats.ctimeMs > SETTLED_MS) this.#learnt.push(checkedLine(`${place} ${text}`));
    return text;
  }

  /** Stores what was learnt. */
  keep(): void {
    if (this.#known.size > this.#found * 2 + FEW_OLD) this.#forget();
    else addCheckedLines(this.#path, this.#learnt);
  }

  #forget(): void {
    try {
      rmSync(this.#path);
    } catch {
      // Another psd2 has done it, or the folder is read-only, for example. The command is about something else.
    }
  }
}
