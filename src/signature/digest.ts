import { createHash } from 'node:crypto';

/** The `Digest` header of a body: `SHA-256=<base64>` (interface specification, "Headers"; RFC 3230). */
export function digestHeader(body: Uint8Array): string {
  return `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
}
