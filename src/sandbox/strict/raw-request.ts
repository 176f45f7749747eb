import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { Refusal } from '../answers/refusal.ts';

const BODY_LIMIT = 1024 * 1024;
/** How many bytes the bank keeps of a body that is too large. */
const KEPT_OF_MORE = 16_384;

/** A request exactly as received. The bank checks only this. */
export interface RawRequest {
  /** As sent. */
  method: string;
  /** Path and query as sent, with their percent-encoding. */
  target: string;
  /** Names and values as sent, in the order in which they were sent. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** Set if the body is too large. `body` is then only its beginning. */
  oversized?: { length: number; sha256: Buffer };
  /** The DER of the client's certificate from the TLS handshake. Undefined if there is none. */
  clientCertificate: Buffer | undefined;
}

/** Reads a request. Of a body over 1 MiB it keeps only the beginning: see {@link refuseOversized}. */
export async function readRawRequest(incoming: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  let length = 0;
  let hash: Hash | undefined;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    const isBeginning = length < KEPT_OF_MORE;
    length += bytes.length;
    if (length > BODY_LIMIT) {
      // Read and drop the rest, so that the client receives the answer.
      hash ??= createHash('sha256').update(Buffer.concat(chunks));
      hash.update(bytes);
      if (!isBeginning) continue;
    }
    chunks.push(bytes);
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
  if (oversized) throw new Refusal('BODY_TOO_LARGE', 'The body is larger than 1 MiB');
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []));
}

/** Client certificates by connection. */
const certificates = new WeakMap<TLSSocket, Buffer | undefined>();

function clientCertificate({ socket }: IncomingMessage): Buffer | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  if (!certificates.has(socket)) certificates.set(socket, socket.getPeerX509Certificate()?.raw);
  return certificates.get(socket);
}
