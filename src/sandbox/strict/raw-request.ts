import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { Refusal } from '../answers/refusal.ts';

const BODY_LIMIT = 1024 * 1024;
/** How much is kept of a body that is refused for its size. */
const KEPT_OF_MORE = 16_384;

/** A request exactly as it came over the wire: the bank judges nothing else. */
export interface RawRequest {
  /** As sent, in capitals for every method that the bank knows. */
  method: string;
  /** Path and query as sent, percent-encoding included. */
  target: string;
  /** Names and values in the order in which they came; names as they were written. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** Of a body that is larger than the bank takes: `body` has its beginning only. */
  oversized?: { length: number; sha256: Buffer };
  /** The DER of the certificate that the client gave at the TLS handshake; undefined without one. */
  clientCertificate: Buffer | undefined;
}

/** Takes a request off the wire, its body up to 1 MiB; of a larger one the beginning: see {@link refuseOversized}. */
export async function readRawRequest(incoming: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  let length = 0;
  let hash: Hash | undefined;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length <= BODY_LIMIT) chunks.push(bytes);
    else {
      // The rest is read and dropped, so that the client gets to see the answer.
      hash ??= createHash('sha256').update(Buffer.concat(chunks));
      hash.update(bytes);
    }
  }
  const body = Buffer.concat(chunks);
  return {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    headers: pairs(incoming.rawHeaders),
    body: hash ? body.subarray(0, KEPT_OF_MORE) : body,
    ...(hash && { oversized: { length, sha256: hash.digest() } }),
    clientCertificate: clientCertificate(incoming),
  };
}

/** @throws Refusal `BODY_TOO_LARGE` */
export function refuseOversized({ oversized }: RawRequest): void {
  if (oversized) throw new Refusal('BODY_TOO_LARGE', 'The body is larger than the bank takes (1 MiB)');
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []));
}

/** By connection: it is the same for all requests of one. */
const certificates = new WeakMap<TLSSocket, Buffer | undefined>();

function clientCertificate({ socket }: IncomingMessage): Buffer | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  if (!certificates.has(socket)) certificates.set(socket, socket.getPeerX509Certificate()?.raw);
  return certificates.get(socket);
}
