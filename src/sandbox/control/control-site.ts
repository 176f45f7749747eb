import { timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import * as z from 'zod/mini';
import { isLoopback } from '../../domain/loopback.ts';
import { REFRESH_TOKEN_SECONDS } from '../access/tokens.ts';
import { BadFault } from '../faults/fault.ts';
import { faultOrder } from '../faults/fault-book.ts';
import { type Bank, resetBank } from '../server/bank.ts';

const MAX_BODY_BYTES = 16_384;

const tokenOrder = z.strictObject({ customerId: z.string() });

/**
 * Where `psd2 sandbox fault` and `psd2 sandbox reset` order the sandbox about, under `/control`: JSON over HTTP on the
 * loopback interface, with the control token of `running.json`. A web page that the user has open gets nowhere: it knows
 * no token, and another `Host` or `Origin` than the sandbox's own is refused.
 */
export function controlSite(bank: Bank, controlToken: string): Hono {
  const control = new Hono();
  control.use(sameOriginOnly);
  control.use(async (c, next) => {
    const expected = Buffer.from(`Bearer ${controlToken}`);
    const given = Buffer.from(c.req.header('authorization') ?? '');
    if (given.length === expected.length && timingSafeEqual(given, expected)) return next();
    return refuse(c, 401, 'The control token of running.json is missing or wrong');
  });
  control.use(
    bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => refuse(c, 413, 'The body is too large') }),
  );

  control.get('/faults', (c) => c.json(bank.faults.list()));
  control.post('/faults', async (c) => {
    const order = faultOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, whatIsWrong(order.error));
    return c.json(bank.faults.add(order.data), 201);
  });
  control.delete('/faults', (c) => c.json({ cleared: bank.faults.clear() }));
  control.delete('/faults/:id{\\d+}', (c) =>
    c.json({ cleared: bank.faults.clear(Number(c.req.param('id'))) }),
  );
  control.post('/reset', (c) => {
    resetBank(bank);
    return c.json({ reset: true });
  });
  /** Tokens as a login gives them, for a bench that needs many customers. */
  control.post('/tokens', async (c) => {
    const order = tokenOrder.safeParse(await bodyOf(c));
    const customer = order.success && bank.customers.find(order.data.customerId);
    if (!customer) return refuse(c, 400, 'The body names no customer of the sandbox: {"customerId":"..."}');
    const { authorizationCode: application } = bank.applications;
    const { customerId } = customer;
    return c.json({
      customerId,
      ...bank.tokens.issue({ application, customerId }),
      accessTokenSeconds: bank.rules.tokenTtlSeconds,
      refreshTokenSeconds: REFRESH_TOKEN_SECONDS,
    });
  });

  control.notFound((c) => refuse(c, 404, 'The control of the sandbox has no such call'));
  control.onError((error, c) =>
    error instanceof BadFault
      ? refuse(c, 400, `${error.message}. ${error.hint}`)
      : refuse(c, 500, `The sandbox failed: ${error.message}`),
  );
  return control;
}

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

function whatIsWrong({ issues }: z.core.$ZodError): string {
  const fields = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the body'],
  );
  return `The fault is not as it has to be: ${fields.join(', ')}`;
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
