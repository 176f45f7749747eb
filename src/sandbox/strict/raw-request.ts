import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { Refusal } from '../refusal.ts';

const BODY_LIMIT = 1024 * 1024;

/** A request exactly as it came over the wire: the bank judges nothing else. */
export interface RawRequest {
  /** As sent, in capitals for every method that the bank knows. */
  method: string;
  /** Path and query as sent, percent-encoding included. */
  target: string;
  /** Names and values in the order in which they came; names as they were written. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** The DER of the certificate that the client gave at the TLS handshake; undefined without one. */
  clientCertificate: Buffer | undefined;
}

/**
 * Takes a request off the wire, its body up to 1 MiB.
 *
 * @throws Refusal `BODY_TOO_LARGE`
 */
export async function readRawRequest(incoming: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    // The rest is read and dropped, so that the client gets to see the answer.
    if (size <= BODY_LIMIT) chunks.push(bytes);
  }
  if (size > BODY_LIMIT)
    throw new Refusal('BODY_TOO_LARGE', 'The body is larger than the bank takes (1 MiB)');
  return {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    headers: pairs(incoming.rawHeaders),
    body: Buffer.concat(chunks),
    clientCertificate: clientCertificate(incoming),
  };
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : []));
}

function clientCertificate({ socket }: IncomingMessage): Buffer | undefined {
  return socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.raw : undefined;
}
