import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { applyBatchEvent, type Batch, type BatchEvent, COPIED, newBatch } from '../../domain/batch/batch.ts';
import { batchAdded, batchEvent, batchLine } from '../../domain/batch/events.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import {
  addedEvent,
  batchId,
  batchIsDamaged,
  chooseBatch,
  contentIsStored,
  hashOf,
  isBatchId,
  messageIsStored,
  refuseEdited,
  refuseUncompared,
  unlessDamaged,
} from '../batch/refusals.ts';
import {
  appendDurably,
  cannotWrite,
  listFolder,
  makePrivateFolder,
  readOwnFile,
  removeStored,
  syncFolder,
  systemCode,
} from '../disk/files.ts';
import { holderOf, LockInUse, withLock } from '../disk/lock.ts';
import { replaceDurably } from '../disk/replace.ts';
import { takeNumber } from '../disk/take-number.ts';
import type { Batches, NewBatch, OnDamagedBatch } from '../ports/batches.ts';
import type { BatchRecord } from '../ports/copy.ts';

/** A bit longer than it takes to see that another process is dead. */
const CLAIM_PATIENCE_MS = 8_000;
/** More time than a process needs to add a batch. */
const ADD_PATIENCE_MS = 30_000;

/** `copied`: `store copy` has brought it. */
const entry = z.object({ at: z.string(), event: z.unknown(), copied: z.optional(z.literal(true)) });
type Entry = z.infer<typeof entry>;
/** What a person wrote of a batch. */
const withNote = z.object({
  at: z.string(),
  event: z.looseObject({ type: z.string(), note: z.nullable(z.string()) }),
});

/** What the batches of a profile need from the program. */
interface BatchesSetting {
  now: () => Date;
  /** The operator's Ctrl-C, which ends the wait for other processes. */
  interrupted?: AbortSignal | undefined;
  /** Refuses workers if the store was copied to another backend. @throws Psd2Error `config` */
  assertHere?: (() => void) | undefined;
}

/**
 * The batches of one profile on the disk: a folder for each. `lines.ndjson` has its lines. `events/` has its journal: the file
 * `n` is the n-th event, and only one process can take that name, so no lock decides who was first.
 */
export class FileBatches implements Batches {
  readonly #folder: string;
  readonly #setting: BatchesSetting;
  /** The batches as this process has read them, with the number of their events. */
  readonly #known = new Map<string, { batch: Batch; n: number }>();

  /** @param flows the folder of the profile's journals */
  constructor(flows: string, setting: BatchesSetting) {
    this.#folder = join(flows, 'batches');
    this.#setting = setting;
  }

  async add(order: NewBatch): Promise<Batch> {
    makePrivateFolder(this.#folder);
    const { added, lines } = order;
    const event = addedEvent(order);
    const { sha256 } = event;
    const mayRepeat = order.again || order.compared !== undefined;
    const at = this.#setting.now().toISOString();
    return this.#locked('add', 'The folder of batches', ADD_PATIENCE_MS, async () => {
      this.#setting.assertHere?.();
      const all = this.ids();
      refuseUncompared(order, all);
      const stored = all.filter((id) => id.startsWith(sha256));
      const [first] = stored;
      if (first !== undefined && !mayRepeat) throw contentIsStored(first);
      if (added.messageId !== null) await this.#refuseOtherContent(added.messageId, sha256);
      for (let n = stored.length + 1; ; n += 1) {
        const id = batchId(sha256, n);
        if (this.#create(id, lines, [{ at, event }])) return newBatch(id, event, at);
        if (!mayRepeat) throw contentIsStored(id);
      }
    });
  }

  async find(reference: string): Promise<Batch> {
    return this.#read(chooseBatch(reference, this.ids()));
  }

  async *list(onDamaged?: OnDamagedBatch): AsyncGenerator<Batch> {
    const all: Batch[] = [];
    for (const id of this.ids()) {
      const batch = await unlessDamaged(id, onDamaged, () => this.#read(id));
      if (batch) all.push(batch);
    }
    const place = ({ addedAt, batch }: Batch) => `${addedAt} ${batch}`;
    yield* all.sort((one, other) => (place(one) < place(other) ? 1 : -1));
  }

  async lines(batch: Batch): Promise<BatchLine[]> {
    const lines = this.#linesOf(batch.batch).map((text) => {
      const { data } = batchLine.safeParse(jsonIn(text));
      if (data === undefined) throw batchIsDamaged(batch.batch, 'psd2 did not write its lines');
      return data;
    });
    refuseEdited(batch, lines, `in ${this.#folder}`);
    return lines;
  }

  async change(
    id: string,
    decide: (now: Batch, role: string | null) => BatchEvent | null,
  ): Promise<{ batch: Batch; recorded: boolean }> {
    for (;;) {
      const batch = this.#read(id);
      const event = decide(batch, null);
      if (event === null) return { batch, recorded: false };
      this.#setting.assertHere?.();
      const n = (this.#known.get(id)?.n ?? 0) + 1;
      const recorded = this.#append(id, n, { at: this.#setting.now().toISOString(), event });
      if (recorded) return { batch: this.#read(id), recorded };
    }
  }

  async pseudonymise(batch: Batch, change: (line: BatchLine) => BatchLine): Promise<void> {
    const lines = (await this.lines(batch)).map(change);
    const sha256 = hashOf(lines);
    // First the hash, so that a process that is killed now leaves lines that psd2 accepts.
    await this.change(batch.batch, (now) =>
      now.sha256 === sha256 || now.pseudonymised.has(sha256) ? null : { type: 'pseudonymised', sha256 },
    );
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    replaceDurably(join(this.#folder, batch.batch, 'lines.ndjson'), text);
    for (let n = 1; n <= this.#count(batch.batch); n += 1) {
      const { data } = withNote.safeParse(this.#entry(batch.batch, n));
      if (!data?.event.note) continue;
      const event = { ...data.event, note: data.event.type === 'added' ? null : '' };
      const path = join(this.#folder, batch.batch, 'events', `${n}`);
      replaceDurably(path, JSON.stringify({ ...data, event }));
    }
  }

  async onLine<T>(batch: string, line: number, waits: boolean, work: () => Promise<T>): Promise<T | 'taken'> {
    const path = this.#claimPath(batch, line);
    let isOurs = false;
    try {
      makePrivateFolder(join(this.#folder, batch, 'claims'));
      const patience = waits ? CLAIM_PATIENCE_MS : 0;
      return await withLock(
        path,
        `The payment ${line} of the batch`,
        () => {
          isOurs = true;
          return work();
        },
        patience,
        this.#setting.interrupted,
      );
    } catch (error) {
      if (!isOurs && error instanceof LockInUse) return 'taken';
      throw error;
    }
  }

  /** The ids of all batches. */
  ids(): string[] {
    return listFolder(this.#folder).filter(isBatchId);
  }

  /** A batch for `store copy`; undefined if it does not exist. */
  record(id: string): BatchRecord | undefined {
    if (!this.ids().includes(id)) return undefined;
    const lines: unknown[] = this.#linesOf(id).map(jsonIn);
    const events = Array.from({ length: this.#count(id) }, (_, index) => this.#entry(id, index + 1));
    const written = events.flatMap((each) => (each ? [{ at: each.at, event: each.event }] : []));
    return { kind: 'batch', batch: id, lines, events: written };
  }

  /** Stores a copied batch: all of it, or the events that are missing. @throws Psd2Error `config` */
  keep({ batch, lines, events }: BatchRecord): void {
    makePrivateFolder(this.#folder);
    if (!this.ids().includes(batch)) {
      this.#create(
        batch,
        lines,
        events.map((each) => ({ ...each, copied: true })),
      );
      return;
    }
    for (let n = this.#count(batch) + 1; n <= events.length; n += 1) {
      const next = events[n - 1];
      if (next) this.#append(batch, n, { ...next, copied: true });
    }
  }

  /** The processes that add a batch, or work on a line of one. */
  async atWork(): Promise<string[]> {
    const paths = [join(this.#folder, 'add')];
    for (const id of this.ids())
      for (const name of listFolder(join(this.#folder, id, 'claims')))
        if (name.endsWith('.lock')) paths.push(join(this.#folder, id, 'claims', name.slice(0, -5)));
    const holders = await Promise.all(paths.map((path) => holderOf(path)));
    return holders.filter((holder) => holder !== undefined);
  }

  #claimPath(batch: string, line: number): string {
    return join(this.#folder, batch, 'claims', `${line}`);
  }

  #locked<T>(name: string, what: string, patienceMs: number, work: () => Promise<T>): Promise<T> {
    return withLock(join(this.#folder, name), what, work, patienceMs, this.#setting.interrupted);
  }

  /** One `MsgId` has one content. @throws Psd2Error `usage` */
  async #refuseOtherContent(messageId: string, sha256: string): Promise<void> {
    for await (const batch of this.list())
      if (batch.messageId === messageId && batch.sha256 !== sha256)
        throw messageIsStored(messageId, batch.batch);
  }

  /** @returns false if another process has just made it */
  #create(id: string, lines: readonly unknown[], events: readonly Entry[]): boolean {
    const beside = join(this.#folder, `.${randomUUID()}`);
    try {
      makePrivateFolder(join(beside, 'events'));
      const text = lines.map((line) => `${JSON.stringify(line)}\n`);
      appendDurably(join(beside, 'lines.ndjson'), 'wx', text.join(''));
      events.forEach((each, index) => {
        appendDurably(join(beside, 'events', `${index + 1}`), 'wx', JSON.stringify(each));
      });
      syncFolder(join(beside, 'events'));
      syncFolder(beside);
      renameSync(beside, join(this.#folder, id));
      syncFolder(this.#folder);
      return true;
    } catch (cause) {
      if (['EEXIST', 'ENOTEMPTY'].includes(systemCode(cause) ?? '')) return false;
      throw cause instanceof Psd2Error ? cause : cannotWrite('The batch', cause);
    } finally {
      removeStored(beside);
    }
  }

  /** @returns false if another process has taken this number */
  #append(id: string, n: number, next: Entry): boolean {
    const folder = join(this.#folder, id, 'events');
    try {
      if (!takeNumber(join(folder, `${n}`), JSON.stringify(next))) return false;
    } catch (cause) {
      throw cannotWrite(`The journal of the batch ${id}`, cause, 'psd2 has sent nothing for it.');
    }
    syncFolder(folder);
    return true;
  }

  /** The batch, with the events that other processes have added since. */
  #read(id: string): Batch {
    const cached = this.#known.get(id) ?? this.#begun(id);
    for (let next = this.#entry(id, cached.n + 1); next; next = this.#entry(id, cached.n + 1)) {
      const { data } = batchEvent.safeParse(next.event);
      if (data === undefined) throw batchIsDamaged(id, `psd2 did not write the event ${cached.n + 1}`);
      applyBatchEvent(cached.batch, data, next.at, next.copied ? COPIED : null);
      cached.n += 1;
    }
    return cached.batch;
  }

  #begun(id: string): { batch: Batch; n: number } {
    // Without a gap: an event that is missing may say which transfer pays a line.
    this.#count(id);
    const first = this.#entry(id, 1);
    const { data } = batchAdded.safeParse(first?.event);
    if (!first || data === undefined) throw batchIsDamaged(id, 'psd2 did not write its first event');
    const begun = { batch: newBatch(id, data, first.at), n: 1 };
    this.#known.set(id, begun);
    return begun;
  }

  /** The number of events. @throws Psd2Error `config` if one is missing */
  #count(id: string): number {
    const numbers = listFolder(join(this.#folder, id, 'events'))
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
    const last = numbers.reduce((most, n) => Math.max(most, n), 0);
    if (numbers.length === last && last > 0) return last;
    throw batchIsDamaged(id, 'events of its journal are missing');
  }

  #entry(id: string, n: number): Entry | undefined {
    const text = readOwnFile(join(this.#folder, id, 'events', `${n}`))?.toString('utf8');
    if (text === undefined) return undefined;
    const { data } = entry.safeParse(jsonIn(text));
    if (data === undefined) throw batchIsDamaged(id, `the event ${n} of its journal cannot be read`);
    return data;
  }

  #linesOf(id: string): string[] {
    const text = readOwnFile(join(this.#folder, id, 'lines.ndjson'))?.toString('utf8');
    if (text === undefined) throw batchIsDamaged(id, 'its lines are missing');
    return text.split('\n').slice(0, -1);
  }
}
