import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { EC, GIVEN_KEY, type PemPair, RSA, withOpenssl } from '../certificates/openssl.ts';
import { digestProblem, signatureProblem } from '../signature/independent-verifier.ts';

/** An answer in the script. */
export interface WrittenAnswer {
  status: number;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** It does not repeat the id of the request. */
  isSilent?: boolean;
}

/** A scripted step: an answer, or how the connection ends without one. */
export type ScriptedAnswer = WrittenAnswer | 'cut before the answer' | 'cut within the answer' | 'no answer';

/** A request as the bank received it. */
export interface Received {
  /** `GET /private/... HTTP/1.1` */
  requestLine: string;
  method: string;
  /** Path and query exactly as received. */
  target: string;
  /** Names and values alternate, as the client sent them. */
  rawHeaders: string[];
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Identifies the connection. */
  clientPort: number | undefined;
  /** Whether the connection resumed an earlier TLS session. */
  resumed: boolean;
}

/** The keyId that the bank expects. */
export const APPLICATION_NAME = 'Test Application';

declare global {
  /** Kept here, because the mutation tests load this module again for each mutant, and openssl is slow. */
  var certificatesOfRecordedBank: BankCertificates | undefined;
}

/** The certificates of a bank. openssl makes them once per test process. */
export interface BankCertificates {
  ca: string;
  server: PemPair;
  /** Like `server`, but for the host bank.example. */
  serverElsewhere: PemPair;
  qwac: PemPair;
  qseal: PemPair;
}

function certificates(): BankCertificates {
  globalThis.certificatesOfRecordedBank ??= withOpenssl((openssl) => {
    const ca = openssl.authority('Recorded Bank CA');
    return {
      ca: ca.cert,
      server: openssl.issued(ca, 'recorded bank', EC, ['IP:127.0.0.1']),
      serverElsewhere: openssl.issued(ca, 'bank.example', EC, ['DNS:bank.example']),
      qwac: openssl.issued(ca, 'QWAC of the test', RSA),
      qseal: openssl.issuedFor(ca, 'QSealC of the test', GIVEN_KEY),
    };
  });
  return globalThis.certificatesOfRecordedBank;
}

/** What is wrong with a request, in the words after "got <request>". @param earlier the requests before it */
export type Judge = (
  request: Received,
  certificates: BankCertificates,
  earlier: readonly Received[],
) => string[];

/** Signature, digest and id as today's bank wants them. */
const judgeCb: Judge = ({ method, target, headers, body }, { qseal }, earlier) => {
  const withBody = body.length > 0;
  const signed = ['(request-target)', ...(withBody ? ['digest'] : []), 'tpp-request-id', 'date'];
  const key = publicKeyOf(qseal);
  const problems = [
    signatureProblem({ method, url: target, headers }, signed, APPLICATION_NAME, key),
    withBody ? digestProblem(headers.digest, body) : null,
  ];
  const isRepeated = earlier.some((other) => other.headers['tpp-request-id'] === headers['tpp-request-id']);
  return [
    ...problems.flatMap((problem) => (problem === null ? [] : [`which ${problem}`])),
    ...(isRepeated ? ['with a TPP-Request-ID that was used before'] : []),
  ];
};

const publicKeys = new WeakMap<PemPair, string>();

/** The key of a certificate, SPKI PEM. It is read once, and not for each request. */
export function publicKeyOf(pair: PemPair): string {
  const known = publicKeys.get(pair);
  if (known !== undefined) return known;
  const made = new X509Certificate(pair.cert).publicKey.export({ type: 'spki', format: 'pem' }).toString();
  publicKeys.set(pair, made);
  return made;
}

/**
 * A bank that plays a script behind mutual TLS. It answers only the expected requests, in order. It records what it
 * receives, and checks each signature and digest with code that psd2 does not share.
 */
export class RecordedBank {
  /** All requests since the test began. */
  received: Received[] = [];
  readonly certificates: BankCertificates = certificates();
  readonly #servers: Server[] = [];
  #baseUrl = '';
  #expected: { method: string; path: string; answer: ScriptedAnswer }[] = [];
  #answered: { method: string; path: string; answer: ScriptedAnswer }[] = [];
  #problems: string[] = [];
  #onRequest = () => {};
  readonly #judge: Judge;

  constructor(judge: Judge = judgeCb) {
    this.#judge = judge;
  }

  async open(): Promise<void> {
    this.#baseUrl = await this.listen(this.certificates.server);
  }

  /** `https://127.0.0.1:<port>` */
  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** Opens another listener with another server certificate. @returns its address */
  async listen({ cert, key }: PemPair): Promise<string> {
    const tls = { cert, key, ca: this.certificates.ca, requestCert: true, rejectUnauthorized: true };
    const server = createServer({ ...tls, keepAliveTimeout: 60_000 }, (request, response) => {
      void this.#serve(request, response);
    });
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('The server has no port');
    return `https://127.0.0.1:${address.port}`;
  }

  /**
   * Adds a request and its answer to the script.
   *
   * @param path the expected path and query, exactly as sent
   */
  expect(method: string, path: string, answer: ScriptedAnswer): void {
    this.#expected.push({ method, path, answer });
  }

  /** The last request. */
  get last(): Received {
    const last = this.received.at(-1);
    if (!last) throw new TypeError('The bank has received nothing');
    return last;
  }

  /** The last request's body, parsed as JSON. */
  get lastJson(): unknown {
    return JSON.parse(this.last.body.toString());
  }

  /** Resolves when the next request has arrived completely. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRequest = resolve;
    });
  }

  /** Ends a test's script. @throws Error if a request was wrong, unexpected or missing */
  settle(): void {
    const missing = this.#expected.map(({ method, path }) => `was not asked for ${method} ${path}`);
    const problems = [...this.#problems, ...missing];
    this.#expected = [];
    this.#problems = [];
    this.#answered = [];
    this.received = [];
    if (problems.length > 0) throw new Error(`The recorded bank\n  ${problems.join('\n  ')}`);
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await receive(request);
    this.#check(received);
    this.received.push(received);
    this.#onRequest();
    const { method, target, headers } = received;
    const next = this.#again(method, target) ?? this.#expected.shift();
    if (next?.method !== method || next.path !== target) {
      const instead = next ? ` instead of ${next.method} ${next.path}` : '';
      this.#problems.push(`was asked for ${method} ${target}${instead}`);
      // psd2 does not retry this status.
      response.writeHead(501).end();
      return;
    }
    const { answer } = next;
    this.#answered.push(next);
    if (answer === 'no answer') return;
    if (answer === 'cut before the answer') request.socket.destroy();
    else if (answer === 'cut within the answer') {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"result":', () => request.socket.destroy());
    } else
      response
        .writeHead(answer.status, {
          'content-type': 'application/json',
          // Where requests have this id, the answer repeats it.
          ...(headers['x-request-id'] !== undefined &&
            !answer.isSilent && { 'x-request-id': headers['x-request-id'] }),
          ...answer.headers,
        })
        .end(answer.body);
  }

  /** Before an answer ends anything, psd2 asks once more. If the script does not say otherwise, the bank says the same again. */
  #again(method: string, path: string) {
    const isScripted = this.#expected[0]?.method === method && this.#expected[0].path === path;
    if (isScripted || method !== 'GET' || !this.#answered.slice(-2).some(({ answer }) => isEnd(answer)))
      return undefined;
    return this.#answered.slice(-3).findLast((each) => each.method === method && each.path === path);
  }

  #check(received: Received): void {
    const name = `${received.method} ${received.target}`;
    const problems = this.#judge(received, this.certificates, this.received);
    this.#problems.push(...problems.map((problem) => `got ${name}, ${problem}`));
  }
}

/** Whether an answer ends something, so that a reference is free. */
function isEnd(answer: ScriptedAnswer): boolean {
  const ends =
    /[">](RJCT|CANC|failed|KO|NOT_AUTHORIZED|EXPIRED|rejected|expired|revokedByPsu|terminatedByTpp)["<]/;
  return typeof answer === 'object' && ends.test(String(answer.body ?? ''));
}

async function receive(request: IncomingMessage): Promise<Received> {
  const { method = '', url: target = '', httpVersion, rawHeaders } = request;
  return {
    requestLine: `${method} ${target} HTTP/${httpVersion}`,
    method,
    target,
    rawHeaders,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: await buffer(request),
    clientPort: request.socket.remotePort,
    resumed: request.socket instanceof TLSSocket && request.socket.isSessionReused(),
  };
}

/** Opens a recorded bank for the tests of a file. A test fails if the requests differ from its script. */
export function useRecordedBank(judge?: Judge): RecordedBank {
  const bank = new RecordedBank(judge);
  beforeAll(() => bank.open());
  afterEach(() => bank.settle());
  afterAll(() => bank.close());
  return bank;
}
