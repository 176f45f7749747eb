import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls';
import Client from 'undici/lib/dispatcher/client.js';
import { hasMoreAfter } from './after-answer.ts';
import { compileParserOnce } from './answer-parser.ts';
import { isKnownCoding, uncompressed } from './content-coding.ts';
import { InterimAnswers } from './interim-answers.ts';

/** An answer arrived but is not usable. The message continues "The bank's answer to ...". */
export class UnusableAnswer extends Error {}

/** A request as it goes over the wire. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Scheme, host and port, if it does not go to the bank's own. */
  origin?: string;
  /** Path and query exactly as sent. */
  target: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** An answer as received. Header names are in lower case. Repeated headers are joined with `, `. */
export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The connection had more bytes after it. Absent: it had none, or psd2 did not wait for them. */
  more?: true;
}

/** A request's path without its query. The query may contain confidential data. */
export function pathOf(request: Pick<WireRequest, 'target'>): string {
  return request.target.split('?', 1)[0] ?? '';
}

/**
 * Opens a socket that is ready for a request. Calls `opened` or `failed` once.
 *
 * @returns a function that cancels the attempt. After that, neither is called
 */
export type OpenSocket = (opened: (socket: Socket) => void, failed: (error: unknown) => void) => () => void;

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const MAX_HEAD_BYTES = 16 * 1024;
/** undici counts at least one of every four bytes of the head, so a head of this size is always too large. */
const MAX_COUNTED_HEAD_BYTES = 4 * MAX_HEAD_BYTES;
/** How long an idle connection stays open if the bank does not say. */
const IDLE_MS = 60_000;

/** Callbacks while a call runs. */
interface Watch {
  /** Called once a connection was opened for the call. */
  connected?: ((socket: Socket) => void) | undefined;
  /** Called with the head of the answer. */
  answered?: (() => void) | undefined;
  /** How long to wait for what follows an answer. Absent, or null: not at all. */
  lingers?: ((answer: WireAnswer) => Promise<void> | null) | undefined;
}

/** One connection to a server, for one call at a time. Opens on demand, and again after it was lost. */
export class Line {
  readonly #client: Client;
  #giveUp = () => {};
  #socket: Socket | undefined;
  #head: Head | undefined;
  #interim: InterimAnswers | undefined;
  readonly #spelled = new Map<string, string>();
  #serverHungUp = false;
  /** The first error of the connection, if the server did not close it before. */
  #failure: Error | undefined;
  /** With TLS 1.3, a server refuses a client certificate only after the client's handshake. */
  #mayRefuseLate = false;
  /** The function that a call waits for after the connection is open. */
  #gate: (() => Promise<void>) | undefined;
  /** What the running call wants to know. */
  #watch: Watch = {};

  constructor(origin: URL, open: OpenSocket) {
    this.#client = new Client(origin.origin, {
      connect: (_, callback) => {
        this.#serverHungUp = false;
        this.#failure = undefined;
        this.#giveUp = open(
          (socket) => {
            this.#giveUp = () => {};
            this.#take(socket);
            this.#watch.connected?.(socket);
            if (!this.#gate) return callback(null, socket);
            this.#gate().then(
              () => {
                // undici writes in the same tick. If the server has ended the connection in the meantime, undici would open
                // another one, again and again.
                const lost = this.#reasonOf(undefined);
                if (lost === undefined) return callback(null, socket);
                socket.destroy();
                callback(new NotConnected(lost), null);
              },
              (error: unknown) => {
                socket.destroy();
                callback(new NotConnected(error), null);
              },
            );
          },
          (error) => callback(new NotConnected(error), null),
        );
        // The handshake has begun by then.
        setImmediate(compileParserOnce);
      },
      pipelining: 1,
      // Set explicitly, so that NODE_OPTIONS cannot override it.
      maxHeaderSize: MAX_HEAD_BYTES,
      // The caller limits the time of the whole call.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
    });
  }

  /**
   * Sends a request once and reads the whole answer.
   *
   * @param gate called after the connection is open, before anything is written. If it rejects, nothing is written. If a
   *   reused connection turns out to be lost, it is called again on the next one
   * @param begin called just before the first byte is written, in the same tick. If it throws, nothing is written
   * @param watch what the caller wants to know meanwhile
   * @throws UnusableAnswer, what `begin` throws, or the error of the connection or undici
   */
  async call(
    request: WireRequest,
    gate: (() => Promise<void>) | undefined,
    begin: () => void,
    watch: Watch = {},
  ): Promise<WireAnswer> {
    this.#watch = watch;
    let isOpen = gate === undefined;
    this.#gate =
      gate &&
      (async () => {
        await gate();
        isOpen = true;
      });
    // An open connection is reused, so `connect` does not call the gate.
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
        { method, path: target, headers: asSpelled(headers, this.#spelled), body: body ?? null },
        {
          onRequestStart: () => {
            if (begun) throw new Error('A request is sent once');
            begin();
            begun = true;
            head = this.#awaitHead();
          },
          onResponseStart: (_, statusCode, received) => {
            this.#watch.answered?.();
            head?.ends();
            status = statusCode;
            answered = joinHeaders(received);
            const coding = answered['content-encoding']?.trim().toLowerCase();
            if (coding && !isKnownCoding(coding))
              throw new UnusableAnswer(`has the encoding ${coding}, which psd2 does not know`);
            if (Number(answered['content-length']) > MAX_ANSWER_BYTES) throw tooLarge();
          },
          onResponseData: (_, chunk) => {
            size += chunk.length;
            if (size > MAX_ANSWER_BYTES) throw tooLarge();
            chunks.push(chunk);
          },
          onResponseEnd: () => {
            // An answer that ends with the connection is complete only if the connection was not lost.
            if (this.#failure) return reject(this.#failure);
            const body = uncompressed(answered['content-encoding'], Buffer.concat(chunks), MAX_ANSWER_BYTES);
            if (body === 'too large') reject(tooLarge());
            else if (body === 'damaged') reject(new UnusableAnswer('is encoded, but damaged'));
            else resolve(this.#withWhatFollows({ status, headers: answered, body }));
          },
          onResponseError: (_, error) => {
            head?.ends();
            reject(this.#reasonOf(error));
          },
        },
      );
    });
  }

  /** An answer to which the caller wants to know what follows, with that. */
  async #withWhatFollows(answer: WireAnswer): Promise<WireAnswer> {
    const { lingers } = this.#watch;
    const time = this.#socket && lingers?.(answer);
    if (!time || !this.#socket) return answer;
    return (await hasMoreAfter(this.#socket, time)) ? { ...answer, more: true } : answer;
  }

  /**
   * Asks a proxy for a tunnel (CONNECT; RFC 9110, section 9.3.6).
   *
   * @param target host and port of the other end
   * @returns the status of the answer, and the tunnel. The tunnel is usable only if the status is 200
   */
  connect(target: string, headers: Record<string, string>): Promise<{ status: number; tunnel: Socket }> {
    return new Promise((resolve, reject) => {
      let head: Head | undefined;
      this.#client.dispatch(
        { method: 'CONNECT', path: target, headers: { host: target, ...headers } },
        {
          onRequestStart: () => {
            head = this.#awaitHead();
          },
          onRequestUpgrade: (_, status) => {
            head?.ends();
            if (!this.#socket) throw new TypeError('A request has a connection');
            resolve({ status, tunnel: this.#socket });
          },
          onResponseError: (_, error) => {
            head?.ends();
            reject(error);
          },
        },
      );
    });
  }

  /** Ends the connection or the attempt to open it, and the running call. */
  async destroy(): Promise<void> {
    this.#giveUp();
    await this.#client.destroy();
  }

  /** Limits the head of the next answer. */
  #awaitHead(): Head | undefined {
    if (!this.#socket) return undefined;
    if (this.#head?.socket !== this.#socket) this.#head = new Head(this.#socket);
    this.#head.begins();
    this.#interim?.await();
    return this.#head;
  }

  #take(socket: Socket): void {
    this.#socket = socket;
    this.#mayRefuseLate = socket instanceof TLSSocket && socket.getProtocol() === 'TLSv1.3';
    // Must run before undici's own listener, which would treat the received part as an answer that ends with the connection.
    // A connection may have several errors: first a TLS alert, and then a reset.
    socket.on('error', (error) => {
      if (this.#socket === socket && !this.#serverHungUp) this.#failure ??= error;
    });
    socket.once('end', () => (this.#serverHungUp = true));
    const interim = new InterimAnswers(() => this.#head?.begins());
    this.#interim = interim;
    // undici reads all bytes with this function.
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      const received: unknown = read(size);
      return Buffer.isBuffer(received) ? interim.without(received) : received;
    };
    compileParserOnce();
  }

  /**
   * Why the connection ended. undici gives its last error, but only the first one, such as a TLS alert, says why.
   *
   * @param error of undici. Also the result if the connection has not ended
   */
  #reasonOf(error: unknown): unknown {
    if (error instanceof NotConnected) return error;
    const isClosed = this.#failure ? isReset(this.#failure) : this.#serverHungUp;
    if (isClosed && this.#mayRefuseLate && this.#socket?.bytesRead === 0) return new ClosedUnanswered(error);
    return this.#failure ?? (this.#serverHungUp ? new HungUp(error) : error);
  }
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** No socket could be opened. `cause` is the reason. It is wrapped because undici would retry some error codes forever. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/** The server closed the connection before its answer was complete. */
class HungUp extends Error {
  constructor(cause: unknown) {
    super('the connection was closed', { cause });
  }
}

/**
 * The server closed a new connection before any byte of an answer. With TLS 1.3, a server that refuses the client certificate
 * may do so without an alert. The request may have left.
 */
export class ClosedUnanswered extends HungUp {}

/** The head of an answer is too large. undici does not count its first line. */
class HeadTooLarge extends Error {
  readonly code = 'UND_ERR_HEADERS_OVERFLOW';
}

/** Limits the size of the heads of answers over a socket. Made after undici listens to it, so undici has read the data first. */
class Head {
  readonly socket: Socket;
  /** What was read before the head that is awaited. Infinite: none is. */
  #from = Number.POSITIVE_INFINITY;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('readable', () => {
      if (socket.bytesRead - this.#from > MAX_COUNTED_HEAD_BYTES) socket.destroy(new HeadTooLarge());
    });
  }

  begins(): void {
    this.#from = this.socket.bytesRead;
  }

  ends(): void {
    this.#from = Number.POSITIVE_INFINITY;
  }
}

/**
 * Headers as the standards spell them. HTTP ignores case (RFC 9110, section 5.1), but some banks do not.
 *
 * @param spellings the names of earlier calls, which are nearly always the same
 */
function asSpelled(headers: WireRequest['headers'], spellings: Map<string, string>): WireRequest['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [spelled(name, spellings), value]),
  );
}

function spelled(name: string, spellings: Map<string, string>): string {
  const before = spellings.get(name);
  if (before !== undefined) return before;
  const now = spell(name);
  spellings.set(name, now);
  return now;
}

function spell(name: string): string {
  if (
    !/^((psu|tpp)-.*|(x-request|consent)-id|digest|signature|date|authorization|accept|content-type)$/.test(
      name,
    )
  )
    return name;
  return name.replace(/\b(?:(id|ip|psu|tpp|uri)\b|[a-z])/g, (letters) => letters.toUpperCase());
}

function tooLarge(): UnusableAnswer {
  return new UnusableAnswer('is larger than 32 MiB');
}

/** If one of these headers is repeated, the first one counts, as in Node. */
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

/** Removes trailing whitespace. It is not part of a value (RFC 9110, section 5.5), but undici keeps it. */
function withoutBlanksAfter(value: string): string {
  let end = value.length;
  while (end > 0 && ' \t'.includes(value.charAt(end - 1))) end -= 1;
  return value.slice(0, end);
}

/** Certificates and rules of a TLS connection. */
export type TlsRules = Pick<ConnectionOptions, 'secureContext' | 'rejectUnauthorized' | 'minVersion'>;

/** Opens plain connections to a server. */
export function plainSocketsTo(server: URL): OpenSocket {
  return (opened, failed) => {
    const socket: Socket = connect({ ...hostOf(server), port: Number(server.port || 80), ...KEPT });
    socket.once('connect', () => opened(socket)).once('error', failed);
    return () => socket.destroy();
  };
}

/**
 * Opens TLS connections to a server. Later connections resume the TLS session.
 *
 * @param tunnels opens the tunnels for TLS. Default: direct connections
 */
export function secureSocketsTo(server: URL, rules: TlsRules, tunnels?: OpenSocket): OpenSocket {
  const place = hostOf(server);
  const port = Number(server.port || 443);
  const servername = isIP(place.host) === 0 ? place.host : '';
  let session: Buffer | undefined;
  return (opened, failed) => {
    let giveUp = () => {};
    const secure = (through: { socket: Socket } | { port: number }) => {
      const socket = connectTls({
        ...rules,
        ...place,
        ...through,
        servername,
        ALPNProtocols: ['http/1.1'],
        ...KEPT,
        ...(session && { session }),
      });
      giveUp = () => socket.destroy();
      const fail = (error: Error) => {
        session = undefined;
        failed(error);
      };
      socket
        .on('session', (next) => (session = next))
        .once('error', fail)
        .once('secureConnect', () => {
          // Later errors do not belong to the handshake.
          socket.off('error', fail);
          opened(socket);
        });
    };
    if (tunnels) giveUp = tunnels((socket) => secure({ socket }), failed);
    else secure({ port });
    return () => giveUp();
  };
}

const KEPT = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 1000 } as const;

function hostOf({ hostname }: URL): { host: string } {
  return { host: hostname.replace(/^\[|\]$/g, '') };
}

/** What is known of an open connection. Undefined: it is not over TLS. */
export function tlsFactsOf(
  socket: Socket,
): { protocol: string | null; certificateEnds: Date | null } | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const ends = new Date(socket.getPeerX509Certificate()?.validTo ?? '');
  return { protocol: socket.getProtocol(), certificateEnds: Number.isNaN(ends.getTime()) ? null : ends };
}
