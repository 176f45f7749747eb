import * as z from 'zod/mini';
import { bareOrder, type Order, OrderRefused, orderWith } from './order.ts';

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

const openRequest = z.object({
  id: z.string(),
  tppName: z.string(),
  user: z.optional(z.string()),
  consent: z.optional(
    z.object({ id: z.string(), recurring: z.boolean(), until: z.string(), frequencyPerDay: z.int() }),
  ),
});

/** The orders that play the customer at the second door. */
export const accessOrders: readonly Order[] = [
  bareOrder({
    method: 'GET',
    path: '/nextgenpsd2/requests',
    says: 'The requests of the second door that wait for a customer',
    answer: z.array(openRequest),
    run: ({ access }) => access.open(),
  }),
  orderWith({
    method: 'POST',
    path: '/nextgenpsd2/decide',
    says: 'The customer approves or refuses a request of the second door',
    body: { what: 'decision', shape: decisionOrder },
    answer: z.object({ returnTo: z.nullable(z.string()) }),
    run: ({ bank, access }, order) => {
      if (!access.accessRequest(order.id)) throw new OrderRefused(404, 'There is nothing to decide');
      if (order.decision === 'refuse') return { returnTo: access.refuse(order.id).returnTo?.href ?? null };
      const customer = bank.customers.byUser(order.user);
      if (!customer) throw new OrderRefused(404, `There is no customer ${order.user}`);
      try {
        const { returnTo } = access.approve(order.id, customer.customerId, order.accounts);
        return { returnTo: returnTo?.href ?? null };
      } catch (error) {
        throw error instanceof RangeError ? new OrderRefused(400, error.message) : error;
      }
    },
  }),
  orderWith({
    method: 'POST',
    path: '/nextgenpsd2/revoke',
    says: 'The customer withdraws a consent of the second door',
    body: { what: 'revocation', shape: z.strictObject({ consentId: z.string() }) },
    answer: z.object({ revoked: z.boolean() }),
    run: ({ access }, { consentId }) => ({ revoked: access.revoke(consentId) }),
  }),
];
