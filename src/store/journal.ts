import {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { applyConsentEvent, type Consent, type ConsentEvent } from '../domain/consent.ts';
import {
  applyOperationEvent,
  type GenericOrder,
  type Operation,
  type OperationEvent,
} from '../domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../domain/transfer.ts';
import { Psd2Error } from '../errors.ts';
import { consentEvent, genericEvent, transferEvent } from './flow-events.ts';
import type { StoreFolder } from './folder.ts';
import { isMissing, makePrivateFolder, refuseIfOthersCanRead } from './json-file.ts';
import { withLock } from './lock.ts';

/** A flow as its journal tells it, with the means to write its next event. */
export interface OpenFlow<Flow, Event> {
  readonly current: Flow;
  /**
   * Makes an event durable (fsync) and applies it.
   *
   * @throws Psd2Error `config` when it can't be written: then it has not happened
   */
  record(event: Event): Flow;
}

export type OpenTransfer = OpenFlow<Transfer, TransferEvent>;
export type GenericOperation = Operation<GenericOrder>;
export type OpenOperation = OpenFlow<GenericOperation, OperationEvent<GenericOrder>>;
export type OpenConsent = OpenFlow<Consent, ConsentEvent>;

type LineSchema<Event> = z.ZodMiniType<{ at: string; event: Event }>;
/** Every flow is one transaction to the bank. */
type Begun = { transactionId: string };
type Fold<Flow, Event> = (flow: Flow | undefined, event: Event, at: string) => Flow;

/** What a flow begins with, but for the id that the journal gives it. */
type Created<Event extends { type: string }> = Omit<Extract<Event, { type: 'created' }>, 'type' | 'flow'>;

const applyToGeneric: Fold<GenericOperation, OperationEvent<GenericOrder>> = (operation, event, at) =>
  applyOperationEvent('operation', operation, event, at);

/** The prefix of a flow's id tells its kind. */
const KINDS = { transfer: 'tr-', consent: 'co-', operation: 'op-' } as const;

const transferLine = z.object({ at: z.string(), event: transferEvent });
const genericLine = z.object({ at: z.string(), event: genericEvent });
const consentLine = z.object({ at: z.string(), event: consentEvent });

/** Something that happened to a flow. */
export interface FlowMoment {
  at: string;
  type: string;
  /** What the bank called it, where it did. */
  detail: string | null;
}

const momentLine = z.object({
  at: z.string(),
  event: z.object({
    type: z.string(),
    bankStatus: z.optional(z.string()),
    status: z.optional(z.string()),
    description: z.nullish(z.string()),
  }),
});

function collectMoments(
  moments: FlowMoment[] | undefined,
  { type, ...told }: z.infer<typeof momentLine>['event'],
  at: string,
): FlowMoment[] {
  const detail = [told.bankStatus ?? told.status, told.description].filter(Boolean).join(': ') || null;
  return [...(moments ?? []), { at, type, detail }];
}

/**
 * The flows of one profile: an append-only file for each, `<flow>.ndjson`, one event a line. A flow is the
 * fold of its events. The ids begin with the time of creation, so that their order is that of the files.
 */
export class FlowJournal {
  readonly #folder: string;
  readonly #now: () => Date;
  readonly #random: () => number;
  readonly #opened: Map<string, string>;

  /** @param opened takes the flow of each transaction that is begun or opened */
  constructor(
    folder: StoreFolder,
    profile: string,
    now: () => Date,
    random: () => number,
    opened = new Map<string, string>(),
  ) {
    this.#folder = folder.flows(profile);
    this.#now = now;
    this.#random = random;
    this.#opened = opened;
  }

  createTransfer(begin: Created<TransferEvent>): OpenTransfer {
    const flow = this.#newId('transfer');
    return this.#create(flow, applyTransferEvent, { type: 'created', flow, ...begin });
  }

  createOperation(begin: Created<OperationEvent<GenericOrder>>): OpenOperation {
    const flow = this.#newId('operation');
    return this.#create(flow, applyToGeneric, { type: 'created', flow, ...begin });
  }

  createConsent(begin: Created<ConsentEvent>): OpenConsent {
    const flow = this.#newId('consent');
    return this.#create(flow, applyConsentEvent, { type: 'created', flow, ...begin });
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openTransfer(reference: string): OpenTransfer {
    const { flow } = pick(
      this.transfers(),
      reference,
      ({ verification }) => verification?.resourceId ?? null,
    );
    return this.#reopen(flow, transferLine, applyTransferEvent);
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openOperation(reference: string): OpenOperation {
    const { flow } = pick(
      this.operations(),
      reference,
      ({ verification }) => verification?.resourceId ?? null,
    );
    return this.#reopen(flow, genericLine, applyToGeneric);
  }

  /** @param reference local id, resource id, or an unambiguous prefix of either. @throws Psd2Error `flow_not_found` */
  openConsent(reference: string): OpenConsent {
    const { flow } = pick(this.consents(), reference, ({ resourceId }) => resourceId);
    return this.#reopen(flow, consentLine, applyConsentEvent);
  }

  /** Newest first. */
  transfers(): Transfer[] {
    return this.#files('transfer').flatMap(
      (flow) => this.#read(flow, transferLine, applyTransferEvent).current ?? [],
    );
  }

  /** Newest first. */
  operations(): GenericOperation[] {
    return this.#files('operation').flatMap(
      (flow) => this.#read(flow, genericLine, applyToGeneric).current ?? [],
    );
  }

  /** Newest first. */
  consents(): Consent[] {
    return this.#files('consent').flatMap(
      (flow) => this.#read(flow, consentLine, applyConsentEvent).current ?? [],
    );
  }

  /**
   * What happened to a flow, in its order, as it is written.
   *
   * @param flow its local id
   * @returns null when there is no such flow
   * @throws Psd2Error `config` when its journal is damaged
   */
  history(flow: string): FlowMoment[] | null {
    const kinds = ['transfer', 'operation', 'consent'] as const;
    if (!kinds.some((kind) => this.#files(kind).includes(flow))) return null;
    return this.#read(flow, momentLine, collectMoments).current ?? null;
  }

  /** One process of this profile at a time, for what must be looked up and written together. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(join(this.#folder, 'journal'), work, 10_000);
  }

  /**
   * One process at a time works on a flow.
   *
   * @throws Psd2Error `config` when another process is at it
   */
  claimed<T>(flow: string, work: () => Promise<T>): Promise<T> {
    return withLock(this.#path(flow), work, 6_000);
  }

  #newId(kind: keyof typeof KINDS): string {
    const time = this.#now().getTime().toString(36).padStart(9, '0');
    const tail = Array.from({ length: 5 }, () => Math.floor(this.#random() * 36).toString(36)).join('');
    return `${KINDS[kind]}${time}${tail}`;
  }

  #create<Flow extends Begun, Event>(
    flow: string,
    apply: Fold<Flow, Event>,
    event: Event,
  ): OpenFlow<Flow, Event> {
    makePrivateFolder(this.#folder);
    const at = this.#now().toISOString();
    const line = this.#append(flow, 'ax', 0, '', at, event);
    syncFolder(this.#folder);
    return this.#writable(flow, { current: apply(undefined, event, at), size: line, cutShort: false }, apply);
  }

  #reopen<Flow extends Begun, Event>(
    flow: string,
    line: LineSchema<Event>,
    apply: Fold<Flow, Event>,
  ): OpenFlow<Flow, Event> {
    const { current, ...rest } = this.#read(flow, line, apply);
    if (current === undefined) throw new TypeError(`Flow ${flow} has no events`);
    return this.#writable(flow, { current, ...rest }, apply);
  }

  #writable<Flow extends Begun, Event>(
    flow: string,
    read: { current: Flow; size: number; cutShort: boolean },
    apply: Fold<Flow, Event>,
  ): OpenFlow<Flow, Event> {
    let { current, size, cutShort } = read;
    this.#opened.set(current.transactionId, flow);
    return {
      get current() {
        return current;
      },
      record: (event) => {
        const at = this.#now().toISOString();
        size += this.#append(flow, 'a', size, cutShort ? '\n' : '', at, event);
        cutShort = false;
        current = apply(current, event, at);
        return current;
      },
    };
  }

  /** @param expected size of the file if no other process has written to it. @returns the bytes written */
  #append(
    flow: string,
    flags: 'a' | 'ax',
    expected: number,
    separator: string,
    at: string,
    event: unknown,
  ): number {
    const path = this.#path(flow);
    const line = Buffer.from(`${separator}${JSON.stringify({ at, event })}\n`);
    try {
      const file = openSync(path, flags, 0o600);
      try {
        // A process that slept (Ctrl-Z, a closed laptop) while another took its flow up must not go on with it.
        if (fstatSync(file).size !== expected) {
          throw new Psd2Error('config', `Another psd2 has gone on with ${flow} in the meantime`, {
            hint: `See how far it is: psd2 ${flow.startsWith(KINDS.consent) ? 'consent' : 'transfer'} show ${flow}`,
          });
        }
        // All of it or an error: a disk that is full may take a part.
        appendFileSync(file, line);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      if (cause instanceof Psd2Error) throw cause;
      throw new Psd2Error(
        'config',
        `The journal ${path} cannot be written, so nothing is done that it would not know of`,
        {
          hint: 'Check the free space, and who owns the folder.',
          cause,
        },
      );
    }
    return line.length;
  }

  #files(kind: keyof typeof KINDS): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((file) => file.startsWith(KINDS[kind]) && file.endsWith('.ndjson'))
        .sort()
        .reverse()
        .map((file) => basename(file, '.ndjson'));
    } catch (error) {
      if (isMissing(error)) return [];
      throw new Psd2Error('config', `The journal ${this.#folder} cannot be read`, {
        hint: 'Check who owns it.',
        cause: error,
      });
    }
  }

  #read<Flow, Event>(
    flow: string,
    line: LineSchema<Event>,
    apply: Fold<Flow, Event>,
  ): { current: Flow | undefined; size: number; cutShort: boolean } {
    const path = this.#path(flow);
    refuseIfOthersCanRead(path);
    const content = readFileSync(path);
    const lines = content.toString('utf8').split('\n');
    const damaged = (number: number): never => {
      throw new Psd2Error('config', `The journal ${path} is damaged at line ${number}`, {
        hint: 'It is the record of a flow: restore it from a backup, or mend that line by hand.',
      });
    };
    let current: Flow | undefined;
    for (const [index, text] of lines.entries()) {
      if (text === '') continue;
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        // Cut short by a crash before its fsync ended: what it was to announce was not begun.
        if (isCutShort(text)) continue;
        damaged(index + 1);
      }
      const result = line.safeParse(json);
      if (!result.success) return damaged(index + 1);
      current = apply(current, result.data.event, result.data.at);
    }
    return { current, size: content.length, cutShort: lines.at(-1) !== '' };
  }

  #path(flow: string): string {
    return join(this.#folder, `${flow}.ndjson`);
  }
}

/** Whether a line that is no JSON is the beginning of one; that of `created` may lack just the last brace. */
function isCutShort(text: string): boolean {
  if (!text.startsWith('{"at":"'.slice(0, text.length))) return false;
  return !text.endsWith('}}') || isJson(`${text}}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Makes the entry of a new file durable too. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function pick<Flow extends { flow: string; kind: string }>(
  flows: Flow[],
  reference: string,
  resourceIdOf: (flow: Flow) => string | null,
): Flow {
  if (reference === '') {
    // An empty variable of a script is a prefix of everything, and must not take up whatever flow there is.
    throw new Psd2Error('flow_not_found', 'The id of the flow is empty', {
      hint: 'Give the id that psd2 printed, or the resource id.',
    });
  }
  const exact = flows.filter((flow) => flow.flow === reference || resourceIdOf(flow) === reference);
  const found =
    exact.length > 0
      ? exact
      : flows.filter((flow) => flow.flow.startsWith(reference) || resourceIdOf(flow)?.startsWith(reference));
  const [first, second] = found;
  if (first && !second) return first;
  throw new Psd2Error(
    'flow_not_found',
    second
      ? `${JSON.stringify(reference)} fits ${found.length} flows`
      : `No flow of this profile fits ${JSON.stringify(reference)}`,
    {
      hint: second
        ? `Give more of it: ${found
            .slice(0, 5)
            .map(({ flow }) => flow)
            .join(', ')}`
        : 'Give the id that psd2 printed, or the resource id.',
    },
  );
}
