import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { comparableReference } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { appendDurably, readOwnFile, removeStored, syncFolder, takeName } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { reasonOf, systemCode } from '../../disk/system-error.ts';

/**
 * Which transfer has a reference of the operator's. The disk decides it once: the n-th use of a reference is a file of
 * that name, which only one process can make, and the flow that has it stands in it. A reference is free for its next
 * use once the flow of the last one has plainly failed.
 */
export class ReferenceClaims {
  readonly #folder: string;

  /** @param flows the folder of the profile's journals */
  constructor(flows: string) {
    this.#folder = join(flows, 'references');
  }

  /**
   * Takes a reference for a flow; durable (fsync). The flow's journal is there already, so that whoever finds the claim
   * can tell what became of the flow. To be repeated whenever the flow is taken up before anything is paid.
   *
   * @param isFree whether a flow that has the reference has plainly failed
   * @returns the flow that has the reference now: `flow`, or the one that was first
   * @throws Psd2Error `config` when it can't be written
   */
  take(reference: string, flow: string, isFree: (holder: string) => boolean): string {
    const name = createHash('sha256').update(comparableReference(reference)).digest('hex').slice(0, 32);
    for (let use = 1; ; use += 1) {
      const path = join(this.#folder, `${name}.${use}`);
      const holder = readOwnFile(path)?.toString('utf8') ?? this.#make(path, flow);
      if (holder === flow || !isFree(holder)) return holder;
    }
  }

  /** @returns the flow that stands in it: another may have been quicker */
  #make(path: string, flow: string): string {
    makePrivateFolder(this.#folder);
    const beside = `${path}.${flow}`;
    try {
      // A run of this flow that was killed may have left it.
      removeStored(beside);
      appendDurably(beside, 'wx', flow);
      takeName(beside, path);
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') {
        throw new Psd2Error(
          'config',
          `The reference cannot be taken in ${this.#folder}: ${reasonOf(cause)}`,
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
