import * as z from 'zod/mini';
import { transactionStatus } from '../nextgenpsd2/payments/payment-status.ts';
import { listPayments } from '../nextgenpsd2/payments/payment-view.ts';
import { runDuePayments } from '../nextgenpsd2/payments/run-payments.ts';
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
  bareOrder({
    method: 'GET',
    path: '/nextgenpsd2/payments',
    says: 'The payments of the second door, oldest first, with how often each moved its money',
    answer: z.array(z.looseObject({ paymentId: z.string(), transactionStatus: z.string() })),
    run: ({ bank }) => listPayments(bank),
  }),
  orderWith({
    method: 'POST',
    path: '/nextgenpsd2/execute',
    says: 'The bank executes a late payment of the second door now',
    body: { what: 'execution', shape: z.strictObject({ paymentId: z.string() }) },
    answer: z.object({ transactionStatus: z.string() }),
    run: ({ bank }, { paymentId }) => {
      const payment = bank.door.payments.find(paymentId);
      if (!payment) throw new OrderRefused(404, 'There is no such payment');
      payment.lateMs = 0;
      runDuePayments(bank);
      return { transactionStatus: transactionStatus(bank, payment) };
    },
  }),
];
