import type * as z from 'zod/mini';
import { decodeUtf8, hold } from '../../strict/body.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { DoorRefusal } from '../refusal.ts';

/**
 * Reads a body in the shape of `schema`. A field that the schema does not have is refused.
 *
 * @param whenEmpty what an empty body means. Undefined: a body is needed
 * @throws DoorRefusal `FORMAT_ERROR` with the path of the first wrong field
 */
export function readBody<T>({ body }: RawRequest, schema: z.ZodMiniType<T>, whenEmpty?: unknown): T {
  return parseBody(body.length === 0 ? whenEmpty : parse(body), schema);
}

/** As {@link readBody}, for a body that is parsed already. */
export function parseBody<T>(body: unknown, schema: z.ZodMiniType<T>): T {
  const result = hold(schema, body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new DoorRefusal('FORMAT_ERROR', 'The body does not have the shape of this call', issue?.message, {
    path: issue ? issuePath(issue) : '',
  });
}

/** `access.accounts[0].iban`. */
function issuePath(issue: z.core.$ZodIssue): string {
  const keys = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** Parses JSON. @throws DoorRefusal `FORMAT_ERROR` */
export function parse(body: Buffer): unknown {
  try {
    return JSON.parse(decodeUtf8({ body }));
  } catch {
    throw new DoorRefusal('FORMAT_ERROR', 'The body is not JSON in UTF-8');
  }
}

/**
 * Checks that only POST and PUT have a body. `POST /consents/{consentId}/authorisations` may have an empty one.
 *
 * @throws DoorRefusal `FORMAT_ERROR`
 */
export function checkBodyPresence({ method, body }: RawRequest): void {
  if (body.length === 0 || method === 'POST' || method === 'PUT') return;
  throw new DoorRefusal(
    'FORMAT_ERROR',
    `A ${method} must not have a body`,
    `Received: ${body.length} bytes.`,
  );
}
