import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  appendDurably,
  listFolder,
  readOwnFile,
  removeStored,
  syncFolder,
  takeName,
} from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { reasonOf, systemCode } from '../../disk/system-error.ts';

/** A use of a reference: the number, and the flow that took it. */
interface Use {
  n: number;
  flow: string;
}

/**
 * Which transfer holds a reference of the operator. The n-th use of a reference is a file with that number in its name,
 * which only one process can create. The file contains the id of the flow. A reference is free for its next use once the
 * flow of the last use has definitely failed.
 */
export class ReferenceClaims {
  readonly #folder: string;

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#folder = join(flows, 'references');
  }

  /**
   * Takes a reference for a flow, durably (fsync). The flow's journal must exist, so that a process that finds the claim can
   * read the flow's outcome. Repeat this whenever the flow is resumed before anything is paid.
   *
   * @param isFree whether the flow that holds the reference has definitely failed
   * @returns the flow that holds the reference now: `flow`, or the one that was first
   * @throws Psd2Error `config` if it cannot be written
   */
  take(reference: string, flow: string, isFree: (holder: string) => boolean): string {
    const name = nameOf(reference);
    for (let isMade = false; ; isMade = true) {
      const uses = this.#uses(name);
      const last = uses.at(-1);
      if (!isMade && last?.flow === flow) return flow;
      const others = uses.filter((use) => use.flow !== flow);
      // After this flow's use came another one, so this flow had failed by then, even if its journal, restored from an old
      // backup, does not say so.
      if (last && last.flow !== flow && others.length < uses.length) return last.flow;
      const holder = others.find((use) => use.flow !== '' && !isFree(use.flow));
      if (holder) return holder.flow;
      if (last?.flow === flow) return flow;
      this.#make(join(this.#folder, `${name}.${(last?.n ?? 0) + 1}`), flow);
    }
  }

  /** The flows that took a reference, in the order of its uses. */
  holders(reference: string): string[] {
    return this.#uses(nameOf(reference)).flatMap(({ flow }) => flow || []);
  }

  /** All claims: each with its file, and the flow in it. */
  all(): { path: string; flow: string }[] {
    return listFolder(this.#folder)
      .filter((file) => /^[0-9a-f]{32}\.\d+$/.test(file))
      .map((file) => join(this.#folder, file))
      .map((path) => ({ path, flow: this.#flowIn(path) }))
      .filter(({ flow }) => flow !== '');
  }

  /** The uses whose files are there. A file may be missing, so the numbers may have gaps. */
  #uses(name: string): Use[] {
    return listFolder(this.#folder)
      .filter((file) => file.startsWith(`${name}.`) && /^\d+$/.test(file.slice(name.length + 1)))
      .map((file) => ({
        n: Number(file.slice(name.length + 1)),
        flow: this.#flowIn(join(this.#folder, file)),
      }))
      .sort((a, b) => a.n - b.n);
  }

  /** Empty if a process was killed while it wrote the file, before it did anything with the reference. */
  #flowIn(path: string): string {
    return readOwnFile(path)?.toString('utf8') ?? '';
  }

  /** Another process may be faster. */
  #make(path: string, flow: string): void {
    makePrivateFolder(this.#folder);
    const beside = `${path}.${flow}`;
    try {
      // An earlier process that worked on this flow may have been killed and left the file.
      removeStored(beside);
      appendDurably(beside, 'wx', flow);
      takeName(beside, path);
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') {
        throw new Psd2Error(
          'config',
          `psd2 cannot record the reference in ${this.#folder}: ${reasonOf(cause)}`,
          {
            hint: 'Check the free space, and who owns the folder. Nothing was paid.',
            cause,
          },
        );
      }
    } finally {
      removeStored(beside);
    }
    syncFolder(this.#folder);
  }
}

function nameOf(reference: string): string {
  return createHash('sha256').update(comparableReference(reference)).digest('hex').slice(0, 32);
}
