import { Hono } from 'hono';
import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import { transactionStatus } from '../nextgenpsd2/payments/payment-status.ts';
import { listPayments } from '../nextgenpsd2/payments/payment-view.ts';
import { runDuePayments } from '../nextgenpsd2/payments/run-payments.ts';
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

const executionOrder = z.strictObject({ paymentId: z.string() });
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
  routes.get('/payments', (c) => c.json(listPayments(bank)));
  routes.post('/execute', async (c) => {
    const order = executionOrder.safeParse(await bodyOf(c));
    if (!order.success) return refuse(c, 400, invalidFields('execution', order.error));
    const payment = bank.door.payments.find(order.data.paymentId);
    if (!payment) return refuse(c, 404, 'There is no such payment');
    payment.lateMs = 0;
    runDuePayments(bank);
    return c.json({ transactionStatus: transactionStatus(bank, payment) });
  });
  return routes;
}
