import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { isLoopback } from '../../domain/loopback.ts';
import { BadFault } from '../faults/fault.ts';

/** A larger body is refused: nothing that is ordered here is long. */
export const MAX_BODY_BYTES = 16_384;

/**
 * Turns away what comes from a page of another origin, or under a name that somebody has pointed at this computer (DNS
 * rebinding). A program that is no browser sends no `Origin`.
 */
export const sameOriginOnly = createMiddleware(async (c, next) => {
  const url = new URL(c.req.url);
  const origin = c.req.header('origin');
  const elsewhere = (origin !== undefined && origin !== url.origin) || crossSite(c);
  if (!isLoopback(url) || elsewhere) return refuse(c, 403, 'The sandbox takes this from its own pages alone');
  return next();
});

/** Browsers say where a request comes from. A link that is followed is harmless: its page can't be read from there. */
function crossSite(c: Context): boolean {
  if (c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate') return false;
  return !['same-origin', 'none', undefined].includes(c.req.header('sec-fetch-site'));
}

/** The JSON of a request, or undefined. */
export async function bodyOf(c: Context): Promise<unknown> {
  try {
    return await c.req.json();
  } catch {
    return undefined;
  }
}

/** The answer of control and console to a request that they do not serve. */
export function refuse(c: Context, status: 400 | 401 | 403 | 404 | 413 | 500, error: string): Response {
  return c.json({ error }, status);
}

/** The answer to what was thrown: a fault that can't be ordered, or a mistake of the sandbox. */
export function answerError(error: Error, c: Context): Response {
  return error instanceof BadFault
    ? refuse(c, 400, `${error.message}. ${error.hint}`)
    : refuse(c, 500, `The sandbox failed: ${error.message}`);
}
