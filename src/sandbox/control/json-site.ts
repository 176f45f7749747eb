import type { Context, MiddlewareHandler } from 'hono';
import type * as z from 'zod/mini';
import { BadFault } from '../faults/fault.ts';
import { OrderRefused } from './order.ts';

/** The maximum size of a body. */
export const MAX_BODY_BYTES = 16_384;

/**
 * Refuses requests from pages of another origin, and requests under a foreign host name that resolves to this computer (DNS
 * rebinding). Programs other than browsers send no `Origin`.
 *
 * @param isOwn whether an address is the sandbox's
 */
export function ownPagesOnly(isOwn: (url: URL) => boolean): MiddlewareHandler {
  return async (c, next) => {
    const url = new URL(c.req.url);
    const origin = c.req.header('origin');
    const elsewhere = (origin !== undefined && origin !== url.origin) || crossSite(c);
    if (!isOwn(url) || elsewhere) return refuse(c, 403, 'The sandbox accepts this only from its own pages');
    return next();
  };
}

/** Browsers say where a request comes from. Following a link is harmless: the other page cannot read the answer. */
function crossSite(c: Context): boolean {
  if (c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate') return false;
  return !['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site'));
}

/** The JSON body of a request. Undefined if it is not JSON. */
export async function bodyOf(c: Context): Promise<unknown> {
  try {
    return await c.req.json();
  } catch {
    return undefined;
  }
}

/** The answer of control and console to a request that they refuse. */
export function refuse(c: Context, status: 400 | 401 | 403 | 404 | 413 | 500, error: string): Response {
  return c.json({ error }, status);
}

/** Names the fields of an order that are not valid, but not their values. @param what what the order is about */
export function invalidFields(what: string, { issues }: z.core.$ZodError): string {
  const fields = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the body'],
  );
  return `These fields of the ${what} are not valid: ${fields.join(', ')}`;
}

/** The answer to an exception: an order that is refused, an invalid fault, or a defect of the sandbox. */
export function answerError(error: Error, c: Context): Response {
  if (error instanceof OrderRefused) return refuse(c, error.status, error.message);
  return error instanceof BadFault
    ? refuse(c, 400, `${error.message}. ${error.hint}`)
    : refuse(c, 500, `The sandbox failed: ${error.message}`);
}
