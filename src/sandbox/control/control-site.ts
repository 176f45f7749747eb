import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { isSameSecret } from '../same-secret.ts';
import type { Doors } from '../server/pipeline.ts';
import { bankOrders } from './bank-orders.ts';
import { answerError, bodyOf, invalidFields, MAX_BODY_BYTES, refuse } from './json-site.ts';
import type { Order, OrderPlace } from './order.ts';

/** All orders, in the order of the OpenAPI. */
export function ordersOf(doors: Doors): Order[] {
  return [...bankOrders, ...[...doors.values()].flatMap(({ owner }) => owner?.orders ?? [])];
}

function orderPlace(bank: Bank, doors: Doors): OrderPlace {
  return {
    bank,
    readTan: (customerId) =>
      [...doors.values()].map(({ owner }) => owner?.readTan?.(customerId) ?? null).find(Boolean) ?? null,
    revokeAll: (customerId) =>
      [...doors.values()].reduce((sum, { owner }) => sum + (owner?.revokeAll(customerId) ?? 0), 0),
  };
}

/**
 * The interface under `/control` for the commands `psd2 sandbox fault`, `clock`, `customer` and `reset`, and for programs: JSON
 * over HTTP, with the control token from `running.json`. Web pages cannot use it: they do not have the token, and only the
 * sandbox's own `Host` and `Origin` are accepted. Without the token it gives only its description.
 */
export function controlSite(
  bank: Bank,
  doors: Doors,
  controlToken: string,
  sameOrigin: MiddlewareHandler,
): Hono {
  const control = new Hono();
  const orders = ordersOf(doors);
  control.use(sameOrigin);
  control.get('/openapi.json', (c) => c.json(openApiOf(orders)));
  control.use(async (c, next) => {
    if (isSameSecret(c.req.header('authorization'), `Bearer ${controlToken}`)) return next();
    return refuse(c, 401, 'The control token of running.json is missing or wrong');
  });
  control.use(
    bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => refuse(c, 413, 'The body is too large') }),
  );
  control.route('/', orderRoutes(bank, doors, orders));
  // Hono asks only the outermost site for its answer to what nobody serves.
  control.all('*', (c) => refuse(c, 404, `The sandbox control has no ${c.req.method} ${c.req.path}`));
  control.onError(answerError);
  return control;
}

/** Serves orders: for programs under `/control`, for the console's buttons under `/console`. */
export function orderRoutes(bank: Bank, doors: Doors, orders: readonly Order[]): Hono {
  const place = orderPlace(bank, doors);
  const routes = new Hono();
  for (const order of orders) {
    const path = order.path.replace('{id}', ':id{\\d+}').replace('{user}', ':user');
    routes.on(order.method, path, async (c) => {
      const body = order.body && (await bodyOf(c));
      const checked = order.body?.shape.safeParse(body);
      if (order.body && checked && !checked.success)
        return refuse(c, 400, invalidFields(order.body.what, checked.error));
      const done = order.run(place, body, c.req.param());
      if (order.method !== 'GET') bank.calls.tellChange();
      return c.json(JSON.parse(JSON.stringify(done)), order.status ?? 200);
    });
  }
  return routes;
}

const refusal = { description: 'Refused: `error` says why', content: json(z.object({ error: z.string() })) };

/**
 * The description of `/control` (OpenAPI 3.1), made from the orders themselves.
 *
 * @param orders all that it serves
 */
function openApiOf(orders: readonly Order[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const order of orders)
    paths[order.path] = { ...paths[order.path], [order.method.toLowerCase()]: openApiOperation(order) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control of the psd2 sandbox',
      version: '1',
      description: 'Orders to the sandbox bank. Not a part of the PSD2 interface: no real bank has it.',
    },
    servers: [{ url: '/control' }],
    security: [{ controlToken: [] }],
    paths,
    components: { securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } } },
  };
}

function openApiOperation({ path, says, body, answer, status }: Order) {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    summary: says,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: json(body.shape) } }),
    responses: {
      [status ?? 200]: { description: 'Done', content: json(answer) },
      400: refusal,
      401: refusal,
      403: refusal,
      404: refusal,
      413: refusal,
    },
  };
}

function json(shape: z.ZodMiniType) {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, { io: 'input' });
  return { 'application/json': { schema } };
}
