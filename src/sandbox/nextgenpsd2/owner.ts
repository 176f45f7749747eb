import * as z from 'zod/mini';
import type { Bank } from '../bank.ts';
import { bareOrder, type Order, OrderRefused, orderWith } from '../control/order.ts';
import { stepNames } from '../faults/target.ts';
import type { OwnerSide } from '../server/pipeline.ts';
import { accessSide } from './access-side.ts';
import { consentStatus, doorOf } from './door-state.ts';
import { deviceAnswer } from './embedded/device-answers.ts';
import { devicesShown, readTan } from './embedded/devices-shown.ts';
import { customerPage, doorUrl } from './links.ts';
import { operationIds } from './operations.ts';
import { orderStatus, transactionStatus } from './payments/payment-status.ts';
import { listPayments } from './payments/payment-view.ts';
import { runDuePayments } from './payments/run-payments.ts';

/** The second door for the owner of the sandbox. */
export function ownerSide(bank: Bank): OwnerSide {
  const access = accessSide(bank);
  return {
    url: doorUrl(bank),
    calls: [...operationIds, ...stepNames],
    flows: (most) => ({
      title: 'NextGenPSD2',
      orders: '/nextgenpsd2',
      requests: access.open().map((request) => ({ ...request, url: customerPage(bank, request.id) })),
      devices: devicesShown(bank).slice(-most).toReversed(),
      payments: listPayments(bank).slice(-most).toReversed(),
      consents: doorOf(bank)
        .consents.list()
        .slice(-most)
        .toReversed()
        .map((consent) => ({
          id: consent.id,
          type: consent.type,
          status: consentStatus(bank, consent),
          customer: bank.customers.find(consent.customerId ?? '')?.user ?? '',
          until: consent.validUntil,
          accounts: consent.grants.size,
        })),
    }),
    paid: (most) => paid(bank, most),
    orders,
    readTan: (customerId) => readTan(bank, customerId),
    revokeAll: (customerId) => access.given(customerId).filter(({ id }) => access.revoke(id)).length,
  };
}

function paid(bank: Bank, most: number): ReturnType<OwnerSide['paid']> {
  const { payments, baskets } = doorOf(bank);
  return payments
    .list()
    .slice(-most)
    .flatMap((payment) => {
      const { orders: all, debtor, createdAt, id } = payment;
      const joint = all.length > 1 ? id : baskets.withPayment(id)?.id;
      const account = debtor?.product.iban ?? '';
      return all.map((order, index) => ({
        at: createdAt,
        account,
        customer: debtor?.customer.user ?? '',
        joint,
        amount: order.amount,
        to: order.beneficiaryName,
        state: orderStatus(bank, payment, index),
      }));
    });
}

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

/** They play the customer at the second door. */
const orders: readonly Order[] = [
  bareOrder({
    method: 'GET',
    path: '/nextgenpsd2/requests',
    says: 'The requests of the second door that wait for a customer',
    answer: z.array(openRequest),
    run: ({ bank }) => accessSide(bank).open(),
  }),
  orderWith({
    method: 'POST',
    path: '/nextgenpsd2/decide',
    says: 'The customer approves or refuses a request of the second door',
    body: { what: 'decision', shape: decisionOrder },
    answer: z.object({ returnTo: z.nullable(z.string()) }),
    run: ({ bank }, order) => {
      const access = accessSide(bank);
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
    run: ({ bank }, { consentId }) => ({ revoked: accessSide(bank).revoke(consentId) }),
  }),
  bareOrder({
    method: 'GET',
    path: '/nextgenpsd2/devices',
    says: 'What the devices of customers show (embedded SCA): texts with TANs, oldest first',
    answer: z.array(deviceAnswer),
    run: ({ bank }) => devicesShown(bank),
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
      const payment = doorOf(bank).payments.find(paymentId);
      if (!payment) throw new OrderRefused(404, 'There is no such payment');
      payment.lateMs = 0;
      runDuePayments(bank);
      return { transactionStatus: transactionStatus(bank, payment) };
    },
  }),
];
