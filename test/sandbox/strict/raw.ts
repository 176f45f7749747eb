import { Refusal } from '../../../src/sandbox/answers/refusal.ts';
import type { RawRequest } from '../../../src/sandbox/strict/raw-request.ts';

/** A request as the bank received it, by default a GET without headers. */
export function rawRequest({
  body = '',
  ...changes
}: Partial<Omit<RawRequest, 'body'>> & { body?: string | Buffer } = {}): RawRequest {
  return {
    method: 'GET',
    target: '/private/customers/1048262/accounts',
    headers: [],
    clientCertificate: undefined,
    ...changes,
    body: Buffer.from(body),
  };
}

/** What the client reads about its request, or `accepted`. */
export function answerTo(check: () => unknown): [code: string, message: string, detail: string] | 'accepted' {
  try {
    check();
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.message, error.detail];
    throw error;
  }
  return 'accepted';
}
