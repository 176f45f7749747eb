import { createHash } from 'node:crypto';
import type { OutgoingAnswer } from '../answers/outgoing.ts';
import type { Refusal } from '../answers/refusal.ts';
import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';

/** How many calls are remembered, and how much of each body. */
const MOST_CALLS = 500;
const MOST_BYTES = 16_384;

/** A body as it is remembered. */
export interface KeptBody {
  /** The beginning of it. */
  bytes: Buffer;
  length: number;
  /** Of all of it. */
  sha256: Buffer;
}

/** What the bank saw of a call, and what it made of it. */
export interface SeenCall {
  id: number;
  at: Date;
  milliseconds: number;
  /** Its body is the beginning of what came. */
  request: RawRequest;
  body: KeptBody;
  faults: readonly Fault[];
  /** Why the bank refused it. */
  refusal: Refusal | Error | undefined;
  /** Whose token came: the application, and the customer where it has one. */
  caller: string | undefined;
  answer: { status: number; headers: readonly (readonly [string, string])[]; body: KeptBody };
}

/** A client that got no connection. */
export interface SeenHandshake {
  id: number;
  at: Date;
  reason: string;
}

export type Seen = SeenCall | SeenHandshake;

/** The last calls that came, for the console. What it holds of them is bounded. */
export class CallLog {
  readonly #seen: Seen[] = [];
  readonly #watchers = new Set<(seen: Seen | undefined) => void>();
  #lastId = 0;

  addCall(call: {
    at: Date;
    milliseconds: number;
    request: RawRequest;
    faults: readonly Fault[];
    refusal: Error | undefined;
    caller: string | undefined;
    answer: OutgoingAnswer;
  }): void {
    const { request, answer } = call;
    const body = { ...keep(request.body), ...request.oversized };
    this.#add({
      ...call,
      id: this.#nextId(),
      request: { ...request, body: body.bytes },
      body,
      answer: { status: answer.status, headers: [...answer.headers], body: keep(answer.body) },
    });
  }

  /** @param reason as OpenSSL says it */
  addHandshake(at: Date, reason: string): void {
    this.#add({ id: this.#nextId(), at, reason });
  }

  /** Oldest first. */
  list(): readonly Seen[] {
    return this.#seen;
  }

  find(id: number): Seen | undefined {
    return this.#seen.find((seen) => seen.id === id);
  }

  /**
   * Tells of each call that comes, and with undefined of anything else that happened at the bank.
   *
   * @returns ends it
   */
  watch(watcher: (seen: Seen | undefined) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Something happened at the bank that was no call: a customer decided. */
  tellChange(): void {
    for (const watcher of this.#watchers) watcher(undefined);
  }

  #add(seen: Seen): void {
    this.#seen.push(seen);
    if (this.#seen.length > MOST_CALLS) this.#seen.shift();
    for (const watcher of this.#watchers) watcher(seen);
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

const nothing: KeptBody = {
  bytes: Buffer.alloc(0),
  length: 0,
  sha256: createHash('sha256').digest(),
};

/** A copy of the beginning, so that the rest can go. */
function keep(body: Buffer): KeptBody {
  if (body.length === 0) return nothing;
  return {
    bytes: Buffer.from(body.subarray(0, MOST_BYTES)),
    length: body.length,
    sha256: createHash('sha256').update(body).digest(),
  };
}
