import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Psd2Error } from '../../errors.ts';
import { appendDurably, listFolder, removeStored, syncFolder, takeName } from '../disk/files.ts';
import { reasonOf, systemCode } from '../disk/system-error.ts';

/**
 * A document that newer versions replace, and older ones never. Each version is a file, `<generation>.json`, whose name
 * only one process can take. The highest generation counts. If a process was stopped between reading and writing, it finds
 * that its next name is taken, or that a higher one exists.
 */
export class Generations {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The highest generation; 0 if there is none. @throws Psd2Error `config` */
  newest(): number {
    return listFolder(this.#folder).reduce((most, name) => Math.max(most, generationOf(name)), 0);
  }

  pathOf(generation: number): string {
    return join(this.#folder, `${generation}.json`);
  }

  /**
   * Adds a generation, durably (fsync), and removes the earlier ones. The folder must exist.
   *
   * @returns false, and changes nothing, if another process has added this generation or a later one
   * @throws Psd2Error `config` if it cannot be written
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
        // A process that added a generation has removed this file. If the folder is gone too, there is nothing to add to.
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

  /** Removes the generations before this one, and half-written files of killed processes. */
  #clearUp(newest: number): void {
    for (const name of listFolder(this.#folder)) {
      const isOld = generationOf(name) > 0 && generationOf(name) < newest;
      if (isOld || name.startsWith('.')) removeStored(join(this.#folder, name));
    }
  }
}

/** The generation in a file name; 0 if the name has none. */
function generationOf(name: string): number {
  return Number(/^([1-9]\d{0,14})\.json$/.exec(name)?.[1] ?? 0);
}

function unwritable(path: string, cause: unknown): Psd2Error {
  return new Psd2Error('config', `${path} cannot be written: ${reasonOf(cause)}`, {
    hint: 'Check the free space, and who owns the folder.',
    cause,
  });
}
