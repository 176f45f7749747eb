import { Hono } from 'hono';
import { type Bank, resetBank } from '../bank.ts';
import { faultOrder } from '../faults/fault-book.ts';
import { bodyOf, invalidFields, refuse } from './json-site.ts';

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
