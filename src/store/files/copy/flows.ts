import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isOpen, isPlainlyFailed } from '../../../domain/flow-states.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  appendDurably,
  cannotWrite,
  listFolder,
  makePrivateFolder,
  syncFolder,
  takeName,
} from '../../disk/files.ts';
import { holderOf } from '../../disk/lock.ts';
import { isFlowId } from '../../flow/ids.ts';
import { KINDS, type KnownKind, kindOf } from '../../flow/kinds.ts';
import { journalIsOlder } from '../../flow/refusals.ts';
import type { FlowRecord } from '../../ports/copy.ts';
import type { Kind } from '../../ports/flows.ts';
import { appendToFlowFile, FlowsUnderWay, readFlowFile } from '../flows/file.ts';
import { entriesOf, FlowFolder, FlowIndex, type IndexEntry, type IndexedFlow } from '../flows/lookup.ts';
import { ReferenceClaims } from '../flows/references.ts';
import { FlowSteps } from '../flows/steps.ts';

/** The writer of copied lines. */
const COPY = 'copy';

/** The journals of one profile for `store copy`. It does not parse events, so it copies them unchanged. */
export class FlowCopies {
  readonly #folder: string;
  readonly #flows: FlowFolder;
  readonly #index: FlowIndex;
  readonly #claims: ReferenceClaims;
  readonly #steps: FlowSteps;

  /** @param folder of the profile's journals */
  constructor(folder: string) {
    this.#folder = folder;
    this.#flows = new FlowFolder(folder);
    this.#index = new FlowIndex(folder);
    this.#claims = new ReferenceClaims(folder);
    this.#steps = new FlowSteps(folder);
  }

  /**
   * The ids of all flows, by kind and in the order of creation. Of several with the same reference, the first one took it
   * first.
   *
   * @throws Psd2Error `config` if a journal is missing. A copy would forget that its flow ever was, and free its reference
   */
  all(): string[] {
    const flows = Object.values(KINDS).flatMap((kind) => this.#flows.newestFirst(kind).reverse());
    const existing = new Set(flows);
    for (const { path, flow } of this.#claims.all()) if (!existing.has(flow)) throw this.#missing(flow, path);
    for (const [flow, { resourceIds }] of this.#index.read())
      if (resourceIds?.size && !existing.has(flow)) throw this.#missing(flow, join(this.#folder, 'index'));
    return flows;
  }

  /** @throws Psd2Error `config` if the journal is damaged, or older than the index */
  read(flow: string): FlowRecord | undefined {
    if (!isFlowId(flow)) return undefined;
    const read = readFlowFile<FlowRecord['events'], unknown>(
      this.#flows.pathOf(flow),
      z.unknown(),
      (events = [], event, at) => [...events, { at: new Date(at).toISOString(), event }],
    );
    const sent = this.#index.read().get(flow)?.sent;
    if (read && sent && this.#isOpen(flow)) throw journalIsOlder(flow, this.#flows.pathOf(flow));
    const underWay = listFolder(join(this.#folder, 'open')).includes(flow);
    const steps = this.#steps.of(flow);
    return read && { kind: 'flow', flow, underWay, events: read.current, ...(steps && { steps }) };
  }

  /** Adds the missing events of a flow, durably, and takes its reference. @throws Psd2Error `config` */
  async add({ flow, underWay, events, steps }: FlowRecord): Promise<void> {
    const path = this.#flows.pathOf(flow);
    makePrivateFolder(this.#folder);
    await this.#steps.hold(flow, steps ?? null);
    let journal = readFlowFile<number, unknown>(path, z.unknown(), (count = 0) => count + 1);
    if (!journal) this.#make(path, events);
    else {
      for (const { at, event } of events.slice(journal.current))
        journal = {
          ...appendToFlowFile(path, journal, { at, by: COPY, event }),
          current: journal.current + 1,
        };
    }
    this.#addToIndex(flow);
    this.#takeReference(flow);
    if (underWay) new FlowsUnderWay(this.#folder).leave(flow, new Date(events.at(-1)?.at ?? 0));
    else new FlowsUnderWay(this.#folder).end(flow);
  }

  /** The workers that work on a flow or begin one now. */
  async atWork(): Promise<string[]> {
    const locks = listFolder(this.#folder).filter((name) => name.endsWith('.lock'));
    const workers = await Promise.all(
      locks.map((name) => holderOf(join(this.#folder, basename(name, '.lock')))),
    );
    return workers.filter((worker) => worker !== undefined);
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
      throw cannotWrite(`The journal ${path}`, cause, 'Then run the same psd2 store copy again.');
    } finally {
      rmSync(beginning, { force: true });
    }
  }

  /** Adds to the index what {@link FlowIndex} must know of a flow before a worker continues it. */
  #addToIndex(flow: string): void {
    const name = kindOf(flow);
    if (name) this.#addEntries(name, flow);
  }

  #addEntries<K extends Kind>(name: K, flow: string): void {
    const kind: KnownKind<K> = KINDS[name];
    const current = this.#flows.read(kind, flow)?.current;
    if (!current) return;
    const indexed: IndexedFlow = this.#index.read().get(flow) ?? {};
    const order = kind.orderOf?.(current);
    const entries: IndexEntry[] = entriesOf(this.#flows, kind, current).filter(
      ({ resourceId, sent }) =>
        !(resourceId && indexed.resourceIds?.has(resourceId)) || sent !== indexed.sent,
    );
    if (order && indexed.reference === undefined) entries.unshift({ flow, reference: order.reference });
    if (entries.length > 0) this.#index.add(...entries);
  }

  #isOpen(flow: string): boolean {
    const name = kindOf(flow);
    return name !== undefined && this.#isOpenAs(name, flow);
  }

  #isOpenAs<K extends Kind>(name: K, flow: string): boolean {
    const kind: KnownKind<K> = KINDS[name];
    const read = this.#flows.read(kind, flow);
    return read !== undefined && isOpen(read.current);
  }

  #missing(flow: string, witness: string): Psd2Error {
    return new Psd2Error(
      'config',
      `The journal ${this.#flows.pathOf(flow)} is missing, and ${witness} names its flow`,
      {
        hint: `Its flow may have been executed, and a copy would forget it. Restore the journal from a backup. If it is lost for good, look at the account's statement, move ${witness} away, then run the same psd2 store copy again.`,
      },
    );
  }

  #takeReference(flow: string): void {
    const read = (id: string) =>
      id.startsWith(KINDS.transfer.prefix) ? this.#flows.read(KINDS.transfer, id)?.current : undefined;
    const transfer = read(flow);
    const reference = transfer?.order.reference;
    if (!transfer || !reference || isPlainlyFailed(transfer)) return;
    this.#claims.take(reference, flow, (other) => {
      const holder = read(other);
      return holder !== undefined && isPlainlyFailed(holder);
    });
  }
}
