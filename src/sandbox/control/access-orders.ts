import { Hono } from 'hono';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import { bodyOf, invalidFields, refuse } from './json-site.ts';

const decisionOrder = z.discriminatedUnion('decision', [
  z.strictObject({
    id: z.string(),
    decision: z.literal('approve'),
    /** Who approves. */
    user: z.string(),
    /** Product ids, if the customer chooses the accounts. Default: all. */
    accounts: z.optional(z.array(z.string())),
  }),
  z.strictObject({ id: z.string(), decision: z.literal('refuse') }),
]);

const revocationOrder = z.strictObject({ consentId: z.string() });

/**
 * Plays the customer at the second door: for scripts under `/control/nextgenpsd2`, for the console's buttons under
 * `/console/nextgenpsd2`.
 */
export function accessOrders(bank: Bank, access: AccessSide): Hono {
  const routes = new Hono();
  routes.get('/requests', (c) => c.json(access.open()));
  routes.post('/decide', async (c) => {
    const order = decisionOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('decision', order.error));
    const { data } = order;
    if (!access.accessRequest(data.id)) return refuse(c, 404, 'There is nothing to decide');
    if (data.decision === 'refuse')
      return c.json({ returnTo: access.refuse(data.id).returnTo?.href ?? null });
    const customer = bank.customers.byUser(data.user);
    if (!customer) return refuse(c, 404, `There is no customer ${data.user}`);
    try {
      const { returnTo } = access.approve(data.id, customer.customerId, data.accounts);
      return c.json({ returnTo: returnTo?.href ?? null });
    } catch (error) {
      if (error instanceof RangeError) return refuse(c, 400, error.message);
      throw error;
    }
  });
  routes.post('/revoke', async (c) => {
    const order = revocationOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('revocation', order.error));
    return c.json({ revoked: access.revoke(order.data.consentId) });
  });
  return routes;
}
