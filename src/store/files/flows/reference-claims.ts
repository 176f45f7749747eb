import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { appendDurably, readOwnFile, removeStored, syncFolder, takeName } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { reasonOf, systemCode } from '../../disk/system-error.ts';

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
    const name = createHash('sha256').update(comparableReference(reference)).digest('hex').slice(0, 32);
    for (let use = 1; ; use += 1) {
      const path = join(this.#folder, `${name}.${use}`);
      const holder = readOwnFile(path)?.toString('utf8') ?? this.#make(path, flow);
      if (holder === flow || !isFree(holder)) return holder;
    }
  }

  /** @returns the flow in the file. Another process may have been faster */
  #make(path: string, flow: string): string {
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
    return readOwnFile(path)?.toString('utf8') ?? '';
  }
}
