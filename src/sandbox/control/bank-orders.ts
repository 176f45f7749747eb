import * as z from 'zod/mini';
import { REFRESH_TOKEN_SECONDS } from '../access/tokens.ts';
import { type Bank, giveSeeded, resetBank, resetCustomer } from '../bank.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { faultOrder, faultRecord } from '../faults/fault-book.ts';
import { seededCustomer } from '../seed/seed.ts';
import { BadSeed } from '../seed/seed-fields.ts';
import { type SeedCustomer, seedCustomer } from '../seed/seed-schema.ts';
import { clockAnswer, customerAnswer, revokedAnswer, tanAnswer } from './answers.ts';
import { bareOrder, type Order, OrderRefused, orderWith } from './order.ts';

/** Ten years. */
const MAX_FORWARD_SECONDS = 3650 * 24 * 60 * 60;

const cleared = z.object({ cleared: z.int() });

const faults: readonly Order[] = [
  bareOrder({
    method: 'GET',
    path: '/faults',
    says: 'The faults, and how many calls each matched and changed',
    answer: z.array(faultRecord),
    run: ({ bank }) => bank.faults.list(bank.now()),
  }),
  orderWith({
    method: 'POST',
    path: '/faults',
    says: 'Makes calls fail from now on',
    body: { what: 'fault', shape: faultOrder },
    answer: faultRecord,
    status: 201,
    run: ({ bank }, order) => {
      const { customer } = order;
      const id = customer === undefined ? undefined : namedCustomer(bank, customer).customerId;
      return bank.faults.add(order, bank.now(), id);
    },
  }),
  bareOrder({
    method: 'DELETE',
    path: '/faults',
    says: 'Removes all faults',
    answer: cleared,
    run: ({ bank }) => ({ cleared: bank.faults.clear() }),
  }),
  bareOrder({
    method: 'DELETE',
    path: '/faults/{id}',
    says: 'Removes a fault',
    answer: cleared,
    run: ({ bank }, { id }) => ({ cleared: bank.faults.clear(Number(id)) }),
  }),
];

const clock: readonly Order[] = [
  bareOrder({
    method: 'GET',
    path: '/clock',
    says: "The bank's time",
    answer: clockAnswer,
    run: ({ bank }) => clockFacts(bank),
  }),
  orderWith({
    method: 'POST',
    path: '/clock',
    says: "Moves the bank's time forward, by seconds or to a time",
    body: {
      what: 'clock',
      shape: z.union([
        z.strictObject({ forwardSeconds: z.int().check(z.positive(), z.maximum(MAX_FORWARD_SECONDS)) }),
        z.strictObject({ time: z.iso.datetime({ offset: true }) }),
      ]),
    },
    answer: clockAnswer,
    run: ({ bank }, order) => {
      const now = bank.now();
      const to =
        'time' in order ? new Date(order.time) : new Date(now.getTime() + order.forwardSeconds * 1000);
      if (to.getTime() > now.getTime() + MAX_FORWARD_SECONDS * 1000)
        throw new OrderRefused(400, "The bank's time can move at most ten years at once");
      if (!bank.clock.moveTo(to))
        throw new OrderRefused(
          400,
          `The bank's time is ${now.toISOString()}. It only moves forward: a reset takes it back`,
        );
      return clockFacts(bank);
    },
  }),
];

const customers: readonly Order[] = [
  bareOrder({
    method: 'GET',
    path: '/customers',
    says: 'The customers, without the generated ones',
    answer: z.array(customerAnswer),
    run: ({ bank }) => bank.customers.seeded.map(answerOf),
  }),
  orderWith({
    method: 'POST',
    path: '/customers',
    says: 'Adds a customer: as in a seed file',
    body: { what: 'customer', shape: z.lazy(seedCustomer) },
    answer: customerAnswer,
    status: 201,
    run: ({ bank }, order) => addCustomer(bank, order),
  }),
  bareOrder({
    method: 'POST',
    path: '/customers/{user}/reset',
    says: 'Resets a customer: accounts as at the start; no tokens, consents, payments or faults. Takes a user or an id',
    answer: customerAnswer,
    run: ({ bank }, { user }) => {
      const customer = namedCustomer(bank, user);
      resetCustomer(bank, customer);
      return answerOf(customer);
    },
  }),
  bareOrder({
    method: 'POST',
    path: '/customers/{user}/read-tan',
    says: 'The customer reads the newest valid TAN, once. Null: there is none. Takes a user or an id',
    answer: tanAnswer,
    run: ({ bank, readTan }, { user }) => readTan(namedCustomer(bank, user).customerId),
  }),
  bareOrder({
    method: 'POST',
    path: '/customers/{user}/revoke-consents',
    says: 'The customer withdraws all consents, at every door. Takes a user or an id',
    answer: revokedAnswer,
    run: ({ bank, revokeAll }, { user }) => ({ revoked: revokeAll(namedCustomer(bank, user).customerId) }),
  }),
];

/** The orders about the bank itself. */
export const bankOrders: readonly Order[] = [
  ...faults,
  ...clock,
  ...customers,
  bareOrder({
    method: 'POST',
    path: '/reset',
    says: 'Resets the bank to its start',
    answer: z.object({ reset: z.literal(true) }),
    run: ({ bank }) => {
      resetBank(bank);
      return { reset: true as const };
    },
  }),
  orderWith({
    method: 'POST',
    path: '/tokens',
    says: 'Issues tokens for a customer without a login',
    programsOnly: true,
    body: { what: 'token order', shape: z.strictObject({ customerId: z.string() }) },
    answer: z.object({
      customerId: z.string(),
      accessToken: z.string(),
      refreshToken: z.optional(z.string()),
      accessTokenSeconds: z.int(),
      refreshTokenSeconds: z.int(),
    }),
    run: ({ bank }, { customerId }) => {
      if (!bank.customers.find(customerId))
        throw new OrderRefused(400, 'The body names no customer of the sandbox: {"customerId":"..."}');
      const { authorizationCode: application } = bank.applications;
      // Not the grant: it has the secret of the application.
      const { accessToken, refreshToken } = bank.tokens.issue({ application, customerId });
      return {
        customerId,
        accessToken,
        refreshToken,
        accessTokenSeconds: bank.rules.tokenTtlSeconds,
        refreshTokenSeconds: REFRESH_TOKEN_SECONDS,
      };
    },
  }),
];

function addCustomer(bank: Bank, order: SeedCustomer): z.infer<typeof customerAnswer> {
  try {
    const seeded = seededCustomer(order, bank.customers, 'customer');
    bank.customers.add(seeded.customer);
    giveSeeded(bank, seeded);
    return answerOf(seeded.customer);
  } catch (error) {
    throw error instanceof BadSeed ? new OrderRefused(400, error.message) : error;
  }
}

/** @param name a user or a customer id */
function namedCustomer({ customers: all }: Bank, name = ''): Customer {
  const customer = all.byUser(name) ?? all.find(name);
  if (customer) return customer;
  throw new OrderRefused(404, `There is no customer ${name}`);
}

function answerOf({ user, password, customerId, firstName, lastName, products }: Customer) {
  return {
    user,
    password,
    customerId,
    name: `${firstName} ${lastName}`,
    accounts: products.map(({ productId }) => productId),
  };
}

function clockFacts(bank: Bank): z.infer<typeof clockAnswer> {
  return { time: bank.now().toISOString(), aheadSeconds: bank.clock.aheadSeconds };
}
