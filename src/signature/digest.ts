import { hash } from 'node:crypto';

/** The `Digest` header of a body: `SHA-256=<base64>` (interface specification, "Headers"; RFC 3230). */
export function digestHeader(body: Uint8Array): string {
  return `SHA-256=${hash('sha256', body, 'base64')}`;
}
