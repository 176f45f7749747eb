import type { Socket } from 'node:net';
import Client from 'undici/lib/dispatcher/client.js';
import { compileParserOnce } from './answer-parser.ts';
import type { WireAnswer, WireRequest } from './connection.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/**
 * Opens a socket on which a request can be sent at once, and tells of it once.
 *
 * @returns what gives the attempt up: then nothing is told any more
 */
export type OpenSocket = (opened: (socket: Socket) => void, failed: (error: unknown) => void) => () => void;

const LARGEST_ANSWER = 32 * 1024 * 1024;
const LARGEST_HEAD = 16 * 1024;
/** A header takes at least four bytes, one of which counts: a head of this size is too large, whatever is in it. */
const LONGEST_HEAD = 4 * LARGEST_HEAD;
/** How long a connection waits for the next call where the bank does not say. */
const IDLE_MS = 60_000;

/** One connection to a server, for one call at a time. It is opened when a call needs it, and again after it was lost. */
export class Line {
  readonly #client: Client;
  #giveUp = () => {};
  #socket: Socket | undefined;
  #serverHungUp = false;
  #failure: Error | undefined;
  /** What a call waits for when the connection stands. */
  #gate: (() => Promise<void>) | undefined;

  constructor(origin: URL, open: OpenSocket) {
    this.#client = new Client(origin.origin, {
      connect: (_, callback) => {
        this.#serverHungUp = false;
        this.#failure = undefined;
        this.#giveUp = open(
          (socket) => {
            this.#giveUp = () => {};
            this.#take(socket);
            if (!this.#gate) return callback(null, socket);
            this.#gate().then(
              // undici writes in the same tick.
              () => callback(null, socket),
              (error: unknown) => {
                socket.destroy();
                callback(new NotConnected(error), null);
              },
            );
          },
          (error) => callback(new NotConnected(error), null),
        );
      },
      pipelining: 1,
      // Said here, so that NODE_OPTIONS can't say otherwise.
      maxHeaderSize: LARGEST_HEAD,
      // The limit of the whole call is the caller's.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
    });
  }

  /**
   * Sends a request, once, and takes its whole answer.
   *
   * @param gate waited for when the connection stands, right before anything is written; when it rejects, nothing is. Where
   *   a connection from before is found to be lost then, once more on the next one
   * @param begin called in the tick in which the first byte is written, right before it; when it throws, nothing is written
   * @throws UnusableAnswer; what `begin` throws; else what the connection or undici fails with
   */
  async call(
    request: WireRequest,
    gate: (() => Promise<void>) | undefined,
    begin: () => void,
  ): Promise<WireAnswer> {
    let isOpen = gate === undefined;
    this.#gate =
      gate &&
      (async () => {
        await gate();
        isOpen = true;
      });
    // A connection that stands already is not opened again.
    if (this.#socket) await this.#gate?.();
    return this.#send(request, () => {
      if (!isOpen) throw new Error('A request waits until it may leave');
      begin();
    });
  }

  #send({ method, target, headers, body }: WireRequest, begin: () => void): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      let begun = false;
      let head: Head | undefined;
      let status = 0;
      let answered: WireAnswer['headers'] = {};
      let size = 0;
      const chunks: Buffer[] = [];
      this.#client.dispatch(
        { method, path: target, headers, body: body ?? null },
        {
          onRequestStart: () => {
            if (begun) throw new Error('A request is sent once');
            begin();
            begun = true;
            if (this.#socket) head = new Head(this.#socket);
          },
          onResponseStart: (_, statusCode, received) => {
            head?.ends();
            if (statusCode < 200) return head?.begins();
            status = statusCode;
            answered = joinHeaders(received);
            const coding = answered['content-encoding']?.trim().toLowerCase();
            if (coding && coding !== 'identity')
              throw new UnusableAnswer(`is encoded as ${coding}, which psd2 did not ask for`);
            if (Number(answered['content-length']) > LARGEST_ANSWER) throw tooLarge();
          },
          onResponseData: (_, chunk) => {
            size += chunk.length;
            if (size > LARGEST_ANSWER) throw tooLarge();
            chunks.push(chunk);
          },
          onResponseEnd: () => {
            // An answer that ends with the connection is whole only where that was not lost.
            if (this.#failure) reject(this.#failure);
            else resolve({ status, headers: answered, body: Buffer.concat(chunks) });
          },
          onResponseError: (_, error) => {
            head?.ends();
            reject(this.#serverHungUp ? new HungUp(error) : error);
          },
        },
      );
    });
  }

  /**
   * Asks a proxy for a tunnel (CONNECT; RFC 9110, section 9.3.6).
   *
   * @param target host and port at its other end
   * @returns the status of the answer, and the tunnel where that is 200
   */
  connect(target: string, headers: Record<string, string>): Promise<{ status: number; tunnel: Socket }> {
    return new Promise((resolve, reject) => {
      const socket = () => {
        if (!this.#socket) throw new TypeError('A request has a connection');
        return this.#socket;
      };
      let head: Head | undefined;
      this.#client.dispatch(
        { method: 'CONNECT', path: target, headers: { host: target, ...headers } },
        {
          onRequestStart: () => {
            head = new Head(socket());
          },
          onRequestUpgrade: (_, status) => {
            head?.ends();
            resolve({ status, tunnel: socket() });
          },
          onResponseError: (_, error) => {
            head?.ends();
            reject(error);
          },
        },
      );
    });
  }

  /** Ends the connection, or the attempt to make it, and the call that is under way. */
  async destroy(): Promise<void> {
    this.#giveUp();
    await this.#client.destroy();
  }

  #take(socket: Socket): void {
    this.#socket = socket;
    // Before undici hears of it, which takes what came until then for an answer that ends with the connection.
    socket.once('error', (error) => (this.#failure = error));
    socket.once('end', () => (this.#serverHungUp = true));
    compileParserOnce();
  }
}

/** No socket could be opened; `cause` is why. undici would look at its code, and try some again and again. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/** The server closed the connection before its answer was whole. */
class HungUp extends Error {
  constructor(cause: unknown) {
    super('the connection was closed', { cause });
  }
}

/** The head of an answer grew too large; undici does not count its first line. */
class HeadTooLarge extends Error {
  readonly code = 'UND_ERR_HEADERS_OVERFLOW';
}

/** Bounds the head of an answer, from the request to the end of the head. */
class Head {
  readonly #socket: Socket;
  #from = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.begins();
  }

  begins(): void {
    this.#from = this.#socket.bytesRead;
    // undici's own listener is there already: it has taken what came before this one is called.
    this.#socket.on('readable', this.#look);
  }

  ends(): void {
    this.#socket.off('readable', this.#look);
  }

  readonly #look = () => {
    if (this.#socket.bytesRead - this.#from > LONGEST_HEAD) this.#socket.destroy(new HeadTooLarge());
  };
}

function tooLarge(): UnusableAnswer {
  return new UnusableAnswer('is larger than 32 MiB');
}

/** Of these the first counts, as it does for Node. */
const SINGLE = new Set(['content-type', 'location', 'retry-after']);

function joinHeaders(received: Record<string, string | string[] | undefined>): WireAnswer['headers'] {
  return Object.fromEntries(
    Object.entries(received).map(([name, value = '']) => {
      if (!Array.isArray(value)) return [name, withoutBlanksAfter(value)];
      const [first = '', ...others] = value.map(withoutBlanksAfter);
      return [name, SINGLE.has(name) ? first : [first, ...others].join(', ')];
    }),
  );
}

/** undici leaves them, though they are no part of a value (RFC 9110, section 5.5). */
function withoutBlanksAfter(value: string): string {
  let end = value.length;
  while (end > 0 && ' \t'.includes(value.charAt(end - 1))) end -= 1;
  return value.slice(0, end);
}
