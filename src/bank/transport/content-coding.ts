import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';

// A request without Accept-Encoding allows any encoding of the answer (RFC 9110, section 12.5.3), and some gateways use that.

type Decoder = (body: Buffer, limit: Pick<ZlibOptions, 'maxOutputLength'>) => Buffer;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['identity', (body) => body],
  // The build loads node:zlib when one of these first runs.
  ['gzip', (body, limit) => gunzipSync(body, limit)],
  ['x-gzip', (body, limit) => gunzipSync(body, limit)],
  ['deflate', (body, limit) => inflateSync(body, limit)],
  ['br', (body, limit) => brotliDecompressSync(body, limit)],
]);

/** @param coding in lower case, as `Content-Encoding` names it */
export function isKnownCoding(coding: string): boolean {
  return DECODERS.has(coding);
}

/**
 * Decodes the body of an answer.
 *
 * @param header the value of `Content-Encoding`
 * @param limit the size in bytes that the decoded body may have
 * @returns the body, or why there is none
 */
export function uncompressed(
  header: string | undefined,
  body: Buffer,
  limit: number,
): Buffer | 'too large' | 'damaged' {
  const decode = DECODERS.get(header?.trim().toLowerCase() ?? '');
  if (!decode || body.length === 0) return body;
  try {
    return decode(body, { maxOutputLength: limit });
  } catch (error) {
    return error instanceof RangeError ? 'too large' : 'damaged';
  }
}
