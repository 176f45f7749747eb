import { createHash } from 'node:crypto';
import type { OutgoingAnswer } from '../answers/outgoing.ts';
import type { Fault } from '../faults/fault.ts';
import type { RawRequest } from '../strict/raw-request.ts';

/** The maximum number of stored calls, and of stored bytes of each body. */
const MAX_CALLS = 500;
const MAX_BYTES = 16_384;

/** A body as the log stores it. */
export interface KeptBody {
  /** Its beginning. */
  bytes: Buffer;
  length: number;
  /** The hash of the whole body. */
  sha256: Buffer;
}

/** What the bank received in a call, and what it did with it. */
export interface SeenCall {
  id: number;
  at: Date;
  milliseconds: number;
  /** Its body is only the beginning of the received body. */
  request: RawRequest;
  body: KeptBody;
  faults: readonly Fault[];
  /** Why the bank refused the call. */
  refusal: Error | undefined;
  /** The application of the token, and its customer if it has one. */
  caller: string | undefined;
  answer: { status: number; headers: readonly (readonly [string, string])[]; body: KeptBody };
  /** At the second door: the operation. */
  title: string | undefined;
  /** What the bank ignored in the request. */
  warnings: readonly string[];
}

/** A failed TLS handshake. */
interface SeenHandshake {
  id: number;
  at: Date;
  reason: string;
}

export type Seen = SeenCall | SeenHandshake;

/** The last calls, for the console. Their number and size are limited. */
export class CallLog {
  readonly #seen: Seen[] = [];
  readonly #watchers = new Set<(seen: Seen | undefined) => void>();
  #lastId = 0;

  addCall(call: Omit<SeenCall, 'id' | 'body' | 'answer'> & { answer: OutgoingAnswer }): void {
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

  /** @param reason OpenSSL's message */
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
   * Calls `watcher` with each new call, and with undefined for any other change at the bank.
   *
   * @returns a function that stops watching
   */
  watch(watcher: (seen: Seen | undefined) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Tells the watchers about a change without a call, for example a customer's decision. */
  tellChange(): void {
    for (const watcher of this.#watchers) watcher(undefined);
  }

  #add(seen: Seen): void {
    this.#seen.push(seen);
    if (this.#seen.length > MAX_CALLS) this.#seen.shift();
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

/** Copies the beginning, so that the memory of the whole body can be freed. */
function keep(body: Buffer): KeptBody {
  if (body.length === 0) return nothing;
  return {
    bytes: Buffer.from(body.subarray(0, MAX_BYTES)),
    length: body.length,
    sha256: createHash('sha256').update(body).digest(),
  };
}
