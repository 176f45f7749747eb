import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { appendDurably, listFolder, removeStored, syncFolder, takeName } from '../disk/files.ts';
import { reasonOf, systemCode } from '../disk/system-error.ts';

/**
 * A document that is replaced by newer ones, and never by an older one: each is a file of its own, `<generation>.json`,
 * whose name only one process can take. The highest generation counts. A process that was stopped between reading and
 * writing finds the next name taken, or a higher one there.
 */
export class Generations {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The generation that counts; 0 where there is none. @throws Psd2Error `config` */
  newest(): number {
    return listFolder(this.#folder).reduce((most, name) => Math.max(most, generationOf(name)), 0);
  }

  pathOf(generation: number): string {
    return join(this.#folder, `${generation}.json`);
  }

  /**
   * Adds a generation, durably (fsync), and removes those before it. The folder is there already.
   *
   * @returns false when another process was first with this generation or a later one; then nothing has changed
   * @throws Psd2Error `config` when it can't be written
   */
  add(generation: number, content: string): boolean {
    const path = this.pathOf(generation);
    for (;;) {
      const beside = join(this.#folder, `.${randomUUID()}`);
      try {
        appendDurably(beside, 'wx', content);
        takeName(beside, path);
        break;
      } catch (cause) {
        if (systemCode(cause) === 'EEXIST') return false;
        // Who added a generation has cleared up; where the folder is gone, so is all that was in it.
        if (systemCode(cause) !== 'ENOENT') throw unwritable(path, cause);
        if (listFolder(this.#folder).length === 0) return false;
      } finally {
        removeStored(beside);
      }
    }
    try {
      syncFolder(this.#folder);
    } catch (cause) {
      throw unwritable(path, cause);
    }
    if (this.newest() > generation) {
      removeStored(path);
      return false;
    }
    this.#clearUp(generation);
    return true;
  }

  /** Removes the generations before this one, and what killed processes left half written. */
  #clearUp(newest: number): void {
    for (const name of listFolder(this.#folder)) {
      const isOld = generationOf(name) > 0 && generationOf(name) < newest;
      if (isOld || name.startsWith('.')) removeStored(join(this.#folder, name));
    }
  }
}

/** 0 for what is no generation. */
function generationOf(name: string): number {
  return Number(/^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? 0);
}

function unwritable(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder.',
    cause,
  });
}
