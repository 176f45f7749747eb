import { Hono } from 'hono';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { bodyOf, invalidFields, refuse } from '../control/json-site.ts';

const decision = z.strictObject({
  resourceId: z.string(),
  decision: z.enum(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED']),
});

const loginOrder = z.strictObject({
  id: z.string(),
  /** The user that logs in. Null: the customer refuses. */
  user: z.nullable(z.string()),
});

/** The buttons that play the customer: they decide SCA and logins without the customer site. */
export function playerRoutes(bank: Bank): Hono {
  const routes = new Hono();
  routes.post('/decide', async (c) => {
    const order = decision.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('decision', order.error));
    const { resourceId } = order.data;
    if (!bank.resources.find(resourceId)?.sca) return refuse(c, 404, 'There is nothing to decide');
    return c.json({ returnTo: bank.resources.decide(resourceId, order.data.decision).href });
  });
  routes.post('/login', async (c) => {
    const order = loginOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('login', order.error));
    const { id, user } = order.data;
    if (!bank.logins.find(id)) return refuse(c, 404, 'This login is no longer pending');
    if (user === null) return c.json({ returnTo: bank.logins.refuse(id).href });
    const customer = bank.customers.byUser(user);
    if (!customer) return refuse(c, 404, `There is no customer ${user}`);
    return c.json({ returnTo: bank.logins.allow(id, customer.customerId).href });
  });
  return routes;
}
