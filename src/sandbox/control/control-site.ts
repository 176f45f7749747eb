import { timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as z from 'zod/mini';
import { REFRESH_TOKEN_SECONDS } from '../access/tokens.ts';
import { type Bank, resetBank } from '../bank.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import { faultOrder } from '../faults/fault-book.ts';
import { accessOrders } from './access-orders.ts';
import { answerError, bodyOf, invalidFields, MAX_BODY_BYTES, refuse, sameOriginOnly } from './json-site.ts';

const tokenOrder = z.strictObject({ customerId: z.string() });

/**
 * The interface under `/control` for `psd2 sandbox fault` and `psd2 sandbox reset`: JSON over HTTP on the loopback interface,
 * with the control token from `running.json`. Web pages cannot use it: they do not have the token, and only the sandbox's
 * own `Host` and `Origin` are accepted.
 */
export function controlSite(bank: Bank, access: AccessSide, controlToken: string): Hono {
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

  control.route('/', orderRoutes(bank));
  control.route('/nextgenpsd2', accessOrders(bank, access));
  /** Issues tokens without a login, for benchmarks that need many customers. */
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

  control.notFound((c) => refuse(c, 404, 'The sandbox control has no such endpoint'));
  control.onError(answerError);
  return control;
}

/** Faults and reset, for the commands (under `/control`) and for the console's buttons (under `/console`). */
export function orderRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.get('/faults', (c) => c.json(bank.faults.list()));
  routes.post('/faults', async (c) => {
    const order = faultOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('fault', order.error));
    return c.json(bank.faults.add(order.data), 201);
  });
  routes.delete('/faults', (c) => c.json({ cleared: bank.faults.clear() }));
  routes.delete('/faults/:id{\\d+}', (c) =>
    c.json({ cleared: bank.faults.clear(Number(c.req.param('id'))) }),
  );
  routes.post('/reset', (c) => {
    resetBank(bank);
    return c.json({ reset: true });
  });
  return routes;
}
