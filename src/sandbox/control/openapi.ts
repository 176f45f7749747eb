import * as z from 'zod/mini';
import type { Order } from './order.ts';

const refusal = { description: 'Refused: `error` says why', content: json(z.object({ error: z.string() })) };

/**
 * The description of `/control` (OpenAPI 3.1), made from the orders themselves.
 *
 * @param orders all that it serves
 */
export function openApiOf(orders: readonly Order[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const order of orders)
    paths[order.path] = { ...paths[order.path], [order.method.toLowerCase()]: operationOf(order) };
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

function operationOf({ path, says, body, answer, status }: Order) {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
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
