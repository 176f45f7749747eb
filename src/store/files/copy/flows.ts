import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isPlainlyFailed } from '../../../domain/flow-states.ts';
import { Psd2Error } from '../../../errors.ts';
import { appendDurably, listFolder, syncFolder, takeName } from '../../disk/files.ts';
import { makePrivateFolder } from '../../disk/json-file.ts';
import { holderOf } from '../../disk/lock.ts';
import { reasonOf } from '../../disk/system-error.ts';
import { isFlowId } from '../../flow/ids.ts';
import { KINDS } from '../../flow/kinds.ts';
import type { FlowRecord } from '../../ports/copy.ts';
import { appendToFlowFile, readFlowFile } from '../flows/file.ts';
import { FlowFolder } from '../flows/folder.ts';
import { ReferenceClaims } from '../flows/reference-claims.ts';
import { FlowsUnderWay } from '../flows/under-way.ts';

/** The writer of copied lines. */
const COPY = 'copy';

/** The journals of one profile for `store copy`. It does not parse events, so it copies them unchanged. */
export class FlowCopies {
  readonly #folder: string;
  readonly #flows: FlowFolder;

  /** @param folder of the profile's journals */
  constructor(folder: string) {
    this.#folder = folder;
    this.#flows = new FlowFolder(folder);
  }

  /**
   * The ids of all flows, by kind and in the order of creation. Of several with the same reference, the first one took it
   * first.
   */
  all(): string[] {
    return Object.values(KINDS).flatMap((kind) => this.#flows.newestFirst(kind).reverse());
  }

  /** @throws Psd2Error `config` if the journal is damaged */
  read(flow: string): FlowRecord | undefined {
    if (!isFlowId(flow)) return undefined;
    const read = readFlowFile<FlowRecord['events'], unknown>(
      this.#flows.pathOf(flow),
      z.unknown(),
      (events = [], event, at) => [...events, { at: new Date(at).toISOString(), event }],
    );
    const underWay = listFolder(join(this.#folder, 'open')).includes(flow);
    return read && { kind: 'flow', flow, underWay, events: read.current };
  }

  /** Adds the missing events of a flow, durably, and takes its reference. @throws Psd2Error `config` */
  async add({ flow, underWay, events }: FlowRecord): Promise<void> {
    const path = this.#flows.pathOf(flow);
    makePrivateFolder(this.#folder);
    let known = readFlowFile<number, unknown>(path, z.unknown(), (count = 0) => count + 1);
    if (!known) this.#make(path, events);
    else {
      for (const { at, event } of events.slice(known.current)) {
        known = { ...appendToFlowFile(path, known, { at, by: COPY, event }), current: known.current + 1 };
      }
    }
    this.#takeReference(flow);
    if (underWay) new FlowsUnderWay(this.#folder).leave(flow, new Date(events.at(-1)?.at ?? 0));
    else new FlowsUnderWay(this.#folder).end(flow);
  }

  /** The workers that work on a flow or begin one now. */
  async atWork(): Promise<string[]> {
    const locks = listFolder(this.#folder).filter((name) => name.endsWith('.lock'));
    const found = await Promise.all(
      locks.map((name) => holderOf(join(this.#folder, basename(name, '.lock')))),
    );
    return found.filter((worker) => worker !== undefined);
  }

  /** Creates a journal. It appears complete or not at all. */
  #make(path: string, events: FlowRecord['events']): void {
    const beginning = `${path}.new`;
    const lines = events.map(({ at, event }, index) => JSON.stringify({ at, n: index + 1, by: COPY, event }));
    try {
      rmSync(beginning, { force: true });
      appendDurably(beginning, 'wx', lines.map((line) => `${line}\n`).join(''));
      takeName(beginning, path);
      syncFolder(dirname(path));
    } catch (cause) {
      throw new Psd2Error('config', `The journal ${path} cannot be written: ${reasonOf(cause)}`, {
        hint: 'Check the free space, and who owns the folder. Then run the same psd2 store copy again.',
        cause,
      });
    } finally {
      rmSync(beginning, { force: true });
    }
  }

  #takeReference(flow: string): void {
    const read = (id: string) =>
      id.startsWith(KINDS.transfer.prefix) ? this.#flows.read(KINDS.transfer, id)?.current : undefined;
    const transfer = read(flow);
    const reference = transfer?.order.reference;
    if (!transfer || !reference || isPlainlyFailed(transfer)) return;
    const claims = new ReferenceClaims(this.#folder);
    claims.take(reference, flow, (other) => {
      const holder = read(other);
      return holder === undefined || isPlainlyFailed(holder);
    });
  }
}
